package online_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/rule"
)

// mixture returns a doubly stochastic matrix with ε on the diagonal at least:
// that much of I and the rest of two permutations. A symmetric one takes as much
// of their inverses.
func mixture(t *testing.T, n int, epsilon float64, symmetric bool, rng *rand.Rand) *mat.CSR {
	t.Helper()
	dense := make([]float64, n*n)
	for i := range n {
		dense[i*n+i] += epsilon
	}
	for range 2 {
		for i, j := range rng.Perm(n) {
			if symmetric {
				dense[i*n+j] += (1 - epsilon) / 4
				dense[j*n+i] += (1 - epsilon) / 4
			} else {
				dense[i*n+j] += (1 - epsilon) / 2
			}
		}
	}
	return matrixOf(t, n, dense)
}

// bipartite returns the symmetric doubly stochastic matrix of nodes that keep ε
// and give the rest to those of the other half. Its least eigenvalue is 2ε - 1.
func bipartite(t *testing.T, n int, epsilon float64) *mat.CSR {
	t.Helper()
	dense := make([]float64, n*n)
	for i := range n {
		dense[i*n+i] = epsilon
		for j := range n {
			if i < n/2 != (j < n/2) {
				dense[i*n+j] = (1 - epsilon) / float64(n/2)
			}
		}
	}
	return matrixOf(t, n, dense)
}

// lopsided returns a matrix whose rows sum to 1, and whose columns do not.
func lopsided(t *testing.T, n int, epsilon float64, rng *rand.Rand) *mat.CSR {
	t.Helper()
	dense := make([]float64, n*n)
	for i := range n {
		sum := 0.0
		for j := range n {
			dense[i*n+j] = math.Pow(rng.Float64(), 4)
			sum += dense[i*n+j]
		}
		for j := range n {
			dense[i*n+j] *= (1 - epsilon) / sum
		}
		dense[i*n+i] += epsilon
	}
	return matrixOf(t, n, dense)
}

func matrixOf(t *testing.T, n int, dense []float64) *mat.CSR {
	t.Helper()
	var entries []mat.Entry
	for e, v := range dense {
		if v != 0 {
			entries = append(entries, mat.Entry{Row: e / n, Col: e % n, Val: float32(v)})
		}
	}
	w, err := mat.FromEntries(n, n, entries)
	must(t, err)
	return w
}

// Two networks that hear the same and differ only in where their parameters
// began do not move apart under automatic steps, whatever the mixing matrix and
// however close to 1 the share: not the nodes that are furthest apart, and if W
// is symmetric not in the Euclidean distance of all either. On bipartite graphs
// W has an eigenvalue near -1; a share of 2/C_s alone makes them diverge there.
// Reference: doc/theory.md, "Steps that mixing cannot upset".
func TestAutomaticStepsNeverSpread(t *testing.T) {
	const nodes, steps = 8, 60
	rng := random.Stream(1, "stable")
	m, err := gnn.NewRandom(gnn.Config{In: 2, Features: 3, Outputs: 2, Wide: &gnn.WideConfig{Order: 1}}, rng)
	must(t, err)
	shift, err := graph.ShiftSymmetric.Of(graph.Ring(nodes))
	must(t, err)
	for _, c := range []struct {
		name      string
		symmetric bool
		mixing    func() *mat.CSR
	}{
		{"bipartite, ε = 0.01", true, func() *mat.CSR { return bipartite(t, nodes, 0.01) }},
		{"bipartite, ε = 0.5", true, func() *mat.CSR { return bipartite(t, nodes, 0.5) }},
		{"symmetric, ε = 0.01", true, func() *mat.CSR { return mixture(t, nodes, 0.01, true, rng) }},
		{"symmetric, ε = 0.3", true, func() *mat.CSR { return mixture(t, nodes, 0.3, true, rng) }},
		{"doubly stochastic", false, func() *mat.CSR { return mixture(t, nodes, 0.05, false, rng) }},
		{"rows only", false, func() *mat.CSR { return lopsided(t, nodes, 0.02, rng) }},
	} {
		for _, classes := range []bool{false, true} {
			for _, share := range []float64{0, 0.99} {
				t.Run(fmt.Sprintf("%s, classes %t, share %v", c.name, classes, share), func(t *testing.T) {
					config := rule.Config{StepSize: rule.StepSize{Schedule: rule.Automatic, Value: share}, Mixing: 1}
					a, b := newConsensus(t, m, online.Config{Nodes: nodes}, config), newConsensus(t, m, online.Config{Nodes: nodes}, config)
					elsewhere(t, b, rng)
					worst, all := apart(a, b)
					for k := range steps {
						sample := graph.Sample{Time: k, Shift: shift, Mixing: c.mixing(), Signal: gaussian(rng, nodes, 2)}
						var j loss.Loss = loss.MSE{Target: gaussian(rng, nodes, 2)}
						if classes {
							labels := loss.CrossEntropy{Labels: make([]int32, nodes)}
							for i := range labels.Labels {
								labels.Labels[i] = rng.Int32N(2)
							}
							j = labels
						}
						step(t, a, 2, sample, j)
						step(t, b, 2, sample, j)
						was, wasAll := worst, all
						if worst, all = apart(a, b); worst > was*(1+1e-4) || c.symmetric && all > wasAll*(1+1e-4) {
							t.Fatalf("step %d: the furthest nodes are %v apart after %v, all %v after %v; want no more than before", k, worst, was, all, wasAll)
						}
					}
				})
			}
		}
	}
}

// elsewhere puts every node of l to parameters of its own.
func elsewhere(t *testing.T, l *online.Consensus, rng *rand.Rand) {
	t.Helper()
	s := l.Snapshot()
	for i := range s.Nodes {
		copy(s.Nodes[i].Vectors[0], gaussian(rng, 1, l.Basis().Len()).Data)
	}
	must(t, l.Restore(s))
}

// apart returns how far the nodes of a and b are from each other: the furthest
// pair, and the root of the sum of squares of all.
func apart(a, b *online.Consensus) (worst, all float64) {
	for i := range a.Nodes() {
		d := a.Basis().Distance(a.Params(i), b.Params(i))
		worst, all = max(worst, d), all+d*d
	}
	return worst, math.Sqrt(all)
}

func gaussian(rng *rand.Rand, rows, cols int) mat.Dense {
	x := mat.NewDense(rows, cols, nil)
	for e := range x.Data {
		x.Data[e] = float32(rng.NormFloat64())
	}
	return x
}
