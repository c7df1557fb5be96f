package natsbus

import (
	"cmp"
	"errors"
	"regexp"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/wdgnn/wdgnn/transport"
)

// Times between attempts at a subject that a server forbids: doubled up to the last.
const (
	firstPause = 500 * time.Millisecond
	lastPause  = 64 * time.Second
)

// Attend calls handle with what hosts that come later show to all, one at a time; data
// belongs to handle. A server whose keys do not permit that is asked again now and then:
// they may be replaced while it runs.
func (c *Conn) Attend(handle func(host transport.HostID, data []byte)) error {
	return c.insist(JoinSubjects(c.config.Run), func(subject string, data []byte) {
		if host, err := HostOf(subject); err == nil && host != c.config.Host {
			handle(host, data)
		}
	})
}

// insist subscribes to a subject, and does so anew each time when again asks for it.
func (c *Conn) insist(subject string, handle func(subject string, data []byte)) error {
	var mu sync.Mutex // requests may come at once, and each ends the subscription before
	var end func()
	subscribe := func() (err error) {
		mu.Lock()
		defer mu.Unlock()
		if end != nil {
			end()
		}
		end, err = c.Subscribe(subject, handle)
		return err
	}
	if err := subscribe(); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.renew[subject] = func() { _ = subscribe() } // fails if there is no connection, which subscribes anew when it is back
	return nil
}

// Show shows all of the run who attend something of a host that comes later.
func (c *Conn) Show(data []byte) error {
	return c.Publish(JoinSubject(c.config.Run, c.config.Host), data)
}

// subjectOf finds a subject in what a server says of those that it forbids.
var subjectOf = regexp.MustCompile(`(?i)subscription to "(\S+)"`)

// forbidden returns the subject whose subscription a server forbids; "" if err is
// something else.
func forbidden(err error) string {
	if !errors.Is(err, nats.ErrPermissionViolation) {
		return ""
	}
	if found := subjectOf.FindStringSubmatch(err.Error()); found != nil {
		return found[1]
	}
	return ""
}

// tryAgain subscribes to a subject that the server forbids once more after a while.
func (c *Conn) tryAgain(subject string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	pause := cmp.Or(c.pauses[subject], firstPause)
	c.pauses[subject] = min(2*pause, lastPause)
	time.AfterFunc(pause, func() { c.again(subject) })
}

// again subscribes anew to a subject, if it is still wanted.
func (c *Conn) again(subject string) {
	if c.closed.Load() || !c.up.Load() {
		return // whoever connects again asks for everything
	}
	c.mu.Lock()
	subscribe := c.renew[subject]
	for host, sub := range c.heard {
		if sub.Subject == subject {
			delete(c.heard, host)
			c.end(sub)
			if err := c.apply(); err != nil {
				defer c.tell(err)
			}
			break
		}
	}
	c.mu.Unlock()
	if subscribe != nil {
		subscribe()
	}
}
