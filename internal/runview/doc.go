// Package runview shows one's own runs: training and online learning, while they
// go on and from the folders that they leave.
//
// Both are drawn from the same lines, those of metrics.jsonl, so that a run looks
// afterwards as it did. [Online] and [Training] turn lines into the frames of a
// scene; [Open] makes a recording of a folder; [Pace] lets those who watch pause a
// run and slow it down.
package runview
