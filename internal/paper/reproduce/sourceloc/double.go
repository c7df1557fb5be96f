package sourceloc

import (
	"context"
	"math"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/recipe"
)

// compareDouble runs distributed learning again with every number in float64,
// by plain loops over the full taps of every node, and counts the answers that
// differ from those of the library.
func (z *Realization) compareDouble(ctx context.Context, u *unit) error {
	u.Double = map[string]differing{}
	for sub := range min(doubleSubgraphs, z.Subgraphs) {
		stream, err := z.TestStream(sub, z.OutageProb)
		if err != nil {
			return err
		}
		g, err := z.Subgraph(sub, z.OutageProb)
		if err != nil {
			return err
		}
		for _, spec := range []recipe.LearnerSpec{WideDeepPaper} {
			if err := ctx.Err(); err != nil {
				return err
			}
			out, err := z.PlayOne(ctx, spec, stream, true)
			if err != nil {
				return err
			}
			answers, err := z.double(spec, g)
			if err != nil {
				return err
			}
			d := u.Double[spec.ID]
			for k, a := range answers {
				d.Answers++
				if a != out.Answers[k] {
					d.Differ++
				}
			}
			u.Double[spec.ID] = d
		}
	}
	return nil
}

// double returns the answers of distributed learning in float64, by signal and
// detector.
func (z *Realization) double(spec recipe.LearnerSpec, g *graph.Graph) ([]int32, error) {
	m := z.Models[spec.Kind].Network
	n, detectors := z.Net.Graph.Nodes(), z.Read()
	d := newDoubleNet(m, g, n)
	var (
		inputs, features, classes = len(m.Params.Wide.Taps), m.Config.Features, z.World.Communities
		taps                      = make([][]float64, n) // A_i, inputs×features
		next                      = make([][]float64, n)
		answers                   []int32
	)
	for i := range taps {
		taps[i], next[i] = double(m.Params.Flat[:inputs*features]), make([]float64, inputs*features)
	}
	signals, labels := z.Net.Draw(z.Test, z.Stream("test"))
	for t, label := range labels {
		x := double(signals.View(t*n, 0, n, 1).Data[:n])
		shifted, deep := d.observe(x, detectors)
		for i := range next { // Σ_j W_ij A_j
			clear(next[i])
			for j, w := range d.mixing[i] {
				if w != 0 {
					for e, v := range taps[j] {
						next[i][e] += w * v
					}
				}
			}
		}
		for k, i := range detectors {
			score := d.scores(taps[i], shifted[i], deep[k])
			best := 0
			for c, v := range score {
				if v > score[best] {
					best = c
				}
			}
			answers = append(answers, int32(best))
			p := softmax(score)
			p[label]--
			for a := range inputs {
				for f := range features {
					du := 0.0
					for c := range classes {
						du += d.readout[f*classes+c] * p[c]
					}
					next[i][a*features+f] -= spec.Config.StepSize.Value * d.gains[gnn.GainWide] * shifted[i][a] * du
				}
			}
		}
		taps, next = next, taps
	}
	return answers, nil
}

// doubleNet is a WD-GNN of two layers in float64.
type doubleNet struct {
	model         *gnn.WideDeep
	shift, mixing [][]float64
	readout       []float64
	gains         []float64
}

func newDoubleNet(m *gnn.WideDeep, g *graph.Graph, n int) *doubleNet {
	d := &doubleNet{model: m, readout: double(m.Params.Readout.Weight.Data), gains: double(m.Params.Gain)}
	lambda := graph.LargestEigenvalue(g.Adjacency())
	for i := range n {
		s, w := make([]float64, n), make([]float64, n)
		w[i] = 1
		for _, j := range g.Neighbors(i) {
			s[j] = 1 / lambda
			w[j] = 1 / float64(1+max(g.Degree(i), g.Degree(int(j))))
			w[i] -= w[j]
		}
		d.shift, d.mixing = append(d.shift, s), append(d.mixing, w)
	}
	return d
}

// observe returns the shifted inputs of all nodes and what the deep part gives
// at the detectors.
func (d *doubleNet) observe(x []float64, detectors []int) (shifted, deep [][]float64) {
	n := len(x)
	h := make([][]float64, n)
	for i, v := range x {
		h[i] = []float64{v}
	}
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	layers := d.model.Params.Deep
	shifted = d.stack(h, len(layers[0].Taps), all)
	h = affine(shifted, &layers[0])
	return shifted, affine(d.stack(h, len(layers[1].Taps), detectors), &layers[1])
}

// stack returns [h Sh S²h …] at the given nodes, by rows.
func (d *doubleNet) stack(h [][]float64, taps int, nodes []int) [][]float64 {
	out := make([][]float64, len(nodes))
	for k := range taps {
		if k > 0 {
			next := make([][]float64, len(h))
			for i := range next {
				next[i] = make([]float64, len(h[0]))
				for j, s := range d.shift[i] {
					if s != 0 {
						for f, v := range h[j] {
							next[i][f] += s * v
						}
					}
				}
			}
			h = next
		}
		for r, i := range nodes {
			out[r] = append(out[r], h[i]...)
		}
	}
	return out
}

// affine returns the ReLU of z B + b.
func affine(z [][]float64, f *gnn.Filter) [][]float64 {
	out := make([][]float64, len(z))
	in := f.In()
	for i, row := range z {
		out[i] = double(f.Bias)
		for k, v := range row {
			for j := range out[i] {
				out[i][j] += v * float64(f.Taps[k/in].At(k%in, j))
			}
		}
		for j, v := range out[i] {
			out[i][j] = max(v, 0)
		}
	}
	return out
}

// scores returns the output of one node with the given taps.
func (d *doubleNet) scores(taps, z, deep []float64) []float64 {
	features := len(deep)
	out := double(d.model.Params.Readout.Bias)
	for f := range features {
		wide := float64(d.model.Params.Wide.Bias[f])
		for k, v := range z {
			wide += v * taps[k*features+f]
		}
		u := d.gains[gnn.GainWide]*wide + d.gains[gnn.GainDeep]*deep[f] + d.gains[gnn.GainBias]
		for c := range out {
			out[c] += u * d.readout[f*len(out)+c]
		}
	}
	return out
}

func softmax(y []float64) []float64 {
	top, sum := y[0], 0.0
	for _, v := range y {
		top = max(top, v)
	}
	p := make([]float64, len(y))
	for c, v := range y {
		p[c] = math.Exp(v - top)
		sum += p[c]
	}
	for c := range p {
		p[c] /= sum
	}
	return p
}

func double(v []float32) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = float64(x)
	}
	return out
}
