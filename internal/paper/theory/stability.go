package theory

import (
	"fmt"
	"math"

	"github.com/wdgnn/wdgnn/internal/crown"
	"github.com/wdgnn/wdgnn/internal/vector"
)

// Check is one hypothesis of a theorem and the number that decides it.
type Check struct {
	Name  string  `json:"name"`
	Holds bool    `json:"holds"`
	Value float64 `json:"-"`
	Text  string  `json:"text"` // the number, in words
}

// Stability is Theorem 1 for a network and a pair of graphs.
type Stability struct {
	Nodes   int
	Checks  []Check
	Filters []FilterConstants

	IntegralLipschitz float64 // C_L, the largest of all filters
	Architecture      float64 // C_Ψ = |α_D| L Π_{ℓ<L} F_ℓ + |α_W|
	Relative          Relative

	// Direct is our certificate, valid for every pair of graphs and every
	// signal.
	Direct Certificate

	network *crown.Network
	read    []bool // whose outputs count; nil means all
	effort  effort
	applies bool // symmetric, and E exists: the theorem's bound is a number
	known   bool // C_L and ε were computed
}

// NewStability computes Theorem 1 for a network, and the direct certificate for the
// outputs of the nodes in read; none means all.
func NewStability(n *crown.Network, p *Pair, read ...int) *Stability {
	return newStability(n, p, usual, read)
}

func newStability(n *crown.Network, p *Pair, e effort, read []int) *Stability {
	s := &Stability{Nodes: p.Shift.Nodes(), network: n, effort: e, Relative: p.Relative}
	if len(read) > 0 {
		s.read = make([]bool, s.Nodes)
		for _, i := range read {
			s.read[i] = true
		}
	}
	s.Direct = newCertificate(n, p, s.read, e)
	s.Architecture = math.Abs(n.GainWide)
	if n.Wide == nil {
		s.Architecture = 0
	}
	if layers := len(n.Deep); layers > 0 {
		product := math.Abs(n.GainDeep) * float64(layers)
		for _, layer := range n.Deep[:layers-1] {
			product *= float64(layer.Out)
		}
		s.Architecture += product
	}
	symmetric := "every entry"
	if !p.Symmetric {
		symmetric = p.Asymmetry
	}
	s.check("both shifts are symmetric", p.Symmetric, 0, symmetric)
	if n.OwnTaps() > 0 {
		s.check("all nodes have the same taps", false, float64(n.OwnTaps()),
			fmt.Sprintf("%d of %d have taps, or weights of neighbours, of their own; the direct certificate is of these", n.OwnTaps(), s.Nodes))
	}
	if !p.Symmetric || n.OwnTaps() > 0 {
		return s
	}
	gain, worst := 0.0, ""
	for _, f := range n.Filters() {
		c := Constants(f, p.Over, p.Frequencies())
		s.Filters = append(s.Filters, c)
		s.IntegralLipschitz = max(s.IntegralLipschitz, c.IntegralLipschitz)
		if c.Gain > gain {
			gain, worst = c.Gain, c.Name
		}
	}
	s.check("filters are integral Lipschitz", !math.IsInf(s.IntegralLipschitz, 0),
		s.IntegralLipschitz, fmt.Sprintf("C_L = %.4g", s.IntegralLipschitz))
	s.check("no response exceeds 1", gain <= 1, gain, fmt.Sprintf("max |a(λ)| = %.4g, filter %s", gain, worst))
	s.check("one feature in and one out", n.In == 1 && n.Features == 1 && n.Readout == nil, 0,
		fmt.Sprintf("%d in, %d inside, %d out", n.In, n.Features, n.Outputs))
	biased := 0.0
	for _, f := range n.Filters() {
		biased = max(biased, vector.Norm(f.Bias))
	}
	s.check("filters have no bias", biased == 0, biased, fmt.Sprintf("largest ‖a‖ = %.4g", biased))
	s.check("σ(0) = 0 and |σ(x) - σ(y)| ≤ |x - y|", true, 1, activations(n))
	if r := p.Relative; r.Computed {
		text := fmt.Sprintf("ε = %.4g, nodes in their order: an upper bound of d(S, Ŝ)", r.Size)
		if r.Zero > 0 {
			text += fmt.Sprintf("; λ_i + λ_j = 0 for %d pairs, where E is free and taken as 0", r.Zero)
		}
		if !r.Exists {
			text = fmt.Sprintf("%.2g %% of the change lies where λ_i + λ_j = 0 (%d pairs)", 100*r.Unreachable, r.Zero)
		}
		s.check("Ŝ - S = E S + S E has a solution", r.Exists, r.Size, text)
		s.check("ε is small: O(ε²) may be left out", r.Exists && r.Size <= 0.1, r.Size, fmt.Sprintf("ε = %.4g, want 0.1 at most", r.Size))
		s.applies, s.known = r.Exists, true
	}
	return s
}

