// Package certify computes the paper's theorems for a model and what it meets:
// how far outputs can change with the graph, and how far an online run can be
// from the moving optimum, each bound beside what was measured.
//
// [Stability] is Theorem 1 for a model and two graphs, with the direct
// certificate, which holds for large perturbations as well; [Sequence] is the
// direct certificate of delayed filters on a sequence of graphs. [Run] and
// [Stream] play an online run once more and are Theorems 2 and 3 for it.
// doc/theory.md explains every number.
package certify
