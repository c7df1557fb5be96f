package host_test

import (
	"encoding/binary"
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/internal/script"
	"github.com/wdgnn/wdgnn/transport"
)

// Whatever frames, lines and times a machine is given, it does not panic, keeps no
// more frames of later steps than it has room for, sends nothing that cannot be
// read, and does the same as another that was given the same.
func FuzzMachine(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0, 1, 1, 0, 0, 2, 1, 0, 0, 1, 0, 0, 0})                // a step
	f.Add([]byte{0, 3, 9, 0, 1, 17, 200, 0, 3, 255, 0, 0, 3, 255, 0, 0})         // rows from far ahead, ticks
	f.Add([]byte{1, 1, 1, 0, 1, 1, 1, 0, 1, 1, 2, 0, 2, 1, 3, 1, 0, 0, 1, 1})    // rows before the first line
	f.Add([]byte{4, 1, 31, 'W', 'D', 'G', 'N', 2, 0, 0, 5, 0, 0, 6, 1, 0, 0})    // what is no frame, lines without rows
	f.Add([]byte{0, 0, 1, 2, 1, 1, 1, 96, 1, 1, 2, 160, 3, 9, 9, 9, 0, 0, 2, 4}) // rows that do not fit
	f.Fuzz(func(t *testing.T, program []byte) {
		p := &fuzzed{t: t, sent: map[transport.HostID]uint64{}, rest: program}
		p.start()
		for len(p.rest) >= 4 && p.steps < 512 {
			p.step(p.event())
		}
		p.step(host.Look{})
	})
}

const (
	fuzzHosts     = 3 // beside the machine's own
	fuzzExchanges = 2
	fuzzLongest   = 512 // bytes of a frame
)

// fuzzed plays a program of bytes to two machines.
type fuzzed struct {
	t        *testing.T
	plan     *agent.Plan
	machines [2]*host.Machine
	sent     map[transport.HostID]uint64
	now      time.Duration
	last     uint64 // step of the last line
	steps    int
	rest     []byte
}

// start makes the machines: node 0 is a neighbour of node 1 here and of nodes 2 to
// 4 elsewhere.
func (p *fuzzed) start() {
	p.t.Helper()
	links, err := parseLinks([]string{"0-1", "0-2", "0-3", "1-4"})
	check(p.t, err)
	p.plan, err = scriptPlan(script.Split("exchanges=2 learns max-norm=1000"))
	check(p.t, err)
	directory, err := host.NewDirectory(map[transport.HostID][]agent.NodeID{0: {0, 1}, 2: {2}, 3: {3}, 4: {4}})
	check(p.t, err)
	for k := range p.machines {
		p.machines[k], err = host.NewMachine(host.Config{
			Run: "fuzz", Nodes: []agent.NodeID{0, 1}, Plan: p.plan, Cost: host.MSE, Directory: directory,
			Pace: host.Pace{Deadline: time.Second}, Links: map[agent.NodeID][]agent.Link{0: links[0], 1: links[1]},
		}, nil)
		check(p.t, err)
	}
	p.step(host.Start{})
}

// event reads the next event.
func (p *fuzzed) event() host.Event {
	b := [4]byte(p.rest)
	p.rest = p.rest[4:]
	switch b[0] % 7 {
	case 0: // a line, with rows
		p.last += uint64(b[2] % 4)
		l := &host.Line{Time: p.last, Nodes: []host.NodeLine{{Node: 0, Row: []float32{value(b[3])}}, {Node: 1, Row: []float32{1}}}}
		if b[1]&1 != 0 {
			l.Nodes[0].Target = []float32{value(b[3])}
		}
		if b[1]&2 != 0 {
			l.Nodes = l.Nodes[:1]
		}
		if b[1]&4 != 0 {
			l.Nodes[0].SetLinks([]agent.Link{{Node: agent.NodeID(b[3] % 6), Weight: 1}})
		}
		return l
	case 1, 2:
		return p.frame(b)
	case 3:
		p.now += time.Duration(int(b[1])-16) * time.Millisecond << (b[2] % 8)
		return host.Tick{}
	case 4: // any bytes
		n := min(int(b[2]), len(p.rest))
		data := p.rest[:n]
		p.rest = p.rest[n:]
		return host.Arrive{Frame: transport.Frame{From: from(b[1]), Data: data}}
	case 5: // a line without rows
		return &host.Line{Time: uint64(b[2]), Nodes: []host.NodeLine{{Node: agent.NodeID(b[1] % 3), Target: []float32{value(b[3])}}}}
	}
	return host.Look{}
}

// frame is a frame as another host could have sent it, of a step near the last
// line's or far from it.
func (p *fuzzed) frame(b [4]byte) host.Event {
	sender := from(b[1])
	p.sent[sender] += uint64(b[1] >> 6)
	m := agent.Message{From: agent.NodeID(sender), To: agent.Everyone, Kind: agent.Row, Links: 1, Degree: 1}
	m.Time, m.Exchange = p.last+uint64(b[2]%8)-2, uint16(b[2]>>3&3)
	if b[2]&32 != 0 {
		m.To = agent.NodeID(b[3] & 3)
	}
	if b[2]&64 != 0 {
		m.Kind = agent.Kind(1 + b[3]%3)
	}
	if b[2]&128 != 0 {
		m.Time = binary.LittleEndian.Uint64([]byte{b[0], b[1], b[2], b[3], b[0], b[1], b[2], b[3]})
	}
	if int(m.Exchange) < p.plan.Exchanges() {
		m.Values = make([]float32, p.plan.Length(int(m.Exchange)))
		m.Values[0] = value(b[3])
	}
	header := agent.Header{
		Run: host.RunHash("fuzz"), Plan: p.plan.Digest() ^ uint32(b[1]>>5&1), Host: uint32(sender), Sequence: p.sent[sender],
	}
	return host.Arrive{Frame: transport.Frame{From: sender, Data: agent.AppendFrame(nil, header, []agent.Message{m})}}
}

func from(b byte) transport.HostID { return transport.HostID(2 + b%fuzzHosts) }

// value is mostly small, and sometimes nothing that anybody should send.
func value(b byte) float32 {
	switch b {
	case 255:
		return float32(math.NaN())
	case 254:
		return float32(math.Inf(-1))
	case 253:
		return math.MaxFloat32
	}
	return float32(b) - 8
}

// step gives both machines an event and looks at what they ask for.
func (p *fuzzed) step(ev host.Event) {
	p.t.Helper()
	p.steps++
	a, b := p.machines[0].Step(p.now, ev), p.machines[1].Step(p.now, ev)
	if !reflect.DeepEqual(a, b) {
		p.t.Fatalf("two machines that were told the same ask for different actions:\n%+v\n%+v", a, b)
	}
	for _, f := range a.Frames {
		if _, _, err := new(agent.Reader).Read(f); err != nil {
			p.t.Fatalf("a frame that nobody can read: %v", err)
		}
	}
	if a.Save && p.machines[0].Checkpoint() == nil {
		p.t.Fatal("a checkpoint is due and there is none")
	} else if a.Save {
		p.machines[1].Checkpoint()
	}
	const most = fuzzHosts * 8 * fuzzExchanges * fuzzLongest // eight frames per host and exchange
	if a.Report != nil && a.Report.Kept > most {
		p.t.Fatalf("%d bytes of later steps are kept, want at most %d", a.Report.Kept, most)
	}
}
