// Package lifecycle is what is done with a model from its data to its retirement:
// train, evaluate, predict, inspect and learn online, as functions that the
// library's users could have written themselves.
package lifecycle
