// Package reproduce lists the experiments of the paper, which its rooms hold: its
// tables and figures as values, with the paper's numbers beside ours.
//
// Package study runs them. All randomness comes from the seed, so the same options
// give the same numbers to the last bit, on any number of threads.
package reproduce
