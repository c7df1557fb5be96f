package rule

import (
	"fmt"
	"math"
)

// Newton is how a node learns by second derivatives: online Laplace, with an
// implicit step. There is no step size. A node keeps the mean of
// what it believes of its parameters, and how sure it is, P: after every answer
//
//	X_{t+1} = argmin ½|X - X_t|²_{P⁻¹} + w J_t(X)        P⁻¹ grows by w times the information of the answer
//
// which is eq. (9) with W = I, a matrix in the place of γ and the gradient at the
// new point, so that no step goes too far. X is written in whitened features and
// begins at 0, the trained taps. For squared errors it is recursive least squares,
// exactly, with a ridge 1/τ to the trained taps.
//
//	y = y† + Xᵀ z̃      z̃ = L⁻¹ [z 1]ᵀ, LLᵀ = Σ + 1e-4 diag Σ      X: p×C, within the row space of Ω
//
// P is one matrix over all of X where that has no more than 128 numbers and the node
// weights no neighbours one by one, otherwise one of the features that all outputs
// share, which for squared errors whose targets are known as a whole is the same.
// Certainty fades before the answer is taken in; of several answers that are told in
// one step, one is taken in after the other.
//
// Deviation: eq. (9) steps along the gradient at the old taps, and mixes.
type Newton struct {
	// Prior is τ, the variance of X before anything was observed: the larger, the
	// less it is pulled to the trained taps. 0 means 30 for cross-entropy, 3 with
	// weights for every neighbour, and for
	// other costs a hundredth of what one answer tells, τ = 0.01/κ with κ the
	// curvature of the cost: a pull as strong as 100 answers.
	Prior float64 `json:"prior,omitempty"`

	// Doubt is ε, 0 ≤ ε < 1, the share of answers that are wrong: a label which is
	// unlikely under what was learned counts less. Cross-entropy only. With 0 every
	// label is believed, which learns fastest where all are right.
	Doubt float64 `json:"doubt"`

	// Forget is a, 0 < a ≤ 1, by which certainty fades with every answer,
	// P ← a²P + (1-a²)τI; 0 means 1, never.
	Forget float64 `json:"forget,omitempty"`

	// Fresh is after how many answers, again and again, a second learner begins
	// from the trained taps beside the first. It takes over once it is ahead; see
	// ahead. 0 means never.
	Fresh int `json:"fresh,omitempty"`

	// Restart says whether a node begins again from the trained taps when its
	// links change; see Node.Relink.
	Restart bool `json:"restart,omitempty"`
}

// String says in a few words how it learns.
func (w *Newton) String() string {
	words := "second derivatives"
	if w.Prior != 0 {
		words += fmt.Sprintf(", prior %g", w.Prior)
	}
	if w.Doubt != 0 {
		words += fmt.Sprintf(", doubt %g", w.Doubt)
	}
	if w.forget() != 1 {
		words += fmt.Sprintf(", forgetting %g", w.Forget)
	}
	if w.Fresh != 0 {
		words += fmt.Sprintf(", a newcomer every %d answers", w.Fresh)
	}
	if w.Restart {
		words += ", begins again with other links"
	}
	return words
}

// complaints reports what is wrong with w, each with its key.
func (w *Newton) complaints() (list []string) {
	complain := func(format string, args ...any) { list = append(list, fmt.Sprintf("newton."+format, args...)) }
	if !(w.Prior >= 0) || math.IsInf(w.Prior, 0) {
		complain("prior is %v, want a number ≥ 0", w.Prior)
	}
	if !(w.Doubt >= 0 && w.Doubt < 1) {
		complain("doubt is %v, want a share of answers, 0 to below 1", w.Doubt)
	}
	if !(w.Forget >= 0 && w.Forget <= 1) {
		complain("forget is %v, want above 0 to 1, or 0 for 1", w.Forget)
	}
	if w.Fresh < 0 {
		complain("fresh is %d answers, want 0 for never or more", w.Fresh)
	}
	return list
}

func (w *Newton) forget() float64 {
	if w.Forget == 0 {
		return 1
	}
	return w.Forget
}

const (
	classPrior = 30.0
	heardPrior = 3.0
	otherPrior = 0.01
)

// prior returns τ for the costs that j judges, of a node that hears its neighbours
// one by one or not.
func (w *Newton) prior(j *judge, outputs int, hears bool) float64 {
	switch {
	case w.Prior != 0:
		return w.Prior
	case j.classes && hears:
		return heardPrior
	case j.classes:
		return classPrior
	}
	return otherPrior / j.curvature(outputs)
}

const (
	fullMost   = 128 // numbers of X up to which P is one matrix over all of them
	freshAge   = 10  // answers before a newcomer may take over
	freshAhead = 3   // nats
)

// ahead says whether a newcomer is ahead of a learner after age answers, given
// the sums of what they cost in that time. Costs of labels are the logarithms of
// what was thought of them, doubt included, and 3 nats are enough. Other costs have
// units: of errors that are normal with a variance that nobody knows, the
// likelihoods differ by (age/2) ln(old/new) nats.
func ahead(age int, old, new float64, classes bool) bool {
	switch {
	case age < freshAge:
		return false
	case classes:
		return old-new >= freshAhead
	case !(old > new && new >= 0):
		return false
	}
	return float64(age)/2*logRatio(old, new) >= freshAhead
}
