package theory

import (
	"math"

	"github.com/wdgnn/wdgnn/internal/crown"
	"github.com/wdgnn/wdgnn/internal/vector"
)

// Certificate bounds ‖Ψ(X; S) - Ψ(X; Ŝ)‖ by operator norms of the actual
// filters, layer by layer:
//
//	e_0 = 0      e_ℓ = ‖ΔH_ℓ X_{ℓ-1}‖ + ‖H_ℓ(Ŝ)‖ e_{ℓ-1}      ΔH = H(Ŝ) - H(S)
//	‖Ψ(X; S) - Ψ(X; Ŝ)‖  ≤  ‖ΔH_W‖ ‖X‖ + |α_D| ‖R‖ e_L
//
// with ΔH_W the change of the wide part behind gain and readout, each node with
// its own taps if it has any; where biases of nodes' own change too, their change is
// added. Biases make the layers answer even to X = 0; with X°_ℓ that answer on S,
//
//	‖ΔH_ℓ X_{ℓ-1}‖ ≤ min( ‖ΔH_ℓ X°_{ℓ-1}‖ + ‖ΔH_ℓ‖ ‖X_{ℓ-1} - X°_{ℓ-1}‖,
//	                      ‖ΔH_ℓ‖ ‖X_{ℓ-1}‖ )
//
// and ‖X_ℓ - X°_ℓ‖ ≤ ‖H_ℓ(S)‖ ‖X_{ℓ-1} - X°_{ℓ-1}‖. Biases cancel and σ does not
// stretch. Written out, what reaches the outputs is a sum over the layers, each with
// everything behind it, and activations average: see Chain and Together, whose bounds are
// taken where they are smaller. It needs neither symmetric shifts nor a small perturbation. Norms of
// large filters hold but for a probability of FailureProb each.
type Certificate struct {
	Wide   float64     // ‖ΔH_W‖; 0 without a wide part
	Biases float64     // what biases of nodes' own change that are others on Ŝ; see Network.Perturbed
	Layers []LayerNorm // of the deep part
	Behind float64     // |α_D| ‖R‖
	Chains []Chain     // by layer; nil asks for the recursion alone

	Together *Together // nil for networks that are too large for it
}

// LayerNorm are the operator norms of one layer.
type LayerNorm struct {
	Name   string  `json:"filter"`
	Change float64 `json:"change"`      // ‖H(Ŝ) - H(S)‖
	Norm   float64 `json:"norm"`        // ‖H(S)‖; 0 for the last layer, where nobody asks
	After  float64 `json:"perturbed"`   // ‖H(Ŝ)‖; 0 for the first layer, whose input does not change
	Rest   float64 `json:"rest_change"` // ‖ΔH_ℓ X°_{ℓ-1}‖
	Size   float64 `json:"rest"`        // ‖X°_{ℓ-1}‖
}

// newCertificate computes the norms for the outputs of the nodes in read, all if
// that is nil.
func newCertificate(n *crown.Network, p *Pair, read []bool, e effort) Certificate {
	var c Certificate
	if n.Wide != nil {
		c.Wide, c.Biases = wideChange(n, p, read)
	}
	rest := n.Layers(p.Shift, make([]float64, p.Shift.Nodes()*n.In))
	for l := range n.Deep {
		f := &n.Deep[l].Filter
		norms := LayerNorm{Name: f.Name, Change: changeNorm(f, p), Size: vector.Norm(rest[l])}
		if l > 0 {
			norms.After = filterNorm(f, p.Perturbed, p.perturbedT, p.PerturbedValues)
			norms.Rest = vector.Norm(difference(f.Apply(p.Perturbed, rest[l], false), f.Apply(p.Shift, rest[l], false)))
		}
		if l < len(n.Deep)-1 {
			norms.Norm = filterNorm(f, p.Shift, p.shiftT, p.Values)
		}
		c.Layers = append(c.Layers, norms)
	}
	c.Behind = math.Abs(n.GainDeep) * readoutNorm(n)
	c.Chains = chainsOf(n, p, &c, rest, read)
	if c.Together = newTogether(n, p, rest, read, e); c.Together != nil {
		sum := 0.0
		for _, chain := range c.Chains {
			sum += chain.Rest
		}
		c.Together.Rest = min(c.Together.Rest, sum)
	}
	return c
}

