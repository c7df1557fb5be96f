package host

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"time"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/transport"
)

// Hosts that come later
//
// A run begins with the hosts of its directory. One that comes later, or that gets
// more nodes, is known by a record, which the authority of the run has signed
// ([Member]). It shows the record to whom it can (Shown, Actions.Hail), and whoever
// takes it passes it on: once when it is taken, and again to those who turn out not
// to have it, because what stands for all records is said now and then. Records are
// in checkpoints, so that a restart does not forget them.
//
// Nobody waits for a newcomer that was never heard. Links to its nodes begin with the
// step after the first row of each that comes; before, its hosts are only listened
// to. From then on it is a neighbour like any other. Nodes of this host begin with
// the first line of the world that names them.

// members is what a machine knows of hosts that came later.
type members struct {
	known   map[transport.HostID]*newcomer
	digest  uint64 // stands for all of their records
	own     bool   // this host is one of them
	fresh   bool   // and has made no step before this start
	refused map[uint64]bool
	looked  int           // records whose signature was looked at in this deadline,
	renews  time.Duration // which ends then

	unsaid []transport.HostID // whose records are to be said
	tell   bool               // what stands for all of them is
	next   time.Duration      // when that is said again without a reason
	quiet  time.Duration      // until when others are not told everything again
	shows  bool               // this host still shows its own record to all,
	hail   time.Duration      // the next time then

	here    []agent.NodeID        // nodes of this host that no line has named yet, ascending
	met     map[agent.NodeID]bool // nodes of newcomers that were heard
	awaited map[agent.NodeID]bool // and those that were not, and have links here
	changed bool                  // links are to be looked at when the next step begins
	recalls bool                  // records are those of an earlier life
	begins  []Entry               // for the log, once it can be written
}

// newcomer is a host with a record.
type newcomer struct {
	*Member
	record []byte
	hash   uint64
	heard  bool // a row of it was, since the start
}

const (
	mostRefused = 256 // records that are not looked at twice
	mostLooked  = 64  // records that are looked at in a deadline: it takes a while, and others wait
)

// errBusy refuses a record that may be shown again.
var errBusy = errors.New("host: too many records at once")

// errOlder refuses a record that another has taken the place of.
var errOlder = errors.New("host: a later record of the host is known")

// Joined is a host that came later, or that got more nodes, in a report.
type Joined struct {
	Host    transport.HostID `json:"host"`
	Nodes   string           `json:"nodes"`
	Address string           `json:"address,omitempty"`
	Heard   bool             `json:"heard"` // since the start; of this host itself always
}

// hashOf stands for a record.
func hashOf(record []byte) uint64 {
	h := fnv.New64a()
	h.Write(record)
	return h.Sum64()
}

// shown looks at a record that came from outside of frames.
func (h *Machine) shown(record []byte) {
	h.actions.Refused = h.admit(record)
	h.settle()
}

// hearMember takes in what a host says of those that came later.
func (h *Machine) hearMember(from transport.HostID, m *agent.Message) {
	if len(m.Data) > 0 {
		h.admit(m.Data)
	}
	s := &h.members
	mark := h.mark(from)
	if mark.agrees = m.About == s.digest; mark.agrees || h.now < s.quiet {
		return
	}
	s.quiet = h.now + h.cfg.Pace.Deadline
	s.unsaid, s.tell, h.ship = slices.Sorted(maps.Keys(s.known)), true, true
}

// admit takes a record, or says why not. One that is known is taken without a word.
func (h *Machine) admit(record []byte) error {
	hash := hashOf(record)
	for _, n := range h.members.known {
		if n.hash == hash && bytes.Equal(n.record, record) {
			return nil
		}
	}
	m, err := h.vouched(record, hash)
	if err == nil {
		err = h.welcome(m)
	}
	if err != nil {
		h.refuseRecord(hash, err)
		return err
	}
	s := &h.members
	if before := s.known[m.Host]; before != nil {
		s.digest ^= before.hash
	}
	s.digest ^= hash
	s.known[m.Host] = &newcomer{Member: m, record: bytes.Clone(record), hash: hash, heard: m.Host == h.cfg.Host}
	s.unsaid, s.changed, h.ship = append(s.unsaid, m.Host), true, true
	h.stats.Joined++
	h.actions.Joined = append(h.actions.Joined, m)
	h.listenTo(m)
	return nil
}

