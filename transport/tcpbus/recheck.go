package tcpbus

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
)

// Recheck hangs up on peers whose certificates are refused now, such as those whose
// keys were revoked since they were met. They are counted as refused and told to
// OnError, and met again as Config says.
func (b *Bus) Recheck(refuse func(*x509.Certificate) error) {
	for conn, cert := range b.known() {
		if err := refuse(cert); err != nil {
			b.refused.Add(1)
			b.config.OnError(fmt.Errorf("tcpbus: host %d hangs up on %v: %w", b.config.Host, conn.RemoteAddr(), err))
			conn.Close()
		}
	}
}

// known returns the connections whose other end has shown a certificate.
func (b *Bus) known() map[net.Conn]*x509.Certificate {
	b.mu.Lock()
	defer b.mu.Unlock()
	list := map[net.Conn]*x509.Certificate{}
	for conn, cert := range b.conns {
		if cert != nil {
			list[conn] = cert
		}
	}
	return list
}

// met notes who is at the other end of a connection, once TLS is agreed on.
func (b *Bus) met(raw net.Conn, conn *tls.Conn) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, open := b.conns[raw]; open {
		b.conns[raw] = conn.ConnectionState().PeerCertificates[0]
	}
}
