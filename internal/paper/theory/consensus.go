package theory

import (
	"math"

	"github.com/wdgnn/wdgnn/internal/vector"
)

// ConsensusStep is what the bound of distributed learning needs to know of one
// step.
type ConsensusStep struct {
	Mixer *Mixer

	Global Curvature // of the mean of the nodes' costs
	Most   float64   // max_i C_{i,s}
	Root   float64   // (Σ_i C_{i,s}²)^½
	Slope  float64   // (Σ_i L_i²)^½ with L_i ≥ ‖∇J_i‖; +Inf where no bound is known

	// Apart is ζ_t = (Σ_i ‖∇J_i(𝒜*_t) - mean‖²)^½: what keeps nodes from
	// agreeing even at the optimum.
	Apart float64

	Drift float64 // ‖𝒜*_{t+1} - 𝒜*_t‖

	// Left is ‖mean_i ∇J_i(𝒜*_t)‖, what is left of the gradient at the optimum.
	Left float64

	// Rest is what was added to the step beside mixing and gradients, by rounding
	// in float32 say: to the mean, and to the disagreement. See ConsensusRest.
	Rest ConsensusError

	// Window, if not empty, ends a block of len(Window) steps with this one:
	// σ₂ of W_t, of W_t W_{t-1}, … and of the whole block. It is how graphs that
	// are connected only together contract.
	Window []float64
}

// NewConsensusStep computes the constants of a step from the costs of the nodes
// and the optimum of their mean. A radius, if positive, is one that no node
// leaves: ‖w_i‖ ≤ radius; it makes gradients bounded. Drift and Window are left
// to the caller.
func NewConsensusStep(local []*Problem, optimum []float64, mixer *Mixer, radius float64) (ConsensusStep, error) {
	s := ConsensusStep{Mixer: mixer}
	var err error
	if s.Global, err = Mean(local).Curvature(); err != nil {
		return s, err
	}
	gradients := make([][]float64, len(local))
	mean := make([]float64, len(optimum))
	slope, root := 0.0, 0.0
	for i, p := range local {
		c, err := p.Curvature()
		if err != nil {
			return s, err
		}
		s.Most = max(s.Most, c.Smooth)
		root += c.Smooth * c.Smooth
		l := math.Inf(1)
		if radius > 0 || p.Kind == CrossEntropy && p.Ridge == 0 {
			if l, err = p.Lipschitz(radius); err != nil {
				return s, err
			}
		}
		slope += l * l
		gradients[i] = p.Gradient(optimum)
		vector.Axpy(mean, 1/float64(len(local)), gradients[i])
	}
	s.Root, s.Slope, s.Left = math.Sqrt(root), math.Sqrt(slope), vector.Norm(mean)
	apart := 0.0
	for _, g := range gradients {
		d := distance(g, mean)
		apart += d * d
	}
	s.Apart = math.Sqrt(apart)
	return s, nil
}

// ConsensusError is where N nodes are, or a bound of it.
type ConsensusError struct {
	Mean   float64 // e_t = ‖mean_i 𝒜_{i,t} - 𝒜*_t‖
	Spread float64 // b_t = (Σ_i ‖𝒜_{i,t} - mean‖²)^½
}

// Worst bounds max_i ‖𝒜_{i,t} - 𝒜*_t‖. Rows that sum to 0 share the spread: no
// one has more than √((N-1)/N) of it.
func (e ConsensusError) Worst(nodes int) float64 {
	return e.Mean + math.Sqrt(float64(nodes-1)/float64(nodes))*e.Spread
}

// ConsensusBound bounds distributed learning, eq. (9), with W_t whose rows sum
// to 1 and step size γ, in place of Theorem 3. From where the nodes begin it
// takes, for every step,
//
//	e_{t+1} ≤ m_t e_t + (1/N)(γ C_F + κ_t) b_t + ‖𝒜*_{t+1} - 𝒜*_t‖ + γ‖mean_i ∇J_i(𝒜*_t)‖ + r_t
//	b_{t+1} ≤ min( σ₂ b_t + γ q_t,   ρ_t b_t + γ (ζ_t + C_F e_t) ) + s_t
//
//	r_t, s_t = Rest of the step, 0 if it is exact
//	q_t = min( L_F,  ζ_t + C_F e_t + C_max b_t ) ≥ what gradients add to the disagreement
//	ρ_t = max( λ₂(W_t), γ C_max - λ_N(W_t) )  for symmetric W_t, σ₂ + γ C_max otherwise
//	κ_t = ‖1ᵀW_t - 1ᵀ‖, 0 for doubly stochastic W_t
//
// with C_F, C_max, L_F the Root, Most and Slope of the step. At the end of a
// block of T steps the disagreement is also at most
//
//	σ₂(W_t ⋯ W_{t-T+1}) b_{t-T+1} + Σ_j σ₂(W_t ⋯ W_{t-j+1}) (γ q_{t-j} + s_{t-j})
//
// The costs must be convex and C_{i,s}-smooth; neither ‖𝒜_{i,0}‖ ≤ γL nor a
// bound of gradients is assumed. The result has one entry more than there are
// steps, the first of which is start. The proof is in doc/theory.md.
func ConsensusBound(nodes int, gamma float64, steps []ConsensusStep, start ConsensusError) []ConsensusError {
	bound := []ConsensusError{start}
	added := make([]float64, len(steps)) // γ q_t + s_t
	for t, s := range steps {
		e, b := bound[t].Mean, bound[t].Spread
		moved := s.Apart + s.Root*e
		added[t] = gamma*min(s.Slope, moved+s.Most*b) + s.Rest.Spread
		next := ConsensusError{Mean: s.Global.Contraction(gamma)*e + (gamma*s.Root+s.Mixer.Skew)/float64(nodes)*b}
		next.Mean += s.Drift + gamma*s.Left + s.Rest.Mean
		next.Spread = min(s.Mixer.Second*b+added[t], s.Mixer.shrink(gamma*s.Most)*b+gamma*moved+s.Rest.Spread)
		if block := len(s.Window); block > 0 && block <= t+1 {
			sum := s.Window[block-1]*bound[t+1-block].Spread + added[t]
			for j := 1; j < block; j++ {
				sum += s.Window[j-1] * added[t-j]
			}
			next.Spread = min(next.Spread, sum)
		}
		bound = append(bound, next)
	}
	return bound
}