// recall takes the records of a checkpoint, and those that the configuration brings.
// Nodes of this host that the checkpoint remembers are made. A record of the
// checkpoint that is refused now, as that of a host whose key was revoked, is
// forgotten with a word in the log; one of the configuration must fit.
func (h *Machine) recall(c *Checkpoint) error {
	s := &h.members
	s.known, s.met, s.awaited = map[transport.HostID]*newcomer{}, map[agent.NodeID]bool{}, map[agent.NodeID]bool{}
	s.fresh = c == nil
	if c != nil {
		s.recalls = true
		for _, record := range c.Members {
			h.admit(record)
		}
		s.recalls = false
	}
	for _, record := range h.cfg.Records {
		if err := h.admit(record); err != nil && !errors.Is(err, errOlder) {
			return err
		}
	}
	if c != nil && len(s.here) > 0 {
		var remembered []agent.NodeID
		for k := range c.Nodes {
			if slices.Contains(s.here, c.Nodes[k].Node) {
				remembered = append(remembered, c.Nodes[k].Node)
			}
		}
		h.insert(remembered)
	}
	if s.changed {
		s.changed = false
		h.relink()
	}
	s.begins = slices.Clone(h.actions.Log)
	return nil
}

// startMembers logs what was recalled, and shows this host's own record.
func (h *Machine) startMembers() {
	s := &h.members
	h.actions.Log = append(h.actions.Log, s.begins...)
	s.begins = nil
	s.shows, s.hail = s.own, h.now
}

// vouched returns what a record says that the authority has signed, and that is of
// this run and not older than what is known.
func (h *Machine) vouched(record []byte, hash uint64) (*Member, error) {
	switch {
	case len(record) > MaxRecord:
		return nil, fmt.Errorf("host: a record of %d bytes, want %d at most", len(record), MaxRecord)
	case h.cfg.Vouch == nil:
		return nil, errors.New("host: this box has no keys, and so nobody to vouch for others")
	case h.members.refused[hash]:
		return nil, errors.New("host: the record was refused before")
	case !h.members.afford(h.now, h.cfg.Pace.Deadline):
		return nil, errBusy
	}
	text, err := h.cfg.Vouch(record)
	if err != nil {
		return nil, err
	}
	m, err := ReadMember(text)
	if err != nil {
		return nil, err
	}
	if m.Run != h.cfg.Run {
		return nil, fmt.Errorf("host: it is of run %q, this is %q", m.Run, h.cfg.Run)
	}
	if before := h.members.known[m.Host]; before != nil && before.Serial >= m.Serial {
		return nil, fmt.Errorf("%w: %d of host %d, this is %d", errOlder, before.Serial, m.Host, m.Serial)
	}
	return m, nil
}

// afford says whether there is time to look at a record. Those of the start are looked
// at whatever it takes.
func (s *members) afford(now, deadline time.Duration) bool {
	if now >= s.renews {
		s.looked, s.renews = 0, now+deadline
	}
	if !s.recalls {
		s.looked++
	}
	return s.looked <= mostLooked
}

// welcome adds the nodes and names of a host to those that are known.
func (h *Machine) welcome(m *Member) error {
	nodes := m.nodes()
	more := slices.DeleteFunc(slices.Clone(nodes), func(node agent.NodeID) bool { _, known := h.cfg.owner(node); return known })
	for _, node := range slices.Sorted(maps.Keys(m.Sensors)) {
		name := m.Sensors[node]
		if other, taken := h.numbers[name]; taken && other != node {
			return fmt.Errorf("host: node %d is to be called %q, as node %d is", node, name, other)
		}
	}
	if h.cfg.Directory != nil {
		d, err := h.cfg.Directory.with(m.Host, nodes)
		if err != nil {
			return err
		}
		h.cfg.Directory = d
	} else if m.Host != h.cfg.Host {
		return errors.New("host: all nodes are here, and there is no bus to hear others")
	}
	if len(m.Sensors) > 0 {
		h.cfg.Names = maps.Clone(h.cfg.Names)
		if h.cfg.Names == nil {
			h.cfg.Names = map[agent.NodeID]string{}
		}
		maps.Copy(h.cfg.Names, m.Sensors)
		h.numbers = naming(h.cfg.Names)
	}
	if m.Host == h.cfg.Host {
		h.members.own = true
		more = slices.DeleteFunc(slices.Clone(nodes), func(node agent.NodeID) bool { _, made := h.index[node]; return made })
		h.members.here = slices.Compact(slices.Sorted(slices.Values(append(more, h.members.here...))))
	}
	if len(more) > 0 {
		word := "a host has joined"
		if h.members.recalls {
			word = "a host that joined is known"
		}
		h.info(word, "host", m.Host, "nodes", FormatNodes(more), "links_here", h.linksHere(m), "time", h.time)
	}
	h.everybody = FormatNodes(h.cfg.everybody())
	return nil
}

