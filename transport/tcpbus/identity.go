package tcpbus

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"

	"github.com/wdgnn/wdgnn/transport"
)

// protocol is what both ends of a link speak.
const (
	protocol     = "wdgnn-tcpbus/1"
	severalLanes = "wdgnn-tcpbus/2" // and the hearer may be asked for further lanes
)

// tlsConfig returns the user's, with what this package insists on.
func tlsConfig(c *tls.Config) *tls.Config {
	c = c.Clone()
	c.MinVersion, c.MaxVersion = tls.VersionTLS13, 0
	c.NextProtos = []string{severalLanes, protocol}
	c.SessionTicketsDisabled, c.ClientSessionCache = true, nil
	c.GetConfigForClient = nil
	c.DynamicRecordSizingDisabled = true

	c.ClientAuth, c.ClientCAs = tls.RequireAndVerifyClientCert, c.RootCAs
	c.InsecureSkipVerify = true // names are host ids, not DNS names: identify checks the chain
	return c
}

// acceptTLS agrees on TLS as the side that was dialled, and returns who dialled: a host,
// or a visitor.
func (b *Bus) acceptTLS(ctx context.Context, raw net.Conn) (_ net.Conn, peer transport.HostID, visitor bool, _ error) {
	c := b.tls.Clone()
	c.VerifyConnection = func(s tls.ConnectionState) (err error) {
		visitor = b.config.Visitor != nil && len(s.PeerCertificates) > 0 && b.config.Visitor(s.PeerCertificates[0])
		peer, err = b.identify(s, visitor)
		return err
	}
	conn := tls.Server(raw, c)
	if err := conn.HandshakeContext(ctx); err != nil {
		return conn, peer, visitor, err
	}
	b.met(raw, conn)
	if b.config.Permit == nil || visitor {
		return conn, peer, visitor, nil
	}
	return conn, peer, false, b.config.Permit(conn.ConnectionState().PeerCertificates[0], b.config.Host)
}

// permitted returns those of the hosts that this one may hear.
func (b *Bus) permitted(hosts []transport.HostID) []transport.HostID {
	if b.config.Permit == nil || b.tls == nil {
		return hosts
	}
	leaf, err := b.own()
	var list []transport.HostID
	for _, h := range hosts {
		refused := err
		if refused == nil {
			refused = b.config.Permit(leaf, h)
		}
		if h == b.config.Host || refused == nil {
			list = append(list, h)
			continue
		}
		b.refused.Add(1)
		b.config.OnError(fmt.Errorf("tcpbus: host %d does not hear host %d: %w", b.config.Host, h, refused))
	}
	return list
}

// own returns the certificate that this host shows now.
func (b *Bus) own() (*x509.Certificate, error) {
	var pair *tls.Certificate
	if len(b.tls.Certificates) > 0 {
		pair = &b.tls.Certificates[0]
	} else {
		var err error
		if pair, err = b.tls.GetCertificate(new(tls.ClientHelloInfo)); err != nil {
			return nil, err
		}
	}
	if pair.Leaf != nil {
		return pair.Leaf, nil
	}
	return x509.ParseCertificate(pair.Certificate[0])
}

// dialTLS agrees on TLS as the side that dials.
func (b *Bus) dialTLS(ctx context.Context, raw net.Conn, want transport.HostID) (net.Conn, error) {
	c := b.tls.Clone()
	c.VerifyConnection = func(s tls.ConnectionState) error {
		peer, err := b.identify(s, false)
		if err != nil {
			return refusal{err}
		}
		if peer != want {
			return refusal{fmt.Errorf("the certificate says host %d, want %d", peer, want)}
		}
		return nil
	}
	conn := tls.Client(raw, c)
	if err := conn.HandshakeContext(ctx); err != nil {
		return conn, err
	}
	b.met(raw, conn)
	return conn, nil
}

// identify returns whom a peer's certificate names, once the roots vouch for it; a
// visitor's names no host.
func (b *Bus) identify(s tls.ConnectionState, visitor bool) (transport.HostID, error) {
	if len(s.PeerCertificates) == 0 {
		return 0, errors.New("no certificate")
	}
	leaf := s.PeerCertificates[0]
	if len(s.VerifiedChains) == 0 { // the side that dialled; the other one's were verified before
		options := x509.VerifyOptions{Roots: b.tls.RootCAs, Intermediates: x509.NewCertPool()} // for a server
		if b.tls.Time != nil {
			options.CurrentTime = b.tls.Time()
		}
		for _, c := range s.PeerCertificates[1:] {
			options.Intermediates.AddCert(c)
		}
		if _, err := leaf.Verify(options); err != nil {
			return 0, err
		}
	}
	if b.tls.VerifyConnection != nil {
		if err := b.tls.VerifyConnection(s); err != nil {
			return 0, err
		}
	}
	if visitor {
		return 0, nil
	}
	return b.config.Identify(leaf)
}

// refusal is an error of a peer that is not who it should be, as opposed to
// one that cannot be reached.
type refusal struct{ error }

func (r refusal) Unwrap() error { return r.error }
