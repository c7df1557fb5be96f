// Package agent is one node of a network as a pure state machine: it infers and
// learns with its one-hop neighbours only. Events go in, messages come out; it
// starts no goroutine, reads no clock, sends nothing and draws no random
// numbers, so that the same events in the same order give the same bits.
//
// # A step
//
// The caller, a host, opens step t with [Begin]: what the node observes and whom
// it hears. The node then exchanges rows with its neighbours.
//
//   - Multi-hop: K exchanges give z_i = [x Sx … Sᴷx]_i, shared by the wide part and
//     the first layer, and K_ℓ more those of layer ℓ. A message carries the row
//     of one hop.
//   - Delayed, eq. (24): one exchange per step carries the shifted rows of the
//     step before, of all layers.
//
// The first message of a step also carries the vectors that the rule sends (the
// node's parameters, see package rule) and the node's degree. When all rows are
// in, Ready holds the prediction; [Feedback] says what it cost, the node mixes,
// steps and is done. Without losses, agents have the bits of online.Consensus.
//
// # When the network misbehaves
//
//   - A silent neighbour: the host calls [Retry], which asks those who are missing
//     to send again, and at its deadline [Expire]: the link counts as dropped from
//     that hop to the end of the step (or for that hop only, if the plan is
//     forgiving). Its mixing weight stays at home.
//   - A message of a past step is ignored; one of a later step is kept, four per
//     neighbour at most, and Ready.Ahead says how far ahead others are, so that a
//     host may skip steps to catch up.
//   - Begin may name other neighbours at every step, and may come before the step
//     before was done, which is then abandoned.
//   - A message with the wrong number of values, with NaN or infinite ones, or
//     longer than Plan.MaxNorm or Plan.MaxRows is refused and counted, as if it
//     had been lost. Parameters far from all others are left out of the mixture;
//     see rule.Config.
//
// Deviation: eq. (9) has a doubly stochastic W. A message that is lost in one
// direction makes W row-stochastic only for that step: the mean of all
// parameters moves a little. Stats.Expired counts such links.
//
// Deviation: the paper does not say what a node does when a message does not
// come. Here a silent neighbour is none, as above.
//
// # Models scaled by λmax
//
// A shift A/λmax needs a number of the whole network. Whoever knows it puts it
// into Plan.Scale; where nobody does, nodes find it with a [Gauge] each, driven
// by the same events and over the same messages.
//
// Deviation: the paper divides S by λmax. Models for agents are trained with a
// shift whose row a node computes from its links.
//
//	i, j     this node, a neighbour
//	a_ij     weight of the link j → i
//	d_i      Σ_j a_ij, the weighted degree
//	e        exchange of a step, counted from 0
package agent
