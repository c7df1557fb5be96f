package natsbus

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/wdgnn/wdgnn/transport"
)

// ErrDisconnected is returned for what is sent while no server is connected.
var ErrDisconnected = errors.New("natsbus: no server is connected; it is being tried again")

// Conn is a host's connection to a server, a [transport.Bus]. Its methods may
// be called concurrently.
type Conn struct {
	config  Config
	subject string // of our frames
	nc      *nats.Conn
	dialer  *dialer
	cancel  context.CancelFunc // ends the dialer's connections
	in      chan *nats.Msg     // from all hosts that are heard
	inbox   *transport.Inbox
	done    chan struct{} // closed by Close
	closed  atomic.Bool
	up      atomic.Bool // nats.go's own answer waits while it dials

	sent, sentBytes, failed, refused, reconnects atomic.Uint64

	mu      sync.Mutex
	want    map[transport.HostID]bool
	heard   map[transport.HostID]*nats.Subscription
	subs    map[*nats.Subscription]bool // all there are
	dropped uint64                      // by subscriptions that have ended
	pauses  map[string]time.Duration    // before the next attempt at a subject that the server forbids
	renew   map[string]func()           // subscribes to a subject once more
}

func newConn(config Config) *Conn {
	if config.Buffer == 0 {
		config.Buffer = defaultBuffer
	}
	if config.Bytes == 0 {
		config.Bytes = defaultBytes
	}
	if config.MaxFrame == 0 {
		config.MaxFrame = transport.MaxFrame
	}
	ctx, cancel := context.WithCancel(context.Background())
	c := &Conn{
		config:  config,
		subject: FromSubject(config.Run, config.Host),
		dialer:  &dialer{ctx: ctx},
		cancel:  cancel,
		in:      make(chan *nats.Msg, config.Buffer),
		inbox:   transport.NewInbox(config.Buffer, config.Bytes),
		done:    make(chan struct{}),
		heard:   map[transport.HostID]*nats.Subscription{},
		subs:    map[*nats.Subscription]bool{},
		pauses:  map[string]time.Duration{},
		renew:   map[string]func(){},
	}
	c.up.Store(true)
	return c
}

// Send implements [transport.Bus]. Without a server it fails at once. When a
// server stops reading it waits for a moment at most, as long as no more than
// 4 MB are on their way; after two seconds the server counts as gone.
func (c *Conn) Send(frame []byte) error {
	if len(frame) > transport.MaxFrame {
		c.failed.Add(1)
		return fmt.Errorf("natsbus: a frame of %d bytes, want at most %d", len(frame), transport.MaxFrame)
	}
	if err := c.Publish(c.subject, frame); err != nil {
		if !errors.Is(err, transport.ErrClosed) {
			c.failed.Add(1)
		}
		return err
	}
	c.sent.Add(1)
	c.sentBytes.Add(uint64(len(frame)))
	return nil
}

// Hear implements [transport.Bus]. The host itself is left out. A server that
// forbids one of them says so later: it is counted as refused and told to
// OnError, and the others are heard. It is asked again, less and less often: what
// it permits may grow.
func (c *Conn) Hear(hosts []transport.HostID) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed.Load() {
		return transport.ErrClosed
	}
	c.want = make(map[transport.HostID]bool, len(hosts))
	for _, h := range hosts {
		if h != c.config.Host {
			c.want[h] = true
		}
	}
	c.inbox.Senders(len(c.want))
	if !c.up.Load() {
		return nil // once it is connected
	}
	return c.apply()
}

// apply subscribes to whom we want to hear, and to nobody else. It holds mu.
func (c *Conn) apply() error {
	for host, sub := range c.heard {
		if !c.want[host] {
			delete(c.heard, host)
			c.end(sub)
		}
	}
	for host := range c.want {
		if c.heard[host] != nil {
			continue
		}
		sub, err := c.nc.ChanSubscribe(FromSubject(c.config.Run, host), c.in)
		if err != nil {
			return c.explain(err, 0)
		}
		c.heard[host] = sub
		c.subs[sub] = true
	}
	return nil
}

// end takes a subscription back and keeps its count. It holds mu.
func (c *Conn) end(sub *nats.Subscription) {
	if !c.subs[sub] {
		return
	}
	delete(c.subs, sub)
	c.dropped += droppedBy(sub)
	_ = sub.Unsubscribe() // fails where it has ended with the connection
}

func droppedBy(sub *nats.Subscription) uint64 {
	n, err := sub.Dropped()
	if err != nil {
		return 0
	}
	return uint64(n)
}

// Frames implements [transport.Bus].
func (c *Conn) Frames() <-chan transport.Frame { return c.inbox.Frames() }

// Sift implements [transport.Sifter].
func (c *Conn) Sift(keep func(*transport.Frame) bool) { c.inbox.Sift(keep) }

// Stats implements [transport.Bus]. Messages of Subscribe that came too fast
// count as dropped, too.
func (c *Conn) Stats() transport.Stats {
	c.mu.Lock()
	dropped := c.dropped
	for sub := range c.subs {
		dropped += droppedBy(sub)
	}
	c.mu.Unlock()
	in := c.inbox.Stats()
	return transport.Stats{
		Sent:          c.sent.Load(),
		SentBytes:     c.sentBytes.Load(),
		Received:      in.Received,
		ReceivedBytes: in.ReceivedBytes,
		Dropped:       dropped + in.Dropped,
		Refused:       c.refused.Load(),
		Failed:        c.failed.Load(),
		Reconnects:    c.reconnects.Load(),
	}
}

// Close implements [transport.Bus]. What was sent before is written out.
func (c *Conn) Close() error {
	if c.closed.Swap(true) {
		return nil
	}
	if !c.up.Load() {
		c.cancel() // so that nats.go stops dialing
	}
	c.mu.Lock()
	for sub := range c.subs {
		c.end(sub)
	}
	c.mu.Unlock()
	c.nc.Close()
	c.cancel()
	close(c.done)
	return nil
}
