// Package recommend predicts ratings of movies and learns from every new one.
//
// One wide and deep graph neural network serves all movies of the graph: it is
// trained with every rated movie of every training user as target in turn
// ([Train]), so a user and a movie meet it only through the K+1 numbers
// z_k = [Sᵏx]_n of package movies. [Open] puts a trained [Model] behind a
// [Service]: predictions, and ratings that move the taps of the wide part at
// once by eq. (7).
//
// # What is kept
//
// A rating, and the parameters that it led to, are on the disk before
// [Service.Rate] returns. A service that is opened again, after a crash too,
// has the same ratings and the same parameters, bit for bit.
//
// # The guard
//
// Users of the data judge what is learned: a step that would make their predictions much
// worse than those of the model as trained is held back; see [GuardConfig]. How far one
// user can move what all share is bounded; see [LimitConfig].
//
// # Letters
//
//	N, n   movies of the graph, and one of them, the target
//	x      signal of a user: ratings less their mean, the target's left out
//	m      that mean; what is predicted is the target's rating less m
//	z      K+1 numbers [Sᵏx]_n, for which package movies has the formula
//	y†     output of the model as trained, "base"; m + y† is the frozen prediction
//
// Predictions are clipped to the scale of the ratings, learning is not.
package recommend
