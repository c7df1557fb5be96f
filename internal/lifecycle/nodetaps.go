package lifecycle

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/internal/snapshot"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/modelfile"
)

// NodeTaps are taps of their own that nodes have in a model file, as what they
// add to the outputs of the network's own:
//
//	y_i = y†_i + z_i Δ_i        Δ_i = (𝒜_i - 𝒜†) Ω
//
// in float64, with the letters of package rule.
type NodeTaps struct {
	inputs, outputs int
	nodes           int               // N of the network they belong to; 0 if unknown
	delta           map[int][]float64 // by node: (inputs+1)×C, the last row is the bias's
	own             int               // nodes that have taps of their own, whatever they answer with
	heard           *heardNodes       // in their place; nil if nodes do not weight neighbours one by one
}

// NodeTapsOf returns the taps that nodes answer with by a model file, nil if it has
// none: their own, or those that were trained where a gate is closed.
// Tensors of single nodes that are not understood are an error: nothing that a
// node has of its own is passed over.
func NodeTapsOf(file *modelfile.Model) (*NodeTaps, error) {
	net := file.Network
	t := &NodeTaps{outputs: net.Outputs(), delta: map[int][]float64{}}
	var err error
	if t.heard, err = heardNodesOf(file); err != nil {
		return nil, err
	}
	for name := range file.Precise {
		if strings.HasPrefix(name, "node.") {
			return nil, fmt.Errorf("the model holds %s in float64, which this program cannot use", name)
		}
	}
	for name, x := range file.Extra {
		rest, ok := strings.CutPrefix(name, "node.")
		if !ok {
			continue
		}
		number, own, _ := strings.Cut(rest, ".")
		i := 0
		if _, err := fmt.Sscan(number, &i); err != nil {
			return nil, fmt.Errorf("tensor %s: %w", name, err)
		}
		at := slices.IndexFunc(net.Params.Windows(), func(w gnn.Window) bool { return w.Name == own })
		if at < 0 || !strings.HasPrefix(own, "wide.") {
			return nil, fmt.Errorf("the model holds %s, and this program does not know what node %d does with it; try a newer wdgnn", name, i)
		}
		t.add(net, i, net.Params.Windows()[at], x)
	}
	a, err := AdaptationOf(file)
	if err != nil {
		return nil, err
	}
	t.own = len(t.delta)
	if err := t.close(file, a); err != nil {
		return nil, err
	}
	if len(t.delta) == 0 && t.heard == nil {
		return nil, nil
	}
	if a != nil {
		t.nodes = a.Nodes
	}
	return t, nil
}

// close takes back what nodes learned that answer as trained, because their gate
// was closed when the file was written.
func (t *NodeTaps) close(file *modelfile.Model, a *Adaptation) error {
	if a == nil || len(a.Read) == 0 {
		return nil
	}
	s, found, err := snapshot.Of(file)
	if err != nil || !found {
		return err
	}
	net := file.Network
	for k, i := range a.Read {
		if gate, ok := a.answers(&s, k).Gate(); !ok || gate.Open {
			continue
		}
		delete(t.delta, i)
		if t.heard != nil {
			delete(t.heard.nodes, i)
		}
		for _, w := range net.Params.Windows() {
			if start, ok := file.Extra[startName+w.Name]; ok && a.Mode == config.Centralized {
				t.add(net, i, w, start)
			}
		}
	}
	return nil
}

// add takes in one tensor of node i, which stands for window w of the network.
func (t *NodeTaps) add(net *gnn.WideDeep, i int, w gnn.Window, x mat.Dense) {
	t.inputs = (net.Config.Wide.Order + 1) * net.Config.In
	if t.delta[i] == nil {
		t.delta[i] = make([]float64, (t.inputs+1)*t.outputs)
	}
	gain, features := 1.0, net.Config.Features
	if len(net.Params.Gain) > 0 {
		gain = float64(net.Params.Gain[gnn.GainWide])
	}
	readout := net.Params.Readout.Weight
	first := w.Offset / features // rows of the stacked taps, the bias last
	for k := range w.Rows {
		out := t.delta[i][(first+k)*t.outputs : (first+k+1)*t.outputs]
		for g := range features {
			d := gain * (float64(x.At(k, g)) - float64(net.Params.Flat[w.Offset+k*features+g]))
			for c := range out {
				switch {
				case !readout.Empty():
					out[c] += float64(d * float64(readout.At(g, c)))
				case c == g:
					out[c] += d
				}
			}
		}
	}
}

// correct changes the output y of the network's own taps at node i to that of
// the node's; z are the node's shifted inputs.
func (t *NodeTaps) correct(y, z []float32, i int) {
	delta := t.delta[i]
	if delta == nil {
		return
	}
	for c := range y {
		sum := float64(y[c]) + delta[t.inputs*t.outputs+c]
		for k, v := range z[:t.inputs] {
			sum += float64(float64(v) * delta[k*t.outputs+c])
		}
		y[c] = float32(sum)
	}
}

// CorrectAll does so for the nodes of a whole network, with weights of neighbours too: of
// those that s, the shift, hears. It is not for several goroutines at once.
func (t *NodeTaps) CorrectAll(y, z mat.Dense, s *mat.CSR) {
	if t == nil {
		return
	}
	if h := t.heard; h != nil {
		h.shift, h.shifted = s, z
		for i := range h.nodes {
			h.correct(y.Row(i), i)
		}
		return
	}
	for i := range t.delta {
		t.correct(y.Row(i), z.Row(i), i)
	}
}

// Heard returns how many nodes weight their neighbours one by one, which Deltas do
// not say.
func (t *NodeTaps) Heard() int {
	if t == nil || t.heard == nil {
		return 0
	}
	return len(t.heard.nodes)
}

// Deltas returns Δ_i by node, (inputs+1)×C each, the bias's row last; nil if no
// node has taps of its own. It is not a copy.
func (t *NodeTaps) Deltas() map[int][]float64 {
	if t == nil {
		return nil
	}
	return t.delta
}

// Fits reports a network of another size than that the nodes belong to.
func (t *NodeTaps) Fits(nodes int) error {
	if t == nil || t.nodes == 0 || t.nodes == nodes {
		return nil
	}
	return fmt.Errorf("the model learned online on a network of %d nodes, each with taps of its own; the graph has %d", t.nodes, nodes)
}
