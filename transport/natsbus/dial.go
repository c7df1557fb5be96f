package natsbus

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/wdgnn/wdgnn/transport"
)

// Dial connects to a server. It waits for one that is still starting until ctx
// ends; a server that refuses this host is an error at once, or after
// Config.Patience. The connection
// then lasts until Close, whatever becomes of ctx.
func Dial(ctx context.Context, config Config) (*Conn, error) {
	if err := config.Validate(); err != nil {
		return nil, err
	}
	options, err := config.options()
	if err != nil {
		return nil, err
	}
	c := newConn(config)
	options = append(options,
		nats.SetCustomDialer(c.dialer),
		nats.ErrorHandler(c.refusal),
		nats.DisconnectErrHandler(c.disconnected),
		nats.ReconnectHandler(c.reconnected),
		nats.ClosedHandler(c.ended),
	)
	stop := context.AfterFunc(ctx, c.cancel)
	c.nc, err = connect(ctx, config, options)
	if err == nil && !stop() { // ctx ended just now and took the connection along
		c.closed.Store(true)
		c.nc.Close()
		err = context.Cause(ctx)
	}
	if err != nil {
		c.cancel()
		return nil, c.explainDial(err)
	}
	go c.translate()
	return c, nil
}

// connect tries until it succeeds, or ctx ends, or trying again is of no use.
func connect(ctx context.Context, config Config, options []nats.Option) (*nats.Conn, error) {
	began := time.Now()
	for attempt := 1; ; attempt++ {
		nc, err := nats.Connect(config.URL, options...)
		unknown := errors.Is(err, nats.ErrAuthorization) && time.Since(began) < config.Patience
		if err == nil || final(err) && !unknown {
			return nc, err
		}
		if unknown && attempt == 1 && config.OnError != nil {
			config.OnError(fmt.Errorf("natsbus: %s: %w: the server does not know this host; it is asked again", redacted(config.URL), err))
		}
		timer := time.NewTimer(delay(attempt))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, context.Cause(ctx)
		}
	}
}

// final says whether the next attempt would fail like this one.
func final(err error) bool {
	var (
		badURL  *url.Error
		badCert *tls.CertificateVerificationError
		unknown x509.UnknownAuthorityError
		alert   tls.AlertError
	)
	return refused(err) ||
		errors.Is(err, nats.ErrSecureConnRequired) || errors.Is(err, nats.ErrSecureConnWanted) ||
		errors.Is(err, nats.ErrNkeysNotSupported) ||
		errors.As(err, &badURL) || errors.As(err, &badCert) || errors.As(err, &unknown) || errors.As(err, &alert)
}

// refused says whether the server, as opposed to the network, said no.
func refused(err error) bool {
	return errors.Is(err, nats.ErrPermissionViolation) || errors.Is(err, nats.ErrAuthorization) ||
		errors.Is(err, nats.ErrAuthExpired) || errors.Is(err, nats.ErrAuthRevoked) ||
		errors.Is(err, nats.ErrMaxSubscriptionsExceeded) || errors.Is(err, nats.ErrMaxConnectionsExceeded)
}

// explainDial says why there is no connection and what to try.
func (c *Conn) explainDial(err error) error {
	where := redacted(c.config.URL)
	switch {
	case errors.Is(err, nats.ErrAuthorization):
		return fmt.Errorf("natsbus: %s: %w: the server wants a key it knows; try a seed of the set of keys that the server was started with",
			where, err)
	case errors.Is(err, nats.ErrSecureConnRequired), errors.Is(err, nats.ErrSecureConnWanted):
		return fmt.Errorf("natsbus: %s: %w: one side wants TLS and the other does not; try the keys of the deployment on both", where, err)
	case final(err):
		return fmt.Errorf("natsbus: %s: %w", where, err)
	}
	if last := c.dialer.last.Load(); last != nil && *last != nil {
		err = fmt.Errorf("%w, the last attempt with: %w", err, *last)
	}
	return fmt.Errorf("natsbus: %s: no server answered: %w; is it running, and is the address right?", where, err)
}

// explain turns an error of nats.go from a send into ours.
func (c *Conn) explain(err error, size int) error {
	switch {
	case c.closed.Load():
		return transport.ErrClosed
	case errors.Is(err, nats.ErrReconnectBufExceeded):
		return ErrDisconnected
	case errors.Is(err, nats.ErrMaxPayload):
		return fmt.Errorf("natsbus: %d bytes: %w: the server takes at most %d; set max_payload in its configuration, up to 64MB",
			size, err, c.nc.MaxPayload())
	}
	return fmt.Errorf("natsbus: %w", err)
}
