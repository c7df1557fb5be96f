package serve

import (
	"maps"
	"math"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/wdgnn/wdgnn/internal/liveweb"
)

// Limit bounds how often one client may ask under /v1/: who bears a token is known by
// it, everybody else by their address, of which an IPv6 network of 64 bits counts as
// one. The zero value does not bound anything.
type Limit struct {
	PerSecond float64
	Burst     int // requests at once; 0 means twice PerSecond, at least 1
}

// limiter counts requests of clients. It is safe for concurrent use.
type limiter struct {
	rate, burst float64
	now         func() time.Time

	mutex   sync.Mutex
	clients map[string]client
}

// client is how many requests one still has, at a time.
type client struct {
	left float64
	at   time.Time
}

// mostClients is how many are remembered.
const mostClients = 10_000

func newLimiter(l Limit) *limiter {
	burst := float64(l.Burst)
	if l.Burst == 0 {
		burst = max(1, math.Ceil(2*l.PerSecond))
	}
	return &limiter{rate: l.PerSecond, burst: burst, now: time.Now, clients: map[string]client{}}
}

// take counts a request. It returns how long the client must wait, 0 if not at all.
func (l *limiter) take(name string) time.Duration {
	if l.rate <= 0 {
		return 0
	}
	l.mutex.Lock()
	defer l.mutex.Unlock()
	now := l.now()
	c, known := l.clients[name]
	if !known {
		l.makeRoom(now)
		c = client{l.burst, now}
	}
	c = client{l.refilled(c, now), now}
	if c.left < 1 {
		l.clients[name] = c
		return time.Duration((1 - c.left) / l.rate * float64(time.Second))
	}
	c.left--
	l.clients[name] = c
	return 0
}

func (l *limiter) refilled(c client, now time.Time) float64 {
	return min(l.burst, c.left+float64(max(0, now.Sub(c.at).Seconds())*l.rate))
}

// makeRoom forgets clients who have been silent for so long that it makes no
// difference, and if that is not enough, any tenth: looking at all of them is then rare.
func (l *limiter) makeRoom(now time.Time) {
	if len(l.clients) < mostClients {
		return
	}
	maps.DeleteFunc(l.clients, func(_ string, c client) bool { return l.refilled(c, now) >= l.burst })
	for name := range l.clients {
		if len(l.clients) <= mostClients*9/10 {
			return
		}
		delete(l.clients, name)
	}
}

// admit returns a problem with a request of a client who asks too often, or nil.
func (l *limiter) admit(g *liveweb.Gate, r *http.Request) error {
	if l.rate <= 0 || !strings.HasPrefix(r.URL.Path, "/v1/") {
		return nil
	}
	wait := l.take(clientOf(g, r))
	if wait == 0 {
		return nil
	}
	p := liveweb.Problemf(http.StatusTooManyRequests, "too_many_requests",
		"more than %v requests a second, and %v at once, from one client", l.rate, l.burst)
	p.After = int(math.Ceil(wait.Seconds()))
	return p.Hint("the same request after the seconds that the header Retry-After says")
}

// clientOf names who sent a request.
func clientOf(g *liveweb.Gate, r *http.Request) string {
	if token := g.Bearer(r); token != "" {
		return token
	}
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	address, err := netip.ParseAddr(host)
	if err != nil {
		return host
	}
	if address = address.Unmap().WithZone(""); address.Is6() {
		network, _ := address.Prefix(64) // of an IPv6 address there is one
		return network.String()
	}
	return address.String()
}
