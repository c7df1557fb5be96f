package keys

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/transport"
)

// entry is a host that joins the line behind host 2.
func entry(host transport.HostID, hears ...transport.HostID) Entry {
	return Entry{Host: Host{ID: host, Hears: hears}, Record: func(serial uint64, key string) ([]byte, error) {
		return json.Marshal(map[string]any{"run": "test", "host": host, "serial": serial, "key": key, "nodes": "50-54"})
	}}
}

// users returns what everybody may do by name.
func users(t *testing.T, dir string) map[string][2]string {
	t.Helper()
	p, err := LoadPermissions(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][2]string{}
	for _, u := range p.Users {
		all[u.Name] = permitted(u)
	}
	return all
}

// vouch looks at a record as a party does.
func vouch(t *testing.T, dir, party string, record []byte) (string, error) {
	t.Helper()
	check, err := Vouch(dir, party)
	if err != nil {
		t.Fatal(err)
	}
	text, err := check(record)
	return string(text), err
}

// A host that joins gets a folder, its neighbours may hear it and it them, and nobody
// else may do more than before. Everybody of the run believes its record, in its folder
// and in its certificate.
func TestJoin(t *testing.T) {
	dir := made(t, line)
	before := users(t, dir)
	got, err := Join(dir, entry(5, 2))
	if err != nil || !got.New || time.Until(got.Until) < 364*24*time.Hour {
		t.Fatalf("got %+v (%v), want a new host for a year", got, err)
	}
	after := users(t, dir)
	want := map[string][2]string{
		"host-2": {before["host-2"][0], before["host-2"][1] + " from.5"},
		"host-5": {"from.5 answer.5 report.5 deployed.5 join.5", "world.5 deploy.5 join.> from.2"},
	}
	for name, may := range after {
		expect, changed := want[name]
		if !changed {
			expect = before[name]
		}
		if may != expect {
			t.Errorf("%s may do %q, want %q", name, may, expect)
		}
	}
	authorization, err := os.ReadFile(filepath.Join(dir, "server", "authorization.conf"))
	if err != nil || !strings.Contains(string(authorization), "# host-5\n") {
		t.Errorf("the permissions of nats-server do not know host 5 (%v)", err)
	}
	record, err := Record(dir, "host-5")
	if err != nil || record == nil {
		t.Fatalf("got no record: %v", err)
	}
	for _, party := range []string{"host-0", "host-2", "host-5", "world"} {
		if text, err := vouch(t, dir, party, record); err != nil || !strings.Contains(text, `"nodes":"50-54"`) {
			t.Errorf("%s: got %q (%v), want what the record says", party, text, err)
		}
	}
	cert, err := readCertificate(filepath.Join(dir, "host-5", "host.crt"))
	if err != nil || string(RecordOf(cert)) != string(record) {
		t.Errorf("the certificate holds %q (%v), want the record", RecordOf(cert), err)
	}
	if _, err := HostTLS(dir, 5); err != nil {
		t.Error(err)
	}
}

// Of a host that is there only the record and what servers permit change: its box has
// its keys. Serial numbers ascend.
func TestJoinMoreNodes(t *testing.T) {
	dir := made(t, line)
	serials := []uint64{}
	key := files(t, dir, "host-2/host.key", "host-2/host.crt", "host-2/host.seed")
	for _, hears := range [][]transport.HostID{{0}, {0, 1}} {
		got, err := Join(dir, entry(2, hears...))
		if err != nil || got.New {
			t.Fatalf("got %+v (%v), want a host that is known", got, err)
		}
		record, err := Record(dir, "host-2")
		if err != nil {
			t.Fatal(err)
		}
		_, m, err := readRecord(record)
		if err != nil {
			t.Fatal(err)
		}
		serials = append(serials, m.Serial)
	}
	if serials[1] <= serials[0] {
		t.Errorf("serial numbers %v, want ascending ones", serials)
	}
	if now := files(t, dir, "host-2/host.key", "host-2/host.crt", "host-2/host.seed"); now != key {
		t.Error("the keys of a host that gets more nodes changed, want them as they were")
	}
	if may := users(t, dir)["host-0"][1]; !strings.Contains(may, "from.2") {
		t.Errorf("host 0 may hear %s, want host 2 among them", may)
	}
}

