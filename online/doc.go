// Package online lets a trained model keep learning at test time: the deep part
// is frozen and the wide part follows the signals that come in, Section 3 of
// the paper.
//
// A [Learner] predicts, is told what the prediction cost, and adapts.
// [Centralized] moves one set of taps for all nodes, eq. (7). [Consensus] keeps
// one set per node, mixed with those of the neighbours, eq. (9). [Frozen] does
// not learn and is what the others are compared with. How a node steps is
// package rule's business, the same code that agents run.
//
//	t            online step
//	S_t, W_t     shift and mixing matrix of step t
//	𝒜_i, 𝒜†      taps of node i, and those trained offline
//	J_t, J_{i,t} cost of the network, and of node i
//
// Two paths compute a prediction. The hop-by-hop path gives every node the bits
// that it would compute alone, exchanging messages with its neighbours. The
// pruned path, taken where Config.Read names a few nodes, computes only what
// those read; it sums in another order and agrees within 1e-5.
package online
