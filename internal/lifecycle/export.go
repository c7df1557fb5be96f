package lifecycle

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/onnx"
	"github.com/wdgnn/wdgnn/modelfile"
)

// Exported is a model as other programs read it.
type Exported struct {
	*onnx.Summary
	Bytes []byte   `json:"-"`
	Size  int      `json:"bytes"`
	Shift string   `json:"shift"` // operator that S is made with
	Notes []string `json:"notes,omitempty"`
}

// Export returns a model in ONNX, which gives the outputs of Predict within
// rounding. nodes is how many the graph has, for a model file that has taps of
// single nodes and does not say; otherwise it may be 0. What cannot be exported is
// an error.
func Export(m *modelfile.Model, nodes int, version string) (*Exported, error) {
	own, err := NodeTapsOf(m)
	if err != nil {
		return nil, err
	}
	if n := own.Heard(); n > 0 {
		return nil, fmt.Errorf("%d nodes weight their neighbours one by one, and make up for those that they do not hear "+
			"by equations that are others for every set of them, which no fixed graph of operators can hold; "+
			"export the model as trained, or let nodes learn with another preset, such as own", n)
	}
	e := &Exported{Shift: m.Meta.Shift.String()}
	model := &onnx.Model{Network: m.Network, Delayed: m.Meta.Delayed, Own: own.Deltas(), Version: version}
	if len(model.Own) > 0 {
		if own.nodes > 0 {
			nodes = own.nodes
		}
		if nodes == 0 {
			return nil, fmt.Errorf("%d nodes have taps of their own, and the model file does not say how many nodes the network has; "+
				"name the graph", len(model.Own))
		}
		model.Nodes = nodes
		e.note("%d nodes have taps of their own: it is for their network of %d nodes alone", len(model.Own), nodes)
	}
	if model.Properties, err = e.properties(m); err != nil {
		return nil, err
	}
	model.Words = fmt.Sprintf("A wide and deep graph neural network. S is the shift operator %q of the graph.", e.Shift)
	if e.Bytes, e.Summary, err = onnx.Encode(model); err != nil {
		return nil, err
	}
	e.Size = len(e.Bytes)
	return e, nil
}

func (e *Exported) note(format string, args ...any) {
	e.Notes = append(e.Notes, fmt.Sprintf(format, args...))
}

// properties are what a program that runs the model may want to know of it, and
// notes what people should.
func (e *Exported) properties(m *modelfile.Model) (map[string]string, error) {
	config, err := json.Marshal(m.Network.Config)
	if err != nil {
		return nil, err
	}
	p := map[string]string{
		"wdgnn.config": string(config), "wdgnn.shift": e.Shift, "wdgnn.task": m.Meta.Task, "wdgnn.delayed": strconv.FormatBool(m.Meta.Delayed),
	}
	if m.Meta.Nodes != nil {
		p["wdgnn.nodes"] = strings.ReplaceAll(strings.Trim(fmt.Sprint(m.Meta.Nodes), "[]"), " ", ",")
	}
	if m.Meta.Delayed {
		e.note("filters are delayed: run it once a step, and give it next.… as line.… in the next; zeros before the first")
	}
	spec, err := m.Forecast()
	if spec == nil || err != nil {
		return p, err
	}
	if m.Meta.Online != "" {
		return nil, errors.New("what sensors learned online depends on the clock and on readings that came since, which no fixed graph of " +
			"operators can hold; export the model as trained")
	}
	mean, scale := make([]float64, len(spec.Norms)), make([]float64, len(spec.Norms))
	for i, n := range spec.Norms {
		mean[i], scale[i] = n.Mean, n.Scale
	}
	for key, values := range map[string][]float64{"wdgnn.forecast.mean": mean, "wdgnn.forecast.scale": scale} {
		text, err := json.Marshal(values)
		if err != nil {
			return nil, err
		}
		p[key] = string(text)
	}
	p["wdgnn.forecast"] = m.Meta.Forecast
	e.note("inputs and outputs are normalised, as those of predict: of sensor i, Y·scale + mean is in %s; "+
		"the file has both as wdgnn.forecast.scale and .mean", orWords(spec.Unit, "the unit of the readings"))
	return p, nil
}

// orWords returns text, or words where it is empty.
func orWords(text, words string) string {
	if text == "" {
		return words
	}
	return text
}

// mostDense is how many numbers Shifts writes at most.
const mostDense = 1 << 28

// Shifts returns S for a model of the graph in a file, N×N, or one for each of its T
// steps, T×N×N, all numbers written out: what programs without graphs need.
func Shifts(m *modelfile.Model, path string, directed bool) (shape []int, values []float32, err error) {
	own, err := NodeTapsOf(m)
	if err != nil {
		return nil, nil, err
	}
	o := modelfile.GraphOptions{Directed: directed}
	if own != nil {
		o.Nodes = own.nodes
	}
	file, err := modelfile.LoadGraph(path, o)
	switch {
	case err != nil:
		return nil, nil, err
	case m.Meta.Delayed != (file.Steps != nil):
		return nil, nil, delayMismatch(m.Meta.Delayed)
	}
	steps := file.Steps
	if steps == nil {
		steps = []*graph.Graph{file.Graph}
	}
	n := steps[0].Nodes()
	if float64(len(steps))*float64(n)*float64(n) > mostDense {
		return nil, nil, fmt.Errorf("%s: %d×%d×%d numbers are too many to write out", path, len(steps), n, n)
	}
	shape, values = []int{n, n}, make([]float32, len(steps)*n*n)
	if file.Steps != nil {
		shape = []int{len(steps), n, n}
	}
	for t, g := range steps {
		s, err := m.Meta.Shift.Of(g)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", path, err)
		}
		for i := range n {
			for k := s.RowPtr[i]; k < s.RowPtr[i+1]; k++ {
				values[(t*n+i)*n+int(s.Col[k])] = s.Val[k]
			}
		}
	}
	return shape, values, nil
}
