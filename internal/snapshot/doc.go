// Package snapshot keeps what online learners remember in model files, to the last
// bit, whoever learned: nodes in one process, or agents.
package snapshot
