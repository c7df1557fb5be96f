package host_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/transport"
)

// listener is host 0 of two, a machine that hears host 1; frames of the latter
// are rows of its node.
type listener struct {
	t        *testing.T
	machine  *host.Machine
	now      time.Duration
	sequence uint64
	log      []string
}

// newListener returns one that is ready.
func newListener(t *testing.T) *listener {
	t.Helper()
	m, err := gnn.NewRandom(gnn.Config{In: 1, Features: 2, Outputs: 2, Wide: &gnn.WideConfig{Order: 1}}, random.Stream(1, "model"))
	check(t, err)
	plan := agent.PlanConfig{Model: m, Operator: graph.ShiftRowStochastic, Cost: host.MSE.Kind()}
	directory, err := host.NewDirectory(map[transport.HostID][]agent.NodeID{0: {0}, 1: {1}})
	check(t, err)
	l := &listener{t: t}
	c := host.Config{
		Run: "old", Nodes: []agent.NodeID{0}, Cost: host.MSE, Directory: directory,
		Links: map[agent.NodeID][]agent.Link{0: {{Node: 1, Weight: 1}}},
	}
	c.Plan = must(agent.NewPlan(plan))
	l.machine, err = host.NewMachine(c, nil)
	check(t, err)
	l.step(host.Start{})
	return l
}

func (l *listener) step(ev host.Event) *host.Actions {
	l.now += time.Millisecond
	a := l.machine.Step(l.now, ev)
	for _, e := range a.Log {
		l.log = append(l.log, strings.TrimSpace(fmt.Sprintln(append([]any{e.Text}, e.Args...)...)))
	}
	return a
}

// hear gives the machine a frame of host 1 after change has been made to it.
func (l *listener) hear(messages []agent.Message, change func(frame []byte)) *host.Actions {
	l.sequence++
	frame := agent.AppendFrame(nil, agent.Header{Run: host.RunHash("old"), Plan: l.digest(), Host: 1, Sequence: l.sequence}, messages)
	change(frame)
	clear(frame[28:32])
	binary.LittleEndian.PutUint32(frame[28:], crc32.Checksum(frame, crc32.MakeTable(crc32.Castagnoli)))
	return l.step(host.Arrive{Frame: transport.Frame{From: 1, Data: frame}})
}

func (l *listener) report() *host.Report { return l.step(host.Look{}).Report }

func (l *listener) digest() (d uint32) {
	l.t.Helper()
	_, err := fmt.Sscanf(l.report().Digest, "%x", &d)
	check(l.t, err)
	return d
}

// Frames of another version mean something else by the same numbers: they are
// not used, and the log names the host that sends them, once, with its version
// and who is to be updated.
func TestHostOfAnotherVersionIsNamed(t *testing.T) {
	for version, want := range map[byte]string{
		1: "wire version 1, this program speaks 2: the sender is older, update it",
		3: "wire version 3, this program speaks 2: the sender is newer, update this program",
	} {
		l := newListener(t)
		row := agent.Message{From: 1, To: agent.Everyone, Kind: agent.Row, Links: 1, Degree: 1, Values: []float32{1}}
		for range 3 {
			l.hear([]agent.Message{row}, func(frame []byte) { frame[4] = version })
		}
		r := l.report()
		if r.Stats.BadFrames != 3 || len(r.Differ) != 1 || r.Differ[0] != 1 {
			t.Errorf("version %d: %d frames refused, hosts %v differ, want 3 and host 1", version, r.Stats.BadFrames, r.Differ)
		}
		if len(l.log) != 1 || !strings.Contains(l.log[0], want) || !strings.Contains(l.log[0], "another version: it is not heard host 1 ") {
			t.Errorf("version %d: the log says %q, want one line that names host 1 and says %q", version, l.log, want)
		}
	}
}

