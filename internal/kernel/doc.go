// Package kernel holds the inner loops: plain Go that defines what each loop
// computes, and AVX2+FMA assembly that computes it fast.
//
// A [Set] is one implementation of every loop. [Portable] is the
// specification: short loops that round after every operation, so that they
// give the same bits on every architecture. [AVX2] fuses each multiply-add
// and works on eight columns at a time; it is bit for bit the portable loop
// with every a*b + c fused, except where a loop's comment says that lanes are
// regrouped (Dot, Softmax). Bits are therefore promised per set.
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
