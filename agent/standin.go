package agent

import (
	"cmp"
	"slices"
)

// What stands in for a row that did not come
//
// With Plan.Stale a node remembers the last row of each exchange that it heard of a
// neighbour, and the parameters, links and degree that came with that of exchange 0.
// If a row does not come by Expire, what is remembered stands in for it, unless it is
// more than Stale steps old: then the link counts as dropped, as it does without Stale.
// What comes too late for its step is remembered for the next ones.
//
// Parameters change slowly, and old ones are better than none. A signal may change
// slowly, as temperatures do, or be another one in every step. So a node looks at the
// rows that do come: how far they are from the last row of the same neighbour, and how
// far from what the sum over neighbours would have without them, the mean of the
// others' or 0. Only where old rows have been nearer do they stand in; where they have
// not, the row is left out of that hop.

// remembered is what a node last heard of a neighbour.
type remembered struct {
	node    NodeID
	rows    []oldRow    // by exchange
	vectors [][]float32 // parameters, with the row of exchange 0
	links   uint32
	degree  float64
}

// oldRow is a row of an earlier step, or of this one.
type oldRow struct {
	heard  bool
	time   uint64
	values []float32
}

// likeness is how well rows of one exchange stand in for later ones: mean squares, of
// which each new one counts for a share of ageShare.
type likeness struct {
	known    bool
	old, out float64 // distances of rows from the last of the same neighbour, and from what leaves them out
}

const ageShare = 1.0 / 64

func (l *likeness) add(old, out float64) {
	if !l.known {
		*l = likeness{true, old, out}
		return
	}
	l.old += float64((old - l.old) * ageShare)
	l.out += float64((out - l.out) * ageShare)
}

// last returns the place of what is remembered of a neighbour, which is made if there
// is none.
func (n *Node) last(id NodeID) *remembered {
	at, found := n.findLast(id)
	if !found {
		r := remembered{node: id, rows: make([]oldRow, len(n.plan.stages)), vectors: make([][]float32, len(n.vectors))}
		n.memory = slices.Insert(n.memory, at, r)
	}
	return &n.memory[at]
}

func (n *Node) findLast(id NodeID) (at int, found bool) {
	return slices.BinarySearchFunc(n.memory, id, func(r remembered, id NodeID) int { return cmp.Compare(r.node, id) })
}

// remember keeps a row that came too late, if it is of a neighbour and none that is
// later was heard.
func (n *Node) remember(m *Message) {
	if n.plan.Stale == 0 {
		return
	}
	if _, linked := n.find(m.From); !linked {
		return
	}
	r := n.last(m.From)
	width := n.plan.stages[m.Exchange].width
	if !r.rows[m.Exchange].keep(m.Time, m.Values[:width]) || m.Exchange > 0 {
		return
	}
	r.links, r.degree = m.Links, m.Degree
	for v := range n.vectors {
		size := n.vectors[v].Cols
		r.vectors[v] = append(r.vectors[v][:0], m.Values[width+v*size:width+(v+1)*size]...)
	}
}

// keep replaces the row by one of a later step, and says whether it is.
func (o *oldRow) keep(time uint64, values []float32) bool {
	if o.heard && time <= o.time {
		return false
	}
	o.heard, o.time, o.values = true, time, append(o.values[:0], values...)
	return true
}

// compare looks how far the rows of an exchange that is complete are from the last
// ones, and remembers them.
func (n *Node) compare(e int) {
	if n.plan.Stale == 0 || n.joint {
		return
	}
	in := &n.inbox[e]
	heard := 0
	sum := n.scratch.panel(in.rows.Cols).Row(0)
	clear(sum)
	for k := range n.links {
		if in.got[k] {
			heard++
			for c, v := range in.rows.Row(n.place(k)) {
				sum[c] += v
			}
		}
	}
	for k := range n.links {
		if !in.got[k] || in.old[k] {
			continue
		}
		row, r := in.rows.Row(n.place(k)), n.last(n.links[k].Node)
		if old := &r.rows[e]; old.heard && old.time < n.time && len(row) > 0 {
			n.ages[e].add(distances(row, old.values, sum, n.plan.means(), heard))
		}
		if !r.rows[e].keep(n.time, row) || e > 0 {
			continue
		}
		r.links, r.degree = n.links[k].links, n.links[k].degree
		for v := range n.vectors {
			r.vectors[v] = append(r.vectors[v][:0], n.vectors[v].Row(n.place(k))...)
		}
	}
}

// distances returns the squared distances of a row from an old one, and from what it is
// left out for: the mean of the others in sum, if the shift is one of means, or 0.
func distances(row, old, sum []float32, means bool, heard int) (aged, out float64) {
	for c, v := range row {
		rest := 0.0
		if means && heard > 1 {
			rest = float64(sum[c]-v) / float64(heard-1)
		}
		aged += square(float64(v) - float64(old[c]))
		out += square(float64(v) - rest)
	}
	return aged, out
}

func square(x float64) float64 { return float64(x * x) }

// standIn puts what is remembered of the k-th neighbour in the place of what did not
// come in the exchange under way. It says whether the row is to be used; parameters
// are in any case, if they are not too old.
func (n *Node) standIn(k int) bool {
	if !n.Recalls(n.links[k].Node) {
		return false
	}
	e := n.exchange
	in, r := &n.inbox[e], n.last(n.links[k].Node)
	in.old[k] = true
	if e == 0 {
		n.links[k].heard, n.links[k].links, n.links[k].degree = true, r.links, r.degree
		for v := range n.vectors {
			copy(n.vectors[v].Row(n.place(k)), r.vectors[v])
		}
	}
	if n.ages[e].old > n.ages[e].out {
		return false
	}
	n.stats.Aged++
	copy(in.rows.Row(n.place(k)), r.rows[e].values)
	n.complete(k, e)
	return true
}

// Recalls says whether what is remembered of the given neighbour stands in for what
// does not come of it in the exchange under way; see Plan.Stale.
func (n *Node) Recalls(id NodeID) bool {
	at, found := n.findLast(id)
	if !found {
		return false
	}
	o := &n.memory[at].rows[n.exchange]
	return o.heard && o.time <= n.time && n.time-o.time <= uint64(n.plan.Stale)
}

// forget drops what is remembered of nodes that are neighbours no more, when there
// are more of them than of others.
func (n *Node) forget() {
	if len(n.memory) <= 2*len(n.links)+leastRemembered {
		return
	}
	n.memory = slices.DeleteFunc(n.memory, func(r remembered) bool {
		_, linked := n.find(r.node)
		return !linked
	})
}

// leastRemembered is how many nodes may be remembered that are no neighbours now.
const leastRemembered = 8
