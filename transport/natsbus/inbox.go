package natsbus

import (
	"github.com/nats-io/nats.go"

	"github.com/wdgnn/wdgnn/transport"
)

// translate hands on what arrives until Close. It is the only goroutine between
// nats.go's reader and ours, whatever the number of neighbours.
func (c *Conn) translate() {
	defer c.inbox.Close()
	for {
		select {
		case m := <-c.in:
			c.take(m)
		case <-c.done:
			return
		}
	}
}

// take hands a message over to the reader. One that no host sent, or that is too
// large, is refused.
func (c *Conn) take(m *nats.Msg) {
	from, ok := lastNumber(m.Subject)
	if !ok || len(m.Data) > c.config.MaxFrame {
		c.refused.Add(1)
		return
	}
	c.inbox.Put(transport.Frame{From: from, Data: m.Data})
}
