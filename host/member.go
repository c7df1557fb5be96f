package host

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/internal/idlist"
	"github.com/wdgnn/wdgnn/transport"
)

// Member is what the authority of a run says of a host that joins it, or of one that
// gets more nodes: who it is, what it runs and with whom. Signed, it is a record,
// which boxes pass on to each other; see [Config.Vouch].
type Member struct {
	Run  string           `json:"run"`
	Host transport.HostID `json:"host"`

	// Serial tells records of one host apart: one with a larger number takes the
	// place of those before.
	Serial uint64 `json:"serial"`

	// Key is the SHA-256 of the public key of the host's certificate, in
	// hexadecimal, by which a record is revoked together with the key.
	Key string `json:"key"`

	Nodes   string             `json:"nodes"`             // all that it runs, as ParseNodes reads them
	Address string             `json:"address,omitempty"` // host:port, for direct links
	Hears   []transport.HostID `json:"hears,omitempty"`   // whom it may hear, and who may hear it

	// Links are added to whom nodes hear, until the world says otherwise; at one end
	// of each is a node of the host.
	Links map[agent.NodeID][]Link `json:"links,omitempty"`

	// Sensors are names of its nodes.
	Sensors map[agent.NodeID]string `json:"sensors,omitempty"`
}

const (
	// MaxRecord is the longest record that is taken, in bytes.
	MaxRecord = 128 << 10

	mostJoining = 100_000 // nodes of one record
)

// ReadMember reads what a record says, once it is known who signed it.
func ReadMember(text []byte) (*Member, error) {
	m := new(Member)
	if err := json.Unmarshal(text, m); err != nil {
		return nil, fmt.Errorf("host: this says nothing of a host: %w", err)
	}
	return m, m.Validate()
}

// Validate reports everything that is wrong with m.
func (m *Member) Validate() error {
	var errs []error
	complain := func(format string, args ...any) { errs = append(errs, fmt.Errorf("host: "+format, args...)) }
	spans, err := m.spans()
	if err != nil {
		return err
	}
	if _, err := ParseNodes(m.Nodes); err != nil {
		return fmt.Errorf("host: %w", err)
	}
	own := func(node agent.NodeID) bool {
		return slices.ContainsFunc(spans, func(s span) bool { return s.first <= node && node <= s.last })
	}
	for _, node := range slices.Sorted(maps.Keys(m.Links)) {
		list := links(m.Links[node])
		if err := agent.CheckLinks(node, list); err != nil {
			complain("%w", err)
		}
		if k := slices.IndexFunc(list, func(l agent.Link) bool { return !own(node) && !own(l.Node) }); k >= 0 {
			complain("node %d hears node %d: want a node of host %d at one end", node, list[k].Node, m.Host)
		}
	}
	for _, node := range slices.Sorted(maps.Keys(m.Sensors)) {
		name := m.Sensors[node]
		if !own(node) || name == "" {
			complain("node %d is called %q: want names of nodes of host %d", node, name, m.Host)
		}
	}
	return errors.Join(errs...)
}

// spans reads the nodes of a record, and bounds how many there are before anybody
// counts them one by one.
func (m *Member) spans() (list []span, err error) {
	all := uint64(0)
	for part := range strings.SplitSeq(m.Nodes, ",") {
		first, last, ok := idlist.ParseRange(part)
		if !ok || last >= uint64(agent.Everyone) {
			return nil, fmt.Errorf("host: nodes %.60q of host %d: want a list such as 50-54,60", m.Nodes, m.Host)
		}
		if all += last - first + 1; all > mostJoining {
			return nil, fmt.Errorf("host: host %d has more than %d nodes; give them to several hosts, or stop all boxes and list it under hosts",
				m.Host, mostJoining)
		}
		list = append(list, span{agent.NodeID(first), agent.NodeID(last), m.Host})
	}
	return list, nil
}

// nodes returns the nodes of a valid record, ascending.
func (m *Member) nodes() []agent.NodeID {
	list, err := ParseNodes(m.Nodes)
	if err != nil {
		return nil // it is valid: cannot be
	}
	return list
}

func ascending(a, b agent.Link) int { return cmp.Compare(a.Node, b.Node) }

// with returns the directory with more nodes of a host. A node that another host
// has is an error.
func (d *Directory) with(host transport.HostID, nodes []agent.NodeID) (*Directory, error) {
	all := map[transport.HostID][]agent.NodeID{}
	for _, node := range nodes {
		owner, known := d.Owner(node)
		if known && owner != host {
			return nil, fmt.Errorf("host: node %d belongs to host %d", node, owner)
		}
		if !known {
			all[host] = append(all[host], node)
		}
	}
	if len(all) == 0 {
		return d, nil
	}
	more, err := NewDirectory(all)
	if err != nil {
		return nil, err
	}
	more.spans = append(more.spans, d.spans...)
	more.sort()
	return more, nil
}
