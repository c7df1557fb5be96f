package host_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/internal/script"
	"github.com/wdgnn/wdgnn/rule"
	"github.com/wdgnn/wdgnn/transport"
)

// create makes the machine and starts it.
func (s *scriptHost) create(w script.Words) error {
	here, err := host.ParseNodes(cmp.Or(w.Values["here"], "0"))
	if err != nil {
		return err
	}
	if s.links, err = parseLinks(w.Plain); err != nil {
		return err
	}
	owners := map[transport.HostID][]agent.NodeID{0: here}
	for node := range s.links {
		if !slices.Contains(here, node) {
			owners[transport.HostID(node)] = []agent.NodeID{node}
		}
	}
	if text, ok := w.Values["knows"]; ok {
		node, err := strconv.Atoi(text)
		if err != nil {
			return err
		}
		owners[transport.HostID(node)] = []agent.NodeID{agent.NodeID(node)}
	}
	s.config = host.Config{Run: "script", Nodes: here, Cost: host.MSE, Links: map[agent.NodeID][]agent.Link{}}
	for _, node := range here {
		s.config.Links[node] = s.links[node]
	}
	if s.config.Plan, err = scriptPlan(w); err != nil {
		return err
	}
	if s.config.Directory, err = host.NewDirectory(owners); err != nil {
		return err
	}
	p := &s.config.Pace
	p.Mode, p.Suspect = host.Pacing(w.Values["pace"]), int(w.Number("suspect", 0))
	for name, d := range map[string]*time.Duration{"deadline": &p.Deadline, "first": &p.First, "retry": &p.Retry, "every": &s.config.Every} {
		if text, ok := w.Values[name]; ok {
			if *d, err = time.ParseDuration(text); err != nil {
				return err
			}
		}
	}
	s.config.Every = cmp.Or(s.config.Every, time.Hour)
	s.config.Vouch, s.records = vouch, map[transport.HostID][]byte{}
	if text, ok := w.Values["came"]; ok { // this host came later, with these links
		links, err := parseLinks(strings.Fields(text))
		if err != nil {
			return err
		}
		m := &host.Member{Run: "script", Serial: 1, Nodes: host.FormatNodes(here), Links: recordLinks(links)}
		if s.config.Records = [][]byte{signed(m)}; m.Validate() != nil {
			return m.Validate()
		}
	}
	s.sent = map[transport.HostID]uint64{}
	return s.start()
}

// start makes the machines from the last checkpoint, if there is one.
func (s *scriptHost) start() (err error) {
	for k := range s.machines {
		if s.machines[k], err = host.NewMachine(s.config, s.saved); err != nil {
			return err
		}
	}
	s.born, s.wake, s.busy = s.now, 0, false
	s.hears(s.machines[0].Hears())
	return s.step(host.Start{})
}

func (s *scriptHost) restart(script.Words) error { return s.start() }

// scriptPlan returns the plan that a script's first command describes.
func scriptPlan(w script.Words) (*agent.Plan, error) {
	order := int(w.Number("exchanges", 1))
	m, err := gnn.New(gnn.Config{In: 1, Features: 1, Outputs: 1, NoBias: true, Wide: &gnn.WideConfig{Order: order}})
	if err != nil {
		return nil, err
	}
	for k, tap := range m.Params.Wide.Taps { // 1, 10, 100 …
		tap.Set(0, 0, float32(math.Pow10(k)))
	}
	m.Params.Readout.Weight.Set(0, 0, 1)
	if len(m.Params.Gain) > 0 {
		m.Params.Gain[gnn.GainWide] = 1
	}
	r := rule.Paper(false).Ungated()
	r.StepSize.Value = w.Number("step-size", 0.1)
	r.Delay = int(w.Number("delay", 0))
	plan := agent.PlanConfig{
		Model: m, Operator: graph.ShiftAdjacency, Rule: &r, Cost: host.MSE.Kind(), MaxNorm: w.Number("max-norm", 0),
		Forgiving: slices.Contains(w.Plain, "forgiving"),
	}
	if slices.Contains(w.Plain, "learns") {
		if plan.Basis, err = rule.NewBasis(rule.BasisConfig{
			Inputs: order + 1, Features: 1, Gain: 1, Readout: m.Params.Readout.Weight,
		}); err != nil {
			return nil, err
		}
	}
	return agent.NewPlan(plan)
}

