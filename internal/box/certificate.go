package box

import (
	"crypto/tls"
	"crypto/x509"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wdgnn/wdgnn/internal/keys"
)

// certificate watches the folder of a box's keys: it warns before a certificate ends
// that new connections need, the box's own for direct links and the server's for NATS,
// and says when keys were revoked. Methods may be called on nil, without keys, and
// concurrently.
type certificate struct {
	dir, party string
	direct     bool // links, where boxes show each other certificates
	log        *slog.Logger
	watch      keys.Watch
	seen       string
	until      atomic.Int64 // in nanoseconds since 1970; 0 if it is not known
	halt       chan struct{}
	done       sync.WaitGroup
}

// lookEvery is the time between two looks at the keys.
const lookEvery = time.Second

// newCertificate returns what watches the keys of a box; nil if it has none.
func (c *Config) newCertificate(log *slog.Logger) *certificate {
	if c.Bus.Keys == "" || c.Bus.Plain || c.Bus.Kind == BusNone {
		return nil
	}
	party := keys.HostName(c.Host)
	k := &certificate{
		dir: c.abs(c.Bus.Keys), party: party, direct: c.Bus.Kind == BusTCP, log: log,
		watch: keys.Watch{Party: party, Log: log}, halt: make(chan struct{}),
	}
	if !k.direct {
		k.watch.Party = "server"
	}
	k.seen = keys.Stamp(k.dir, k.party)
	return k
}

// start looks now and then until stop. Recheck, if not nil, hangs up on whose
// certificate is refused now.
func (k *certificate) start(recheck func(func(*x509.Certificate) error)) {
	if k == nil {
		return
	}
	k.look(recheck, time.Now())
	k.done.Go(func() {
		ticks := time.NewTicker(lookEvery)
		defer ticks.Stop()
		for {
			select {
			case <-k.halt:
				return
			case now := <-ticks.C:
				k.look(recheck, now)
			}
		}
	})
}

func (k *certificate) stop() error {
	if k != nil {
		close(k.halt)
		k.done.Wait()
	}
	return nil
}

// look looks at the files.
func (k *certificate) look(recheck func(func(*x509.Certificate) error), now time.Time) {
	if k.direct {
		until, err := keys.Expiry(k.dir, k.party)
		if err == nil {
			k.until.Store(until.UnixNano())
		}
		k.watch.See(until, err, now)
	} else if until := k.until.Load(); until != 0 {
		k.watch.See(time.Unix(0, until), nil, now)
	}
	stamp := keys.Stamp(k.dir, k.party)
	if stamp == k.seen {
		return
	}
	k.seen = stamp
	refuse, err := keys.Revoked(k.dir, k.party)
	if err != nil {
		k.log.Error("the list of revoked keys cannot be read; the one before is in force", "err", err)
		return
	}
	k.log.Info("the keys changed; the next connections use them")
	if recheck != nil {
		recheck(refuse)
	}
}

// met notes until when the certificate of a server is valid.
func (k *certificate) met(verify func(tls.ConnectionState) error) func(tls.ConnectionState) error {
	return func(s tls.ConnectionState) error {
		if err := verify(s); err != nil {
			return err
		}
		if k != nil {
			k.until.Store(s.PeerCertificates[0].NotAfter.UnixNano())
		}
		return nil
	}
}

// left returns how long the certificate is valid; 0 if that is not known.
func (k *certificate) left(now time.Time) time.Duration {
	if k == nil || k.until.Load() == 0 {
		return 0
	}
	return time.Unix(0, k.until.Load()).Sub(now)
}
