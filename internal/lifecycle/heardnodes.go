package lifecycle

import (
	"errors"
	"fmt"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/internal/recipe"
	"github.com/wdgnn/wdgnn/internal/snapshot"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/rule"
)

// heardNodes are nodes that learned to weight their neighbours one by one, as a
// model file remembers them: they answer as they did where the run ended, to the
// same bits.
type heardNodes struct {
	nodes   map[int]*rule.Node
	model   *gnn.WideDeep // as trained
	shift   *mat.CSR      // of the graph that they are on
	shifter gnn.Shifter
	shifted mat.Dense
	row, y  []float32
}

// heardNodesOf returns those of a model file, nil if it has none.
func heardNodesOf(file *modelfile.Model) (*heardNodes, error) {
	a, err := AdaptationOf(file)
	if a == nil || err != nil || a.Mode != config.Distributed || a.Rule.Retrain != rule.RetrainHeard {
		return nil, err
	}
	s, found, err := snapshot.Of(file)
	switch {
	case err != nil:
		return nil, err
	case !found || len(s.Nodes) != a.Nodes:
		return nil, errors.New("the nodes of the model weight their neighbours one by one, " +
			"but the file does not hold the weights of all; it is damaged")
	}
	trained, err := asTrained(file)
	if err != nil {
		return nil, err
	}
	moment, err := recipe.MomentOf(trained)
	if err != nil {
		return nil, err
	}
	basis, err := online.NewBasis(trained.Network, a.Rule, moment)
	if err != nil {
		return nil, err
	}
	h := &heardNodes{nodes: map[int]*rule.Node{}, model: trained.Network, y: make([]float32, basis.Outputs())}
	for i, m := range s.Nodes {
		n := rule.NewNode(rule.NodeConfig{Basis: basis, Config: &a.Rule, Rows: 1, Number: i})
		if err := n.Restore(m, 0); err != nil {
			return nil, fmt.Errorf("node %d: %w", i, err)
		}
		if n.Learned() {
			h.nodes[i] = n
		}
	}
	return h, nil
}

// nodeTaps returns the taps by node of a model file, ready for the data; nil if it
// has none.
func (d *Dataset) nodeTaps(file *modelfile.Model) (*NodeTaps, error) {
	own, err := NodeTapsOf(file)
	if err == nil {
		err = own.Fits(d.Nodes)
	}
	if err == nil && own.Heard() > 0 {
		own.heard.shift, err = d.shift()
	}
	return own, err
}

// show makes x, N×F, the signal that nodes hear.
func (h *heardNodes) show(x mat.Dense) {
	h.shifted = h.shifted.Resize(x.Rows, (h.model.InputOrder()+1)*h.model.Config.In)
	h.shifter.Shift(h.shifted, h.shift, x)
}

// correct changes the output y of the model as trained at node i to that of the
// node.
func (h *heardNodes) correct(y []float32, i int) {
	n := h.nodes[i]
	if n == nil {
		return
	}
	row := h.shifted.Row(i)
	if own := n.Hearing(); own != nil {
		h.row = online.HeardRow(h.row, own, h.shift, h.shifted, i)
		row = h.row
	}
	n.Predict(h.y, y, row)
	copy(y, h.y)
}
