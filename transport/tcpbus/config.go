package tcpbus

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/wdgnn/wdgnn/transport"
)

// Config says who a host is and whom it may meet.
type Config struct {
	Host   transport.HostID
	Listen string // host:port where hearers dial in

	// Listener takes the place of Listen if it is not nil. It accepts
	// connections without TLS. The Bus closes it.
	Listener net.Listener

	// Peers are the addresses of everybody who may ever be heard or hear
	// this host, as host:port, but for those who are met later, see [Bus.Meet]. A hearer needs an address only to be heard
	// itself; an empty one is never dialled. An entry for Host is ignored.
	Peers map[transport.HostID]string

	// Stranger, if not nil, is asked about a host with a valid certificate that is
	// not among the peers and wants to hear this one. It may make it one with
	// [Bus.Meet] before it returns, or say why not. It may be called concurrently,
	// and take as long as HandshakeTimeout.
	Stranger func(*x509.Certificate) error

	// TLS holds Certificates (or their getters) and RootCAs, which issue the
	// certificates of peers. These are for servers and for clients at once,
	// since either side may dial. The version, client authentication and the
	// way names are checked are set by Open; GetConfigForClient is not used.
	TLS *tls.Config

	// Identify reads the host from a certificate that RootCAs vouch for.
	// It may be called concurrently.
	Identify func(*x509.Certificate) (transport.HostID, error)

	// Permit, if not nil, says why the host of a certificate may not hear another:
	// this host's own, whom Hear then leaves out, and those of others that want
	// to hear this one. It may be called concurrently.
	Permit func(hearer *x509.Certificate, sender transport.HostID) error

	// Visit, if not nil, talks to visitors, who are no hosts and hear nothing, until it
	// returns; Visitor says whether a certificate is that of one. Without TLS everybody
	// may be. Both may be called concurrently.
	Visit   func(net.Conn)
	Visitor func(*x509.Certificate) bool

	// Insecure links without TLS: everybody who can connect may claim to be
	// any peer. Only for tests, and only on a loopback address.
	Insecure bool

	Buffer    int // received frames that wait for the reader, with a share for every sender; 0 means 1024
	Bytes     int // of received frames that wait, in all; 0 means 256 MiB
	MaxFrame  int // bytes of the largest frame that is received, whose sender is hung up on otherwise; 0 means transport.MaxFrame
	SendQueue int // frames that wait for a hearer, oldest dropped first; 0 means 256

	HandshakeTimeout time.Duration // to dial and to agree on who is who; 0 means 5 s
	WriteTimeout     time.Duration // until 64 KiB must have left for a hearer; 0 means 10 s
	Idle             time.Duration // silence after which a peer counts as gone; 0 means 15 s; peers may differ

	// OnError, if not nil, gets what went wrong with links, for a log. It is
	// called from several goroutines at once, and must not call Close.
	OnError func(error)

	// losses says how many packets of a connection were lost, if that is known, and
	// laneTime how long further lanes stay. Tests have their own.
	losses   func(net.Conn) (total uint64, known bool)
	laneTime time.Duration
}

// Validate reports everything that is wrong.
func (c Config) Validate() error {
	var errs []error
	complain := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("tcpbus: config: "+format, args...))
	}
	if c.Listen == "" && c.Listener == nil {
		complain("no address to listen on; try Listen: %q", "127.0.0.1:0")
	}
	for host, address := range c.Peers {
		if _, _, err := net.SplitHostPort(address); err != nil && address != "" {
			complain("peer %d: %w", host, err)
		}
	}
	switch {
	case c.Insecure && c.TLS != nil:
		complain("TLS and Insecure exclude each other")
	case c.TLS == nil && !c.Insecure:
		complain("no TLS; Insecure is for tests on a loopback address")
	case c.TLS != nil:
		if len(c.TLS.Certificates) == 0 && c.TLS.GetCertificate == nil {
			complain("TLS without a certificate")
		}
		if c.TLS.RootCAs == nil {
			complain("TLS without RootCAs; peers are known by a private authority")
		}
		if c.Identify == nil {
			complain("no Identify, which reads the host from a certificate")
		}
	}
	for name, v := range map[string]int64{
		"Buffer": int64(c.Buffer), "Bytes": int64(c.Bytes), "MaxFrame": int64(c.MaxFrame),
		"SendQueue": int64(c.SendQueue), "HandshakeTimeout": int64(c.HandshakeTimeout),
		"WriteTimeout": int64(c.WriteTimeout), "Idle": int64(c.Idle),
	} {
		if v < 0 {
			complain("%s is %d, want 0 or more", name, v)
		}
	}
	return errors.Join(errs...)
}

// complete puts defaults where there is nothing.
func (c *Config) complete() {
	orElse(&c.Buffer, 1024)
	orElse(&c.Bytes, 4*transport.MaxFrame)
	orElse(&c.MaxFrame, transport.MaxFrame)
	orElse(&c.SendQueue, 256)
	orElse(&c.HandshakeTimeout, 5*time.Second)
	orElse(&c.WriteTimeout, 10*time.Second)
	orElse(&c.Idle, 15*time.Second)
	if c.OnError == nil {
		c.OnError = func(error) {}
	}
	if c.losses == nil {
		c.losses = lostPackets
	}
	orElse(&c.laneTime, 30*time.Second)
}

// orElse sets v unless it is set.
func orElse[T comparable](v *T, value T) {
	if *v == *new(T) {
		*v = value
	}
}
