package swarm

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/internal/box"
	"github.com/wdgnn/wdgnn/internal/keys"
	"github.com/wdgnn/wdgnn/transport"
)

// Joining says who joins a deployment, or gets more nodes.
type Joining struct {
	Host    transport.HostID
	Nodes   string            // that it gets; empty means those of the configuration
	Address string            // for direct links; empty means that of the configuration
	Links   []string          // such as 50-3 and 50-4:0.5
	Graph   *graph.Graph      // and those of a graph; nil for none
	Sensors map[uint32]string // names of nodes
	Years   int               // of a certificate
}

// JoinPlan returns what keys are made for a host that joins the deployment of a
// configuration, whose keys are in dir, and what its record will say but serial number
// and key. Links are those of its nodes that are new: of the configuration, if it is
// the host's own, of the graph, and those that are named. With links it may hear the
// hosts at their other ends, without any all.
func JoinPlan(dir string, c *box.Config, j Joining) (keys.Entry, *host.Member, error) {
	run, hosts, err := ExpectedHosts(dir)
	if err != nil {
		return keys.Entry{}, nil, err
	}
	if run != c.Run {
		return keys.Entry{}, nil, fmt.Errorf("the keys are of run %q, and the configuration of %q", run, c.Run)
	}
	p := &joinPlan{Joining: j, config: c, links: map[agent.NodeID]map[agent.NodeID]float32{}}
	if err := p.read(dir); err != nil {
		return keys.Entry{}, nil, err
	}
	if err := p.connect(); err != nil {
		return keys.Entry{}, nil, err
	}
	m, err := p.member(hosts)
	if err != nil {
		return keys.Entry{}, nil, err
	}
	e := keys.Entry{Host: keys.Host{ID: j.Host, Hears: m.Hears}, Years: j.Years, Record: func(serial uint64, key string) ([]byte, error) {
		signed := *m
		signed.Serial, signed.Key = serial, key
		text, err := json.Marshal(&signed)
		if err == nil && len(text) > host.MaxRecord*3/4 {
			err = fmt.Errorf("the record of host %d has %d bytes, want at most %d: name links with nodes of other hosts only",
				j.Host, len(text), host.MaxRecord*3/4)
		}
		return text, err
	}}
	if name, _, err := net.SplitHostPort(m.Address); err == nil && name != "" {
		e.Host.Names = []string{name}
	}
	return e, m, nil
}

// joinPlan is a record on its way.
type joinPlan struct {
	Joining
	config *box.Config
	all    []agent.NodeID                            // that the host will have
	fresh  []agent.NodeID                            // of these, those that are new
	owners map[agent.NodeID]transport.HostID         // of all nodes
	links  map[agent.NodeID]map[agent.NodeID]float32 // whom nodes hear
}

// read finds out who runs what: by the configuration, and by earlier records.
func (p *joinPlan) read(dir string) error {
	p.owners = map[agent.NodeID]transport.HostID{}
	own := func(id transport.HostID, text string) error {
		nodes, err := host.ParseNodes(text)
		if err != nil {
			return fmt.Errorf("host %d: %w", id, err)
		}
		for _, node := range nodes {
			if other, taken := p.owners[node]; taken && other != id {
				return fmt.Errorf("node %d belongs to host %d and to host %d", node, other, id)
			}
			p.owners[node] = id
		}
		return nil
	}
	for _, id := range slices.Sorted(maps.Keys(p.config.Hosts)) {
		if err := own(id, p.config.Hosts[id].Nodes); err != nil {
			return err
		}
	}
	records, err := keys.Records(dir)
	if err != nil {
		return err
	}
	for _, text := range records {
		m, err := host.ReadMember(text)
		if err == nil {
			err = own(m.Host, m.Nodes)
		}
		if err != nil {
			return fmt.Errorf("an earlier record: %w", err)
		}
	}
	text := cmp.Or(p.Nodes, p.config.Hosts[p.Host].Nodes)
	if text == "" {
		return fmt.Errorf("host %d is not under hosts of the configuration; say which nodes it has: --nodes 50-54", p.Host)
	}
	if p.fresh, err = host.ParseNodes(text); err == nil {
		err = own(p.Host, text)
	}
	if err != nil {
		return err
	}
	for node, id := range p.owners {
		if id == p.Host {
			p.all = append(p.all, node)
		}
	}
	slices.Sort(p.all)
	return nil
}

