package mqtt

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"

	"github.com/eclipse/paho.mqtt.golang/packets"
)

// explain adds to an error of a connection what to do about it.
func explain(err error, c *Config) error {
	var record tls.RecordHeaderError
	var unknown x509.UnknownAuthorityError
	var name x509.HostnameError
	switch secure := strings.HasPrefix(c.URL, "mqtts"); {
	case errors.Is(err, packets.ErrorRefusedNotAuthorised), errors.Is(err, packets.ErrorRefusedBadUsernameOrPassword):
		if c.User == "" {
			return fmt.Errorf("the broker wants to know who this is: %w; name broker.user and broker.password_file", err)
		}
		return fmt.Errorf("the broker does not take the user %q with this password: %w; look at broker.user and broker.password_file",
			c.User, err)
	case errors.As(err, &unknown):
		return fmt.Errorf("%w; name the authority that signed the broker's certificate: broker.ca", err)
	case errors.As(err, &name):
		return fmt.Errorf("%w; name the broker in broker.url as its certificate does", err)
	case errors.As(err, &record), secure && hungUp(err):
		return fmt.Errorf("%w; the broker speaks no TLS at this port, most likely: try mqtt:// in broker.url, or its other port", err)
	case !secure && hungUp(err):
		return fmt.Errorf("%w; the broker hung up: if it wants TLS at this port, write mqtts:// in broker.url", err)
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("%w; nobody listens there: is the broker running?", err)
	}
	return err
}

// hungUp says whether the other end did.
func hungUp(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}
