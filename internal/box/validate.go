package box

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/rule"
	"github.com/wdgnn/wdgnn/transport"
	"github.com/wdgnn/wdgnn/transport/natsbus"
)

// Kinds of buses and worlds.
const (
	BusNATS, BusTCP, BusNone                         = "nats", "tcp", "none"
	WorldLines, WorldStream, WorldSubject, WorldMQTT = "lines", "stream", "subject", "mqtt"
)

// complaints collects what is wrong.
type complaints []error

func (c *complaints) add(format string, args ...any) { *c = append(*c, fmt.Errorf(format, args...)) }

// Validate reports everything that is wrong with c, as far as it can be seen
// without looking at other files.
func (c *Config) Validate() error {
	var bad complaints
	if err := natsbus.ValidRun(c.Run); err != nil {
		bad.add("run: %w", err)
	}
	if c.Model == "" {
		bad.add("model: name a model file, such as one that wdgnn train leaves")
	}
	if !(c.Scale >= 0) || math.IsInf(c.Scale, 0) {
		bad.add("scale is %v, want a number above 0, or none for that of the model file", c.Scale)
	}
	if c.learns() {
		if _, err := c.rule(rule.Facts{Bias: true}); err != nil {
			bad = append(bad, err)
		}
	}
	if c.Cost != "" {
		if err := c.Cost.Validate(); err != nil {
			bad.add("cost: %w", err)
		}
	}
	if math.IsNaN(c.MaxNorm) || !(c.ClipNorm >= 0) {
		bad.add("max_norm %v, clip_norm %v: want 0 or more; of max_norm less than 0 means no bound", c.MaxNorm, c.ClipNorm)
	}
	if c.CheckpointEvery < 0 {
		bad.add("checkpoint_every is %v, want a duration such as 1s", c.CheckpointEvery)
	}
	checkMetrics(&bad, "metrics", c.Metrics)
	for id, p := range c.Hosts {
		checkMetrics(&bad, fmt.Sprintf("hosts.%d.metrics", id), p.Metrics)
	}
	c.checkHosts(&bad)
	c.checkBus(&bad)
	c.checkWorld(&bad)
	c.checkPace(&bad)
	return errors.Join(bad...)
}

// checkMetrics looks at where metrics are served.
func checkMetrics(bad *complaints, key, address string) {
	if _, _, err := net.SplitHostPort(address); err != nil && address != "" {
		bad.add("%s: %w; want an address such as 127.0.0.1:9100", key, err)
	}
}

// checkHosts looks at who runs which nodes.
func (c *Config) checkHosts(bad *complaints) {
	own, directory, err := c.directory()
	if err != nil {
		*bad = append(*bad, err)
		return
	}
	for node, links := range c.links() {
		if !slices.Contains(own, node) {
			bad.add("links: node %d is not one of host %d, which has %s", node, c.Host, host.FormatNodes(own))
		}
		if err := agent.CheckLinks(node, links); err != nil {
			bad.add("links: %w", err)
		}
		for _, l := range links {
			if _, ok := directory.Owner(l.Node); !ok {
				bad.add("links: node %d hears node %d, which no host has", node, l.Node)
			}
		}
	}
	for _, h := range c.Hear {
		if _, ok := c.Hosts[h]; !ok {
			bad.add("hear: there is no host %d under hosts", h)
		}
	}
}

func (c *Config) checkBus(bad *complaints) {
	b := &c.Bus
	switch b.Kind {
	case BusNATS:
		if b.URL == "" {
			bad.add("bus.url: say where the server is, such as nats://127.0.0.1:4222")
		}
		if b.Listen != "" {
			bad.add("bus.listen is for kind tcp; a NATS server is named by bus.url")
		}
		if b.Plain && !onLoopback(b.URL) {
			bad.add("bus.plain sends everything without encryption, and %s is not on loopback; leave it out", b.URL)
		}
	case BusTCP:
		if b.Listen == "" && c.Hosts[c.Host].Address == "" {
			bad.add("bus.listen: say where to listen, such as 0.0.0.0:7411, or give host %d an address", c.Host)
		}
		for id, p := range c.Hosts {
			if _, _, err := net.SplitHostPort(p.Address); id != c.Host && err != nil {
				bad.add("hosts: host %d: address %q: want host:port, to be reached over tcp", id, p.Address)
			}
		}
		if b.URL != "" {
			bad.add("bus.url is for kind nats; over tcp every host has an address under hosts")
		}
	case BusNone:
		if len(c.Hosts) > 1 {
			bad.add("bus.kind is none, but there are %d hosts; try nats or tcp", len(c.Hosts))
		}
		if c.Faults != nil && c.Faults.Any() {
			bad.add("faults disturb what a bus carries, and bus.kind is none")
		}
	default:
		bad.add("bus.kind is %q, want nats, tcp, or none if all nodes are here", b.Kind)
	}
	if c.Faults != nil {
		if err := c.Faults.Validate(); err != nil {
			*bad = append(*bad, err)
		}
	}
}