func files(t *testing.T, dir string, names ...string) (all string) {
	t.Helper()
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		all += string(text)
	}
	return all
}

// A set that an earlier version made, whose servers do not know the subjects on which
// hosts join, gets them with the first that does.
func TestJoinOlderKeys(t *testing.T) {
	dir := made(t, line)
	s, err := openSet(dir)
	if err != nil {
		t.Fatal(err)
	}
	for k := range s.permissions.Users {
		u := &s.permissions.Users[k]
		old := func(subject string) bool { return strings.Contains(subject, ".join.") }
		u.Publish, u.Subscribe = slices.DeleteFunc(u.Publish, old), slices.DeleteFunc(u.Subscribe, old)
	}
	if err := s.save(); err != nil {
		t.Fatal(err)
	}
	if _, err := Join(dir, entry(5, 2)); err != nil {
		t.Fatal(err)
	}
	if may := users(t, dir)["host-0"]; !strings.Contains(may[0], "join.0") || !strings.Contains(may[1], "join.>") {
		t.Errorf("host 0 may do %q, want it to hear of those that join", may)
	}
}

// Records that nobody should believe.
func TestVouchRefuses(t *testing.T) {
	dir, other := made(t, line), made(t, line)
	for _, set := range []string{dir, other} {
		if _, err := Join(set, entry(5, 2)); err != nil {
			t.Fatal(err)
		}
	}
	good, err := Record(dir, "host-5")
	if err != nil {
		t.Fatal(err)
	}
	foreign, err := Record(other, "host-5")
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(good), "50-54", "50-99", 1)
	for record, want := range map[string]string{
		"":                               "no record",
		"{}":                             "no record",
		`{"member":{"host":5}}`:          "not signed",
		changed:                          "not signed",
		string(foreign):                  "not signed",
		strings.ToUpper(string(good)):    "",
		string(good[:len(good)-2]) + `"`: "no record",
	} {
		if _, err := vouch(t, dir, "host-0", []byte(record)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: got %v, want %q", record, err, want)
		}
	}
	if err := Revoke(dir, "host-5"); err != nil {
		t.Fatal(err)
	}
	if _, err := vouch(t, dir, "host-0", good); err == nil || !strings.Contains(err.Error(), "revoked") {
		t.Errorf("a host whose key is revoked: got %v, want that it is", err)
	}
	if _, err := Join(dir, entry(5, 2)); err == nil || !strings.Contains(err.Error(), "--rekey") {
		t.Errorf("a revoked host that joins: got %v, want what to try", err)
	}
	if _, err := Renew(dir, Renewal{Parties: []string{"host-5"}, Rekey: true}); err != nil {
		t.Fatal(err)
	}
	again, err := Record(dir, "host-5")
	if err != nil {
		t.Fatal(err)
	}
	text, err := vouch(t, dir, "host-0", again)
	if err != nil || !strings.Contains(text, `"nodes":"50-54"`) {
		t.Errorf("with new keys: got %q (%v), want the record to be believed", text, err)
	}
	cert, err := readCertificate(filepath.Join(dir, "host-5", "host.crt"))
	if err != nil || string(RecordOf(cert)) != string(again) {
		t.Errorf("the new certificate holds %q (%v), want the new record", RecordOf(cert), err)
	}
	_, first, _ := readRecord(good)
	if _, second, _ := readRecord(again); second.Serial <= first.Serial || second.Key == first.Key {
		t.Errorf("records %+v and %+v, want a later one with another key", first, second)
	}
}
