package natsbus

import (
	"context"
	"net"
	"sync/atomic"
	"time"
)

// reachTimeout is the time to open a TCP connection.
const reachTimeout = time.Second

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
	return newLink(conn, context.AfterFunc(d.ctx, func() { conn.Close() })), nil
}