// linksHere counts the links that a record brings to nodes of this host.
func (h *Machine) linksHere(m *Member) (n int) {
	for i := range h.cells {
		n += len(m.Links[h.cells[i].node.ID()])
	}
	return n
}

// listenTo begins to hear a newcomer with which a node here has a link. The links
// themselves begin between two steps.
func (h *Machine) listenTo(m *Member) {
	wanted := false
	for i := range h.cells {
		for _, l := range m.Links[h.cells[i].node.ID()] {
			if _, here := h.index[l.Node]; !here {
				wanted = h.want(l.Node) || wanted
			}
		}
	}
	if wanted {
		h.around = h.Hears()
		h.actions.Hear = h.around
	}
}

// refuseRecord counts a record that is not taken, and logs why if it is the first
// time. That others pass on what is out of date is usual, and no word is lost on it.
func (h *Machine) refuseRecord(hash uint64, why error) {
	h.stats.RefusedRecords++
	s := &h.members
	if errors.Is(why, errOlder) || errors.Is(why, errBusy) || s.refused[hash] {
		return
	}
	if s.refused == nil || len(s.refused) >= mostRefused {
		s.refused = map[uint64]bool{}
	}
	s.refused[hash] = true
	h.warn("the record of a host is refused: it does not join", "why", why)
}

// memberWords appends what is to be said of newcomers to dst: those records that
// were not said, and now and then, with other messages, what stands for all.
func (h *Machine) memberWords(dst []agent.Message) []agent.Message {
	s := &h.members
	due := len(s.known) > 0 && len(dst) > 0 && h.now >= s.next
	if !s.tell && !due && len(s.unsaid) == 0 {
		return dst
	}
	id := h.cells[0].node.ID()
	word := agent.Message{From: id, To: id, Kind: agent.Member, About: s.digest}
	for _, host := range s.unsaid {
		word.Data = s.known[host].record
		dst = append(dst, word)
	}
	if len(s.unsaid) == 0 {
		dst = append(dst, word)
	}
	s.unsaid, s.tell, s.next = s.unsaid[:0], false, h.now+4*h.cfg.Pace.Deadline
	return dst
}

// showAgain has this host's own record shown to all, until the hosts that it hears
// know all records that it knows.
func (h *Machine) showAgain() {
	s := &h.members
	if !s.shows || h.now < s.hail {
		return
	}
	agree := len(h.around) > 0
	for _, host := range h.around {
		m := h.spoke[host]
		agree = agree && m != nil && m.agrees
	}
	if s.shows = !agree; s.shows {
		s.hail = h.now + 2*h.cfg.Pace.Deadline
		h.actions.Hail = s.known[h.cfg.Host].record
	}
}

// showing returns when this host wants to show its record again, between two steps; 0
// if it does not. During one there is always something that wakes it soon enough.
func (s *members) showing() time.Duration {
	if s.shows {
		return max(s.hail, 1)
	}
	return 0
}

// meet notes that a row came of a node. If it has links here that wait for it, they
// begin with the next step.
func (h *Machine) meet(node agent.NodeID, from transport.HostID) {
	s := &h.members
	if len(s.awaited) == 0 || !s.awaited[node] {
		return
	}
	delete(s.awaited, node)
	s.met[node], s.changed = true, true
	if n := s.known[from]; n != nil {
		n.heard = true
	}
	h.info("a node that came later is heard: its links begin with the next step", "node", node, "host", from, "time", h.time)
}

// join makes nodes of this host that the line of a step names for the first time, and
// looks at links that newcomers brought, before the step begins.
func (h *Machine) join(l *Line) {
	s := &h.members
	if len(s.here) > 0 {
		h.makeNodes(slices.DeleteFunc(slices.Clone(s.here), func(node agent.NodeID) bool { return !h.names(l, node) }))
	}
	if s.changed {
		s.changed = false
		h.relink()
		h.rewire()
	}
}

// names says whether a line speaks of a node.
func (h *Machine) names(l *Line, node agent.NodeID) bool {
	return slices.ContainsFunc(l.Nodes, func(n NodeLine) bool {
		if n.Sensor != "" {
			return h.numbers[n.Sensor] == node && h.cfg.Names[node] == n.Sensor
		}
		return n.Node == node
	})
}

