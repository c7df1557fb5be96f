// Package movies is the world of the movie recommendation experiment of
// Section 6.3: nodes are movies, edges join movies that were rated alike, a
// signal holds the ratings of one user, and the rating of one movie, the
// target, is to be predicted from the others.
//
//	list, err := movies.ReadUData(file)                     // or ReadRatingsDat, ReadCSV
//	all, err := movies.NewRatings(list, titles)
//	r := all.Select(all.Top(400))                           // movie n is node n
//	split, err := movies.NewSplit(r, target, others, movies.DefaultSplit(), rng)
//	g, err := movies.NewGraph(r, split.Graph, movies.DefaultGraph())
//	s, err := graph.ShiftSpectral.Of(g)
//	rows := movies.NewPowers(s, target, 5)                  // e_nᵀ Sᵏ
//	mean := rows.Features(z, movie, rating, movies.SignalRaw, 0)
//
// A model that is read out at one node n sees a user only through the K+1
// numbers z_k = [Sᵏ x]_n, which [Powers] computes without a graph filter. The
// package reads, splits and counts; it knows nothing about models and opens no
// file.
//
// # Letters
//
//	N      number of movies, the nodes; U users
//	x      signal of a user, N values, 0 where a movie is not rated
//	n      the target movie
//	S      graph shift operator, N×N
//	K      order of a filter; z has K+1 values
//	z_k    [Sᵏ x]_n
//	C_uv   users who rated both movie u and movie v, the co-raters
//
// # Arithmetic
//
// Everything is computed in float64. Ratings that are multiples of one half
// are summed as integers, so similarities depend neither on the order of users
// nor on the architecture beyond the last place.
package movies
