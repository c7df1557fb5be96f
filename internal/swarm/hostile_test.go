package swarm

import (
	"crypto/tls"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/internal/box"
	"github.com/wdgnn/wdgnn/internal/keys"
	"github.com/wdgnn/wdgnn/transport/natsbus"
)

// Enemies of every kind attack a swarm over NATS. They are refused and counted, and
// the swarm has the bits of one process all the same. Only the host whose stolen key
// tells lies is put in quarantine, by all who hear it, and the others go on.
func TestHostileNATS(t *testing.T) {
	attack := func(do func(e *enemy, stolen *natsbus.Conn) error) func(e *enemy) error {
		return func(e *enemy) error {
			c, err := e.config(0)
			if err != nil {
				return err
			}
			e.url = c.Bus.URL
			stolen, err := e.dial(filepath.Join(e.dir, "keys"), keys.HostName(traitor), traitor)
			if err != nil {
				return err
			}
			defer stolen.Close()
			return do(e, stolen)
		}
	}
	r, e := assail(t, "first", box.BusNATS, nil, 0, attack(func(e *enemy, stolen *natsbus.Conn) error {
		return errors.Join(e.strangers(), e.noise(strings.TrimPrefix(e.url, "nats://")), e.trespass(stolen), e.record(), e.nonsense(), e.wait(3))
	}))
	if s := r.Counters.Host; s.BadLines == 0 || s.StaleLines == 0 || r.Server.Refused == 0 || s.Quarantined > 0 {
		t.Errorf("not everything was counted, or somebody is in quarantine: %+v %+v", s, r.Server)
	}
	r, _ = assail(t, "second", box.BusNATS, e.recorded, math.Inf(1), attack(func(e *enemy, stolen *natsbus.Conn) error {
		return errors.Join(e.lie(stolen), e.repeat(stolen), e.wait(3))
	}))
	s := r.Counters.Host
	if s.BadFrames == 0 || s.OtherRuns == 0 || s.Impostors == 0 || s.Overflows == 0 || s.Quarantined < uint64(len(e.recorded)) {
		t.Errorf("not everything was counted: %+v", s)
	}
}

// Over direct links there is no way in without a certificate of the deployment.
func TestHostileTCP(t *testing.T) {
	r, _ := assail(t, "direct", box.BusTCP, nil, 0, func(e *enemy) error {
		other := filepath.Join(e.t.TempDir(), "keys")
		if err := keys.Make(other, keys.Plan{Run: e.run, Hosts: []keys.Host{{ID: traitor}}}); err != nil {
			return err
		}
		c, err := e.config(0)
		if err != nil {
			return err
		}
		for _, peer := range c.Hosts {
			if err := errors.Join(e.noise(peer.Address), e.handshakes(peer.Address, other)); err != nil {
				return err
			}
		}
		return e.wait(3)
	})
	if r.Counters.Bus.Refused == 0 {
		t.Errorf("counters %+v, want refusals", r.Counters.Bus)
	}
}

// handshakes tries to get in with TLS, without a certificate and with that of
// another authority.
func (e *enemy) handshakes(address, other string) error {
	stranger, err := keys.HostTLS(other, traitor)
	if err != nil {
		return err
	}
	for name, c := range map[string]*tls.Config{
		"none":                {InsecureSkipVerify: true},
		"another authority's": {InsecureSkipVerify: true, Certificates: stranger.Certificates},
	} {
		conn, err := tls.Dial("tcp", address, c)
		if err == nil { // a server refuses after the client believes to be in
			_, err = conn.Read(make([]byte, 1))
			conn.Close()
		}
		if err == nil {
			return fmt.Errorf("a certificate, %s, was accepted", name)
		}
	}
	return nil
}
