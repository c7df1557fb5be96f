package tcpbus

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"maps"
	"net"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/wdgnn/wdgnn/transport"
)

// Bus is a host's place among its peers. Methods may be called concurrently.
type Bus struct {
	config   Config
	tls      *tls.Config // nil if insecure
	listener net.Listener
	inbox    *transport.Inbox
	context  context.Context // until Close
	cancel   context.CancelFunc
	running  sync.WaitGroup // all goroutines
	closing  sync.Once
	hearers  atomic.Pointer[[]*outlet] // replaced, never changed; written under mu

	sent, sentBytes, dropped, refused, failed, reconnects atomic.Uint64

	mu      sync.Mutex // guards what follows
	closed  bool
	peers   map[transport.HostID]string             // where everybody is
	inlets  map[transport.HostID]context.CancelFunc // whom this host hears
	outlets map[lane]*outlet                        // who hears it
	strange []net.Conn                              // who has not said yet who it is, oldest first
	conns   map[net.Conn]*x509.Certificate          // all connections, without TLS, and who is there if that is known
}

// Open starts a host's bus. The context bounds the opening only.
func Open(ctx context.Context, c Config) (*Bus, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c.complete()
	b := &Bus{
		config:   c,
		listener: c.Listener,
		inbox:    transport.NewInbox(c.Buffer, c.Bytes),
		inlets:   make(map[transport.HostID]context.CancelFunc),
		outlets:  make(map[lane]*outlet),
		conns:    make(map[net.Conn]*x509.Certificate),
		peers:    maps.Clone(c.Peers),
	}
	if b.peers == nil {
		b.peers = make(map[transport.HostID]string)
	}
	if c.TLS != nil {
		b.tls = tlsConfig(c.TLS)
	}
	if b.listener == nil {
		var err error
		if b.listener, err = new(net.ListenConfig).Listen(ctx, "tcp", c.Listen); err != nil {
			return nil, fmt.Errorf("tcpbus: open: %w", err)
		}
	}
	if at, ok := b.listener.Addr().(*net.TCPAddr); c.Insecure && (!ok || !at.IP.IsLoopback()) {
		b.listener.Close()
		return nil, fmt.Errorf("tcpbus: open: %v without TLS is no loopback address", b.listener.Addr())
	}
	b.context, b.cancel = context.WithCancel(context.Background())
	b.hearers.Store(new([]*outlet))
	b.running.Go(b.accept)
	return b, nil
}

// Addr returns the address where hearers dial in.
func (b *Bus) Addr() net.Addr { return b.listener.Addr() }

// Send queues one copy of a frame for all hearers.
func (b *Bus) Send(frame []byte) error {
	if b.context.Err() != nil {
		return transport.ErrClosed
	}
	if len(frame) > transport.MaxFrame {
		b.failed.Add(1)
		return fmt.Errorf("tcpbus: send: a frame of %d bytes, at most %d fit", len(frame), transport.MaxFrame)
	}
	b.sent.Add(1)
	b.sentBytes.Add(uint64(len(frame)))
	hearers := *b.hearers.Load()
	if len(hearers) == 0 {
		return nil
	}
	shared := bytes.Clone(frame)
	for _, o := range hearers {
		switch {
		case o.number == 0:
			b.dropped.Add(o.put(shared))
		case len(shared) <= laneFrame:
			o.put(shared) // a copy; the first lane counts
		}
	}
	return nil
}

// Hear dials those who are not heard yet, and hangs up on those who are named
// no more. It fails, and changes nothing, if it names a host that is not among
// the peers or has no address. Hosts that Permit forbids are left out, counted
// as refused and told to OnError.
func (b *Bus) Hear(hosts []transport.HostID) error {
	hosts = b.permitted(hosts)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return transport.ErrClosed
	}
	for _, h := range hosts {
		if b.peers[h] == "" && h != b.config.Host {
			return fmt.Errorf("tcpbus: hear: host %d has no address; add it to Peers", h)
		}
	}
	for h, hangUp := range b.inlets {
		if !slices.Contains(hosts, h) {
			hangUp()
			delete(b.inlets, h)
		}
	}
	b.inbox.Senders(len(hosts))
	for _, h := range hosts {
		if b.inlets[h] != nil || h == b.config.Host {
			continue
		}
		ctx, cancel := context.WithCancel(b.context)
		b.inlets[h] = cancel
		b.running.Go(func() {
			defer cancel()
			b.follow(ctx, &ear{host: h, context: ctx}, 0)
		})
	}
	return nil
}

// Meet adds a peer, or says where one is from now on: the next dial goes there. An
// empty address leaves that of a peer as it is.
func (b *Bus) Meet(host transport.HostID, address string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, known := b.peers[host]; !known || address != "" {
		b.peers[host] = address
	}
}

// peer returns where a host is, and whether it is a peer.
func (b *Bus) peer(host transport.HostID) (address string, known bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	address, known = b.peers[host]
	return address, known
}

// Frames returns what arrives.
func (b *Bus) Frames() <-chan transport.Frame { return b.inbox.Frames() }

// Sift implements [transport.Sifter].
func (b *Bus) Sift(keep func(*transport.Frame) bool) { b.inbox.Sift(keep) }

// Stats returns what was counted so far. Dropped counts frames for which the
// reader left no room, and those that waited too long for a hearer.
func (b *Bus) Stats() transport.Stats {
	in := b.inbox.Stats()
	return transport.Stats{
		Sent:          b.sent.Load(),
		SentBytes:     b.sentBytes.Load(),
		Received:      in.Received,
		ReceivedBytes: in.ReceivedBytes,
		Dropped:       b.dropped.Load() + in.Dropped,
		Refused:       b.refused.Load(),
		Failed:        b.failed.Load(),
		Reconnects:    b.reconnects.Load(),
	}
}

// Close hangs up on everybody; frames that wait for a hearer are lost. All
// goroutines of the Bus have ended when it returns.
func (b *Bus) Close() error {
	b.closing.Do(func() {
		b.mu.Lock()
		b.closed = true
		b.cancel()
		for c := range b.conns {
			c.Close()
		}
		b.mu.Unlock()
		b.listener.Close()
		b.running.Wait()
		b.inbox.Close()
	})
	return nil
}

// track has Close close a connection, and says whether the Bus is still open.
func (b *Bus) track(c net.Conn) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.closed {
		b.conns[c] = nil
	}
	return !b.closed
}

// hangUp closes a connection.
func (b *Bus) hangUp(c net.Conn) {
	c.Close()
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.conns, c)
}
