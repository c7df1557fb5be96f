package keys

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Renewal says which certificates of a set are made anew.
type Renewal struct {
	Parties []string // folders such as host-3 and server; empty means all that have a certificate and are not revoked
	Years   int      // 0 means 1

	// Rekey makes new secrets too, certificate keys and NKeys, for parties whose
	// old ones may be in other hands. They must be named.
	Rekey bool
}

// Renewed is a party and until when its certificate is valid; the zero time if it
// has none, as the world, the observer and MQTT users.
type Renewed struct {
	Party string
	Until time.Time
}

// Renew writes new certificates into a set, for the same names and keys, signed by
// its authority. Nobody has to stop: who has a connection keeps it, and the new
// files count from the next handshake on.
func Renew(dir string, r Renewal) ([]Renewed, error) { return renew(dir, r, time.Now()) }

func renew(dir string, r Renewal, now time.Time) ([]Renewed, error) {
	if r.Years < 0 || r.Years > mostYears {
		return nil, fmt.Errorf("keys: certificates for %d years, want 1 to %d, or 0 for %d", r.Years, mostYears, defaultYears)
	}
	if r.Rekey && len(r.Parties) == 0 {
		return nil, errors.New("keys: new secrets shut out who has the old ones; name the parties")
	}
	s, err := openSet(dir)
	if err != nil {
		return nil, err
	}
	parties := r.Parties
	if len(parties) == 0 {
		parties = s.certified()
	}
	until := now.AddDate(Plan{Years: r.Years}.years(), 0, 0)
	if until.After(s.ca.cert.NotAfter) {
		until = s.ca.cert.NotAfter
	}
	if !until.After(now) {
		return nil, fmt.Errorf("keys: the authority itself expired on %s; try: wdgnn swarm keys --force, and new folders for everybody",
			until.Format(time.DateOnly))
	}
	var done []Renewed
	added := false
	for _, party := range parties {
		if party == Operator && !slices.Contains(s.folders(), Operator) { // sets of earlier versions have none
			added = true
			err = s.addOperator(now, until)
		} else {
			err = s.renew(party, r.Rekey, now, until)
		}
		if err != nil {
			return done, err
		}
		d := Renewed{Party: party, Until: until}
		if party == World || party == Observer || strings.HasPrefix(party, mqttPrefix) {
			d.Until = time.Time{}
		}
		done = append(done, d)
	}
	if r.Rekey || added {
		return done, s.save()
	}
	return done, nil
}

// Revoke shuts parties out: servers no longer know their NKeys, and every folder of
// the set lists the keys of their certificates. The changed files, of the server for
// NATS and of every host for direct links, are to be copied to their machines.
func Revoke(dir string, parties ...string) error {
	s, err := openSet(dir)
	if err != nil {
		return err
	}
	for _, party := range parties {
		if err := s.revoke(party); err != nil {
			return err
		}
	}
	return s.save()
}

// set is a folder of keys that is being changed.
type set struct {
	dir         string
	ca          *authority
	permissions *Permissions
	revoked     map[string]string
	oldPin      string // of the server
}

// openSet reads a whole set, with its authority.
func openSet(dir string) (*set, error) {
	s := &set{dir: filepath.Clean(dir)}
	base := filepath.Join(s.dir, authorityFolder)
	cert, err := readCertificate(filepath.Join(base, authorityFile))
	if err != nil {
		return nil, fmt.Errorf("%w; this takes the whole folder that wdgnn swarm keys wrote, with the authority in it", err)
	}
	key, err := readKey(filepath.Join(base, "ca.key"))
	if err != nil {
		return nil, err
	}
	s.ca = &authority{cert: cert, key: key}
	if s.permissions, err = LoadPermissions(s.dir); err != nil {
		return nil, err
	}
	s.oldPin = s.permissions.ServerPin
	s.revoked, err = readRevoked(filepath.Join(base, revokedFile))
	return s, err
}

// certified returns the parties that have a certificate and are not revoked.
func (s *set) certified() []string {
	var list []string
	for _, party := range s.folders() {
		if cert, err := readCertificate(s.certificate(party)); err == nil && s.revoked[pinOf(cert)] == "" {
			list = append(list, party)
		}
	}
	return list
}

// folders returns all parties but the authority.
func (s *set) folders() []string {
	var list []string
	entries, _ := os.ReadDir(s.dir) // openSet has read from it
	for _, e := range entries {
		if e.IsDir() && e.Name() != authorityFolder {
			list = append(list, e.Name())
		}
	}
	return list
}

// certificate returns the path of a party's certificate, which may not be there.
func (s *set) certificate(party string) string {
	if party == serverFolder || party == Operator {
		return filepath.Join(s.dir, party, party+".crt")
	}
	return filepath.Join(s.dir, party, "host.crt")
}

