package host_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/transport"
	"github.com/wdgnn/wdgnn/transport/mem"
)

// Frames of another version mean something else by the same numbers: they are
// not used, and the log names the host that sends them, once.
func TestHostOfAnotherVersionIsNamed(t *testing.T) {
	m, err := gnn.NewRandom(gnn.Config{In: 1, Features: 2, Outputs: 2, Wide: &gnn.WideConfig{Order: 1}}, random.Stream(1, "model"))
	check(t, err)
	plan := &agent.Plan{Model: m, Operator: graph.ShiftRowStochastic, Cost: host.MSE.Kind()}
	check(t, plan.Validate())
	directory, err := host.NewDirectory(map[transport.HostID][]agent.NodeID{0: {0}, 1: {1}})
	check(t, err)
	network := new(mem.Network)
	bus, err := network.Join(0)
	check(t, err)
	defer bus.Close()
	other, err := network.Join(1)
	check(t, err)
	defer other.Close()
	check(t, bus.Hear([]transport.HostID{1}))
	for k := range 3 { // they wait on the bus until the host begins
		row := agent.Message{From: 1, To: agent.Everyone, Kind: agent.Row, Values: []float32{1}}
		frame := agent.AppendFrame(nil, agent.Header{Run: host.RunHash("old"), Host: 1, Sequence: uint64(k + 1)}, []agent.Message{row})
		frame[4] = 1
		clear(frame[28:32])
		binary.LittleEndian.PutUint32(frame[28:], crc32.Checksum(frame, crc32.MakeTable(crc32.Castagnoli)))
		check(t, other.Send(frame))
	}
	var log bytes.Buffer
	w := &world{lines: make(chan *host.Line), answers: make(chan uint64, 1)}
	refused := make(chan struct{}, 1)
	h, err := host.New(host.Config{
		Run: "old", Nodes: []agent.NodeID{0}, Plan: plan, Cost: host.MSE, Directory: directory,
		Links: map[agent.NodeID][]agent.Link{0: {{Node: 1, Weight: 1}}},
	}, host.Env{
		Bus: bus, World: w, Log: slog.New(slog.NewTextHandler(&log, nil)),
		ReportEvery: time.Millisecond, OnReport: func(r *host.Report) {
			if r.Stats.BadFrames == 3 && len(refused) == 0 {
				refused <- struct{}{}
			}
		},
	})
	check(t, err)
	done := make(chan error, 1)
	go func() { done <- h.Run(t.Context()) }()
	select {
	case <-refused:
	case <-time.After(patience):
		t.Fatalf("%d frames refused, want 3", h.Report().Stats.BadFrames)
	}
	close(w.lines)
	check(t, <-done)
	// Twice in one line: message and error.
	if text := log.String(); strings.Count(text, "another version") != 2 || !strings.Contains(text, "host=1 ") {
		t.Errorf("the log says\n%s\nwant one line that names host 1", text)
	}
}
