package lifecycle

import (
	"math"
	"slices"
	"strings"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/internal/recipe"
	"github.com/wdgnn/wdgnn/modelfile"
)

// Inspection describes a model file.
type Inspection struct {
	Architecture gnn.Config `json:"architecture"`
	Meta         metaText   `json:"meta"`
	Outputs      int        `json:"outputs"` // columns of the output
	Parameters   int        `json:"parameters"`
	Wide         int        `json:"wide"`            // parameters of the wide part, which online learning retrains
	Deep         int        `json:"deep"`            // of the deep part
	Readout      int        `json:"readout"`         // of the readout
	Gains        []float32  `json:"gains,omitempty"` // wide, deep, bias
	Tensors      []Tensor   `json:"tensors"`
	Extra        []Tensor   `json:"extra,omitempty"`

	Online   *Adaptation `json:"online,omitempty"`    // of the online run that left the model
	NodeTaps int         `json:"node_taps,omitempty"` // nodes that have taps of their own
	Heard    int         `json:"heard,omitempty"`     // nodes that weight their neighbours one by one
	Moment   bool        `json:"moment"`              // whether the second moment of its inputs is known
	Hearings int         `json:"hearings,omitempty"`  // nodes of which is known what they heard in training

	Forecast *ForecastAbility `json:"forecast,omitempty"` // what the model says of sensors; nil if it does not forecast

	Calibrated bool `json:"calibrated"` // whether the file knows how answers turned out, and predict has sets or intervals
}

// metaText is modelfile.Meta for reading.
type metaText struct {
	Shift   string `json:"shift"`
	Delayed bool   `json:"delayed"`
	Task    string `json:"task"`
	Nodes   []int  `json:"nodes,omitempty"` // read in training; absent means all
	Seed    uint64 `json:"seed"`
	Version string `json:"version"`
}

// Tensor describes one tensor of the model.
type Tensor struct {
	Name    string  `json:"name"`
	Shape   [2]int  `json:"shape"`
	Count   int     `json:"count"`
	Norm    float64 `json:"norm"`    // Euclidean
	Largest float64 `json:"largest"` // absolute value
}

// Inspect describes m.
func Inspect(m *modelfile.Model) (*Inspection, error) {
	p := &m.Network.Params
	in := &Inspection{
		Architecture: m.Network.Config, Outputs: m.Network.Outputs(), Parameters: len(p.Flat), Gains: p.Gain,
		Meta: metaText{
			Shift: m.Meta.Shift.String(), Delayed: m.Meta.Delayed, Task: m.Meta.Task,
			Nodes: m.Meta.Nodes, Seed: m.Meta.Seed, Version: m.Meta.Version,
		},
	}
	for _, w := range p.Windows() {
		in.Tensors = append(in.Tensors, tensor(w.Name, w.Rows, w.Cols, p.Flat[w.Offset:w.Offset+w.Len()]))
		switch part, _, _ := strings.Cut(w.Name, "."); part {
		case "wide":
			in.Wide += w.Len()
		case "deep":
			in.Deep += w.Len()
		case "readout":
			in.Readout += w.Len()
		}
	}
	for name, x := range m.Extra {
		values := make([]float32, 0, x.Rows*x.Cols)
		for i := range x.Rows {
			values = append(values, x.Row(i)...)
		}
		in.Extra = append(in.Extra, tensor(name, x.Rows, x.Cols, values))
	}
	for name := range m.Precise {
		x := m.Precise[name]
		in.Extra = append(in.Extra, tensor(name, x.Rows, x.Cols, x.Data))
	}
	slices.SortFunc(in.Extra, func(a, b Tensor) int { return strings.Compare(a.Name, b.Name) })
	return in, in.online(m)
}

// online describes what online learning left, or needs.
func (in *Inspection) online(m *modelfile.Model) error {
	moment, err := recipe.MomentOf(m)
	if err != nil {
		return err
	}
	if in.Moment = moment != nil; in.Moment {
		in.Hearings = len(moment.Heard)
	}
	calibration, err := m.Calibration()
	if err != nil {
		return err
	}
	in.Calibrated = calibration != nil
	if in.Online, err = AdaptationOf(m); err != nil {
		return err
	}
	if in.Forecast, err = forecastAbility(m); err != nil {
		return err
	}
	own, err := NodeTapsOf(m)
	if own != nil {
		in.NodeTaps, in.Heard = own.own, own.Heard()
	}
	return err
}

func tensor[T float32 | float64](name string, rows, cols int, values []T) Tensor {
	t := Tensor{Name: name, Shape: [2]int{rows, cols}, Count: len(values)}
	sum := 0.0
	for _, v := range values {
		sum += float64(float64(v) * float64(v))
		t.Largest = max(t.Largest, math.Abs(float64(v)))
	}
	t.Norm = min(math.Sqrt(sum), math.MaxFloat64)
	return t
}
