package keys

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/wdgnn/wdgnn/transport"
	"github.com/wdgnn/wdgnn/transport/natsbus"
)

// Entry is a host that joins a deployment that runs, or one of it that gets more nodes.
type Entry struct {
	Host  Host // Hears is whom it may hear, and who may hear it
	Years int  // of the certificate of a host that is new; 0 means 1

	// Record returns what the authority signs of it, a JSON object with at least
	// run, host, and the serial number and key that it is given.
	Record func(serial uint64, key string) ([]byte, error)
}

// Entered is what Join did.
type Entered struct {
	New   bool      // the host was not in the set before
	Until time.Time // its certificate is valid
}

// Join adds a host to a set: its folder, what servers permit it and its neighbours, and
// a record that boxes show to each other, in its folder and in its certificate. Of a
// host that is there already it writes the record, and what servers permit.
func Join(dir string, e Entry) (Entered, error) { return join(dir, e, time.Now()) }

func join(dir string, e Entry, now time.Time) (Entered, error) {
	s, err := openSet(dir)
	if err != nil {
		return Entered{}, err
	}
	party := HostName(e.Host.ID)
	if slices.ContainsFunc(s.permissions.Revoked, func(u User) bool { return u.Name == party }) {
		return Entered{}, fmt.Errorf("keys: %s is revoked; wdgnn swarm keys renew --rekey gives it new keys", party)
	}
	if wrong := errors.Join(checkNames(party, e.Host.Names)...); wrong != nil {
		return Entered{}, wrong
	}
	old, err := readCertificate(s.certificate(party))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Entered{}, err
	}
	if old == nil {
		until, err := s.create(e, now)
		return Entered{New: true, Until: until}, err
	}
	record, err := s.record(e, pinOf(old), now)
	if err == nil {
		err = replaceSecret(filepath.Join(s.dir, party, memberFile), append(record, '\n'))
	}
	if err == nil {
		s.permissions.admit(e.Host.ID, e.Host.Hears)
		err = s.save()
	}
	return Entered{Until: old.NotAfter}, err
}

// record signs what is said of a host. Serial numbers grow with the clock, so that those
// of a folder that was lost do not come again.
func (s *set) record(e Entry, pin string, now time.Time) ([]byte, error) {
	serial := uint64(max(now.Unix(), 1))
	if before, err := Record(s.dir, HostName(e.Host.ID)); err == nil && before != nil {
		_, m, err := readRecord(before)
		if err != nil {
			return nil, err
		}
		serial = max(serial, m.Serial+1)
	}
	member, err := e.Record(serial, pin)
	if err != nil {
		return nil, err
	}
	record, err := s.ca.signRecord(member)
	if err != nil {
		return nil, fmt.Errorf("keys: %w", err)
	}
	return record, nil
}

// create makes the folder of a host that is new, whole or not at all, and what servers
// permit it.
func (s *set) create(e Entry, now time.Time) (until time.Time, err error) {
	until = now.AddDate(Plan{Years: e.Years}.years(), 0, 0)
	if until.After(s.ca.cert.NotAfter) {
		until = s.ca.cert.NotAfter
	}
	s.ca.from, s.ca.to = now.AddDate(0, 0, -1), until
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return until, fmt.Errorf("keys: %w", err)
	}
	pin, err := pinOfKey(key)
	if err != nil {
		return until, fmt.Errorf("keys: %w", err)
	}
	record, err := s.record(e, pin, now)
	if err != nil {
		return until, err
	}
	id, err := s.ca.certify(key, inCertificate(record), e.Host.Names, hostPath(e.Host.ID), hearsPath(e.Host.Hears))
	if err != nil {
		return until, fmt.Errorf("keys: %w", err)
	}
	root, err := os.ReadFile(filepath.Join(s.dir, authorityFolder, authorityFile))
	if err != nil {
		return until, fmt.Errorf("keys: %w", err)
	}
	seed, public, err := newSeed()
	if err != nil {
		return until, fmt.Errorf("keys: %w", err)
	}
	party := HostName(e.Host.ID)
	err = publish(filepath.Join(s.dir, party), map[string][]byte{
		seedFile(party): seed, "host.crt": id.cert, "host.key": id.key, authorityFile: root, memberFile: append(record, '\n'),
	}, false)
	if err != nil {
		return until, fmt.Errorf("keys: %w", err)
	}
	s.permissions.Users = append(s.permissions.Users, User{
		Name: party, Key: public,
		Publish: []string{
			natsbus.FromSubject(s.permissions.Run, e.Host.ID),
			natsbus.AnswerSubject(s.permissions.Run, e.Host.ID),
			natsbus.ReportSubject(s.permissions.Run, e.Host.ID),
		},
		Subscribe: []string{natsbus.WorldSubject(s.permissions.Run, e.Host.ID)},
	})
	s.permissions.admit(e.Host.ID, e.Host.Hears)
	return until, s.save()
}

// admit lets a host and others hear each other, and all hosts hear of those that join:
// keys of earlier versions do not say so.
func (p *Permissions) admit(host transport.HostID, hears []transport.HostID) {
	p.deployable()
	for k := range p.Users {
		u := &p.Users[k]
		var id transport.HostID
		if n, err := fmt.Sscanf(u.Name, "host-%d", &id); n != 1 || err != nil {
			continue
		}
		permit(&u.Publish, natsbus.JoinSubject(p.Run, id))
		permit(&u.Subscribe, natsbus.JoinSubjects(p.Run))
		if slices.Contains(hears, id) {
			permit(&u.Subscribe, natsbus.FromSubject(p.Run, host))
		}
		for _, other := range hears {
			if id == host {
				permit(&u.Subscribe, natsbus.FromSubject(p.Run, other))
			}
		}
	}
}

// permit adds a subject to those of a list.
func permit(list *[]string, subject string) {
	if !slices.Contains(*list, subject) {
		*list = append(*list, subject)
	}
}