// makeNodes makes nodes of this host that were waited for, while it runs.
func (h *Machine) makeNodes(nodes []agent.NodeID) {
	if len(nodes) == 0 {
		return
	}
	h.insert(nodes)
	h.gather()
	h.info("nodes were made that came later", "nodes", FormatNodes(nodes), "time", h.time)
}

// insert puts nodes of this host among the others.
func (h *Machine) insert(nodes []agent.NodeID) {
	s := &h.members
	s.changed = true
	s.here = slices.DeleteFunc(s.here, func(node agent.NodeID) bool { return slices.Contains(nodes, node) })
	for _, node := range nodes {
		h.cells = append(h.cells, cell{node: agent.NewNode(node, h.cfg.Plan, h.scratch)})
	}
	slices.SortFunc(h.cells, func(a, b cell) int { return cmp.Compare(a.node.ID(), b.node.ID()) })
	for i := range h.cells {
		h.index[h.cells[i].node.ID()] = i
	}
}

// addedLinks is what records add to the links of a node.
type addedLinks struct {
	said    []agent.Link          // whom it hears by the world
	pending []agent.NodeID        // neighbours that came later and were not heard yet
	known   map[agent.NodeID]bool // neighbours that came later, and that the world has named
}

// relink gives nodes the links that records add to what the world said. Those of
// this host's own record begin at once; of another's, when the node was heard. A world
// that has named a newcomer among a node's neighbours knows it, and is believed from
// then on.
func (h *Machine) relink() {
	s := &h.members
	clear(s.awaited)
	for _, n := range s.known {
		for node := range n.Links {
			if i, here := h.index[node]; here {
				h.cells[i].unlink()
			}
		}
	}
	for _, host := range slices.Sorted(maps.Keys(s.known)) {
		for node, list := range s.known[host].Links {
			if i, here := h.index[node]; here {
				for _, l := range list {
					h.link(&h.cells[i], host, agent.Link(l))
				}
			}
		}
	}
}

// unlink leaves a node with the links that the world says.
func (c *cell) unlink() {
	if c.added == nil {
		c.added = &addedLinks{said: c.links, known: map[agent.NodeID]bool{}}
	}
	c.links, c.added.pending = c.added.said, c.added.pending[:0]
}

// say takes in what the world says of a node's neighbours, and says whether it is
// something else than before.
func (c *cell) say(list []agent.Link) bool {
	if c.added == nil {
		before := c.links
		c.links = list
		return !slices.Equal(list, before)
	}
	if slices.Equal(list, c.added.said) {
		return false
	}
	c.added.said, c.links = list, list // relink follows
	return true
}

// link gives a node a link that the record of a host adds, if it can begin.
func (h *Machine) link(c *cell, host transport.HostID, l agent.Link) {
	s := &h.members
	if _, found := slices.BinarySearchFunc(c.added.said, l, ascending); found {
		c.added.known[l.Node] = true
	}
	_, here := h.index[l.Node]
	owner, run := h.cfg.owner(l.Node)
	switch {
	case c.added.known[l.Node] || !run || owner == h.cfg.Host && !here:
	case here || host == h.cfg.Host || s.met[l.Node]:
		c.links = added(c.links, l)
	default:
		c.added.pending = append(c.added.pending, l.Node)
		s.awaited[l.Node] = true
	}
}

// owner returns the host that runs a node, and false if none does.
func (c *Config) owner(node agent.NodeID) (transport.HostID, bool) {
	if c.Directory == nil {
		return c.Host, true
	}
	return c.Directory.Owner(node)
}

// added returns links with one more, which goes behind one to the same node that is
// there. The list that is given stays as it is.
func added(list []agent.Link, l agent.Link) []agent.Link {
	at, found := slices.BinarySearchFunc(list, l, ascending)
	if found {
		return list
	}
	return slices.Insert(slices.Clone(list), at, l)
}

// joined returns the hosts that came later, for a report.
func (h *Machine) joined() (list []Joined) {
	for _, host := range slices.Sorted(maps.Keys(h.members.known)) {
		n := h.members.known[host]
		list = append(list, Joined{host, n.Nodes, n.Address, n.heard})
	}
	return list
}

// Members returns the hosts that came later, ascending.
func (h *Machine) Members() (list []*Member) {
	for _, host := range slices.Sorted(maps.Keys(h.members.known)) {
		list = append(list, h.members.known[host].Member)
	}
	return list
}
