// Package online lets a trained model keep learning at test time: the deep part
// is frozen and the wide part follows the signals that come in, Section 3 of
// the paper.
//
// An [Observer] computes what does not learn, the shifted inputs and the outputs
// of the model as trained, once per sample. Learners are made on it, any number
// on one. [Centralized] moves one set of taps for all nodes, eq. (7). [Consensus]
// keeps one set per node, mixed with those of the neighbours, eq. (9). The
// observer itself predicts and does not learn: it is what the others are
// compared with. [Forecaster] is what learns where outputs are forecasts, whose truth
// comes later. [NewNode] makes eq. (7) for those who have rows and no network. How a
// node steps is package rule's business, the same code that agents run.
//
// A [Learner] sees a sample, predicts, is told what the prediction cost, and
// adapts:
//
//	for t, sample := range samples {
//		err := observer.Observe(sample) // once, however many learners there are
//		err = observer.Predict(frozen)  // the model as trained
//		err = learner.Predict(y)
//		err = learner.Update(costs[t])  // what y cost
//	}
//
// [Play] is this loop in a [World] that reacts to predictions.
//
//	t            online step
//	S_t, W_t     shift and mixing matrix of step t
//	z, y†        shifted inputs [X SX … SᴷX], and outputs of the model as trained
//	𝒜_i, 𝒜†      taps of node i, and those trained offline
//	J_t, J_{i,t} cost of the network, and of node i
//
// Two paths compute a prediction. The hop-by-hop path gives every node the bits
// that it would compute alone, exchanging messages with its neighbours. The
// pruned path, taken where Config.Read names a few nodes, computes only what
// those read; it sums in another order and agrees within 1e-5.
package online
