package keys

import (
	"crypto/x509"
	"errors"
	"fmt"
	"strings"
	"time"
)

// What crypto/tls says when the other end of a handshake does not take our
// certificate; it has no type for it.
const (
	alertBad     = "remote error: tls: bad certificate"
	alertExpired = "remote error: tls: expired certificate"
)

// Explain adds to an error of a handshake what to do about it, if it is one.
func Explain(err error) error {
	if err == nil {
		return nil
	}
	var invalid x509.CertificateInvalidError
	switch text := err.Error(); {
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		c := invalid.Cert
		return fmt.Errorf("%w: the certificate of %s is valid from %s to %s; if the clock of this machine is right, "+
			"wdgnn swarm keys renew makes another, to be copied to its machine",
			err, c.Subject.CommonName, c.NotBefore.Format(time.DateOnly), c.NotAfter.Format(time.DateOnly))
	case strings.Contains(text, alertExpired):
		return fmt.Errorf("%w: the other end says that the certificate here has expired; wdgnn swarm keys renew makes another", err)
	case strings.Contains(text, alertBad):
		return fmt.Errorf("%w: the other end does not take the certificate here; it may be revoked, or of another set of keys; "+
			"the log of the other end says why", err)
	}
	return err
}
