package tcpbus

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"time"

	"github.com/wdgnn/wdgnn/transport"
)

// Visit dials a host as a visitor, whom its Config.Visit then talks to. The host must be
// who check says by its certificate. A nil TLS is for hosts without.
func Visit(
	ctx context.Context, address string, host transport.HostID, c *tls.Config, check func(tls.ConnectionState) error,
) (net.Conn, error) {
	raw, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("tcpbus: visit host %d: %w", host, err)
	}
	conn := raw
	if c != nil {
		secure := c.Clone()
		secure.NextProtos = []string{protocol}
		client := tls.Client(raw, secure)
		conn = client
		err = client.HandshakeContext(ctx)
		if err == nil {
			err = check(client.ConnectionState())
		}
	}
	if err == nil {
		err = raw.SetWriteDeadline(time.Now().Add(5 * time.Second))
	}
	if err == nil {
		_, err = conn.Write(appendHello(nil, hello{visitor: true, sender: host}))
	}
	if err == nil {
		err = raw.SetWriteDeadline(time.Time{})
	}
	if err != nil {
		conn.Close()
		return nil, fmt.Errorf("tcpbus: visit host %d at %s: %w", host, address, err)
	}
	return conn, nil
}
