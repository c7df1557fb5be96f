// Package movierecipe is how the models of ratings of movies are trained: the settings of
// Section 6.3, data from named random streams, fit, and the scenario movies of
// configurations, which the program links in.
package movierecipe
