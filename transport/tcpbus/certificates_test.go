package tcpbus_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"math/big"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/transport"
)

// authority issues certificates.
type authority struct {
	t    testing.TB
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
}

func newAuthority(t testing.TB) *authority {
	t.Helper()
	a := &authority{t: t}
	template := &x509.Certificate{IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	a.cert, a.key = a.sign(template)
	return a
}

// sign issues a certificate: the authority's own if it has none.
func (a *authority) sign(template *x509.Certificate) (*x509.Certificate, *ecdsa.PrivateKey) {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	template.SerialNumber = big.NewInt(time.Now().UnixNano())
	template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	parent, parentKey := a.cert, a.key
	if parent == nil {
		parent, parentKey = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, parentKey)
	if err != nil {
		a.t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		a.t.Fatal(err)
	}
	return cert, key
}

// host returns the configuration of a host that this authority vouches for.
func (a *authority) host(host transport.HostID) *tls.Config {
	a.t.Helper()
	name, err := url.Parse(fmt.Sprintf("wdgnn://test/host/%d", host))
	if err != nil {
		a.t.Fatal(err)
	}
	cert, key := a.sign(&x509.Certificate{
		URIs:        []*url.URL{name},
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	})
	roots := x509.NewCertPool()
	roots.AddCert(a.cert)
	return &tls.Config{
		Certificates: []tls.Certificate{{Certificate: [][]byte{cert.Raw}, PrivateKey: key}},
		RootCAs:      roots,
	}
}

// identify reads the host from a certificate.
func identify(c *x509.Certificate) (transport.HostID, error) {
	for _, name := range c.URIs {
		if id, ok := strings.CutPrefix(name.String(), "wdgnn://test/host/"); ok {
			n, err := strconv.ParseUint(id, 10, 32)
			return transport.HostID(n), err
		}
	}
	return 0, fmt.Errorf("no host in %v", c.URIs)
}