func (s *Stability) check(name string, holds bool, value float64, text string) {
	s.Checks = append(s.Checks, Check{name, holds, value, text})
}

func activations(n *crown.Network) string {
	if len(n.Deep) == 0 {
		return "no nonlinearity"
	}
	text := ""
	for l, layer := range n.Deep {
		if l > 0 {
			text += ", "
		}
		text += layer.Activation.String()
	}
	return text
}

// Missing lists the numbers that were not computed, and why.
func (s *Stability) Missing() []string {
	var out []string
	if !s.Checks[0].Holds {
		return []string{"C_L, ε and the bounds of Theorem 1: it assumes symmetric shifts"}
	}
	if s.network.OwnTaps() > 0 {
		return []string{"C_L and the bounds of Theorem 1: it is about one filter for all nodes, and taps of their own have no frequency response"}
	}
	if !s.Relative.Computed {
		out = append(out, fmt.Sprintf("ε, δ and the bounds of Theorem 1: they need eigenvectors, which are computed up to %d nodes", MostDense),
			"C_L is over [-λmax, λmax], not over the spectra")
	} else if s.Relative.Exists && math.IsNaN(s.Relative.Misalignment) {
		out = append(out, fmt.Sprintf("δ, computed up to %d nodes; 8 stands in", mostAlign))
	}
	for _, f := range s.Filters {
		if math.IsNaN(f.Pair) {
			out = append(out, "C_L of eq. (12) over all pairs of eigenvalues, too many of them; max |λ a'(λ)| stands in")
			break
		}
	}
	return out
}

// Paper returns the bound of Theorem 1 to the letter, without O(ε²):
//
//	2 C_L C_Ψ (1 + 8√N) ‖X‖ ε        eq. (13)
//
// It is NaN where ε is not known and +Inf where no E exists.
func (s *Stability) Paper(signal float64) float64 {
	if !s.known {
		return math.NaN()
	}
	return 2 * s.IntegralLipschitz * s.Architecture * (1 + 8*math.Sqrt(float64(s.Nodes))) * signal * s.Relative.Size
}

// Extended returns what the proof of Theorem 1 gives, to first order in ε, for
// a network as it is: several features, responses above 1, biases, a readout.
//
//	κ = 2 (1 + 8√N) ε      s_0 = √F_0 ‖X‖      D_0 = 0
//	D_ℓ = F_ℓ (κ C_ℓ s_{ℓ-1} + B_ℓ D_{ℓ-1})
//	s_ℓ = F_ℓ B_ℓ s_{ℓ-1} + √N ‖b_ℓ‖₁
//	‖R‖ √F_L ( |α_W| κ C_W s_0 + |α_D| (κ C_L s_{L-1} + B_L D_{L-1}) )
//
// with s_ℓ and D_ℓ bounds of Σ_f ‖x_ℓ^f‖ and of its change, C_ℓ and B_ℓ the
// constants of the filter of layer ℓ. Where the hypotheses hold it is Paper.
func (s *Stability) Extended(signal float64) float64 { return s.extended(signal, 8) }

// Sharper is Extended with the measured misalignment δ of Lemma 1 in place of
// 8.
func (s *Stability) Sharper(signal float64) float64 {
	delta := s.Relative.Misalignment
	if math.IsNaN(delta) {
		delta = 8
	}
	return s.extended(signal, min(delta, 8))
}

func (s *Stability) extended(signal, delta float64) float64 {
	if !s.known {
		return math.NaN()
	}
	if !s.applies {
		return math.Inf(1)
	}
	n, root := s.network, math.Sqrt(float64(s.Nodes))
	kappa := 2 * (1 + delta*root) * s.Relative.Size
	next := 0
	constants := func() (lipschitz, gain float64) {
		c := s.Filters[next]
		next++
		if math.IsNaN(c.Pair) {
			return c.IntegralLipschitz, c.Gain
		}
		return c.Pair, c.Gain
	}
	start := math.Sqrt(float64(n.In)) * signal
	total := 0.0
	if n.Wide != nil {
		c, _ := constants()
		total += math.Abs(n.GainWide) * kappa * c * start
	}
	size, moved := start, 0.0
	for l, layer := range n.Deep {
		c, b := constants()
		per := kappa*c*size + b*moved // of one feature
		if l == len(n.Deep)-1 {
			total += math.Abs(n.GainDeep) * per
			break
		}
		width, bias := float64(layer.Out), 0.0
		for _, v := range layer.Bias {
			bias += math.Abs(v)
		}
		size, moved = width*b*size+root*bias, width*per
	}
	return total * math.Sqrt(float64(n.Features)) * readoutNorm(n)
}

// readoutNorm returns ‖R‖, 1 without a readout.
func readoutNorm(n *crown.Network) float64 {
	if n.Readout == nil {
		return 1
	}
	return spectralNorm(n.Readout, n.Features, n.Outputs)
}
