package keys

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wdgnn/wdgnn/internal/idlist"
	"github.com/wdgnn/wdgnn/transport"
)

// scheme begins the names that certificates give to parties.
const scheme = "wdgnn"

// authority signs the certificates of one set.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	from time.Time // of the certificates that it issues
	to   time.Time
}

// identity is a certificate and its key, in PEM.
type identity struct {
	cert, key []byte
	pin       string // SHA-256 of the public key
}

// newAuthority makes an authority for a run, whose certificates are valid for so
// many years; its own for longer, so that it can renew them. All begin a day early, for boxes
// whose clocks are behind.
func newAuthority(run string, now time.Time, years int) (*authority, identity, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, identity{}, err
	}
	template := &x509.Certificate{
		Subject:               pkix.Name{Organization: []string{scheme}, CommonName: "authority of a run"},
		NotBefore:             now.AddDate(0, 0, -1),
		NotAfter:              now.AddDate(max(years, authorityYears), 0, 0),
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
		BasicConstraintsValid: true,
		IsCA:                  true,
		MaxPathLenZero:        true,
		URIs:                  []*url.URL{{Scheme: scheme, Host: run, Path: "/ca"}},
	}
	id, err := sign(template, template, key, key)
	if err != nil {
		return nil, identity{}, err
	}
	block, _ := pem.Decode(id.cert)
	cert, err := x509.ParseCertificate(block.Bytes)
	return &authority{cert, key, template.NotBefore, now.AddDate(years, 0, 0)}, id, err
}

// issue makes the identity of a party, which is both a client and a server.
// Paths name it within its run, and what it may do; names are DNS names and IP
// addresses.
func (a *authority) issue(names []string, paths ...string) (identity, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return identity{}, err
	}
	return a.certify(key, nil, names, paths...)
}

// certify makes the identity of a party that has a key, with what stands in its
// certificate beside names.
func (a *authority) certify(key *ecdsa.PrivateKey, more []pkix.Extension, names []string, paths ...string) (identity, error) {
	template := &x509.Certificate{
		ExtraExtensions: more,

		Subject:     pkix.Name{Organization: []string{scheme}, CommonName: strings.TrimPrefix(paths[0], "/")},
		NotBefore:   a.from,
		NotAfter:    a.to,
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	for _, path := range paths {
		template.URIs = append(template.URIs, &url.URL{Scheme: scheme, Host: a.cert.URIs[0].Host, Path: path})
	}
	for _, n := range names {
		if ip := net.ParseIP(n); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, n)
		}
	}
	return sign(template, a.cert, key, a.key)
}

func sign(template, parent *x509.Certificate, key *ecdsa.PrivateKey, by crypto.Signer) (identity, error) {
	cert, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), by)
	if err != nil {
		return identity{}, err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return identity{}, err
	}
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return identity{}, err
	}
	sum := sha256.Sum256(public)
	return identity{
		cert: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}),
		key:  pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}),
		pin:  hex.EncodeToString(sum[:]),
	}, nil
}

func hostPath(host transport.HostID) string {
	return "/host/" + strconv.FormatUint(uint64(host), 10)
}

const (
	serverPath   = "/server"
	operatorPath = "/operator"
)

// HostOf returns the host of a run that a certificate names. It does not check
// who signed it; the configurations of this package do.
func HostOf(cert *x509.Certificate, run string) (transport.HostID, error) {
	for _, u := range cert.URIs {
		digits, ok := strings.CutPrefix(u.Path, "/host/")
		if u.Scheme != scheme || !ok {
			continue
		}
		if u.Host != run {
			return 0, fmt.Errorf("keys: the certificate is of run %q, want %q", u.Host, run)
		}
		host, err := strconv.ParseUint(digits, 10, 32)
		if err != nil || hostPath(transport.HostID(host)) != u.Path {
			return 0, fmt.Errorf("keys: the certificate names %q, want the number of a host", u.Path)
		}
		return transport.HostID(host), nil
	}
	return 0, fmt.Errorf("keys: the certificate of %q names no host", cert.Subject.CommonName)
}

// hearsPrefix begins the path that lists whom a host may hear.
const hearsPrefix = "/hears/"

// hearsPath lists hosts, such as /hears/0-4,7.
func hearsPath(hosts []transport.HostID) string {
	return hearsPrefix + idlist.Format(slices.Compact(slices.Sorted(slices.Values(hosts))))
}

// MayHear reports that the host of a certificate may not hear another, by what
// the authority wrote into it: what a NATS server enforces by its permissions,
// boxes with direct links do by this. Certificates of sets that were made before
// they said so permit everybody.
func MayHear(cert *x509.Certificate, run string, sender transport.HostID) error {
	for _, u := range cert.URIs {
		list, ok := strings.CutPrefix(u.Path, hearsPrefix)
		if u.Scheme != scheme || u.Host != run || !ok {
			continue
		}
		for part := range strings.SplitSeq(list, ",") {
			if first, last, ok := idlist.ParseRange(part); ok && first <= uint64(sender) && uint64(sender) <= last {
				return nil
			}
		}
		return fmt.Errorf("keys: the certificate of %q does not permit it to hear host %d; try: wdgnn swarm keys --graph",
			cert.Subject.CommonName, sender)
	}
	return nil
}
