package keys

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// live is a party's certificate and key as its files have them now: they are looked
// at in every handshake, so that renewed files are taken without a restart. While
// files that changed make no pair, half of them copied perhaps, the last good pair
// is shown. It is safe for concurrent use.
type live struct {
	dir, name string
	check     func(*x509.Certificate) error // of a certificate that takes the place of another; nil means none

	mu    sync.Mutex
	seen  [2]stamp // of the files of pair
	pair  *tls.Certificate
	stale error // why the files are not taken; nil if they are
}

// stamp tells one content of a file from the next.
type stamp struct {
	at   time.Time
	size int64
}

// stampOf returns the stamp of a file, the zero one if there is none.
func stampOf(path string) stamp {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{}
	}
	return stamp{info.ModTime(), info.Size()}
}

// newLive reads the files of a party, which must be there and fit.
func newLive(dir, name string, check func(*x509.Certificate) error) (*live, error) {
	l := &live{dir: dir, name: name, check: check}
	l.get()
	if l.pair == nil {
		return nil, l.stale
	}
	return l, nil
}

// get returns the pair in the files, or the last one that was good.
func (l *live) get() *tls.Certificate {
	l.mu.Lock()
	defer l.mu.Unlock()
	base := filepath.Join(l.dir, l.name)
	now := [2]stamp{stampOf(base + ".crt"), stampOf(base + ".key")}
	if l.pair != nil && now == l.seen {
		return l.pair
	}
	pair, err := loadPair(l.dir, l.name)
	if err == nil && l.check != nil {
		err = l.check(pair.Leaf)
	}
	if l.stale = err; err == nil {
		l.pair, l.seen = &pair, now
	}
	return l.pair
}

// server is for [tls.Config.GetCertificate].
func (l *live) server(*tls.ClientHelloInfo) (*tls.Certificate, error) { return l.get(), nil }

// client is for [tls.Config.GetClientCertificate].
func (l *live) client(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return l.get(), nil }

// Expiry returns until when the certificate of a party is valid, as its file has it
// now. The party is HostName of a host, or the server's: "server".
func Expiry(dir, party string) (time.Time, error) {
	name := "host"
	if party == serverFolder {
		name = serverFolder
	}
	cert, err := readCertificate(filepath.Join(folder(dir, party), name+".crt"))
	if err != nil {
		return time.Time{}, err
	}
	return cert.NotAfter, nil
}

// ServerURL returns where the NATS servers of a set are by the names in their
// certificate, at the usual port; empty if it cannot be read.
func ServerURL(dir string) string {
	cert, err := readCertificate(filepath.Join(folder(dir, serverFolder), "server.crt"))
	if err != nil {
		return ""
	}
	names := cert.DNSNames
	for _, ip := range cert.IPAddresses {
		names = append(names, ip.String())
	}
	urls := make([]string, len(names))
	for k, name := range names {
		urls[k] = "tls://" + net.JoinHostPort(name, "4222")
	}
	return strings.Join(urls, ",")
}
