package natsbus_test

import (
	"net"
	"sync"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/internal/broker"
	"github.com/wdgnn/wdgnn/internal/clocktest"
	"github.com/wdgnn/wdgnn/transport"
	"github.com/wdgnn/wdgnn/transport/natsbus"
)

// A network that takes nothing more, without breaking the connection, does not
// hold Send, Hear or Close up, and when it moves again so does the bus.
func TestStalledNetwork(t *testing.T) {
	if testing.Short() {
		t.Skipf("SKIPPED %s: it waits for timeouts of two seconds; it runs without -short", t.Name())
	}
	s := start(t, broker.Config{})
	p := newPipe(t, s.Addr())
	a := dial(t, natsbus.Config{URL: "nats://" + p.Addr().String(), Host: 0})
	other := dial(t, natsbus.Config{URL: "nats://" + p.Addr().String(), Host: 2})
	b := dial(t, natsbus.Config{URL: s.URL(), Host: 1})
	hear(t, b, 0)
	send(t, a, "before")
	expect(t, b, 0, "before")

	p.stop()
	large := make([]byte, 4<<20)
	slowest := time.Duration(0)
	timed := func(call func()) {
		began := time.Now()
		call()
		slowest = max(slowest, time.Since(began))
	}
	for _, bus := range []*natsbus.Conn{a, other} {
		failed := false
		await(t, "Send fails", func() bool {
			timed(func() { failed = bus.Send(large) != nil })
			return failed
		})
	}
	for range 100 { // while nats.go waits for a server that does not answer
		timed(func() { _ = a.Send(large) })
		timed(func() { _ = a.Hear([]transport.HostID{1}) })
	}
	timed(func() { other.Close() })
	if slowest > 8*time.Second {
		clocktest.Need(t)
		t.Errorf("the slowest call took %v, want about 2 s", slowest)
	}
	t.Logf("the slowest call took %v", slowest.Round(time.Millisecond))

	p.goOn()
	await(t, "reconnected", func() bool { return a.Stats().Reconnects > 0 && a.Flush(t.Context()) == nil })
	for { // large ones that were on their way may come first
		send(t, a, "after")
		select {
		case f := <-b.Frames():
			if string(f.Data) == "after" {
				return
			}
		case <-time.After(patience):
			t.Fatal("got nothing, want frames again")
		}
	}
}

// When a network stops taking data, not even the Send that finds out waits for
// longer than a moment, while there is room for what it will never take.
func TestStalledSend(t *testing.T) {
	s := start(t, broker.Config{})
	p := newPipe(t, s.Addr())
	c := dial(t, natsbus.Config{URL: "nats://" + p.Addr().String()})
	p.stop()
	frame := make([]byte, 32<<10)
	slowest, full := time.Duration(0), 0
	for full < 100 { // 3 MB after the system has taken what it takes
		began := time.Now()
		if err := c.Send(frame); err != nil {
			break
		}
		if slowest = max(slowest, time.Since(began)); slowest > 15*time.Millisecond {
			full++
		}
	}
	if full == 0 || slowest > 1900*time.Millisecond { // less than it takes to give a network up
		clocktest.Need(t)
		t.Errorf("the slowest Send took %v, want a moment; %d after it", slowest, full)
	}
	t.Logf("the slowest Send took %v", slowest.Round(time.Millisecond))
}

// pipe passes connections on to an address, and can stop in the middle.
type pipe struct {
	net.Listener
	mu   sync.Mutex
	cond *sync.Cond
	held bool
}

func newPipe(t *testing.T, to string) *pipe {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &pipe{Listener: l}
	p.cond = sync.NewCond(&p.mu)
	t.Cleanup(func() { l.Close(); p.goOn() })
	go func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			onward, err := net.Dial("tcp", to)
			if err != nil {
				from.Close()
				continue
			}
			go p.pass(onward, from)
			go p.pass(from, onward)
		}
	}()
	return p
}

func (p *pipe) pass(to, from net.Conn) {
	defer to.Close()
	defer from.Close()
	buffer := make([]byte, 1<<14)
	for {
		n, err := from.Read(buffer)
		p.mu.Lock()
		for p.held {
			p.cond.Wait()
		}
		p.mu.Unlock()
		if n > 0 {
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

func (p *pipe) stop() { p.set(true) }
func (p *pipe) goOn() { p.set(false) }

func (p *pipe) set(held bool) {
	p.mu.Lock()
	p.held = held
	p.mu.Unlock()
	p.cond.Broadcast()
}
