package sim

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/transport"
)

// A trial may have a host that comes later, and a node that a host gets later. Both
// stand behind the others in hosts, owner and links, and are there from the time of
// their fault on: without it, as Shrink leaves it out, they never are.

// drawJoin adds a host of some nodes, or a node of a host, with links to nodes that are
// there from the start. There is at most one of each in a trial.
func (t *Trial) drawJoin(f *Fault, rng *rand.Rand) {
	f.To = f.From + 8*t.pace.Deadline
	more := 1
	if !t.lateHost && (t.lateNode || rng.IntN(2) == 0) {
		f.Host, f.Whole, t.lateHost = len(t.hosts), true, true
		t.hosts = append(t.hosts, nil)
		more += rng.IntN(mostNodes)
	} else {
		f.Host, t.lateNode = rng.IntN(t.base), true
	}
	first := len(t.owner)
	for range more {
		node := agent.NodeID(len(t.owner))
		t.owner, t.links = append(t.owner, f.Host), append(t.links, nil)
		t.hosts[f.Host] = append(t.hosts[f.Host], node)
		for _, other := range rng.Perm(t.nodes)[:1+rng.IntN(2)] {
			t.connect(node, agent.NodeID(other))
		}
		if int(node) > first {
			t.connect(node, node-1)
		}
	}
	f.Nodes = slices.Clone(t.hosts[f.Host])
	f.Nodes = f.Nodes[len(f.Nodes)-more:]
}

// connect links two nodes.
func (t *Trial) connect(a, b agent.NodeID) {
	for _, pair := range [][2]agent.NodeID{{a, b}, {b, a}} {
		list := &t.links[pair[0]]
		at, found := slices.BinarySearchFunc(*list, pair[1], func(l agent.Link, n agent.NodeID) int { return int(l.Node) - int(n) })
		if !found {
			*list = slices.Insert(slices.Clone(*list), at, agent.Link{Node: pair[1], Weight: 1})
		}
	}
}

// joins returns the faults in which somebody joins.
func (t *Trial) joins() (list []*Fault) {
	for k := range t.Faults {
		if t.Faults[k].Kind == faultJoin {
			list = append(list, &t.Faults[k])
		}
	}
	return list
}

// here says whether a node is one of the trial: from the start, or since it joined.
func (t *Trial) here(node agent.NodeID) bool {
	if int(node) < t.nodes {
		return true
	}
	return slices.ContainsFunc(t.joins(), func(f *Fault) bool { return slices.Contains(f.Nodes, node) })
}

// directory returns who runs what by the configuration of a host that came later, or
// of one that was there.
func (t *Trial) directory(h int) (*host.Directory, error) {
	hosts := map[transport.HostID][]agent.NodeID{}
	for k, nodes := range t.hosts {
		switch {
		case k < t.base:
			hosts[transport.HostID(k)] = t.first(k)
		case k == h:
			hosts[transport.HostID(k)] = nodes
		}
	}
	return host.NewDirectory(hosts)
}

// first returns the nodes that a host has from the start.
func (t *Trial) first(h int) []agent.NodeID {
	return slices.DeleteFunc(slices.Clone(t.hosts[h]), func(node agent.NodeID) bool { return int(node) >= t.nodes })
}

// sealed begins records that hosts believe.
const sealed = "sealed "

// vouch is what hosts believe of records.
func vouch(record []byte) ([]byte, error) {
	text, ok := strings.CutPrefix(string(record), sealed)
	if !ok {
		return nil, errors.New("nobody has sealed it")
	}
	return []byte(text), nil
}

// record returns that of who joins in a fault.
func (t *Trial) record(f *Fault) []byte {
	var nodes []agent.NodeID
	for _, node := range t.hosts[f.Host] {
		if int(node) < t.nodes || slices.Contains(f.Nodes, node) {
			nodes = append(nodes, node)
		}
	}
	m := &host.Member{Run: "sim", Host: transport.HostID(f.Host), Serial: 1, Nodes: host.FormatNodes(nodes)}
	m.Links = map[agent.NodeID][]host.Link{}
	for _, node := range f.Nodes {
		for _, l := range t.links[node] {
			m.Links[node] = append(m.Links[node], host.Link(l))
			if !slices.Contains(f.Nodes, l.Node) {
				m.Links[l.Node] = append(m.Links[l.Node], host.Link{Node: node, Weight: l.Weight})
			}
		}
	}
	text, err := json.Marshal(m)
	if err != nil {
		panic(err) // it is made of numbers
	}
	return append([]byte(sealed), text...)
}

// joinAt is when a host or a node joins: a host is started, and a box finds a record in
// its folder.
func (r *run) joinAt(f *Fault) {
	b := r.boxes[f.Host]
	b.record = r.trial.record(f)
	switch {
	case f.Whole && !r.dead(f.Host):
		r.tracef("host %d joins", b.id)
		b.start()
	case b.machine != nil:
		b.step(host.Shown{Record: b.record})
		b.poke()
	}
}

// hail carries the record of a host to all others that run.
func (r *run) hail(from int, record []byte) {
	for to, b := range r.boxes {
		if to != from && b.machine != nil && !r.cut(from, to) {
			r.push(event{at: r.now + r.travel(), kind: shown, host: int32(to), load: r.carry(load{record: record})})
		}
	}
}

// known looks whether all know who joined, and whether those who have links with it
// have heard it.
func (r *run) known(reports []*host.Report) {
	for _, f := range r.trial.joins() {
		for h, report := range reports {
			k := slices.IndexFunc(report.Joined, func(j host.Joined) bool { return int(j.Host) == f.Host })
			switch {
			case k < 0:
				r.fail("host %d does not know host %d, which joined at %v", h, f.Host, f.From)
			case h != f.Host && !report.Joined[k].Heard && r.linked(f, h) && !r.boxes[h].ended && !r.boxes[f.Host].ended:
				r.fail("host %d has links with host %d, which joined at %v, and has not heard of it", h, f.Host, f.From)
			}
		}
		if text := reports[f.Host].Nodes; !runs(text, f.Nodes) {
			r.fail("host %d runs nodes %s, and not %s, which joined at %v", f.Host, text, host.FormatNodes(f.Nodes), f.From)
		}
	}
}

// runs says whether nodes are among those of a list.
func runs(text string, nodes []agent.NodeID) bool {
	list, err := host.ParseNodes(text)
	return err == nil && !slices.ContainsFunc(nodes, func(node agent.NodeID) bool { return !slices.Contains(list, node) })
}

// linked says whether nodes of a host have links with those that join in a fault.
func (r *run) linked(f *Fault, h int) bool {
	for _, node := range f.Nodes {
		for _, l := range r.trial.links[node] {
			if r.trial.owner[l.Node] == h && r.trial.here(l.Node) {
				return true
			}
		}
	}
	return false
}

// config returns the configuration of the box, with the record that lies in its folder.
func (b *box) config() (c host.Config, err error) {
	c = b.run.trial.config(b.id, b.run.directory)
	if b.record != nil {
		c.Records = [][]byte{b.record}
		c.Directory, err = b.run.trial.directory(b.id)
	}
	return c, err
}
