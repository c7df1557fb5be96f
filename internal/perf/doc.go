// Package perf holds the tasks by which the speed of this module is compared
// with other libraries: training steps and inference of the paper's three
// experiments, flights of robots, one dense product, one filter on a large
// graph.
//
// A Task is a value; its New draws data and returns a function that does the
// work once. Measure times that function with a clock it is given. The program
// bench prints what it finds, and the folder bench compares it with PyTorch.
//
// Sizes, densities and distributions are those of the peers' scripts; data are
// drawn from named random streams and not the same numbers.
package perf
