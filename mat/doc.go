// Package mat is the small linear algebra of this module: float32 matrices,
// dense and in compressed sparse rows, and the few products that graph
// filters need.
//
// A [Dense] is a view: a small value that shares its Data with whatever it was
// cut from. A [CSR] is immutable once built. Products are methods of an
// [Engine], which decides the number of threads; the nil Engine, called
// [Serial], is ready to use:
//
//	mat.Serial.SpMM(y, s, x) // Y = S X
//
// Destinations come first. Shapes that disagree, and destinations that share
// memory with an operand they may not share it with, are mistakes of the
// program: they panic with the name of the product and the shapes.
//
// Every element of a product is summed over its inner index in ascending
// order. A row computed alone, or by another thread, or on another machine
// with kernels of the same family, therefore has the same bits.
package mat
