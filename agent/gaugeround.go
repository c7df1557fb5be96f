package agent

import "fmt"

// post sends the message of the current round.
func (g *Gauge) post() {
	out := &g.outbox[g.round%len(g.outbox)]
	g.entry.put(out[:])
	g.lower.put(out[numberLen:])
	g.upper.put(out[2*numberLen:])
	if !g.apart {
		g.send = append(g.send, g.message(g.round, Everyone))
		return
	}
	for k := range g.links { // those who were dropped must not take us for a neighbour
		if !g.links[k].lost {
			g.send = append(g.send, g.message(g.round, g.links[k].Node))
		}
	}
}

// message returns the message of a round that was posted.
func (g *Gauge) message(round int, to NodeID) Message {
	return Message{From: g.id, To: to, Time: g.time, Kind: Estimate, Exchange: uint16(round), Values: g.outbox[round%len(g.outbox)][:]}
}

// advance goes through all rounds that are complete.
func (g *Gauge) advance(r *Ready) {
	for g.open {
		alive := 0
		for k := range g.links {
			if g.waits(k) {
				return
			}
			if !g.links[k].lost {
				alive++
			}
		}
		if alive == 0 { // nobody is left: a graph without links
			g.bounds, g.settled = [2]float64{}, true
			g.end(r)
			return
		}
		g.turn(r)
	}
}

// turn ends a round and, unless the measurement is over, begins the next.
func (g *Gauge) turn(r *Ready) {
	parity := g.round % 2
	for k := range g.links {
		if l := &g.links[k]; !l.lost {
			if from := &l.from[parity]; from.lower.less(g.lower) {
				g.lower = from.lower
			}
			if from := &l.from[parity]; g.upper.less(from.upper) {
				g.upper = from.upper
			}
		}
	}
	g.round++
	g.stats.Steps++
	gathered := g.round%g.config.Diameter == 0 // the bounds have been everywhere
	if gathered {
		g.bounds = [2]float64{g.lower.float(), g.upper.float()}
		g.settled = g.round > g.config.Diameter && g.bounds[1]-g.bounds[0] <= g.config.tolerance()*g.bounds[1]
		if g.settled || g.round+g.config.Diameter > g.config.rounds() {
			g.end(r)
			return
		}
		middle, _, _ := g.Result()
		g.shift = gaugeShift * middle
	}
	product := g.product(parity)
	if gathered {
		g.lower = product.over(g.entry)
		g.upper = g.lower
	}
	unit := max(product.exponent, g.entry.exponent)
	g.entry = newNumber(product.times(1, unit)+g.entry.times(g.shift, unit), unit)
	g.stops = 0
	for k := range g.links {
		g.links[k].got[parity], g.links[k].answered = false, false
	}
	g.post()
}

// product returns (Av)_i, summed over neighbours in ascending order.
func (g *Gauge) product(parity int) number {
	unit := -maxExponent
	for k := range g.links {
		if !g.links[k].lost {
			unit = max(unit, g.links[k].from[parity].entry.exponent)
		}
	}
	sum := 0.0
	for k := range g.links {
		if l := &g.links[k]; !l.lost {
			sum += l.from[parity].entry.times(float64(l.Weight), unit)
		}
	}
	return newNumber(sum, unit)
}

func (g *Gauge) end(r *Ready) { g.open, r.Done = false, true }

// receive takes in a message: an estimate, or, without values, a request to
// send one again.
func (g *Gauge) receive(m *Message, r *Ready) error {
	if m == nil || m.From == g.id || m.To != Everyone && m.To != g.id {
		g.stats.Strangers++
		return fmt.Errorf("%w: not for node %d", ErrMalformed, g.id)
	}
	if m.Kind != Estimate || len(m.Values) != gaugeLen && len(m.Values) != 0 {
		g.stats.Refused++
		return fmt.Errorf("%w: node %d: kind %d with %d values from %d, want an estimate of %d",
			ErrMalformed, g.id, m.Kind, len(m.Values), m.From, gaugeLen)
	}
	if len(m.Values) == 0 {
		g.answer(m)
		return nil
	}
	if _, ok := readEstimate(m.Values); !ok {
		g.stats.Refused++
		return fmt.Errorf("%w: node %d: the values from %d are no estimate", ErrMalformed, g.id, m.From)
	}
	switch {
	case !g.begun || m.Time > g.time:
		return g.keep(m)
	case m.Time < g.time || !g.open:
		g.stats.Stale++
		return nil
	}
	g.take(m)
	g.advance(r)
	return nil
}

// readEstimate returns what a message of gaugeLen values carries.
func readEstimate(values []float32) (e estimate, ok bool) {
	var fine [3]bool
	e.entry, fine[0] = readNumber(values)
	e.lower, fine[1] = readNumber(values[numberLen:])
	e.upper, fine[2] = readNumber(values[2*numberLen:])
	return e, fine == [3]bool{true, true, true}
}

// take puts an estimate of this measurement where it belongs: of this round, or
// of the next, which a neighbour may have begun.
func (g *Gauge) take(m *Message) {
	k, found := g.find(m.From)
	round := int(m.Exchange)
	if found {
		g.links[k].answered = true
	}
	switch {
	case !found:
		g.stats.Strangers++
	case g.links[k].lost || round < g.round || round > g.round+1:
		g.stats.Stale++
	case g.links[k].got[round%2]:
		g.stats.Duplicates++
	default:
		g.links[k].got[round%2] = true
		g.links[k].from[round%2], _ = readEstimate(m.Values)
		g.stats.Received++
	}
}

// laterPerGauge is how many estimates of later measurements are kept per sender:
// a neighbour can send those of two rounds before it waits for this node.
const laterPerGauge = 2

// keep stores an estimate of a later measurement.
func (g *Gauge) keep(m *Message) error {
	if !g.later.keep(m, &g.stats) {
		return fmt.Errorf("%w: node %d: too many estimates of later measurements from %d", ErrMalformed, g.id, m.From)
	}
	return nil
}

// answer sends an estimate again, if it is one of the last. Who is asked for a
// round that it cannot begin yet sends the one before, as a sign of life.
func (g *Gauge) answer(m *Message) {
	k, found := g.find(m.From)
	round, last := int(m.Exchange), g.round
	if g.open {
		round = min(round, last)
	} else {
		last-- // the round after the end was not posted
	}
	if !g.begun || m.Time != g.time || !found || g.links[k].lost || round > last || round <= last-len(g.outbox) {
		g.stats.Stale++
		return
	}
	g.stats.Resent++
	g.send = append(g.send, g.message(round, m.From))
}

// retry asks those who are silent to send again.
func (g *Gauge) retry() {
	for k := range g.links {
		if g.open && g.waits(k) {
			g.links[k].answered = false
			g.stats.Asked++
			g.send = append(g.send, Message{From: g.id, To: g.links[k].Node, Time: g.time, Kind: Estimate, Exchange: uint16(g.round)})
		}
	}
}

// expire drops the links to those who are silent, or have had time enough.
func (g *Gauge) expire(r *Ready) {
	g.stops++
	for k := range g.links {
		l := &g.links[k]
		if !g.open || !g.waits(k) {
			continue
		}
		if !l.answered || g.stops > g.config.Diameter+1 {
			l.lost, g.apart = true, true
			g.stats.Expired++
		}
		l.answered = false // until it is asked again
	}
	g.advance(r)
}