// Inputs says how large the signals are that the layers read on S.
type Inputs struct {
	Size []float64 // ‖X_{ℓ-1}‖
	Away []float64 // ‖X_{ℓ-1} - X°_{ℓ-1}‖
}

// Bound returns the bound for every signal with ‖X‖ ≤ signal.
func (c *Certificate) Bound(signal float64) float64 {
	var in Inputs
	away := signal
	for _, l := range c.Layers {
		in.Size, in.Away = append(in.Size, l.Size+away), append(in.Away, away)
		away *= l.Norm
	}
	return c.ForSignal(signal, in)
}

// ForSignal returns the bound for one signal, of which it is known what the
// layers read on S. It holds for every Ŝ with these norms.
func (c *Certificate) ForSignal(signal float64, in Inputs) float64 {
	least := c.recursion(signal, in)
	if c.Chains != nil {
		sum := c.Biases + c.Wide*signal
		for l := range c.Chains {
			sum += c.Chains[l].of(signal, in.Size[l], in.Away[l])
		}
		least = min(least, sum)
	}
	if t := c.Together; t != nil {
		least = min(least, c.Biases+c.Wide*signal+t.Rest+t.Gain*signal)
	}
	return least
}

// of bounds what the change of a layer does for a signal, given the size of what the
// layer reads, and how far that is from what it reads of X = 0.
func (c *Chain) of(signal, size, away float64) float64 {
	return min(c.Rest+c.Whole*signal, c.Rest+c.After*away, c.After*size)
}

// recursion is the bound by norms of single layers.
func (c *Certificate) recursion(signal float64, in Inputs) float64 {
	e := 0.0
	for l, layer := range c.Layers {
		e = min(layer.Rest+layer.Change*in.Away[l], layer.Change*in.Size[l]) + layer.After*e
	}
	return c.Biases + c.Wide*signal + c.Behind*e
}

// Measurement is one signal on both graphs.
type Measurement struct {
	Signal float64 // ‖X‖
	Change float64 // ‖Ψ(X; S) - Ψ(X; Ŝ)‖, over the nodes that are read
	Output float64 // ‖Ψ(X; S)‖
	Known  float64 // Certificate.ForSignal
	Any    float64 // Certificate.Bound
}

// Measure runs the network on both graphs.
func (s *Stability) Measure(p *Pair, x []float64) Measurement {
	n := s.network
	a, b := only(n.Forward(p.Shift, x), s.read), only(n.OnPerturbed().Forward(p.Perturbed, x), s.read)
	m := Measurement{Signal: vector.Norm(x), Output: vector.Norm(a), Change: vector.Norm(difference(b, a))}
	var in Inputs
	rest := n.Layers(p.Shift, make([]float64, len(x)))
	for l, h := range n.Layers(p.Shift, x) {
		if l < len(n.Deep) {
			in.Size, in.Away = append(in.Size, vector.Norm(h)), append(in.Away, vector.Norm(difference(append([]float64(nil), h...), rest[l])))
		}
	}
	m.Known, m.Any = s.Direct.ForSignal(m.Signal, in), s.Direct.Bound(m.Signal)
	return m
}

// Moved returns the pair of S and (1-t) S + t Ŝ, a graph on the way to the
// perturbed one. Its relative perturbation is t E.
func (p *Pair) Moved(t float64) (*Pair, error) {
	return NewPair(p.Shift, between(p.Shift, p.Perturbed, t))
}

// Along measures a signal on S and on (1-t) S + t Ŝ, with the certificate of
// these two. It computes no more than that needs.
func (s *Stability) Along(p *Pair, t float64, x []float64) (Measurement, error) {
	q := &Pair{Shift: p.Shift, shiftT: p.shiftT, Symmetric: p.Symmetric, Values: p.Values}
	q.Perturbed = between(p.Shift, p.Perturbed, t)
	q.perturbedT = q.Perturbed.Transposed()
	if p.Values != nil && p.Shift.Nodes() <= mostAlign {
		values, err := eigenvalues(q.Perturbed.Dense(), p.Shift.Nodes())
		if err != nil {
			return Measurement{}, err
		}
		q.PerturbedValues = values
	}
	moved := &Stability{network: s.network, read: s.read, Direct: newCertificate(s.network, q, s.read, s.effort)}
	return moved.Measure(q, x), nil
}
