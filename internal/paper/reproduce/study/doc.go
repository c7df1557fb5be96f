// Package study runs experiments and shows what they found.
//
// An [Experiment] is cut into units, the realizations, which run side by side
// and are stored as they finish; a run that was interrupted goes on where it
// stopped. All randomness comes from the seed, so the same options give the
// same numbers to the last bit, on any number of threads. What units saw
// becomes tables and figures, written for a terminal, for a page and as JSON.
package study
