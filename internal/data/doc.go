// Package data reads what users bring: arrays of signals and targets, tables of
// readings, and the graphs they are on. Every command that takes such files
// reads them here, so that a file is understood, or refused with the same words,
// wherever it is named.
//
// There are three forms. [Load] reads samples to train on, to score or to predict
// for; [LoadStream] reads steps that follow each other, to learn from one by one.
// Both come from arrays and graph files as package modelfile reads them.
// [LoadSeries] reads what sensors with names measured at times, to forecast, and
// [LoadSensorGraph] the links between them.
//
// A file is checked as a whole when it is read: what comes after need not look
// again. Errors say which file, where in it, and what would have been right.
package data
