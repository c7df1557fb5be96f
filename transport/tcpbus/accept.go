package tcpbus

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"time"

	"github.com/wdgnn/wdgnn/transport"
)

// strangers is how many connections, beyond one for each peer, may be open
// before they have said who they are. The oldest gives way to the next: one
// that means well takes milliseconds.
const strangers = 64

// accept takes connections until Close.
func (b *Bus) accept() {
	retry := firstRetry
	for {
		conn, err := b.listener.Accept()
		if b.context.Err() != nil {
			if err == nil {
				conn.Close()
			}
			return
		}
		if err != nil {
			b.config.OnError(fmt.Errorf("tcpbus: host %d: accept: %w", b.config.Host, err))
			if errors.Is(err, net.ErrClosed) {
				return
			}
			timer := time.NewTimer(retry) // out of file descriptors, perhaps
			select {
			case <-b.context.Done():
				timer.Stop()
				return
			case <-timer.C:
			}
			retry = min(2*retry, lastRetry)
			continue
		}
		retry = firstRetry
		if !b.track(conn) {
			conn.Close()
			return
		}
		b.enter(conn)
		b.running.Go(func() {
			defer b.hangUp(conn)
			b.serve(conn)
		})
	}
}

// enter notes a stranger, and sends the oldest one away if there are too many.
func (b *Bus) enter(conn net.Conn) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.strange = append(b.strange, conn)
	if len(b.strange) > strangers+len(b.peers) {
		b.strange[0].Close()
		b.strange = slices.Delete(b.strange, 0, 1)
	}
}

// serve finds out who dialled and sends it frames until the link breaks.
func (b *Bus) serve(raw net.Conn) {
	conn, h, err := b.meet(raw)
	b.mu.Lock()
	b.strange = slices.DeleteFunc(b.strange, func(c net.Conn) bool { return c == raw })
	b.mu.Unlock()
	if b.context.Err() != nil {
		return
	}
	if err != nil {
		b.refused.Add(1)
		b.config.OnError(fmt.Errorf("tcpbus: host %d refuses %v: %w", b.config.Host, raw.RemoteAddr(), err))
		return
	}
	if h.visitor {
		b.config.Visit(conn)
		return
	}
	o := newOutlet(lane{h.hearer, h.lane}, conn, raw, b.config.SendQueue)
	b.attach(o)
	err = b.feed(o, h.idle)
	b.detach(o)
	if errors.As(err, new(refusal)) {
		b.refused.Add(1)
	}
	if b.context.Err() == nil && o.number == 0 { // the hearer gives up others when it needs them no more
		b.config.OnError(fmt.Errorf("tcpbus: host %d is heard by host %d no more: %w", b.config.Host, h.hearer, err))
	}
}

// meet agrees with whoever dialled on who is who.
func (b *Bus) meet(raw net.Conn) (conn net.Conn, h hello, err error) {
	if err := raw.SetDeadline(time.Now().Add(b.config.HandshakeTimeout)); err != nil {
		return nil, h, err
	}
	conn = raw
	var known transport.HostID
	visitor := b.tls == nil && b.config.Visit != nil
	if b.tls != nil {
		if conn, known, visitor, err = b.acceptTLS(b.context, raw); err != nil {
			return nil, h, err
		}
	}
	if h, err = readHello(conn); err != nil {
		return nil, h, err
	}
	if h.visitor && !visitor || b.tls != nil && visitor && !h.visitor {
		return nil, h, errors.New("it visits, and its certificate is not that of an operator, or the other way round")
	}
	if h.sender == b.config.Host && h.visitor {
		return conn, h, raw.SetDeadline(time.Time{})
	}
	if b.tls != nil && known != h.hearer {
		return nil, h, fmt.Errorf("it says it is host %d, its certificate says %d", h.hearer, known)
	}
	if h.sender != b.config.Host {
		return nil, h, fmt.Errorf("host %d wants to hear host %d", h.hearer, h.sender)
	}
	if err := b.among(h.hearer, conn); err != nil {
		return nil, h, err
	}
	return conn, h, raw.SetDeadline(time.Time{})
}

// among reports a host that is not among the peers, and that nobody makes one.
func (b *Bus) among(host transport.HostID, conn net.Conn) error {
	_, known := b.peer(host)
	if secure, ok := conn.(*tls.Conn); ok && !known && b.config.Stranger != nil {
		if err := b.config.Stranger(secure.ConnectionState().PeerCertificates[0]); err != nil {
			return fmt.Errorf("host %d is not among the peers: %w", host, err)
		}
		_, known = b.peer(host)
	}
	if !known || host == b.config.Host {
		return fmt.Errorf("host %d is not among the peers", host)
	}
	return nil
}

// attach makes a link a lane of a hearer, instead of an older one.
func (b *Bus) attach(o *outlet) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if old := b.outlets[o.lane]; old != nil {
		old.raw.Close()
	}
	b.outlets[o.lane] = o
	b.storeHearers()
}

// detach forgets a link.
func (b *Bus) detach(o *outlet) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.outlets[o.lane] == o {
		delete(b.outlets, o.lane)
		b.storeHearers()
	}
	if o.number == 0 {
		b.dropped.Add(uint64(o.waiting()))
	}
}

// storeHearers shows Send who hears. The caller holds mu.
func (b *Bus) storeHearers() {
	hearers := make([]*outlet, 0, len(b.outlets))
	for _, o := range b.outlets {
		hearers = append(hearers, o)
	}
	b.hearers.Store(&hearers)
}
