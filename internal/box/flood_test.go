package box_test

import (
	"encoding/binary"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/internal/box"
)

// flood listens at an address as a host with direct links does, and sends frames
// to whoever dials, as fast as they are taken.
func flood(t *testing.T, address string, frame func(k uint64) []byte) {
	t.Helper()
	accept(t, address, func(hearer net.Conn) { pour(hearer, frame) })
}

// pour welcomes a hearer and sends until it hangs up.
func pour(hearer net.Conn, frame func(k uint64) []byte) {
	defer hearer.Close()
	var hello [20]byte // magic, hearer, sender, idle time
	if _, err := io.ReadFull(hearer, hello[:]); err != nil {
		return
	}
	go io.Copy(io.Discard, hearer) // answers to beats
	if _, err := hearer.Write(append([]byte("wdgnnTB1"), hello[12:16]...)); err != nil {
		return
	}
	for k := uint64(1); ; k++ {
		data := frame(k)
		if _, err := hearer.Write(append(binary.LittleEndian.AppendUint32(nil, uint32(len(data))), data...)); err != nil {
			return
		}
	}
}

// addressed gives the hosts of a configuration their addresses.
func addressed(c *box.Config, addresses []string) {
	c.Bus.Kind = box.BusTCP
	for h, p := range c.Hosts {
		p.Address = addresses[h]
		c.Hosts[h] = p
	}
}

// A neighbour that sends as fast as it can, long frames of requests that make no
// sense, does not take the room of another: two boxes and one that floods them
// answer every step, and miss nothing of each other.
func TestFlood(t *testing.T) {
	f := newFixture(t, graph.ShiftRowStochastic, true)
	addresses := freeAddresses(t, 5)
	nonsense := make([]agent.Message, 50)
	for k := range nonsense {
		nonsense[k] = agent.Message{From: 2 * nodes / 3, To: agent.NodeID(k % nodes), Time: 1 << 40, Kind: agent.Ask}
	}
	frame := agent.AppendFrame(nil, agent.Header{Run: host.RunHash("test"), Host: 2, Sequence: 1}, nonsense) // always the first: no gaps
	flood(t, addresses[2], func(uint64) []byte { return frame })
	var configs []*box.Config
	for id := range 2 {
		c := f.config(id, 3)
		c.Pace.Deadline, c.Pace.First, c.Pace.Linger, c.Pace.Retry = 200*time.Millisecond, time.Second, 100*time.Millisecond, -1
		c.Metrics = addresses[3+id]
		addressed(c, addresses)
		configs = append(configs, f.load(t, c))
	}
	gaps, dropped, done := 0.0, 0.0, make(chan struct{})
	var watch sync.WaitGroup
	watch.Go(func() {
		ticker := time.NewTicker(20 * time.Millisecond)
		defer ticker.Stop()
		for {
			for id := range 2 {
				gaps = max(gaps, count(addresses[3+id], "wdgnn_host_gaps_total"))
				dropped = max(dropped, count(addresses[3+id], "wdgnn_bus_dropped_total"))
			}
			select {
			case <-ticker.C:
			case <-done:
				return
			}
		}
	})
	out := run(t, configs...)
	close(done)
	watch.Wait()
	if got := strings.Count(string(out), `"outputs":[{`); got != 2*steps {
		t.Errorf("%d answers, want %d", got, 2*steps)
	}
	if gaps > 0 || dropped == 0 {
		t.Errorf("%v frames of the other box were missed, %v were dropped in all, want none of the other box", gaps, dropped)
	}
}