// parseLinks reads 0-1 1-2:0.5, and passes over other words.
func parseLinks(list []string) (map[agent.NodeID][]agent.Link, error) {
	links := map[agent.NodeID][]agent.Link{}
	for _, p := range list {
		var i, j agent.NodeID
		weight := float32(1)
		if k, err := fmt.Sscanf(p, "%d-%d:%g", &i, &j, &weight); k == 0 {
			continue // an option without a value
		} else if k < 2 {
			return nil, fmt.Errorf("link %q: %w", p, err)
		}
		links[i] = append(links[i], agent.Link{Node: j, Weight: weight})
		links[j] = append(links[j], agent.Link{Node: i, Weight: weight})
	}
	for _, l := range links {
		slices.SortFunc(l, func(a, b agent.Link) int { return int(a.Node) - int(b.Node) })
	}
	return links, nil
}

// first reads the first plain word, a number.
func first(w script.Words) (uint64, error) {
	if len(w.Plain) == 0 {
		return 0, errors.New("a number must follow")
	}
	return strconv.ParseUint(w.Plain[0], 10, 32)
}

// line has the world show rows: of all nodes, all 1, unless the command says other.
func (s *scriptHost) line(w script.Words) error {
	t, err := first(w)
	if err != nil {
		return err
	}
	l := &host.Line{Time: t}
	if text, ok := w.Values["came"]; ok { // so long ago, and 100 ms after the one before
		ago, err := time.ParseDuration(text)
		if err != nil {
			return err
		}
		l.Noted(100*time.Millisecond, ago)
	}
	nodes := s.config.Nodes
	if only, ok := w.Values["only"]; ok {
		if nodes, err = host.ParseNodes(only); err != nil {
			return err
		}
	}
	x, y := w.List("x"), w.List("y")
	text, rewired := w.Values["links"]
	links, err := parseLinks(strings.Fields(text))
	if err != nil {
		return err
	}
	for k, node := range nodes {
		n := host.NodeLine{Node: node, Row: []float32{1}}
		if k < len(x) {
			n.Row = x[k : k+1]
		}
		if k < len(y) {
			n.Target = y[k : k+1]
		}
		if rewired {
			n.SetLinks(links[node])
		}
		if near, ok := w.Values["near"]; ok {
			if n.Near, err = host.ParseNodes(near); err != nil {
				return err
			}
		}
		l.Nodes = append(l.Nodes, n)
	}
	if slices.Contains(w.Plain, "empty") {
		l.Nodes = nil
	}
	if rewired {
		maps.Copy(s.links, links)
	}
	return s.step(l)
}

// told has the world tell targets.
func (s *scriptHost) told(w script.Words) error {
	t, err := first(w)
	if err != nil {
		return err
	}
	l := &host.Line{Time: t}
	for k, y := range w.List("y") {
		l.Nodes = append(l.Nodes, host.NodeLine{Node: s.config.Nodes[k], Target: []float32{y}})
	}
	return s.step(l)
}

// row lets a frame with one row arrive.
func (s *scriptHost) row(w script.Words) error {
	node, err := first(w)
	if err != nil {
		return err
	}
	m := s.message(w, agent.NodeID(node), agent.Row)
	if w.Values["to"] == "" {
		m.To = agent.Everyone
	}
	if m.Values = w.List("x"); m.Values == nil {
		m.Values = []float32{1}
	}
	if m.Exchange == 0 {
		m.Links, m.Degree = uint32(len(s.links[m.From])), float64(len(s.links[m.From]))
		if s.config.Plan.Basis != nil && len(m.Values) == 1 { // parameters of somebody who has learned nothing
			m.Values = append(m.Values, make([]float32, s.config.Plan.Basis.Len())...)
		}
	}
	return s.arrive(w, m)
}

// ask lets a frame arrive in which a node asks for a row.
func (s *scriptHost) ask(w script.Words) error {
	node, err := first(w)
	if err != nil {
		return err
	}
	m := s.message(w, agent.NodeID(node), agent.Ask)
	m.Links = uint32(w.Number("lost", 0))
	return s.arrive(w, m)
}

// notYet lets a frame arrive in which a node says that it does not have a row yet.
func (s *scriptHost) notYet(w script.Words) error {
	node, err := first(w)
	if err != nil {
		return err
	}
	return s.arrive(w, s.message(w, agent.NodeID(node), agent.NotYet))
}

func (s *scriptHost) message(w script.Words, from agent.NodeID, kind agent.Kind) agent.Message {
	return agent.Message{
		From: from, To: agent.NodeID(w.Number("to", 0)), Kind: kind, Time: uint64(w.Number("t", 0)), Exchange: uint16(w.Number("e", 0)),
	}
}

