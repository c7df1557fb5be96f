package modelfile

import (
	"fmt"
	"io"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/mat"
)

// Model is what a model file holds.
type Model struct {
	Network *gnn.WideDeep
	Meta    Meta

	// Extra holds further tensors by name: "online." and anything for what an
	// online learner keeps ("online.state.values"), "node.", a node and anything
	// for what belongs to one node ("node.7.wide.tap.0"). Names are dot-separated
	// words of a-z, 0-9, "_" and "-". A tensor that is called like one of
	// Network's own behind its node has that tensor's shape. Nil means none.
	Extra map[string]mat.Dense

	// Precise holds further tensors that keep all bits of float64. Names are
	// as for Extra, and no name is in both.
	Precise map[string]Float64s
}

// Float64s is a matrix of float64, row after row.
type Float64s struct {
	Rows, Cols int
	Data       []float64 // Rows·Cols values
}

// Meta describes where a model comes from and how it must be run.
type Meta struct {
	Shift   graph.Shift // operator that S is made with
	Scale   float64     // λmax of the graph of training, which that operator divides by; 0 if it does not, or there was more than one
	Delayed bool        // filters are delayed, eq. (24): the graph changes at every step
	Task    string      // "classify" or "regress"; free text otherwise
	Nodes   []int       // nodes that the loss read in training; nil means all
	Seed    uint64      // root of the random streams of the training run
	Version string      // of the program that wrote the file
	Online  string      // what an online run says of itself, JSON; empty if the model is as trained

	// Forecast is what a forecast model says of its sensors, JSON; empty for others.
	// Use Model.SetForecast and Model.Forecast.
	Forecast string
}

// Save writes m to the file at path, whole or not at all; see WriteFile.
func Save(path string, m *Model) error {
	if err := WriteFile(path, func(w io.Writer) error { return Encode(w, m) }); err != nil {
		return fmt.Errorf("modelfile: save model: %w", err)
	}
	return nil
}

// Load reads the model in the file at path.
func Load(path string) (*Model, error) {
	f, size, err := open(path)
	if err != nil {
		return nil, fmt.Errorf("modelfile: load model: %w", err)
	}
	defer f.Close()
	m, err := Decode(f, size)
	if err != nil {
		return nil, fmt.Errorf("modelfile: load model %s: %w", path, err)
	}
	return m, nil
}
