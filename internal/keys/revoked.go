package keys

import (
	"bytes"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// revokedFile lists keys that nobody takes any more, beside the authority's
// certificate. A line is the SHA-256 of a public key, in hexadecimal, and whose it
// was; # begins a comment. It holds no secret.
const revokedFile = "revoked.txt"

// revoked is the list of a folder as its file has it now, which is looked at in every
// handshake. A list that cannot be read leaves the last good one. It is safe for
// concurrent use.
type revoked struct {
	path string

	mu   sync.Mutex
	seen stamp
	list map[string]string // whose, by the pin of the key
}

// newRevoked reads the list of a folder; none is an empty one.
func newRevoked(dir string) (*revoked, error) {
	r := &revoked{path: filepath.Join(dir, revokedFile)}
	return r, r.read()
}

// read reads the list if it changed.
func (r *revoked) read() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := stampOf(r.path)
	if r.list != nil && now == r.seen {
		return nil
	}
	list, err := readRevoked(r.path)
	if err != nil {
		return err
	}
	r.list, r.seen = list, now
	return nil
}

// check returns an error for a certificate whose key is on the list.
func (r *revoked) check(cert *x509.Certificate) error { return r.checkPin(pinOf(cert)) }

// checkPin returns an error for a pin that is on the list.
func (r *revoked) checkPin(pin string) error {
	_ = r.read() // who watches the folder is told: Revoked
	r.mu.Lock()
	whose, listed := r.list[pin]
	r.mu.Unlock()
	if listed {
		return fmt.Errorf("keys: the key of %s is revoked: %s lists it; if it is needed, wdgnn swarm keys renew --rekey makes another",
			whose, r.path)
	}
	return nil
}

// pinOf is the SHA-256 of a certificate's public key, as lists have it.
func pinOf(cert *x509.Certificate) string {
	sum := sha256.Sum256(cert.RawSubjectPublicKeyInfo)
	return hex.EncodeToString(sum[:])
}

// readRevoked reads a list; no file is an empty one.
func readRevoked(path string) (map[string]string, error) {
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("keys: %w", err)
	}
	list := map[string]string{}
	for line := range bytes.Lines(text) {
		words, _, _ := strings.Cut(string(line), "#")
		fields := strings.Fields(words)
		if len(fields) == 0 {
			continue
		}
		if pin, err := hex.DecodeString(fields[0]); err != nil || len(pin) != sha256.Size || len(fields) != 2 {
			return nil, fmt.Errorf("keys: %s: %q is no line of a list of revoked keys; copy it again from the folder of the authority",
				path, strings.TrimSpace(string(line)))
		}
		list[fields[0]] = fields[1]
	}
	return list, nil
}

// Revoked reads the list in a party's folder and returns a check of certificates by
// it: for links that are there already.
func Revoked(dir, party string) (func(*x509.Certificate) error, error) {
	r, err := newRevoked(folder(dir, party))
	if err != nil {
		return nil, err
	}
	return r.check, nil
}

// Stamp stands for the files of a party's folder that may change while a program
// runs: another one says that it should look at them.
func Stamp(dir, party string) string {
	dir = folder(dir, party)
	var all [7]stamp
	for k, name := range []string{"host.crt", "host.key", "server.crt", "server.key", revokedFile, permissionsFile, memberFile} {
		all[k] = stampOf(filepath.Join(dir, name))
	}
	return fmt.Sprint(all)
}
