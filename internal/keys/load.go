package keys

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/wdgnn/wdgnn/transport"
)

// Client is what a party shows to a NATS server and checks of it.
type Client struct {
	Seed []byte      // of its NKey
	TLS  *tls.Config // roots, and a host's certificate
}

// LoadClient reads what a party needs to talk to a NATS server. The party is
// HostName of a host, World or Observer; dir is the folder of the set, or the
// party's own folder.
func LoadClient(dir, party string) (*Client, error) {
	dir = folder(dir, party)
	seed, err := os.ReadFile(filepath.Join(dir, seedFile(party)))
	if err != nil {
		return nil, missing(err)
	}
	roots, err := loadRoots(dir)
	if err != nil {
		return nil, err
	}
	c := &Client{
		Seed: bytes.TrimSpace(seed),
		TLS:  &tls.Config{MinVersion: tls.VersionTLS13, RootCAs: roots},
	}
	list, err := newRevoked(dir)
	if err != nil {
		return nil, err
	}
	c.TLS.VerifyConnection = func(s tls.ConnectionState) error { return list.check(s.PeerCertificates[0]) }
	if _, err := os.Stat(filepath.Join(dir, "host.crt")); err == nil {
		own, err := newLive(dir, "host", nil)
		if err != nil {
			return nil, err
		}
		c.TLS.GetClientCertificate = own.client
	}
	return c, nil
}

// HostTLS returns what a host needs for direct links with others, as client
// and as server alike. Both ends must show a certificate of the same authority
// that names a host of the same run; HostOf tells which. Addresses are not
// compared with names: who a host is does not depend on where it is. Renewed
// certificates and revoked keys count from the next handshake on.
func HostTLS(dir string, host transport.HostID) (*tls.Config, error) {
	dir = folder(dir, HostName(host))
	run := ""
	roots, list, own, err := loadIdentity(dir, "host", func(cert *x509.Certificate) error {
		return namesHost(cert, dir, host, run)
	})
	if err != nil {
		return nil, err
	}
	run = own.get().Leaf.URIs[0].Host
	return &tls.Config{
		MinVersion:           tls.VersionTLS13,
		GetCertificate:       own.server,
		GetClientCertificate: own.client,
		RootCAs:              roots,
		ClientCAs:            roots,
		ClientAuth:           tls.RequireAndVerifyClientCert,
		InsecureSkipVerify:   true, // of the name only: VerifyConnection checks the rest
		VerifyConnection: func(s tls.ConnectionState) error {
			if err := verifyPeer(s, roots, run); err != nil {
				return err
			}
			return list.check(s.PeerCertificates[0])
		},
	}, nil
}

// namesHost says why a certificate is not that of a host of a run.
func namesHost(cert *x509.Certificate, dir string, host transport.HostID, run string) error {
	if len(cert.URIs) == 0 {
		return fmt.Errorf("keys: %s: the certificate names no host", dir)
	}
	if run == "" {
		run = cert.URIs[0].Host
	}
	if named, err := HostOf(cert, run); err != nil {
		return fmt.Errorf("keys: %s: %w", dir, err)
	} else if named != host {
		return fmt.Errorf("keys: %s: the certificate is of host %d, want %d", dir, named, host)
	}
	return nil
}

// verifyPeer accepts hosts of a run.
func verifyPeer(s tls.ConnectionState, roots *x509.CertPool, run string) error {
	if len(s.PeerCertificates) == 0 {
		return errors.New("keys: the other end shows no certificate")
	}
	between := x509.NewCertPool()
	for _, c := range s.PeerCertificates[1:] {
		between.AddCert(c)
	}
	peer := s.PeerCertificates[0]
	if _, err := peer.Verify(x509.VerifyOptions{
		Roots:         roots,
		Intermediates: between,
		KeyUsages:     []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}); err != nil {
		return fmt.Errorf("keys: the other end: %w", err)
	}
	if IsOperator(peer, run) {
		return nil // as a visitor: it is no host, and nobody hears it
	}
	_, err := HostOf(peer, run)
	return err
}

// ServerTLS returns what a NATS server shows to its clients, whom it does not ask for
// a certificate: their NKeys tell who they are, and one that has expired shuts nobody
// out. Other servers it asks for one of the same authority. A renewed certificate
// counts from the next handshake on.
func ServerTLS(dir string) (*tls.Config, error) {
	dir = folder(dir, serverFolder)
	roots, _, own, err := loadIdentity(dir, "server", nil)
	if err != nil {
		return nil, err
	}
	return &tls.Config{
		MinVersion:           tls.VersionTLS13,
		GetCertificate:       own.server,
		GetClientCertificate: own.client,
		RootCAs:              roots,
		ClientCAs:            roots,
	}, nil
}

// loadIdentity returns the authority of a party, the keys that it does not take, and
// the party's certificate, which passes check however often it is renewed.
func loadIdentity(dir, name string, check func(*x509.Certificate) error) (*x509.CertPool, *revoked, *live, error) {
	roots, err := loadRoots(dir)
	if err != nil {
		return nil, nil, nil, err
	}
	list, err := newRevoked(dir)
	if err != nil {
		return nil, nil, nil, err
	}
	own, err := newLive(dir, name, check)
	return roots, list, own, err
}

// folder returns where the files of a party are: in the folder of the set, or
// in dir itself if it is the party's, under whatever name.
func folder(dir, party string) string {
	within := filepath.Join(dir, party)
	if _, err := os.Stat(within); err == nil {
		return within
	}
	if _, err := os.Stat(filepath.Join(dir, authorityFile)); err == nil || filepath.Base(filepath.Clean(dir)) == party {
		return dir
	}
	return within
}

func loadRoots(dir string) (*x509.CertPool, error) {
	path := filepath.Join(dir, authorityFile)
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, missing(err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(data) {
		return nil, fmt.Errorf("keys: %s holds no certificate", path)
	}
	return roots, nil
}

// loadPair reads a certificate and its key.
func loadPair(dir, name string) (tls.Certificate, error) {
	base := filepath.Join(dir, name)
	cert, err := tls.LoadX509KeyPair(base+".crt", base+".key")
	if err != nil {
		return tls.Certificate{}, missing(fmt.Errorf("%s.crt: %w", base, err))
	}
	return cert, nil
}

// missing adds what to try where a file is not there.
func missing(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("keys: %w; try: wdgnn swarm keys", err)
	}
	return fmt.Errorf("keys: %w", err)
}
