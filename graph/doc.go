// Package graph holds the graphs of this module and the matrices that are made
// from them: shift operators S, mixing matrices W, subgraphs under link
// outages, spectra. It learns nothing and knows no model.
//
// A [Graph] comes from one of the builders ([FromEdges], [SBM], [ErdosRenyi],
// [Geometric], [Ring], [Grid]) and never changes afterwards. A
// [Shift] names an operator, a [Mixing] names a mixing matrix, and both turn a
// graph into a [mat.CSR]:
//
//	g, err := graph.SBM(graph.SBMConfig{Sizes: sizes, Intra: 0.8, Inter: 0.2}, rng)
//	s, err := graph.ShiftSpectral.Of(g)    // S = A / λmax
//	w, err := graph.MixingMetropolis.Of(g) // doubly stochastic W
//
// Graphs that change at every step come from a [Builder], which reuses memory.
//
// Everywhere row i receives: an entry (i,j) of A, S or W means that node i
// hears node j.
//
// # Letters
//
//	N      number of nodes; nodes are 0 … N-1
//	A      adjacency matrix, N×N, positive weights, no diagonal
//	D      diagonal matrix of weighted degrees, D_ii = Σ_j A_ij
//	L      Laplacian, D - A
//	S      graph shift operator of eq. (1), N×N, on the graph and its diagonal
//	W      mixing matrix of eq. (9), N×N, on the graph and its diagonal
//	d_i    degree: how many nodes i hears, whatever their weights
//	λmax   largest absolute eigenvalue of A
//	σ₂     second largest singular value of W
//	p      probability that a link is out
//	r      communication radius in metres
//	T, t   number of time steps, one of them
//
// # Arithmetic
//
// Weights are stored as float32. Everything computed from them is computed in
// float64 and rounded to float32 once. Randomness comes from the generator
// that a builder is given, and from nowhere else. Values that reach a program
// from outside (edges, positions, probabilities, names) are checked and give
// errors; an index out of range or matrices of unequal shape are mistakes of
// the program and panic.
package graph