// shrink returns ρ: what mixing and the curved part of the gradients, with γ
// C_max as given, leave of a disagreement.
func (m *Mixer) shrink(bend float64) float64 {
	if m.Symmetric {
		return max(m.High, bend-m.Low, 0)
	}
	return m.Second + bend
}

// SafeStep returns the largest γ for which repeating the step s for ever drives
// the bound of ConsensusBound to a limit: below 2/C_s, and such that
//
//	(1 - m)(1 - ρ) > γ C_F (γ C_F + κ)/N
//
// It is 0 where there is none, because a cost is not strongly convex or mixing
// does not contract.
func (s *ConsensusStep) SafeStep(nodes int) float64 {
	settles := func(gamma float64) bool {
		m, rho := s.Global.Contraction(gamma), s.Mixer.shrink(gamma*s.Most)
		return m < 1 && rho < 1 && (1-m)*(1-rho) > gamma*s.Root*(gamma*s.Root+s.Mixer.Skew)/float64(nodes)
	}
	high := s.Global.SafeStep()
	if math.IsInf(high, 0) || math.IsNaN(high) {
		return 0
	}
	low := high
	for !settles(low) {
		if low /= 2; low < 1e-12*high {
			return 0
		}
	}
	high = 2 * low
	for range 50 {
		if mid := (low + high) / 2; settles(mid) {
			low = mid
		} else {
			high = mid
		}
	}
	return low
}

// PaperConsensus returns log₁₀ of the bound of Theorem 3, eq. (19), at the end of
// the steps, for the literal constants: L a bound of every gradient, C_d the
// largest gap of a link.
//
//	Π m_τ e_0 + 2 γ C_ε L (γ C_s/(1 - m̂) + 1) + (C_B + γ‖∇J(𝒜*)‖ + r)/(1 - m̂)
//
// It is +Inf where m̂ ≥ 1 or L is not finite.
func PaperConsensus(nodes, gap int, epsilon, gamma, lipschitz float64, steps []ConsensusStep, start ConsensusError) float64 {
	product, slowest, smooth, drift, left := start.Mean, 0.0, 0.0, 0.0, 0.0
	for _, s := range steps {
		m := s.Global.Contraction(gamma)
		product *= m
		slowest, smooth, drift = max(slowest, m), max(smooth, s.Global.Smooth), max(drift, s.Drift)
		left = max(left, gamma*s.Left+s.Rest.Mean)
	}
	if slowest >= 1 || math.IsInf(lipschitz, 0) {
		return math.Inf(1)
	}
	huge := PaperConstant(nodes, gap, epsilon) + math.Log10(2*gamma*lipschitz*(gamma*smooth/(1-slowest)+1))
	rest := math.Log10(product + (drift+left)/(1-slowest))
	if rest > huge {
		huge, rest = rest, huge
	}
	return huge + math.Log10(1+math.Pow(10, rest-huge))
}

// DescendTogether runs eq. (9) in float64: local[t][i] is the cost of node i at
// step t, start[i] where it begins. It returns w_{i,t} before every step and
// after the last.
func DescendTogether(local [][]*Problem, mixers []*Mixer, start [][]float64, gamma float64) [][][]float64 {
	path := [][][]float64{start}
	for t, costs := range local {
		path = append(path, together(costs, mixers[t], path[t], gamma))
	}
	return path
}

// together takes one step of eq. (9).
func together(costs []*Problem, mixer *Mixer, now [][]float64, gamma float64) [][]float64 {
	n := len(now)
	next := make([][]float64, n)
	for i := range n {
		next[i] = make([]float64, len(now[i]))
		for j, v := range mixer.dense[i*n : (i+1)*n] {
			if v != 0 {
				vector.Axpy(next[i], v, now[j])
			}
		}
		vector.Axpy(next[i], -gamma, costs[i].Gradient(now[i]))
	}
	return next
}

// ConsensusRest returns what took nodes from w_{i,t} to w_{i,t+1} beside the step
// of eq. (9), computed in float64,
//
//	w_{i,t+1} - (Σ_j W_ij w_{j,t} - γ∇J_i(w_{i,t}))
//
// in the mean and around it, and the most that it is of any node.
func ConsensusRest(local []*Problem, mixer *Mixer, now, next [][]float64, gamma float64) (rest ConsensusError, worst float64) {
	exact := together(local, mixer, now, gamma)
	for i, w := range exact {
		for k, v := range next[i] {
			w[k] = v - w[k]
		}
	}
	return MeasureConsensus(exact, make([]float64, local[0].Len()))
}

// MeasureConsensus returns where nodes with parameters w_i are, seen from the
// optimum, and the largest ‖w_i - w*‖.
func MeasureConsensus(w [][]float64, optimum []float64) (e ConsensusError, worst float64) {
	mean := make([]float64, len(optimum))
	for _, v := range w {
		vector.Axpy(mean, 1/float64(len(w)), v)
	}
	for _, v := range w {
		d := distance(v, mean)
		e.Spread += d * d
		worst = max(worst, distance(v, optimum))
	}
	e.Spread, e.Mean = math.Sqrt(e.Spread), distance(mean, optimum)
	return e, worst
}