// A frame larger than the model can make is not read: the neighbour is hung up
// on before memory is spent.
func TestHugeFrame(t *testing.T) {
	f := newFixture(t, graph.ShiftRowStochastic, true)
	addresses := freeAddresses(t, 3)
	flood(t, addresses[1], func(uint64) []byte { return make([]byte, 8<<20) })
	c := f.config(0, 2)
	addressed(c, addresses)
	c.Metrics, c.World = addresses[2], box.World{Kind: box.WorldLines}
	c.Pace.Deadline, c.Pace.First = 20*time.Millisecond, 20*time.Millisecond
	k := open(t, f.load(t, c))
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for step, end := 0, time.Now().Add(patience); count(c.Metrics, "wdgnn_bus_refused_total") == 0; step++ {
		k.say(fmt.Sprintf(`{"time":%d,"nodes":[{"node":0,"row":[1,1],"links":[6]}]}`, step))
		if time.Now().After(end) {
			t.Fatal("frames of 8 MiB are accepted")
		}
		<-ticker.C
	}
	if got := count(c.Metrics, "wdgnn_bus_received_total"); got != 0 {
		t.Errorf("%v frames received, want none", got)
	}
	k.stop()
	check(t, k.end())
}

// A page of another site that made its name point here reads neither /status nor
// /metrics.
func TestMetricsHost(t *testing.T) {
	f := newFixture(t, graph.ShiftSymmetric, true)
	c := f.config(0, 1)
	c.World, c.Metrics = box.World{Kind: box.WorldLines}, freeAddresses(t, 1)[0]
	k := open(t, f.load(t, c))
	k.say(f.line(0, everybody()...))
	k.hear(func(l *spoken) bool { return l.Report == nil })
	for _, path := range []string{"/status", "/metrics", "/healthz"} {
		for name, want := range map[string]int{
			"evil.example": http.StatusMisdirectedRequest, "localhost:9100": http.StatusOK, c.Metrics: http.StatusOK,
		} {
			r, err := http.NewRequest(http.MethodGet, "http://"+c.Metrics+path, nil)
			check(t, err)
			r.Host = name
			a, err := http.DefaultClient.Do(r)
			check(t, err)
			a.Body.Close()
			if a.StatusCode != want {
				t.Errorf("%s as %s: got %d, want %d", path, name, a.StatusCode, want)
			}
		}
	}
	k.stop()
	check(t, k.end())
}

// What a box keeps is its owner's alone.
func TestStateIsPrivate(t *testing.T) {
	f := newFixture(t, graph.ShiftRowStochastic, true)
	c := f.config(0, 1)
	c.State = "deep/state"
	run(t, f.load(t, c))
	seen := 0
	check(t, filepath.WalkDir(f.path("deep"), func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v, want nothing for others", path, info.Mode())
		}
		seen++
		return err
	}))
	if seen < 4 { // two folders, a lock, a checkpoint
		t.Errorf("%d files and folders, want 4 and more", seen)
	}
}

// Strangers who knock all the time do not fill the log.
func TestStrangersInTheLog(t *testing.T) {
	f := newFixture(t, graph.ShiftRowStochastic, true)
	addresses := freeAddresses(t, 3)
	c := f.config(0, 2)
	addressed(c, addresses)
	c.Metrics, c.World = addresses[2], box.World{Kind: box.WorldLines}
	in, world := io.Pipe()
	var log syncBuffer
	done := make(chan error, 1)
	go func() {
		done <- box.Run(t.Context(), f.load(t, c), box.Streams{In: in, Out: io.Discard, Log: slog.New(slog.NewTextHandler(&log, nil))})
	}()
	const knocks = 300
	for k, end := 0, time.Now().Add(patience); k < knocks || count(c.Metrics, "wdgnn_bus_refused_total") < knocks; {
		if time.Now().After(end) {
			t.Fatalf("%d knocks, and %v refused", k, count(c.Metrics, "wdgnn_bus_refused_total"))
		}
		conn, err := net.Dial("tcp", addresses[0])
		if err != nil {
			continue // it is starting
		}
		conn.Write([]byte("GET / HTTP/1.1\r\nHost: nobody\r\n\r\n")) // it may have hung up
		conn.Close()
		k++
	}
	world.Close()
	check(t, receive(t, done))
	if got := strings.Count(log.String(), "\n"); got > 60 {
		t.Errorf("%d lines in the log for %d knocks, want few", got, knocks)
	}
}
