// Package conformal says how far an answer can be trusted: a set of classes, or
// an interval of numbers, that holds the truth as often as was asked for.
//
// It looks at nothing but how answers turned out, so it works with any model, as
// trained or while it learns. A node keeps the last scores of its answers, how far
// each was from the truth, and a level α_t that moves with every miss:
//
//	α_{t+1} = min(α_t + r (α - miss_t), 3α/2)      α = 1 - coverage, r the rate
//
// (adaptive conformal inference, Gibbs and Candès 2021). What is answered next
// holds all that scores no more than the ⌈(n+1)(1-α_t)⌉-th smallest of n scores:
//
//	a class c:    s = max_{c'≠c} y_c' - y_c ≤ q      and the best class always
//	a number v:   q_low ≤ v - y ≤ q_high             half of α_t beyond either end
//
// Where that is more than n, or α_t ≤ 0, everything is answered: nothing is known
// yet.
//
// Promised is this, whatever the world does and however the model learns: of T
// judged answers of a node (and output), at most
//
//	α T + 3α/(2r) + 1 + h
//
// miss the truth, if they are judged at most h steps late; with the rate r = α/5
// that is 8.5 + h more than α T. doc/uncertainty.md has the proof. It holds for a
// node on its own, in the long run, and over all its answers together: not for each
// answer, not for each class, not for any short stretch of time. Where the best
// class alone misses less often than α, coverage is above what was asked for.
//
// No function of this package calls an exponential or a logarithm: the same
// answers give the same bits everywhere. It imports nothing of the module.
package conformal