// connect gathers the links of the nodes that are new.
func (p *joinPlan) connect() error {
	if p.Host == p.config.Host {
		for node, list := range p.config.Links {
			for _, l := range list {
				if err := p.link(agent.NodeID(node), l.Node, l.Weight, false); err != nil {
					return fmt.Errorf("links: %w", err)
				}
			}
		}
	}
	if g := p.Graph; g != nil {
		for i := range g.Nodes() {
			heard, weights := g.Adjacency().Row(i)
			for k, j := range heard {
				if err := p.link(agent.NodeID(i), agent.NodeID(j), weights[k], false); err != nil {
					return fmt.Errorf("graph: %w", err)
				}
			}
		}
	}
	for _, text := range p.Links {
		ends, weight, weighted := strings.Cut(text, ":")
		from, to, ok := strings.Cut(ends, "-")
		a, err1 := strconv.ParseUint(from, 10, 32)
		b, err2 := strconv.ParseUint(to, 10, 32)
		w := 1.0
		var err3 error
		if weighted {
			w, err3 = strconv.ParseFloat(weight, 32)
		}
		if !ok || errors.Join(err1, err2, err3) != nil || !(w > 0) || math.IsInf(w, 0) {
			return fmt.Errorf("link %q, want two nodes and perhaps a weight above 0, such as 50-3 or 50-3:0.5", text)
		}
		if err := p.link(agent.NodeID(a), agent.NodeID(b), float32(w), true); err != nil {
			return err
		}
	}
	return nil
}

// link adds a link in both directions if one end is new. One that is named must have
// such an end.
func (p *joinPlan) link(a, b agent.NodeID, weight float32, named bool) error {
	isNew := func(node agent.NodeID) bool { _, found := slices.BinarySearch(p.fresh, node); return found }
	if !isNew(a) && !isNew(b) {
		if named {
			return fmt.Errorf("link %d-%d: neither is a node that joins, which are %s", a, b, host.FormatNodes(p.fresh))
		}
		return nil
	}
	for _, node := range []agent.NodeID{a, b} {
		if _, known := p.owners[node]; !known || a == b {
			return fmt.Errorf("link %d-%d: want two nodes that hosts of the configuration have", a, b)
		}
	}
	for _, pair := range [][2]agent.NodeID{{a, b}, {b, a}} {
		if p.links[pair[0]] == nil {
			p.links[pair[0]] = map[agent.NodeID]float32{}
		}
		p.links[pair[0]][pair[1]] = weight
	}
	return nil
}

// member returns what the record says.
func (p *joinPlan) member(hosts []transport.HostID) (*host.Member, error) {
	m := &host.Member{
		Run: p.config.Run, Host: p.Host, Nodes: host.FormatNodes(p.all),
		Address: cmp.Or(p.Address, p.config.Hosts[p.Host].Address), Links: map[agent.NodeID][]host.Link{},
		Sensors: map[agent.NodeID]string{},
	}
	if p.config.Bus.Kind == box.BusTCP && m.Address == "" {
		return nil, fmt.Errorf("host %d has no address, and boxes have direct links; say where others find it: --address box-%d:7411",
			p.Host, p.Host)
	}
	hears := map[transport.HostID]bool{}
	for node, list := range p.links {
		for _, other := range slices.Sorted(maps.Keys(list)) {
			m.Links[node] = append(m.Links[node], host.Link{Node: other, Weight: list[other]})
			hears[p.owners[other]] = true
		}
	}
	if len(p.links) == 0 {
		for _, h := range hosts {
			hears[h] = true
		}
	}
	delete(hears, p.Host)
	m.Hears = slices.Sorted(maps.Keys(hears))
	for _, names := range []map[uint32]string{p.config.Sensors, p.Sensors} {
		for node, name := range names {
			if _, found := slices.BinarySearch(p.fresh, agent.NodeID(node)); found {
				m.Sensors[agent.NodeID(node)] = name
			}
		}
	}
	return m, m.Validate()
}
