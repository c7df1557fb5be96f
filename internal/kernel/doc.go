// Package kernel holds the inner loops: plain Go that defines what each loop
// computes, and assembly that computes it fast.
//
// A [Set] is one implementation of every loop. The portable set is the
// specification: short loops that round after every operation, so that they
// give the same bits on every architecture. The assembly fuses each
// multiply-add and works on eight or sixteen columns at a time; it is bit for
// bit the portable loop with every a*b + c fused, except where a loop's comment
// says that lanes are regrouped (Dot, Softmax): by eight, however wide the
// registers are. So bits are promised per family, [Fused] or [Portable], and
// within one the fastest set may be chosen freely.
//
// Two rules make distribution exact. Every element of a product is one
// accumulator that runs over its inner index in ascending order, and loops
// vectorise across output columns only. So a row computed alone, as an agent
// does, equals that row of the whole product, and splitting rows among
// threads changes nothing.
//
// Loops trust their arguments: package mat checks shapes and aliasing before
// it calls them. Slices are row-major, ld is the distance between rows.
package kernel
