package keys

import (
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/wdgnn/wdgnn/transport"
	"github.com/wdgnn/wdgnn/transport/natsbus"
)

// OperatorKey is what proves that somebody may deploy models.
type OperatorKey struct {
	Run  string
	Cert []byte // DER

	key *ecdsa.PrivateKey
}

// LoadOperator reads the key of the operator, from the folder of the set or the
// operator's own.
func LoadOperator(dir string) (*OperatorKey, error) {
	base := filepath.Join(folder(dir, Operator), Operator)
	cert, err := readCertificate(base + ".crt")
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("keys: %s holds no key of an operator, who may deploy models: sets of earlier versions have none; "+
			"try: wdgnn swarm keys renew --keys %s operator, and copy the folder server to the servers", dir, dir)
	}
	if err != nil {
		return nil, err
	}
	key, err := readKey(base + ".key")
	if err != nil {
		return nil, err
	}
	if len(cert.URIs) == 0 || !IsOperator(cert, cert.URIs[0].Host) {
		return nil, fmt.Errorf("keys: %s.crt is not the certificate of an operator", base)
	}
	return &OperatorKey{Run: cert.URIs[0].Host, Cert: cert.Raw, key: key}, nil
}

// Sign proves that the operator says something.
func (o *OperatorKey) Sign(text []byte) ([]byte, error) {
	sum := sha256.Sum256(text)
	return ecdsa.SignASN1(rand.Reader, o.key, sum[:])
}

// IsOperator says whether a certificate is that of the operator of a run. It does not
// check who signed it.
func IsOperator(cert *x509.Certificate, run string) bool {
	return slices.ContainsFunc(cert.URIs, func(u *url.URL) bool { return u.Scheme == scheme && u.Host == run && u.Path == operatorPath })
}

// Orders returns what checks orders that a host is given: that the certificate, DER, is
// of the operator of its run, signed by its authority and not revoked, and that it
// signed the text. A certificate that was valid when an order came stays good for it.
func Orders(dir string, host transport.HostID, run string) (func(cert, text, signature []byte) error, error) {
	dir = folder(dir, HostName(host))
	roots, err := loadRoots(dir)
	if err != nil {
		return nil, err
	}
	list, err := newRevoked(dir)
	if err != nil {
		return nil, err
	}
	return func(der, text, signature []byte) error {
		cert, err := x509.ParseCertificate(der)
		if err != nil {
			return fmt.Errorf("keys: the operator's certificate: %w", err)
		}
		if _, err := cert.Verify(x509.VerifyOptions{Roots: roots, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}); err != nil {
			return fmt.Errorf("keys: the operator's certificate: %w", err)
		}
		if !IsOperator(cert, run) {
			return fmt.Errorf("keys: the certificate of %q is not of the operator of run %s", cert.Subject.CommonName, run)
		}
		if err := list.check(cert); err != nil {
			return err
		}
		public, ok := cert.PublicKey.(*ecdsa.PublicKey)
		sum := sha256.Sum256(text)
		if !ok || !ecdsa.VerifyASN1(public, sum[:], signature) {
			return errors.New("keys: the operator did not sign this")
		}
		return nil
	}, nil
}

// OperatorTLS returns what the operator needs to visit hosts with direct links: they
// show certificates of the same authority, and HostOf tells which host it is.
func OperatorTLS(dir string) (*tls.Config, error) {
	dir = folder(dir, Operator)
	roots, list, own, err := loadIdentity(dir, Operator, nil)
	if err != nil {
		return nil, err
	}
	run := own.get().Leaf.URIs[0].Host
	return &tls.Config{
		MinVersion:           tls.VersionTLS13,
		GetClientCertificate: own.client,
		RootCAs:              roots,
		InsecureSkipVerify:   true, // of the name only: VerifyConnection checks the rest
		VerifyConnection: func(s tls.ConnectionState) error {
			if err := verifyPeer(s, roots, run); err != nil {
				return err
			}
			return list.check(s.PeerCertificates[0])
		},
	}, nil
}

// addOperator makes the operator of a set that has none, and lets hosts be told by it.
func (s *set) addOperator(now, until time.Time) error {
	run := s.permissions.Run
	ca := *s.ca
	ca.from, ca.to = now.AddDate(0, 0, -1), until
	id, err := ca.issue(nil, operatorPath)
	if err != nil {
		return fmt.Errorf("keys: %w", err)
	}
	seed, public, err := newSeed()
	if err != nil {
		return fmt.Errorf("keys: %w", err)
	}
	root, err := os.ReadFile(filepath.Join(s.dir, authorityFolder, authorityFile))
	if err != nil {
		return fmt.Errorf("keys: %w", err)
	}
	dir := filepath.Join(s.dir, Operator)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return fmt.Errorf("keys: %w", err)
	}
	for name, data := range map[string][]byte{
		authorityFile: root, seedFile(Operator): seed, "operator.key": id.key, "operator.crt": id.cert,
	} {
		if err := writeSecret(filepath.Join(dir, name), data); err != nil {
			return fmt.Errorf("keys: %w", err)
		}
	}
	operator := operatorOf(run)
	operator.Key = public
	s.permissions.Users = append(s.permissions.Users, operator)
	s.permissions.deployable()
	return nil
}

// deployable lets hosts be told what to run, and answer.
func (p *Permissions) deployable() {
	for k := range p.Users {
		u := &p.Users[k]
		var host transport.HostID
		if n, err := fmt.Sscanf(u.Name, "host-%d", &host); n == 1 && err == nil {
			permit(&u.Publish, natsbus.DeployedSubject(p.Run, host))
			permit(&u.Subscribe, natsbus.DeploySubject(p.Run, host))
		}
	}
}
