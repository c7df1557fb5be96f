// Package crown bounds what a model answers where something that it reads is not known:
// noise on signals ([Noise]), or what a node that lies says to its neighbours ([Liar]).
//
// A [Crown] carries linear bounds back through a network, as CROWN does; a [Case] is one
// signal: how far its answers can move, up to which size no class changes, and, by
// gradients, what is possible. Rounding of float32 is part of every bound.
//
// [Network] and [Shift] are a model and its shift in float64. Taps that nodes have of
// their own enter by Network.GiveTaps, weights of single neighbours by Network.GiveTerms.
// doc/theory.md has the proofs, package theory the letters. Nothing here opens a file.
package crown
