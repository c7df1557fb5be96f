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
// # One step of one node
//
// testdata/one_step.txt is a step that can be followed by hand: three nodes in a
// line, 0-1-2, and a filter of order 1 with taps 1 and 10,
//
//	y_i = x_i + 10 Σ_j x_j      x = (1 2 4)
//
// This is what node 1 goes through, with the functions that a host of package
// host calls around it.
//
//  1. The world shows a line: node 1 observes 2 and hears 0 and 2. Machine.line and
//     Machine.begin (host/machine.go) open the step with Step(Begin). Node.begin
//     (agent/node.go) refuses what cannot be observed, ends a step that is still
//     open, and Node.connect (agent/node.go) makes an inbox for two neighbours.
//  2. Node.post (agent/node.go) writes the first row into the outbox: x_1 = 2 and,
//     behind it, the parameters (0 0). The parameters leave before anything was
//     learned, because eq. (9) mixes what neighbours had before their update. One
//     message to everyone is in Ready.Send; the script shows it as
//     "1->all row t=0 e=0 links=2 degree=2 (2; 0 0)".
//  3. Machine.step (host/deliver.go) takes the Ready. Machine.drain
//     (host/deliver.go) hands the message to neighbours in the same
//     process; for others Machine.post (host/deliver.go) gathers the rows of
//     one exchange, and Machine.send (host/deliver.go) writes them into one
//     frame with AppendFrame (agent/wire.go) and gives it to the bus.
//  4. A frame comes. Machine.take (host/receive.go) lets Machine.inspect
//     (host/receive.go) read it and refuse other runs, models and senders,
//     and Machine.deliver (host/receive.go) calls Step(Receive) of those who
//     hear the row. Node.receive (agent/receive.go) looks at its numbers first, in
//     Node.inspect (agent/receive.go), then at its time: now, past or to come.
//     Node.take (agent/receive.go) copies the row of node 0; "1 waits for 2, e=0".
//  5. The row of node 2 is the last. Node.advance (agent/node.go) has the node's
//     row of S made from the links, by Node.shiftRow (agent/weights.go), and
//     multiplies: 1 + 4 = 5, so that z_1 = (2 5). With an order of 2 it would now
//     post the 5 as the row of exchange 1 and wait again. Node.finish
//     (agent/node.go) would run the layers of a deep part, and Node.predict
//     (agent/node.go) puts 2 + 10·5 into Ready.Prediction; "1 predicts (52)".
//  6. When all nodes of the host have predicted, Machine.act (host/machine.go)
//     gives the world their outputs.
//  7. The world says that 50 would have been right. Machine.reveal
//     (host/machine.go) and Machine.learn (host/machine.go) turn that into
//     Step(Feedback). Node.learn (agent/receive.go) hands z_1, y†_1 and the cost to
//     Node.Observe (rule/node.go). Node.listen (agent/receive.go) gathers whom the
//     node heard, with the weights of Node.mixingRow (agent/weights.go), and
//     Node.Step (rule/node.go) computes eq. (9): everybody's parameters were 0, and
//     -γ·2(y - 50)·z = -0.1·2·2·(2 5). Node.Commit (rule/node.go) puts it in
//     place, Ready.Done says so; "1 done (-0.8 -2)".
//  8. Machine.over (host/machine.go) counts the step, and saver.offer
//     (host/saver.go) writes a checkpoint if it is time for one.
//
// In the second step of the script the parameters that travel are (-0.8 -2), and
// with nothing to learn from node 1 ends at the mean of all three: its row of W
// is (1/3 1/3 1/3).
//
// # Forecasts
//
// Where Plan.Forecast is set, nodes forecast what their sensors will read. Begin then
// has a reading, in the user's units, and Node.begin does first what one process does
// in the same order, so that both have the same bits:
//
//  1. forecasting.read (agent/forecast.go) lets the forecast.Sensor turn the reading
//     into inputs. What it lacks it estimates from the rows that neighbours sent in
//     exchange 0 of the step before, which Node.hearReadings (agent/forecast.go) kept.
//  2. Truths that came late, [Told], and that of the step are learned from, with
//     rule.SeasonNode.Tell: forecasts of h steps ago are judged.
//  3. Exchange 0 carries the row and two numbers per horizon, the season's weight as
//     it is after that, where other plans send parameters. When it is complete,
//     Node.mixSeason (agent/forecast.go) mixes.
//  4. Node.predict (agent/node.go) gives the answer, Node.answerForecast
//     (agent/forecast.go) its units. Feedback ends the step and tells nothing.
//
// Plans with a Basis in place of a Season learn when the truths of all horizons of an
// answer are known, see Node.dueTruths (agent/truths.go). A node that was not in
// training, a newcomer, begins in the first step in which it hears a sensor that was,
// with the mean of what the plan knows of those that it hears.
//
// # Whose step it is
//
// There is no common clock: the world counts steps, and every message says to
// which it belongs. Three rules follow.
//
//   - While links stay as they are, neighbours that did not give each other up are
//     at most one step apart. To predict in step t+1 a node needs the rows of t+1
//     of all whom it hears, so none of them is still in step t when it begins t+2.
//   - What was sent is therefore kept for two steps, by the parity of t, for
//     Node.answer (agent/receive.go). A neighbour that is one step behind may have
//     lost a row of its step, and is sent it again with the parameters of then:
//     with those of now it would mix two steps of eq. (9).
//   - What comes early is kept by Node.keep (agent/receive.go), since its sender
//     says it once. A neighbour that is one step ahead has sent one row, that of
//     exchange 0, when it begins to wait for this node. Those who are further
//     ahead have given this node up. A few of their rows are kept, for the step
//     to which the host may skip, and the rest is refused, so that nobody fills
//     the memory of another.
//
// Where links change, two nodes may meet again several steps apart. A row that is
// lost then may be forgotten when it is asked for, and the link counts as dropped
// for that step.
//
// # When the network misbehaves
//
//   - A silent neighbour: the host calls [Retry], which asks those who are missing
//     to send again, and at its deadline [Expire]: the link counts as dropped from
//     that hop to the end of the step (or for that hop only, if the plan is
//     forgiving). Nothing stands in for what it did not say: not its row of the step
//     before, which belongs to another signal, and not its old parameters, which it may
//     be far from by now. The sum over neighbours has a term less, see Node.shiftRow
//     (agent/weights.go), and the mixing weight of the link goes to the node's own
//     parameters, see Node.mixingRow (agent/weights.go), so that the weights of
//     eq. (9) still sum to 1.
//   - A message of a past step is ignored; one of a later step is kept, four per
//     neighbour at most, and Ready.Ahead says how far ahead others are, so that a
//     host may skip steps to catch up.
//   - Begin may name other neighbours at every step, and may come before the step
//     before was done, which is then abandoned.
//   - A message with the wrong number of values, with NaN or infinite ones, or
//     longer than Plan.MaxNorm or Plan.MaxRows is refused and counted, as if it
//     had been lost. Parameters far from all others are left out of the mixture;
//     see rule.Config. The error is a [Lie] if no honest node sends such a message:
//     those shorten sums that others would refuse, and count them (Stats.Shortened).
//   - A neighbour's degree is believed to be at least the weight of the link to it
//     where links are mutual, so that nobody makes its row count more than that.
//
// A refused message and a lost one are the same to a node, but for a counter.
// Whoever sends nonsense does what silence does and no more, and what the tests
// show of lost messages holds for refused ones.
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
// A shift A/λmax needs a number of the whole network: that of training, which model
// files have, or whoever knows another puts it into PlanConfig.Scale.
//
// Deviation: the paper divides S by λmax. Models for agents are trained with a
// shift whose row a node computes from its links.
//
//	i, j     this node, a neighbour
//	a_ij     weight of the link j → i
//	d_i      Σ_j a_ij, the weighted degree
//	e        exchange of a step, counted from 0
package agent
