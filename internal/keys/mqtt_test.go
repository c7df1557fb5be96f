package keys

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/crypto/bcrypt"

	"github.com/wdgnn/wdgnn/transport"
)

// Topics are subjects, as the server has them; none reaches what boxes say to each other.
func TestSubjects(t *testing.T) {
	for _, c := range []struct {
		topic string
		want  []string // nil: refused
	}{
		{"sensors/pump/temperature", []string{"sensors.pump.temperature"}},
		{"sensors/+/temperature", []string{"sensors.*.temperature"}},
		{"answers/#", []string{"answers", "answers.>"}},
		{"v1.2/pump", []string{"v1//2.pump"}},
		{"#", nil},
		{"+/from/3", nil},
		{"wdgnn/yard/from/3", nil},
		{"$SYS/#", nil},
		{"a//b", nil},
		{"/a", nil},
		{"", nil},
		{"a/b#", nil},
		{"a/#/b", nil},
		{"a/*", nil},
		{"a/two words", nil},
	} {
		got, err := Subjects(c.topic)
		if !slices.Equal(got, c.want) || (err == nil) != (c.want != nil) {
			t.Errorf("topic %q: subjects %q (%v), want %q", c.topic, got, err, c.want)
		}
	}
}

// The server's part holds hashes, a user's folder the password; other topics leave it.
func TestAddMQTT(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "keys")
	if err := Make(dir, Plan{Run: "test", Hosts: []Host{{ID: 0}, {ID: 1, Hears: []transport.HostID{0}}}}); err != nil {
		t.Fatal(err)
	}
	folder, err := AddMQTT(dir, "pump", []string{"sensors/pump/#"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	password := func() string {
		text, err := os.ReadFile(filepath.Join(folder, "password"))
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(text))
	}
	hash := func() string {
		p, err := LoadPermissions(dir)
		if err != nil || len(p.MQTT) != 1 {
			t.Fatalf("permissions %+v (%v), want one MQTT user", p, err)
		}
		return p.MQTT[0].Password
	}
	first := password()
	if err := bcrypt.CompareHashAndPassword([]byte(hash()), []byte(first)); err != nil || len(first) < 26 {
		t.Errorf("password of %d letters: %v", len(first), err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "server", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if text, err := os.ReadFile(file); err != nil || strings.Contains(string(text), first) {
			t.Errorf("%s holds the password (%v)", file, err)
		}
	}
	if _, err := AddMQTT(dir, "pump", []string{"sensors/pump2/#"}, nil); err != nil || password() != first {
		t.Errorf("with other topics: %v, password changed: %t", err, password() != first)
	}
	if _, err := Renew(dir, Renewal{Parties: []string{"mqtt-pump"}, Rekey: true}); err != nil || password() == first {
		t.Errorf("rekeyed: %v, password changed: %t", err, password() != first)
	}
	if err := Replace(dir, Plan{Run: "test", Hosts: []Host{{ID: 0}}}); err != nil {
		t.Errorf("a set with MQTT users cannot be replaced: %v", err)
	}
}