// onLoopback says whether all servers of a list of URLs are on this machine.
func onLoopback(urls string) bool {
	for text := range strings.SplitSeq(urls, ",") {
		u, err := url.Parse(strings.TrimSpace(text))
		if err != nil {
			return false
		}
		if ip := net.ParseIP(u.Hostname()); u.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()) {
			return false
		}
	}
	return true
}

func (c *Config) checkWorld(bad *complaints) {
	w := &c.World
	stream := w.Signals != "" || w.Targets != "" || w.Graph != "" || w.Series != "" || w.Truths != "" || w.AnyUnits
	switch w.Kind {
	case WorldLines:
	case WorldStream:
		switch {
		case w.Series != "" && (w.Signals != "" || w.Targets != ""):
			bad.add("world.series is in place of signals and targets; leave those out")
		case w.Series != "":
		case w.Truths != "" || w.AnyUnits:
			bad.add("world.truths and any_units are those of a series of readings; name it: world.series")
		case w.Signals == "" || w.Graph == "":
			bad.add("world: a stream needs signals and graph, and targets to learn from; or, for a model that forecasts, series")
		}
	case WorldSubject:
		if c.Bus.Kind != BusNATS {
			bad.add("world.kind is subject, which needs bus.kind nats; try lines or stream")
		}
		if w.Answers != "" {
			bad.add("world.answers: over NATS answers go to a subject; leave it out")
		}
	case WorldMQTT:
		c.checkMQTT(bad)
		stream = stream && !(w.Graph != "" && w.Signals+w.Targets+w.Series+w.Truths == "")
	default:
		bad.add("world.kind is %q, want lines, stream, subject or mqtt", w.Kind)
		return
	}
	if w.Kind != WorldMQTT && w.ofMQTT() {
		bad.add("world: broker, topic, values, time, names, hold, wait, publish and discovery are of kind mqtt, and this is %s", w.Kind)
	}
	if stream && w.Kind != WorldStream {
		bad.add("world: signals, targets, graph, series, truths and any_units are of kind stream, and this is %s", w.Kind)
	}
	if w.File != "" && w.Kind != WorldLines {
		bad.add("world.file is of kind lines, and this is %s", w.Kind)
	}
}

func (c *Config) checkPace(bad *complaints) {
	if err := c.pace().Validate(); err != nil {
		bad.add("pace: %w", err)
	}
	clocked := c.World.Kind == WorldStream || c.World.Kind == WorldMQTT || c.World.Kind == WorldLines && c.World.File != ""
	if c.Pace.Period < 0 {
		bad.add("pace.period is %v, want 0 or more", c.Pace.Period)
	}
	if c.Pace.Period != 0 && !clocked {
		bad.add("pace.period is for streams and files; lines on stdin and subjects come when the world says")
	}
	if c.Pace.Period > 0 && c.Pace.Start.IsZero() && len(c.Hosts) > 1 {
		bad.add("pace.start: several hosts with a pace.period must agree when step 0 is, such as 2030-01-02T15:04:05Z")
	}
	if !c.Pace.Start.IsZero() && c.Pace.Period == 0 {
		bad.add("pace.start says when step 0 is, which needs a pace.period, such as 100ms")
	}
}

// directory returns the nodes of this host, and who has which.
func (c *Config) directory() ([]agent.NodeID, *host.Directory, error) {
	var bad complaints
	all := map[transport.HostID][]agent.NodeID{}
	for id, p := range c.Hosts {
		nodes, err := host.ParseNodes(p.Nodes)
		if err != nil {
			bad.add("hosts: host %d: %w", id, err)
		}
		all[id] = nodes
	}
	if _, ok := c.Hosts[c.Host]; !ok {
		bad.add("host is %d, which is not under hosts; list every host with its nodes, such as hosts: {0: {nodes: 0-9}}", c.Host)
	}
	if len(bad) > 0 {
		return nil, nil, errors.Join(bad...)
	}
	d, err := host.NewDirectory(all)
	if err != nil {
		return nil, nil, fmt.Errorf("hosts: %w", err)
	}
	return all[c.Host], d, nil
}

// pace returns how time passes, with what worlds that end by themselves, or are
// paced by a clock, need.
func (c *Config) pace() *host.Pace {
	p := &host.Pace{
		Mode: c.Pace.Mode, Deadline: c.Pace.Deadline, First: c.Pace.First, Retry: c.Pace.Retry, Suspect: c.Pace.Suspect,
		Linger: c.Pace.Linger,
	}
	period := cmp.Or(c.Pace.Period, c.tick)
	if p.Mode == "" && period > 0 {
		p.Mode = host.RealTime
	}
	if p.Deadline == 0 && p.Mode == host.RealTime && period > 0 {
		p.Deadline = host.TickDeadline(period)
	}
	ends := c.World.Kind == WorldStream || c.World.File != ""
	if p.Linger == 0 && ends && p.Mode != host.RealTime {
		p.Linger = p.Deadline
		if p.Linger == 0 {
			p.Linger = host.DefaultDeadline
		}
	}
	return p
}
