// Package sourceloc reproduces Section 6.1: where in a network did a signal start
// (Table 1, Figure 2)? It also asks what the gains of the two parts do, and what a
// shift costs that nodes can compute themselves.
package sourceloc
