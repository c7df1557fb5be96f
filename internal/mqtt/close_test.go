package mqtt

import (
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/internal/mqtttest"
)

// What was taken before the end is sent before the end.
func TestCloseSendsWhatWaits(t *testing.T) {
	b := mqtttest.Start(t, "allow_anonymous true", "autosave_on_changes false")
	c, _, log := client(t, Config{URL: "mqtt://" + b.Addr(), QoS: 1, Status: "answers/box"})
	mqtttest.Await(t, "it is connected", c.Connected)
	const n = 1000
	for k := range n {
		if err := c.Publish(fmt.Sprintf("answers/%d", k), []byte("1"), true); err != nil {
			t.Fatal(err)
		}
	}
	c.Close()
	if c.Failed() != 0 || strings.Contains(log.String(), "not all was sent") {
		t.Errorf("%d messages were not sent, want none:\n%s", c.Failed(), log)
	}
	out, err := b.Sub("-t", "answers/+", "-C", fmt.Sprint(n+1), "-W", "20", "-F", "%t=%p")
	if err != nil || !strings.Contains(out, fmt.Sprintf("answers/%d=1\n", n-1)) || !strings.Contains(out, "answers/box=offline\n") {
		t.Errorf("%d messages are there, want %d and that the client is offline", strings.Count(out, "\n"), n)
	}
}

// A broker that says nothing any more does not hold up the end, and what it did not take is
// counted and logged.
func TestCloseWithoutAnswer(t *testing.T) {
	b := mqtttest.Start(t)
	p := newTap(t, b.Addr())
	c, _, log := client(t, Config{URL: "mqtt://" + p.Addr().String(), QoS: 1})
	mqtttest.Await(t, "it is connected", c.Connected)
	p.shut()
	const n = 10
	for k := range n {
		if err := c.Publish(fmt.Sprintf("answers/%d", k), []byte("1"), true); err != nil {
			t.Fatal(err)
		}
	}
	began := time.Now()
	c.Close()
	if took := time.Since(began); took > 10*farewell {
		t.Errorf("the end took %v, want about %v", took, farewell)
	}
	if c.Failed() != n || !strings.Contains(log.String(), `messages=10`) {
		t.Errorf("%d messages failed, want %d, and the log says it:\n%s", c.Failed(), n, log)
	}
}

// tap stands between clients and a broker and hands on what they say until it is shut. Their
// connections stay.
type tap struct {
	net.Listener
	mu     sync.Mutex
	closed bool
}

func newTap(t *testing.T, to string) *tap {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &tap{Listener: l}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			broker, err := net.Dial("tcp", to)
			if err != nil {
				client.Close()
				continue
			}
			t.Cleanup(func() { client.Close(); broker.Close() })
			go io.Copy(p.through(broker), client)
			go io.Copy(p.through(client), broker)
		}
	}()
	return p
}

func (p *tap) shut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
}

// through writes to w while the tap is open, and nowhere later.
func (p *tap) through(w io.Writer) io.Writer {
	return writerFunc(func(b []byte) (int, error) {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.closed {
			return len(b), nil
		}
		return w.Write(b)
	})
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }
