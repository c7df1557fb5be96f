// Package recipe says how the models of the scenarios are trained: source
// localization, and robots that flock.
//
// A recipe is settings, named random streams that draw the data from a seed, and
// a fit; beside it stands what is saved with a model so that it can learn online
// later. Tables, demo, swarms and flights all train by these recipes, so a model
// of one is the model of the others, to the last bit.
package recipe
