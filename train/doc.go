// Package train fits models offline, to samples of what they will see. It
// minimises the empirical risk, eq. (5):
//
//	min_{𝒜,ℬ} (1/|𝒯|) Σ_{X ∈ 𝒯} J(Ψ(X; S, 𝒜, ℬ))
//
// with mini-batches, and keeps the parameters that did best on validation
// data. [Run] does the work; it opens no file, reads no clock and prints
// nothing: a callback gets an [Epoch] after each epoch.
//
// A [Data] says how samples become passes of a model: [Signals] are many
// signals on one graph, also with a fresh random subgraph for every batch,
// which turns a GNN into the paper's SGNN baseline; [Graphs] are samples that
// each have a graph of their own, such as trajectories of a robot swarm. An
// [Objective] says what the outputs should have been: [Classes], [Targets] or
// [Unsupervised]. [Inputs] and [Outage] say how models are trained that are to
// use all their units and to live with lost links.
//
// One seed gives the same bits for any number of threads, and a run that is
// stopped and resumed from a [Checkpoint] gives the bits of one that was not.
package train
