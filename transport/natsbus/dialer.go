package natsbus

import (
	"context"
	"net"
	"sync/atomic"
	"time"
)

const (
	reachTimeout = time.Second     // to open a TCP connection
	stallTimeout = 2 * time.Second // in which the other end must take something
	writeChunk   = 256 << 10       // bytes that it must take in that time
)

// dialer opens the connections of one Conn. They end with its context.
type dialer struct {
	ctx  context.Context
	last atomic.Pointer[error] // of the last attempt; nats.go does not keep it
}

// Dial implements nats.CustomDialer.
func (d *dialer) Dial(network, address string) (net.Conn, error) {
	open := net.Dialer{Timeout: reachTimeout}
	conn, err := open.DialContext(d.ctx, network, address)
	d.last.Store(&err)
	if err != nil {
		return nil, err
	}
	l := &link{Conn: conn}
	l.stop = context.AfterFunc(d.ctx, func() { conn.Close() })
	return l, nil
}

// link is a connection that is given up when the other end stops taking data:
// nats.go holds its lock while it writes, and Send would wait for that.
type link struct {
	net.Conn
	stop func() bool
}

// Write implements net.Conn. A long message may take long, as long as it moves.
func (l *link) Write(p []byte) (int, error) {
	written := 0
	for {
		chunk := p[written:min(len(p), written+writeChunk)]
		if err := l.Conn.SetWriteDeadline(time.Now().Add(stallTimeout)); err != nil {
			return written, err
		}
		n, err := l.Conn.Write(chunk)
		written += n
		if err != nil {
			l.Conn.Close() // the reader of the connection finds out and starts over
			return written, err
		}
		if written == len(p) {
			return written, nil
		}
	}
}

// Close implements net.Conn.
func (l *link) Close() error {
	l.stop()
	return l.Conn.Close()
}
