// Package movies reproduces Section 6.3: how users will rate movies, from those
// that they and others have rated (Table 4), and the model of the recommender.
package movies
