// Package experiment is what the commands do with a user's own data: train,
// predict, evaluate, inspect and learn online, as functions that the library's
// users could have written themselves.
package experiment
