// Package kernel holds the inner loops: plain Go that defines what each loop
// computes, and assembly for amd64 and arm64 that computes it fast.
//
// A [Set] is one implementation of every loop, and belongs to one of two
// families of bits. The [Portable] family has one set, the specification:
// short loops that round after every operation. The [Fused] family is bit for
// bit the same loops with every a*b + c fused, except where a loop's comment
// says that lanes are regrouped (Dot, Softmax), which all its sets do in the
// same way. AVX2 and AVX-512 on amd64, NEON on arm64, and plain Go on arm64,
// whose compiler fuses, are of this family. Bits are promised per family,
// whatever the processor; those of results that are not a number are not.
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
