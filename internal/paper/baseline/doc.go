// Package baseline predicts ratings without a graph neural network: means,
// biases, nearest neighbours and matrix factorisation. They say what a
// recommender must beat.
//
// A [Table] is what a baseline may see: ratings of which some are hidden, so
// that it can be asked for those. All baselines are fitted to the same Table
// and are safe for concurrent use afterwards.
//
// # Letters
//
//	u, n       user, movie
//	r_un       rating, where there is one
//	μ, b_u, b_n  mean of all ratings; how far a user and a movie are from it
//	p_u, q_n   factors of a user and a movie
//	λ          strength of a penalty, or of a pull towards 0
package baseline
