package natsbus

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/wdgnn/wdgnn/transport"
)

// flushTimeout ends a Flush whose context has no deadline.
const flushTimeout = 10 * time.Second

// Publish sends data on a subject: lines of the world, answers, reports. Like
// Send it keeps no reference and does not wait.
func (c *Conn) Publish(subject string, data []byte) error {
	if c.closed.Load() {
		return transport.ErrClosed
	}
	if !c.up.Load() {
		return ErrDisconnected
	}
	if err := c.nc.Publish(subject, data); err != nil {
		return c.explain(err, len(data))
	}
	return nil
}

// Subscribe calls handle with what arrives on a subject, wildcards allowed, one
// message at a time; data belongs to handle. It outlives the server like Hear.
// Calls end soon after stop or Close.
func (c *Conn) Subscribe(subject string, handle func(subject string, data []byte)) (stop func(), err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed.Load() {
		return nil, transport.ErrClosed
	}
	sub, err := c.nc.Subscribe(subject, func(m *nats.Msg) { handle(m.Subject, m.Data) })
	if err != nil {
		return nil, c.explain(err, 0)
	}
	c.subs[sub] = true
	if err := sub.SetPendingLimits(c.config.Buffer, c.config.Bytes); err != nil {
		c.end(sub)
		return nil, c.explain(err, 0)
	}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.end(sub)
	}, nil
}

// Flush returns once the server has dealt with everything said to it so far:
// what was sent is on its way and who is to be heard is known. Refusals have
// been counted by then or are about to be.
func (c *Conn) Flush(ctx context.Context) error {
	if c.closed.Load() {
		return transport.ErrClosed
	}
	if !c.up.Load() {
		return ErrDisconnected
	}
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, flushTimeout)
		defer cancel()
	}
	if err := c.nc.FlushWithContext(ctx); err != nil {
		if errors.Is(err, nats.ErrConnectionClosed) && !c.closed.Load() {
			return ErrDisconnected // nats.go says the same of a connection that broke
		}
		return c.explain(err, 0)
	}
	return nil
}

// Below is what nats.go calls when something happens, one call at a time.

func (c *Conn) refusal(_ *nats.Conn, _ *nats.Subscription, err error) {
	subject := forbidden(err)
	if subject != "" {
		c.tryAgain(subject)
	}
	if subject == JoinSubjects(c.config.Run) || subject == DeploySubject(c.config.Run, c.config.Host) {
		return // keys of earlier versions do not permit it, which is nothing to worry about
	}
	if refused(err) {
		c.refused.Add(1)
	}
	c.tell(err)
}

func (c *Conn) disconnected(_ *nats.Conn, err error) {
	c.up.Store(false)
	if err != nil {
		c.tell(fmt.Errorf("the server is gone: %w; it is being tried again", err))
	}
}

func (c *Conn) reconnected(*nats.Conn) {
	c.reconnects.Add(1)
	if err := c.catchUp(); err != nil {
		c.tell(err)
	}
}

// catchUp hears whom Hear named while there was no server.
func (c *Conn) catchUp() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.up.Store(true)
	if c.closed.Load() {
		return nil
	}
	return c.apply()
}

func (c *Conn) ended(nc *nats.Conn) {
	c.up.Store(false)
	if !c.closed.Load() {
		c.tell(fmt.Errorf("the server ended the connection for good: %w", nc.LastError()))
	}
}

// tell hands an error to OnError.
func (c *Conn) tell(err error) {
	if c.config.OnError != nil && !c.closed.Load() {
		c.config.OnError(fmt.Errorf("natsbus: %s: %w", redacted(c.config.URL), err))
	}
}
