package box

import (
	"context"
	"crypto/x509"
	"log/slog"

	"github.com/wdgnn/wdgnn/internal/keys"
	"github.com/wdgnn/wdgnn/transport"
	"github.com/wdgnn/wdgnn/transport/natsbus"
	"github.com/wdgnn/wdgnn/transport/tcpbus"
)

// buses is what carries frames, and the connection beneath it if that is NATS.
type buses struct {
	bus  transport.Bus // nil if all nodes are here
	nats *natsbus.Conn
}

// waitingFrames is how many frames of the largest size may wait for the host.
const waitingFrames = 64

// open connects. It waits for a server that is not there yet until ctx ends.
// Frames of more than most bytes are refused.
func (b *Box) open(ctx context.Context, most int) (o buses, err error) {
	switch {
	case b.given.Join != nil:
		o.bus, err = b.given.Join(b.Host)
	case b.Bus.Kind == BusNATS:
		if o.nats, err = b.dial(ctx, most, b.log); err == nil {
			o.bus = o.nats
			if b.newcomers != nil {
				err = o.nats.Attend(b.newcomers.shown)
			}
			if b.deployer != nil && err == nil {
				err = o.nats.Obey(b.deployer.obey)
			}
			b.certificate.start(nil)
		}
	case b.Bus.Kind == BusTCP:
		var links *tcpbus.Bus
		if links, err = b.listen(ctx, most, b.log); err == nil {
			o.bus = links
			if b.newcomers != nil {
				b.newcomers.meet = links.Meet
			}
			b.certificate.start(links.Recheck)
		}
	}
	if err != nil {
		return buses{}, keys.Explain(err)
	}
	if b.certificate != nil {
		b.later(b.certificate.stop)
	}
	if b.Faults != nil && o.bus != nil {
		o.bus = transport.Disturb(o.bus, b.Host, *b.Faults)
	}
	if b.given.Bend != nil && o.bus != nil {
		o.bus = b.given.Bend(o.bus)
	}
	return o, nil
}

// dial connects to a NATS server.
func (b *Box) dial(ctx context.Context, most int, log *slog.Logger) (*natsbus.Conn, error) {
	c := b.Config
	n := natsbus.Config{
		URL: c.Bus.URL, Run: c.Run, Host: c.Host, MaxFrame: most, Bytes: waitingFrames * most,
		OnError: explained(newLimitedLog(log).warn),
	}
	if b.newcomers != nil && b.newcomers.own != nil {
		n.Patience = entryTime
	}
	if c.Bus.Keys != "" {
		client, err := keys.LoadClient(c.abs(c.Bus.Keys), keys.HostName(c.Host))
		if err != nil {
			return nil, err
		}
		n.Seed = client.Seed
		if !c.Bus.Plain {
			n.TLS = client.TLS
			n.TLS.VerifyConnection = c.certificate.met(n.TLS.VerifyConnection)
		}
	}
	log.Info("connecting", "url", c.Bus.URL)
	return natsbus.Dial(ctx, n)
}

// listen opens direct links.
func (b *Box) listen(ctx context.Context, most int, log *slog.Logger) (*tcpbus.Bus, error) {
	c, n := b.Config, b.newcomers
	t := tcpbus.Config{
		Host: c.Host, Listen: c.Bus.Listen, Peers: map[transport.HostID]string{}, Insecure: c.Bus.Keys == "",
		MaxFrame: most, Bytes: waitingFrames * most, OnError: explained(newLimitedLog(log).warn),
	}
	for id, p := range c.Hosts {
		t.Peers[id] = p.Address
	}
	if t.Listen == "" {
		t.Listen = c.Hosts[c.Host].Address
	}
	if c.Bus.Keys != "" {
		var err error
		if t.TLS, err = keys.HostTLS(c.abs(c.Bus.Keys), c.Host); err != nil {
			return nil, err
		}
		t.Identify = func(cert *x509.Certificate) (transport.HostID, error) { return keys.HostOf(cert, c.Run) }
		t.Permit = func(cert *x509.Certificate, sender transport.HostID) error { return n.permit(cert, c.Run, sender) }
		t.Stranger = n.stranger
	}
	if b.deployer != nil {
		t.Visit = b.deployer.visit
		t.Visitor = func(cert *x509.Certificate) bool { return keys.IsOperator(cert, c.Run) }
	}
	return tcpbus.Open(ctx, t)
}

// explained says beside errors of handshakes what to do about them.
func explained(warn func(error)) func(error) {
	return func(err error) { warn(keys.Explain(err)) }
}
