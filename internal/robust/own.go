package robust

import (
	"fmt"
	"math"
	"slices"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/internal/crown"
	"github.com/wdgnn/wdgnn/mat"
)

// GiveOwn tells net, which is m in float64, what nodes have of their own. What they add
// to outputs is linear in shifted inputs, so that asking for it input by input, at
// powers of two of either sign, gives every weight to what float32 rounds. Rows are
// those of a shift of so many nodes, at one step or several.
func GiveOwn(net *crown.Network, m *gnn.WideDeep, own Own, nodes int, rows []int32, s *mat.CSR) error {
	probe := &probe{own: own, features: m.Config.In, order: m.InputOrder(), outputs: m.Outputs()}
	for _, row := range rows {
		links, _ := s.Row(int(row))
		terms, bias, err := probe.terms(int(row)%nodes, int(row), links)
		if err != nil {
			return err
		}
		if len(terms) > 0 || slices.ContainsFunc(bias, func(v float64) bool { return v != 0 }) {
			net.GiveTerms(int(row), terms, bias)
		}
	}
	return nil
}

// probe asks Own for answers to inputs of one's own.
type probe struct {
	own                      Own
	features, order, outputs int

	node, hop, feature int // which input is not 0
	value              float32
}

// large is what a single input is set to, so that weights stand out from biases.
const large = 1 << 20

// ask returns what a node adds to outputs of 0 where one input is value and all
// others are 0.
func (p *probe) ask(node, row int, links []int32, value float32) []float64 {
	p.value = value
	y := make([]float32, p.outputs)
	zero := make([]float32, p.features)
	p.own.Correct(y, node, row, links, func(j, k int) []float32 {
		if j != p.node || k != p.hop {
			return zero
		}
		z := make([]float32, p.features)
		z[p.feature] = p.value
		return z
	})
	out := make([]float64, len(y))
	for c, v := range y {
		out[c] = float64(v)
	}
	return out
}

// terms returns what the outputs of a node add beside those of the network: weights
// of shifted inputs of itself and of those it hears, and a bias.
func (p *probe) terms(node, row int, links []int32) ([]crown.Term, []float64, error) {
	p.node, p.hop = -1, -1
	bias := p.ask(node, row, links, 0)
	var terms []crown.Term
	for _, j := range append([]int32{int32(row)}, links...) {
		if len(terms) > 0 && int(j) == row {
			continue // a loop
		}
		for k := range p.order + 1 {
			term := crown.Term{Node: int(j), Hop: k, Weights: make([]float64, p.features*len(bias))}
			some := false
			for f := range p.features {
				p.node, p.hop, p.feature = int(j), k, f
				up, down := p.ask(node, row, links, large), p.ask(node, row, links, -large)
				for c := range bias {
					w := (up[c] - down[c]) / (2 * large)
					if math.Abs(up[c]+down[c]-2*bias[c]) > 1e-5*(math.Abs(up[c])+math.Abs(down[c])+math.Abs(bias[c])) {
						return nil, nil, fmt.Errorf("robust: what node %d adds to its answers is not linear in what it hears; "+
							"bounds by propagation need that: certify the model as trained", node)
					}
					term.Weights[f*len(bias)+c] = w
					some = some || w != 0
				}
			}
			if some {
				terms = append(terms, term)
			}
		}
	}
	return terms, bias, nil
}
