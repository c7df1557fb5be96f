// Package reproduce runs the experiments of the paper again: its tables and
// figures as values, with the paper's numbers beside ours.
//
// An [Experiment] is cut into units, the realizations, which run side by side
// and are stored as they finish; a run that was interrupted goes on where it
// stopped. All randomness comes from the seed, so the same options give the
// same numbers to the last bit, on any number of threads.
package reproduce