// renew makes the certificate of a party anew, and its secrets if asked to.
func (s *set) renew(party string, rekey bool, now, until time.Time) error {
	if !slices.Contains(s.folders(), party) {
		return fmt.Errorf("keys: there is no %s in %s; want one of %s", party, s.dir, strings.Join(s.folders(), ", "))
	}
	switch {
	case strings.HasPrefix(party, mqttPrefix) && !rekey:
		return fmt.Errorf("keys: %s has a password and no certificate; --rekey gives it another", party)
	case strings.HasPrefix(party, mqttPrefix):
		return s.repassword(party)
	case rekey && party != serverFolder:
		if err := s.reseed(party); err != nil {
			return err
		}
	}
	path := s.certificate(party)
	old, err := readCertificate(path)
	if errors.Is(err, os.ErrNotExist) && rekey {
		return nil // the world and the observer have none
	}
	if err != nil {
		return err
	}
	if whose := s.revoked[pinOf(old)]; whose != "" && !rekey {
		return fmt.Errorf("keys: %s is revoked; --rekey gives it new keys", whose)
	}
	keyPath := strings.TrimSuffix(path, ".crt") + ".key"
	key, err := readKey(keyPath)
	if rekey {
		key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	}
	if err != nil {
		return err
	}
	record, err := s.renewRecord(party, old, key)
	if err != nil {
		return err
	}
	id, err := sign(&x509.Certificate{
		ExtraExtensions: record,

		Subject: old.Subject, URIs: old.URIs, DNSNames: old.DNSNames, IPAddresses: old.IPAddresses,
		NotBefore: now.AddDate(0, 0, -1), NotAfter: until, KeyUsage: old.KeyUsage, ExtKeyUsage: old.ExtKeyUsage,
	}, s.ca.cert, key, s.ca.key)
	if err != nil {
		return fmt.Errorf("keys: %w", err)
	}
	if party == serverFolder {
		s.permissions.ServerPin = id.pin
	}
	if rekey {
		if err := replaceSecret(keyPath, id.key); err != nil {
			return err
		}
	}
	return replaceSecret(path, id.cert)
}

// reseed gives a party another NKey, and what it was permitted before.
func (s *set) reseed(party string) error {
	p := s.permissions
	if k := slices.IndexFunc(p.Revoked, func(u User) bool { return u.Name == party }); k >= 0 {
		p.Users = append(p.Users, p.Revoked[k])
		p.Revoked = slices.Delete(p.Revoked, k, k+1)
	}
	k := slices.IndexFunc(p.Users, func(u User) bool { return u.Name == party })
	if k < 0 {
		return fmt.Errorf("keys: the permissions do not know %s", party)
	}
	seed, public, err := newSeed()
	if err != nil {
		return fmt.Errorf("keys: %w", err)
	}
	p.Users[k].Key = public
	return replaceSecret(filepath.Join(s.dir, party, seedFile(party)), seed)
}

// revoke takes what a party has out of use.
func (s *set) revoke(party string) error {
	p := s.permissions
	found := p.revokeMQTT(party)
	if k := slices.IndexFunc(p.Users, func(u User) bool { return u.Name == party }); k >= 0 {
		p.Revoked = append(p.Revoked, p.Users[k])
		p.Users = slices.Delete(p.Users, k, k+1)
		found = true
	}
	cert, err := readCertificate(s.certificate(party))
	if err == nil {
		s.revoked[pinOf(cert)] = party
		found = true
	}
	if !found {
		return fmt.Errorf("keys: there is no %s in %s; want one of %s", party, s.dir, strings.Join(s.folders(), ", "))
	}
	return nil
}

// save writes what everybody must know: the list of revoked keys into all folders,
// and the permissions for servers.
func (s *set) save() error {
	var list bytes.Buffer
	list.WriteString("# Keys that nobody takes any more: SHA-256 of the public key, and whose it was.\n")
	for _, pin := range slices.Sorted(maps.Keys(s.revoked)) {
		fmt.Fprintf(&list, "%s %s\n", pin, s.revoked[pin])
	}
	if len(s.revoked) > 0 {
		for _, party := range append(s.folders(), authorityFolder) {
			if err := replaceSecret(filepath.Join(s.dir, party, revokedFile), list.Bytes()); err != nil {
				return err
			}
		}
	}
	data, err := json.MarshalIndent(s.permissions, "", "  ")
	if err != nil {
		return fmt.Errorf("keys: %w", err)
	}
	server := filepath.Join(s.dir, serverFolder)
	if s.oldPin != s.permissions.ServerPin {
		path := filepath.Join(server, serverConfigFile)
		text, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("keys: %w", err)
		}
		if err := replaceSecret(path, bytes.ReplaceAll(text, []byte(s.oldPin), []byte(s.permissions.ServerPin))); err != nil {
			return err
		}
	}
	if err := replaceSecret(filepath.Join(server, authorizationFile), authorization(s.permissions)); err != nil {
		return err
	}
	return replaceSecret(filepath.Join(server, permissionsFile), append(data, '\n'))
}

// replaceSecret writes a file that only its owner can read, whole or not at all.
func replaceSecret(path string, data []byte) error {
	fresh := path + ".new"
	if err := os.Remove(fresh); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("keys: %w", err)
	}
	err := writeSecret(fresh, data)
	if err == nil {
		err = os.Rename(fresh, path)
	}
	if err == nil {
		err = syncFolder(filepath.Dir(path))
	}
	if err != nil {
		return fmt.Errorf("keys: %w", err)
	}
	return nil
}

// readCertificate reads the first certificate of a file.
func readCertificate(path string) (*x509.Certificate, error) {
	block, err := readPEM(path)
	if err != nil {
		return nil, err
	}
	cert, err := x509.ParseCertificate(block)
	if err != nil {
		return nil, fmt.Errorf("keys: %s: %w", path, err)
	}
	return cert, nil
}

// readKey reads the private key of a certificate.
func readKey(path string) (*ecdsa.PrivateKey, error) {
	block, err := readPEM(path)
	if err != nil {
		return nil, err
	}
	key, err := x509.ParsePKCS8PrivateKey(block)
	if err != nil {
		return nil, fmt.Errorf("keys: %s: %w", path, err)
	}
	private, ok := key.(*ecdsa.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("keys: %s holds a key of another kind, want ECDSA", path)
	}
	return private, nil
}

// readPEM returns what is in the first block of a file.
func readPEM(path string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, missing(err)
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, fmt.Errorf("keys: %s is no PEM file", path)
	}
	return block.Bytes, nil
}
