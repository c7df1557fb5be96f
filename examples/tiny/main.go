// Command tiny is the paper on a few screens, in Go's standard library alone: a
// wide and deep graph neural network that is trained offline and then keeps
// learning in the network it runs on, which has lost links. Fifty nodes are
// fifty goroutines that speak with their neighbours over channels.
//
//	go run ./examples/tiny
//
// Equation numbers are those of Gao, Gama and Ribeiro, "Wide and Deep Graph
// Neural Network with Distributed Online Learning". The packages of this module
// do this for other graphs, layers and costs; nothing of them is used here.
package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
)

const (
	nodes, members = 50, 10 // N, in communities of ten
	scale          = 10     // S = A/10: a node has about so many neighbours
	order          = 2      // K: a filter reaches K hops and has K+1 taps
	features       = 8      // of the deep layer
	signals        = 1000   // to train on, 20 times
	steps          = 1000   // online, a signal each
	offline        = 0.05   // step size of training
	gamma          = 0.6    // γ, step size of online learning
)

// vector is what filters multiply: K+1 taps, or the K+1 shifts of a signal at
// one node. Every sum in this file runs in ascending order and, which is what
// float64() is for, rounds after each operation: all machines get the same bits.
type vector [order + 1]float64

func (a *vector) dot(b *vector) (sum float64) {
	for k := range a {
		sum += float64(a[k] * b[k])
	}
	return sum
}

// add computes a += c b.
func (a *vector) add(c float64, b *vector) {
	for k := range a {
		a[k] += float64(c * b[k])
	}
}

// network says whom each node hears, in ascending order.
type network [nodes][]int

// connect links i and j wherever linked says so.
func connect(linked func(i, j int) bool) *network {
	g := new(network)
	for i := range nodes {
		for j := range i {
			if linked(i, j) {
				g[i], g[j] = append(g[i], j), append(g[j], i)
			}
		}
	}
	return g
}

// shift returns S x, eq. (1): every node adds up what its neighbours have.
func (g *network) shift(x [nodes]float64) (y [nodes]float64) {
	for i, heard := range g {
		for _, j := range heard {
			y[i] += x[j] / scale
		}
	}
	return y
}

// signal is what the nodes see, and what each of them should say.
type signal struct{ x, want [nodes]float64 }

// draw lets a pulse start somewhere in every community. All spread for one or
// two hops and are seen with noise. How strong was the one of its own
// community, a node is asked.
func draw(g *network, rng *rand.Rand) (s signal) {
	for first := 0; first < nodes; first += members {
		strength := 2*rng.Float64() - 1
		s.x[first+rng.IntN(members)] = 5 * strength
		for i := first; i < first+members; i++ {
			s.want[i] = strength
		}
	}
	for range 1 + rng.IntN(2) {
		s.x = g.shift(s.x)
	}
	for i := range s.x {
		s.x[i] += (rng.Float64() - 0.5) / 5
	}
	return s
}

// model is Ψ of eq. (2) at one node, given z = [x Sx … Sᴷx]_i:
//
//	y_i = Σ_k a_k z_k  +  Σ_f r_f max(0, Σ_k b_fk z_k)
//
// the wide part, eq. (3), and a deep part of one layer, eq. (4), with a readout.
type model struct {
	wide    vector           // 𝒜
	layer   [features]vector // ℬ
	readout [features]float64
}

// deep returns the deep part of y_i, and the features of the layer.
func (m *model) deep(z *vector) (y float64, hidden [features]float64) {
	for f := range m.layer {
		hidden[f] = max(0, m.layer[f].dot(z))
		y += float64(m.readout[f] * hidden[f])
	}
	return y, hidden
}

// train returns a model that was trained offline, eq. (5).
func train(g *network, rng *rand.Rand) *model {
	m := new(model)
	for f := range m.layer {
		for k := range m.layer[f] {
			m.layer[f][k] = 2*rng.Float64() - 1
		}
		m.readout[f] = rng.Float64() - 0.5
	}
	data := make([]signal, signals)
	for n := range data {
		data[n] = draw(g, rng)
	}
	for step := range 20 * signals {
		m.step(g, &data[step%signals])
	}
	return m
}