// A message of a kind that came after this program is passed over and counted, its
// sender named once; the row beside it is heard, and the step answered with it.
func TestMessagesOfLaterKinds(t *testing.T) {
	l := newListener(t)
	own := &host.Line{Time: 0, Nodes: []host.NodeLine{{Node: 0, Row: []float32{2}}}}
	if a := l.step(own); a.Answer != nil {
		t.Fatal("an answer before the neighbour's row, want to wait for it")
	}
	row := agent.Message{From: 1, To: agent.Everyone, Kind: agent.Row, Links: 1, Degree: 1, Values: []float32{1}}
	later := func(frame []byte) { // the first of two messages, with all that version 2 leaves to it
		frame[32+16], frame[32+17], frame[32+36] = 9, 1, 0xff
	}
	a := l.hear([]agent.Message{row, row}, later)
	if a.Answer == nil || a.Answer.Error != "" || len(a.Answer.Outputs) != 1 {
		t.Fatalf("got the answer %+v, want one: the row came beside the unknown message", a.Answer)
	}
	l.hear([]agent.Message{row, row}, later)
	if s := l.report().Stats; s.UnknownMessages != 2 || s.BadFrames != 0 {
		t.Errorf("got %d unknown messages and %d bad frames, want 2 and none", s.UnknownMessages, s.BadFrames)
	}
	want := "update this box host 1 "
	if len(l.log) != 1 || !strings.Contains(l.log[0], want) {
		t.Errorf("the log says %q, want one line with %q", l.log, want)
	}
}

// machineAt returns a machine of the ring that stands where a checkpoint left it,
// and what it logs when it starts.
func machineAt(t *testing.T, text []byte) (m *host.Machine, log []host.Entry, err error) {
	t.Helper()
	g := newRing(t)
	m, err = host.NewMachine(host.Config{Run: "ring", Nodes: []agent.NodeID{0, 1, 2, 3}, Plan: g.plan, Cost: host.CrossEntropy}, text)
	if err == nil {
		log = m.Step(0, host.Start{}).Log
	}
	return m, log, err
}

// The checkpoint in testdata, of a host after step 9, is read, and comes out byte for
// byte as it went in. Whoever changes what is written so that it would be misread gives
// it the next version, and writes the file anew.
func TestCheckpointAsItWas(t *testing.T) {
	text, err := os.ReadFile("testdata/checkpoint-5.json")
	check(t, err)
	m, log, err := machineAt(t, text)
	check(t, err)
	now := m.Checkpoint()
	again, err := json.Marshal(now)
	check(t, err)
	if m.Next() != 10 || len(now.Nodes) != ringNodes || len(log) > 0 {
		t.Errorf("the next step is %d, of %d nodes, want 10 and %d; the log says %v", m.Next(), len(now.Nodes), ringNodes, log)
	}
	if !bytes.Equal(again, text) {
		t.Errorf("it is written as\n%s\nwant\n%s", again, text)
	}
}

// A checkpoint of another version is refused by it, also where nothing else of it can
// be understood, with what to try; what is no checkpoint is called that.
func TestCheckpointsThatAreRefused(t *testing.T) {
	const other = "a checkpoint of version %d, this program reads 5: another wrote it; use that one, or another folder"
	for text, want := range map[string]string{
		`{"version":6,"run":"ring","time":9,"nodes":[]}`:     fmt.Sprintf(other, 6),
		`{"nodes":{"0":"AAAA"},"run":["ring"],"version":99}`: fmt.Sprintf(other, 99),
		`{"version":4,"run":"ring","time":9,"nodes":[]}`:     fmt.Sprintf(other, 4),
		`{"version":"two"}`:                      "this is no checkpoint: json: cannot unmarshal string",
		`{"version":5,"run":"ri`:                 "this is no checkpoint: unexpected end of JSON input; move the folder away",
		`{"version":5,"run":"other","nodes":[]}`: `it belongs to the run "other", this is "ring"; use another folder`,
	} {
		if _, _, err := machineAt(t, []byte(text)); !errors.Is(err, host.ErrState) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want ErrState with %q", text, err, want)
		}
	}
}
