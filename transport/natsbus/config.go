package natsbus

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/wdgnn/wdgnn/transport"
)

// Config says which server to use and as whom.
type Config struct {
	URL  string           // of a server, or of several of a cluster with commas between
	Run  string           // the part of the subjects that tells deployments apart; see ValidRun
	Host transport.HostID // who sends

	// Seed is the NKey seed that proves who this is; SeedFile names a file
	// that holds one. Empty means a server that asks nobody.
	Seed     []byte
	SeedFile string

	TLS    *tls.Config // nil means no TLS unless URL begins with tls://
	Buffer int         // frames that may wait for the reader, with a share for every sender; 0 means 4096
	Bytes  int         // of frames that wait, in all; 0 means 256 MiB
	Name   string      // for the server's lists of connections; empty means run and host

	// MaxFrame is the largest frame, in bytes, that is received; larger ones are
	// refused. 0 means transport.MaxFrame.
	MaxFrame int

	// Patience is how long Dial asks a server again that does not know this host,
	// as it may soon. 0 means not at all.
	Patience time.Duration

	// OnError hears of refusals, slow readers and lost connections, one call
	// at a time; it must return soon. May be nil.
	OnError func(error)
}

const (
	defaultBuffer = 4096
	defaultBytes  = 4 * transport.MaxFrame

	connectTimeout = 2 * time.Second // of one attempt
	pingInterval   = 5 * time.Second // a silent server is given up after three of them
	shortestDelay  = 20 * time.Millisecond
	longestDelay   = 250 * time.Millisecond
)

// Validate returns all that is wrong with c.
func (c Config) Validate() error {
	var wrong []error
	if c.URL == "" {
		wrong = append(wrong, errors.New("natsbus: no URL of a server; try nats://127.0.0.1:4222"))
	}
	if err := ValidRun(c.Run); err != nil {
		wrong = append(wrong, err)
	}
	if len(c.Seed) > 0 && c.SeedFile != "" {
		wrong = append(wrong, errors.New("natsbus: both a seed and a file with a seed; give one"))
	}
	if c.Buffer < 0 || c.Bytes < 0 || c.MaxFrame < 0 {
		wrong = append(wrong, fmt.Errorf("natsbus: room for %d frames and %d bytes, of %d each, want positive numbers or 0",
			c.Buffer, c.Bytes, c.MaxFrame))
	}
	return errors.Join(wrong...)
}

// options returns what c means to nats.go, apart from handlers and the dialer.
func (c Config) options() ([]nats.Option, error) {
	name := c.Name
	if name == "" {
		name = fmt.Sprintf("wdgnn %s host %d", c.Run, c.Host)
	}
	options := []nats.Option{
		nats.Name(name),
		nats.Timeout(connectTimeout),
		nats.MaxReconnects(-1),
		nats.ReconnectBufSize(-1), // nothing stale is sent later
		nats.CustomReconnectDelay(delay),
		nats.IgnoreAuthErrorAbort(), // keys may be put right while we wait
		nats.PingInterval(pingInterval),
		nats.MaxPingsOutstanding(2),
		nats.FlusherTimeout(0), // the dialer's connections have a limit of their own
		nats.SkipHostLookup(),  // so does looking up names
	}
	if c.TLS != nil {
		options = append(options, nats.Secure(c.TLS))
	}
	pair, err := c.keyPair()
	if err != nil || pair == nil {
		return options, err
	}
	public, err := pair.PublicKey()
	if err != nil {
		return nil, fmt.Errorf("natsbus: seed: %w", err)
	}
	return append(options, nats.Nkey(public, pair.Sign)), nil
}

// keyPair returns the key of the seed, nil if there is none.
func (c Config) keyPair() (nkeys.KeyPair, error) {
	seed, where := c.Seed, "seed"
	if c.SeedFile != "" {
		data, err := os.ReadFile(c.SeedFile)
		if err != nil {
			return nil, fmt.Errorf("natsbus: seed: %w", err)
		}
		seed, where = data, c.SeedFile
		if len(bytes.TrimSpace(seed)) == 0 {
			return nil, fmt.Errorf("natsbus: %s is empty, want an NKey seed", where)
		}
	}
	if len(seed) == 0 {
		return nil, nil
	}
	pair, err := nkeys.FromSeed(bytes.TrimSpace(seed))
	if err != nil {
		return nil, fmt.Errorf("natsbus: %s: %w; want an NKey seed, which begins with SU", where, err)
	}
	return pair, nil
}

// delay returns how long to wait before the nth attempt, n ≥ 1, to connect:
// longer and longer, up to a quarter of a second, and not all at once.
func delay(n int) time.Duration {
	d := longestDelay
	if n <= 4 {
		d = min(d, shortestDelay<<(max(n, 1)-1))
	}
	return d/2 + rand.N(d/2)
}

// redacted returns URLs without passwords.
func redacted(urls string) string {
	list := strings.Split(urls, ",")
	for i, text := range list {
		u, err := url.Parse(strings.TrimSpace(text))
		switch {
		case err == nil:
			list[i] = u.Redacted()
		case strings.Contains(text, "@"):
			list[i] = "(a URL that cannot be read)"
		}
	}
	return strings.Join(list, ",")
}
