package host

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/internal/idlist"
	"github.com/wdgnn/wdgnn/transport"
)

// Directory says which host runs which node. It never changes once made and is
// safe for concurrent use.
type Directory struct{ spans []span }

// span is nodes first to last of one host.
type span struct {
	first, last agent.NodeID
	host        transport.HostID
}

// NewDirectory returns the directory of the given hosts' nodes. A node that two
// hosts claim is an error.
func NewDirectory(hosts map[transport.HostID][]agent.NodeID) (*Directory, error) {
	d := &Directory{}
	for host, nodes := range hosts {
		sorted := slices.Sorted(slices.Values(nodes))
		for k, node := range sorted {
			if k > 0 && node == sorted[k-1]+1 {
				d.spans[len(d.spans)-1].last = node
				continue
			}
			d.spans = append(d.spans, span{node, node, host})
		}
	}
	d.sort()
	for k := 1; k < len(d.spans); k++ {
		if d.spans[k].first <= d.spans[k-1].last {
			return nil, fmt.Errorf("host: node %d belongs to host %d and to host %d", d.spans[k].first, d.spans[k-1].host, d.spans[k].host)
		}
	}
	return d, nil
}

// sort puts the spans in order.
func (d *Directory) sort() {
	slices.SortFunc(d.spans, func(a, b span) int { return cmp.Compare(a.first, b.first) })
}

// nodes returns all nodes, ascending.
func (d *Directory) nodes() []agent.NodeID {
	var all []agent.NodeID
	for _, s := range d.spans {
		for node := s.first; ; node++ {
			all = append(all, node)
			if node == s.last {
				break
			}
		}
	}
	return all
}

// Owner returns the host that runs node, and false if none does; nil knows none.
func (d *Directory) Owner(node agent.NodeID) (transport.HostID, bool) {
	if d == nil {
		return 0, false
	}
	lo, hi := 0, len(d.spans)
	for lo < hi { // the first span behind the node; it is asked for every message
		if mid := (lo + hi) / 2; d.spans[mid].first <= node {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo == 0 || node > d.spans[lo-1].last {
		return 0, false
	}
	return d.spans[lo-1].host, true
}

// has says whether a host runs any node; nil has none.
func (d *Directory) has(host transport.HostID) bool {
	return d != nil && slices.ContainsFunc(d.spans, func(s span) bool { return s.host == host })
}

// mostNodes bounds a list of nodes, and mostNode their numbers: they index what is known of nodes.
const (
	mostNodes = 10_000_000
	mostNode  = min(uint64(agent.Everyone)-1, math.MaxInt)
)

// ParseNodes reads a list such as "0-9,12,20-29", ascending or not. A node named
// twice is an error.
func ParseNodes(text string) ([]agent.NodeID, error) {
	var nodes []agent.NodeID
	for part := range strings.SplitSeq(text, ",") {
		first, last, ok := idlist.ParseRange(strings.TrimSpace(part))
		if !ok || last > mostNode || last-first >= mostNodes || len(nodes) > mostNodes {
			return nil, fmt.Errorf("nodes %q: %q is no node and no range; want a list such as 0-9,12, up to %d", text, part, mostNode)
		}
		for n := first; n <= last; n++ {
			nodes = append(nodes, agent.NodeID(n))
		}
	}
	slices.Sort(nodes)
	if k := slices.Compact(slices.Clone(nodes)); len(k) != len(nodes) {
		return nil, fmt.Errorf("nodes %q: a node is named twice", text)
	}
	return nodes, nil
}

// FormatNodes writes ascending nodes as ParseNodes reads them.
func FormatNodes(nodes []agent.NodeID) string { return idlist.Format(nodes) }
