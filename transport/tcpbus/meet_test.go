package tcpbus_test

import (
	"crypto/x509"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/wdgnn/wdgnn/transport"
	"github.com/wdgnn/wdgnn/transport/tcpbus"
)

// A host that comes later is let in once somebody vouches for it, and heard where it
// is; whoever is not vouched for is refused with the reason.
func TestStranger(t *testing.T) {
	c := newCluster(t, 2, newAuthority(t))
	at := c.peers[1]
	var asked, known atomic.Bool
	var old *tcpbus.Bus
	ready := make(chan struct{})
	old = c.open(0, func(config *tcpbus.Config) {
		config.Peers = map[transport.HostID]string{0: c.peers[0]}
		config.Stranger = func(cert *x509.Certificate) error {
			<-ready
			if id, err := identify(cert); err != nil || id != 1 {
				t.Errorf("asked about host %d (%v), want 1", id, err)
			}
			asked.Store(true)
			if !known.Load() {
				return errors.New("nobody knows it")
			}
			old.Meet(1, at)
			return nil
		}
	})
	close(ready)
	if err := old.Hear([]transport.HostID{1}); err == nil {
		t.Error("a host that nobody met could be heard, want an error")
	}
	later := c.open(1)
	if err := later.Hear([]transport.HostID{0}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "refusal", func() bool { return old.Stats().Refused > 0 && asked.Load() })
	reason := false
	for len(c.errors) > 0 {
		reason = strings.Contains((<-c.errors).Error(), "not among the peers: nobody knows it") || reason
	}
	if !reason {
		t.Error("the refusal does not say why")
	}
	known.Store(true)
	c.reaches(old, later, 0)
	c.hears(old, later, 1)
	old.Meet(1, "")
	c.reaches(later, old, 1)
}