// arrive lets a frame arrive: of the host of the message's node, with its next
// number, unless the command says other.
func (s *scriptHost) arrive(w script.Words, m agent.Message) error {
	from := transport.HostID(w.Number("host", float64(m.From)))
	header := agent.Header{Run: host.RunHash(cmp.Or(w.Values["run"], "script")), Plan: s.config.Plan.Digest(), Host: uint32(from)}
	if w.Values["plan"] == "new" {
		header.Plan = s.next.Digest()
	} else if w.Values["plan"] == "old" {
		header.Plan = s.config.Change.Before
	} else if w.Values["plan"] != "" {
		header.Plan = uint32(w.Number("plan", 0))
	}
	if w.Values["seq"] == "" {
		s.sent[from]++
	}
	header.Sequence = uint64(w.Number("seq", float64(s.sent[from])))
	data := agent.AppendFrame(nil, header, []agent.Message{m})
	if w.Values["version"] != "" {
		data[4] = byte(w.Number("version", 0))
	}
	return s.step(host.Arrive{Frame: transport.Frame{From: from, Data: data}})
}

func (s *scriptHost) lost(w script.Words) error {
	from, err := first(w)
	s.sent[transport.HostID(from)]++
	return err
}

func (s *scriptHost) until(w script.Words) error {
	if len(w.Plain) == 0 {
		return errors.New("a time must follow")
	}
	end, err := time.ParseDuration(w.Plain[0])
	if err != nil {
		return err
	}
	for ticks := 0; s.wake > 0 && s.wake <= end; ticks++ {
		if ticks == 1000 {
			return fmt.Errorf("%d ticks and no end", ticks)
		}
		s.now = max(s.now, s.wake)
		if err := s.step(host.Tick{}); err != nil {
			return err
		}
	}
	s.now = end
	return nil
}

// signature stands at the beginning of records that scripts believe.
const signature = "signed "

func vouch(record []byte) ([]byte, error) {
	text, ok := strings.CutPrefix(string(record), signature)
	if !ok {
		return nil, errors.New("nobody signed it")
	}
	return []byte(text), nil
}

func signed(m *host.Member) []byte {
	text, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	return append([]byte(signature), text...)
}

// recordLinks are links as records have them.
func recordLinks(links map[agent.NodeID][]agent.Link) map[agent.NodeID][]host.Link {
	all := map[agent.NodeID][]host.Link{}
	for node, list := range links {
		for _, l := range list {
			all[node] = append(all[node], host.Link(l))
		}
	}
	return all
}

// join shows the record of a host.
func (s *scriptHost) join(w script.Words) error {
	id, err := first(w)
	if err != nil {
		return err
	}
	links, err := parseLinks(strings.Fields(w.Values["links"]))
	if err != nil {
		return err
	}
	m := &host.Member{
		Run: cmp.Or(w.Values["run"], "script"), Host: transport.HostID(id), Serial: uint64(w.Number("serial", 1)),
		Nodes: cmp.Or(w.Values["nodes"], fmt.Sprint(id)), Links: recordLinks(links),
	}
	for node, list := range links {
		if _, known := s.links[node]; !known {
			s.links[node] = list
		}
	}
	if name, ok := w.Values["called"]; ok {
		m.Sensors = map[agent.NodeID]string{agent.NodeID(id): name}
	}
	record := signed(m)
	if slices.Contains(w.Plain, "unsigned") {
		record = record[len(signature):]
	}
	s.records[m.Host] = record
	if slices.Contains(w.Plain, "hold") {
		return nil
	}
	return s.step(host.Shown{Record: record})
}

// member lets a frame arrive with what a node says of hosts that came later.
func (s *scriptHost) member(w script.Words) error {
	node, err := first(w)
	if err != nil {
		return err
	}
	m := agent.Message{From: agent.NodeID(node), To: agent.NodeID(node), Kind: agent.Member}
	if w.Values["of"] != "" {
		m.Data = s.records[transport.HostID(w.Number("of", 0))]
	}
	if w.Values["knows"] != "" {
		h := fnv.New64a()
		h.Write(s.records[transport.HostID(w.Number("knows", 0))])
		m.About = h.Sum64()
	}
	return s.arrive(w, m)
}

func (s *scriptHost) look(script.Words) error { return s.step(host.Look{}) }
