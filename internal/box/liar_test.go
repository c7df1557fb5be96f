package box_test

import (
	"encoding/binary"
	"io"
	"net"
	"sync"
	"testing"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/internal/clocktest"
)

// liar stands between a box and those who hear it over direct links, and
// changes what it says.
type liar struct {
	mu     sync.Mutex
	lie    func(m *agent.Message)
	reader agent.Reader
}

// listen makes a liar of the box at the given address, and returns the address
// that others must dial.
func (l *liar) listen(t *testing.T, box string) string {
	t.Helper()
	return accept(t, "127.0.0.1:0", func(hearer net.Conn) { l.serve(hearer, box) })
}

// serve passes on what the hearer says, and changes what it hears.
func (l *liar) serve(hearer net.Conn, box string) {
	defer hearer.Close()
	sender, err := net.Dial("tcp", box)
	if err != nil {
		return // the hearer tries again
	}
	defer sender.Close()
	go func() {
		io.Copy(sender, hearer)
		sender.Close()
	}()
	if _, err := io.CopyN(hearer, sender, 12); err != nil { // its welcome
		return
	}
	for {
		var head [4]byte
		if _, err := io.ReadFull(sender, head[:]); err != nil {
			return
		}
		out := head[:]
		if size := binary.LittleEndian.Uint32(head[:]); size != 1<<32-1 { // of a frame, not a beat
			frame := make([]byte, size)
			if _, err := io.ReadFull(sender, frame); err != nil {
				return
			}
			frame = l.change(frame)
			out = append(binary.LittleEndian.AppendUint32(nil, uint32(len(frame))), frame...)
		}
		if _, err := hearer.Write(out); err != nil {
			return
		}
	}
}

// change returns a frame with other numbers.
func (l *liar) change(frame []byte) []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	header, messages, err := l.reader.Read(frame)
	if err != nil {
		return frame
	}
	for k := range messages {
		if messages[k].Kind == agent.Row {
			l.lie(&messages[k])
		}
	}
	return agent.AppendFrame(nil, header, messages)
}

// fill sets all numbers.
func fill(v []float32, x float32) {
	for k := range v {
		v[k] = x
	}
}

// lied plays the yard with a box that lies to the others, and returns how often
// those are right and how many of their answers came.
func (y *yard) lied(t *testing.T, lie func(m *agent.Message)) (right float64, came int) {
	t.Helper()
	addresses := freeAddresses(t, yardHosts)
	real := addresses[yardHosts-1]
	addresses[yardHosts-1] = (&liar{lie: lie}).listen(t, real)
	configs := y.configs(addresses)
	configs[yardHosts-1].Bus.Listen = real
	right, came = y.score(y.play(t, configs), yardHosts-1)
	t.Logf("%.1f %% right, %d of %d answers", 100*right, came, (yardHosts-1)*yardSteps)
	return right, came
}

// One box of five lies about its parameters, or about its rows. The others do
// not believe it: with the settings of a file that says nothing of bounds they
// answer at every step, and are as often right as if its parameters had never
// come, or if it had been silent.
func TestOneLiar(t *testing.T) {
	if testing.Short() {
		t.Skipf("SKIPPED %s: it trains a model and plays five streams; it runs without -short", t.Name())
	}
	clocktest.Need(t)
	y := newYard(t)
	honest, _ := y.lied(t, func(*agent.Message) {})
	silent, _ := y.lied(t, func(m *agent.Message) { m.Time = 0 }) // of a step that is over
	const less = 0.05
	for name, c := range map[string]struct {
		want float64
		lie  func(row, params []float32)
	}{
		"parameters of 1e6": {honest, func(_, params []float32) { fill(params, 1e6) }},
		"rows of 1e3":       {silent, func(row, _ []float32) { fill(row, 1e3) }},
		"rows of 3e38":      {silent, func(row, _ []float32) { fill(row, 3e38) }},
	} {
		t.Run(name, func(t *testing.T) {
			right, came := y.lied(t, func(m *agent.Message) { c.lie(y.rowOf(m)) })
			if want := (yardHosts - 1) * yardSteps; came != want || right < c.want-less {
				clocktest.Need(t)
				t.Errorf("%.1f %% right, %d answers; want %.1f %% and %d", 100*right, came, 100*c.want, want)
			}
		})
	}
}
