package main_test

import (
	"context"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/transport"
	"github.com/wdgnn/wdgnn/transport/natsbus"
)

// A box that runs another model is named, and the others go on without it at
// full speed.
func TestAnotherModel(t *testing.T) {
	f := newField(t, "nats")
	f.another("second")
	for k := range boxes {
		f.configure(k, "first")
	}
	f.configure(4, "second")
	f.startAll()
	f.await("four boxes make 500 steps, not one in a deadline", func() bool { return f.steps(0, 1, 2, 3)[0] > 500 })
	for k, want := range []string{"host=4", "host=4", "host=4", "host=4", "host="} {
		if log := f.end(k); !strings.Contains(log, "another model") || !strings.Contains(log, want) {
			t.Errorf("box %d does not say who differs: %s", k, log)
		}
	}
}

// A neighbour whose rows are refused is not waited for again and again, though
// each of its frames is well formed and every second row of it fits.
func TestRefusedRows(t *testing.T) {
	f := newField(t, "nats")
	f.first = "2s"
	for k := range boxes {
		f.configure(k, "first")
	}
	f.serve()
	for k := range boxes - 1 {
		f.start(k)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error, 1)
	go func() {
		done <- f.lie(ctx, func(_ uint64, exchange int, values []float32) {
			if exchange > 0 {
				values[0] = float32(math.NaN())
			}
		})
	}()
	f.await("four boxes make 500 steps, not one in a deadline", func() bool { return f.steps(0, 1, 2, 3)[0] > 500 })
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if log := f.end(0); !strings.Contains(log, "rows of a neighbour are refused") {
		t.Errorf("box 0 does not say that rows are refused: %s", log)
	}
}

// lie stands in for box 4: it sends rows of zeros for its nodes in every step
// that it hears of, after change had its way with them.
func (f *field) lie(ctx context.Context, change func(time uint64, exchange int, values []float32)) error {
	m, err := modelfile.Load(filepath.Join(f.dir, "first", "run", "model.safetensors"))
	if err != nil {
		return err
	}
	plan, err := agent.NewPlan(agent.PlanConfig{Model: m.Network, Operator: graph.ShiftRowStochastic})
	if err != nil {
		return err
	}
	bus, err := f.join(ctx)
	if err != nil {
		return err
	}
	defer bus.Close()
	header := agent.Header{Run: host.RunHash("field"), Plan: plan.Digest(), Host: 4}
	said := map[uint64]bool{}
	var reader agent.Reader
	for {
		var heard transport.Frame
		select {
		case heard = <-bus.Frames():
		case <-ctx.Done():
			return nil
		}
		_, messages, err := reader.Read(heard.Data)
		if err != nil || len(messages) == 0 || said[messages[0].Time] {
			continue
		}
		now := messages[0].Time
		said[now] = true
		var rows []agent.Message
		for e := range plan.Exchanges() {
			for node := 4 * perBox; node < nodes; node++ {
				values := make([]float32, plan.Length(e))
				change(now, e, values)
				rows = append(rows, agent.Message{
					From: agent.NodeID(node), To: agent.Everyone, Time: now, Kind: agent.Row, Exchange: uint16(e), Links: 5, Degree: 5, Values: values,
				})
			}
		}
		header.Sequence++
		if err := bus.Send(agent.AppendFrame(nil, header, rows)); err != nil {
			return err
		}
	}
}

// join connects to the server as box 4.
func (f *field) join(ctx context.Context) (*natsbus.Conn, error) {
	for {
		bus, err := natsbus.Dial(ctx, natsbus.Config{URL: "nats://" + f.server, Run: "field", Host: 4})
		if err == nil {
			return bus, bus.Hear([]transport.HostID{0, 1, 2, 3})
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(100 * time.Millisecond): // it is starting
		}
	}
}