// step is one gradient step on the cost of a signal, J = (1/N) Σ_i (y_i - want_i)².
func (m *model) step(g *network, s *signal) {
	var z [nodes]vector
	for k, x := 0, s.x; k <= order; k, x = k+1, g.shift(x) {
		for i := range z {
			z[i][k] = x[i] // [Sᵏx]_i
		}
	}
	next := *m
	for i := range z {
		deep, hidden := m.deep(&z[i])
		slope := offline * 2 * (m.wide.dot(&z[i]) + deep - s.want[i]) / nodes // ∂J/∂y_i, times the step size
		next.wide.add(-slope, &z[i])
		for f, h := range hidden {
			next.readout[f] -= float64(slope * h)
			if h > 0 {
				next.layer[f].add(-slope*m.readout[f], &z[i])
			}
		}
	}
	*m = next
}

// message is all that a node ever says, and it says it to its neighbours only.
type message struct {
	row    float64 // [Sᵏx]_j, one hop k per message
	taps   vector  // 𝒜_j, before the update of this step
	degree int     // how many nodes j hears
}

// live is one node: it sees its own entries of the signals, hears its neighbours
// over in and speaks to them over out. It returns the squared errors that the
// model as trained and the one that learns make in the second half of its life.
func live(i int, m *model, world []signal, in, out []chan message) (frozen, learning float64) {
	taps := m.wide // 𝒜_i
	for t, s := range world {
		var mixed vector
		z, home := vector{s.x[i]}, 1.0
		for k := range order {
			for _, c := range out {
				c <- message{z[k], taps, len(in)}
			}
			for _, c := range in {
				heard := <-c
				z[k+1] += heard.row / scale // [S Sᵏx]_i
				if k == 0 {
					w := 1 / float64(1+max(len(in), heard.degree)) // Metropolis: W is doubly stochastic
					mixed.add(w, &heard.taps)
					home -= w
				}
			}
		}
		deep, _ := m.deep(&z)
		trained, learned := m.wide.dot(&z)+deep-s.want[i], taps.dot(&z)+deep-s.want[i]
		mixed.add(home, &taps)
		mixed.add(-gamma*2*learned, &z)
		taps = mixed // eq. (9): 𝒜_i ← Σ_j W_ij 𝒜_j - γ ∇J_i(𝒜_i), with J_i = (y_i - want_i)²
		if t >= len(world)/2 {
			frozen += float64(trained * trained)
			learning += float64(learned * learned)
		}
	}
	return frozen, learning
}

// deploy runs a goroutine per node and returns the mean squared errors of all. A
// node waits for its neighbours at every hop, so that it is never more than one
// message ahead of any of them: channels have room for one.
func deploy(g *network, m *model, world []signal) (frozen, learning float64) {
	var in, out [nodes][]chan message
	for i, heard := range g {
		for _, j := range heard {
			c := make(chan message, 1) // from j to i
			in[i], out[j] = append(in[i], c), append(out[j], c)
		}
	}
	var errors [nodes][2]float64
	var running sync.WaitGroup
	for i := range nodes {
		running.Go(func() { errors[i][0], errors[i][1] = live(i, m, world, in[i], out[i]) })
	}
	running.Wait()
	for _, e := range errors {
		frozen += e[0] / float64(nodes*len(world)/2)
		learning += e[1] / float64(nodes*len(world)/2)
	}
	return frozen, learning
}

func main() { run(os.Stdout) }

// run trains once, and deploys the model on networks that have lost links.
func run(w io.Writer) {
	rng := rand.New(rand.NewPCG(1, 1))
	g := connect(func(i, j int) bool {
		return i/members == j/members && rng.Float64() < 0.8 || rng.Float64() < 0.03
	})
	m := train(g, rng)
	fmt.Fprintf(w, "%d nodes, mean squared error\nlinks lost   frozen   learning\n", nodes)
	for _, p := range []float64{0, 0.1, 0.2, 0.3, 0.4, 0.5} {
		left := connect(func(i, j int) bool { return slices.Contains(g[i], j) && rng.Float64() >= p })
		world := make([]signal, steps)
		for t := range world {
			world[t] = draw(left, rng)
		}
		frozen, learning := deploy(left, m, world)
		fmt.Fprintf(w, "%8.0f %%   %6.3f   %8.3f\n", 100*p, frozen, learning)
	}
}
