package keys

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nkeys"

	"github.com/wdgnn/wdgnn/transport"
)

// line is hosts 0 - 1 - 2.
var line = Plan{
	Run: "test",
	Hosts: []Host{
		{ID: 0, Hears: []transport.HostID{1}, Names: []string{"robot-0.local", "10.0.0.1"}},
		{ID: 1, Hears: []transport.HostID{2, 0, 2}},
		{ID: 2, Hears: []transport.HostID{1}},
	},
}

func made(t *testing.T, plan Plan) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "deep", "keys")
	if err := Make(dir, plan); err != nil {
		t.Fatalf("Make: got %v, want no error", err)
	}
	return dir
}

// Nobody but the owner can read anything, each party has its own folder, and
// nothing else is left behind.
func TestFiles(t *testing.T) {
	dir := made(t, line)
	var got []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		want := fs.FileMode(0o600)
		if d.IsDir() {
			want = fs.ModeDir | 0o700
		} else {
			name, _ := filepath.Rel(dir, path)
			got = append(got, filepath.ToSlash(name))
		}
		if info.Mode() != want {
			t.Errorf("%s: mode %v, want %v", path, info.Mode(), want)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Fields(`
		ca/ca.crt ca/ca.key
		host-0/ca.crt host-0/host.crt host-0/host.key host-0/host.seed
		host-1/ca.crt host-1/host.crt host-1/host.key host-1/host.seed
		host-2/ca.crt host-2/host.crt host-2/host.key host-2/host.seed
		observer/ca.crt observer/observer.seed
		operator/ca.crt operator/operator.crt operator/operator.key operator/operator.seed
		server/authorization.conf server/ca.crt server/nats.conf server/permissions.json server/server.crt server/server.key
		world/ca.crt world/world.seed`)
	if !slices.Equal(got, want) {
		t.Errorf("got files %v, want %v", got, want)
	}
	if left, err := os.ReadDir(filepath.Dir(dir)); err != nil || len(left) != 1 {
		t.Errorf("beside the set: got %v, %v, want nothing else", left, err)
	}
}

func TestMakeRefuses(t *testing.T) {
	dir := made(t, line)
	before, err := os.ReadFile(filepath.Join(dir, "world", "world.seed"))
	if err != nil {
		t.Fatal(err)
	}
	if err := Make(dir, line); !errors.Is(err, errExists) {
		t.Errorf("Make again: got %v, want %v", err, errExists)
	}
	after, err := os.ReadFile(filepath.Join(dir, "world", "world.seed"))
	if err != nil || string(after) != string(before) {
		t.Errorf("Make again: got a changed set (%v), want the old one", err)
	}
	if err := Replace(dir, line); err != nil {
		t.Errorf("Replace: got %v, want no error", err)
	}
	after, err = os.ReadFile(filepath.Join(dir, "world", "world.seed"))
	if err != nil || string(after) == string(before) {
		t.Errorf("Replace: got the old set (%v), want another one", err)
	}
	if left, err := os.ReadDir(filepath.Dir(dir)); err != nil || len(left) != 1 {
		t.Errorf("beside the set: got %v, %v, want nothing else", left, err)
	}

	other := t.TempDir()
	if err := Make(other, line); err != nil { // empty
		t.Errorf("Make in an empty folder: got %v, want no error", err)
	}
	precious := filepath.Join(t.TempDir(), "thesis.tex")
	if err := os.WriteFile(precious, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Replace(filepath.Dir(precious), line); err == nil || !strings.Contains(err.Error(), "thesis.tex") {
		t.Errorf("Replace of a folder with other things: got %v, want an error that names them", err)
	}
	if _, err := os.Stat(precious); err != nil {
		t.Errorf("got %v, want the file to be there still", err)
	}
}

func TestPlanRefused(t *testing.T) {
	for _, c := range []struct {
		plan Plan
		want []string
	}{
		{Plan{Run: "a.b"}, []string{`run "a.b"`, "no hosts"}},
		{Plan{Run: "a", Hosts: []Host{{ID: 1, Hears: []transport.HostID{2}}}}, []string{"host 1 hears 2"}},
		{Plan{Run: "a", Hosts: []Host{{ID: 1, Hears: []transport.HostID{1}}}}, []string{"host 1 hears 1"}},
		{Plan{Run: "a", Hosts: []Host{{ID: 1}, {ID: 1}}}, []string{"host 1 is there twice"}},
		{
			Plan{Run: "a", Hosts: []Host{{Names: []string{"nats://x:1"}}}, Server: []string{"a b"}, Years: 101},
			[]string{"nats://x:1", "a b", "101 years"},
		},
	} {
		err := Make(filepath.Join(t.TempDir(), "keys"), c.plan)
		for _, want := range c.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("Make(%+v): got %v, want %q", c.plan, err, want)
			}
		}
	}
}

// permitted returns what a user may publish and subscribe to, below wdgnn.test.
func permitted(u User) [2]string {
	short := func(list []string) string { return strings.ReplaceAll(strings.Join(list, " "), "wdgnn.test.", "") }
	return [2]string{short(u.Publish), short(u.Subscribe)}
}

func TestPermissions(t *testing.T) {
	dir := made(t, line)
	p, err := LoadPermissions(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][2]string{
		"host-0":   {"from.0 answer.0 report.0 join.0 deployed.0", "world.0 join.> deploy.0 from.1"},
		"host-1":   {"from.1 answer.1 report.1 join.1 deployed.1", "world.1 join.> deploy.1 from.0 from.2"},
		"host-2":   {"from.2 answer.2 report.2 join.2 deployed.2", "world.2 join.> deploy.2 from.1"},
		"world":    {"world.>", "answer.> report.>"},
		"observer": {"", "report.>"},
		"operator": {"deploy.>", "deployed.> report.>"},
	}
	if len(p.Users) != len(want) || p.Run != "test" {
		t.Errorf("got %d users of run %q, want %d of test", len(p.Users), p.Run, len(want))
	}
	seen := map[string]bool{}
	for _, u := range p.Users {
		got := permitted(u)
		if got != want[u.Name] {
			t.Errorf("%s: got %q, want %q", u.Name, got, want[u.Name])
		}
		c, err := LoadClient(dir, u.Name)
		if err != nil {
			t.Fatal(err)
		}
		pair, err := nkeys.FromSeed(c.Seed)
		if err != nil {
			t.Fatal(err)
		}
		if public, err := pair.PublicKey(); err != nil || public != u.Key || seen[public] {
			t.Errorf("%s: got key %s of the seed (%v), want %s and nobody else's", u.Name, public, err, u.Key)
		}
		seen[u.Key] = true
	}
}

func TestCertificates(t *testing.T) {
	plan := line
	plan.Years = 3
	plan.Run = strings.Repeat("Long_run", 8) // the longest name there may be
	dir := made(t, plan)
	read := func(path string) *x509.Certificate {
		t.Helper()
		data, err := os.ReadFile(filepath.Join(dir, path))
		if err != nil {
			t.Fatal(err)
		}
		block, _ := pem.Decode(data)
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			t.Fatalf("%s: got %v, want a certificate", path, err)
		}
		return cert
	}
	cert := read("host-0/host.crt")
	if host, err := HostOf(cert, plan.Run); host != 0 || err != nil {
		t.Errorf("HostOf: got %d, %v, want 0", host, err)
	}
	if _, err := HostOf(cert, "other"); err == nil || !strings.Contains(err.Error(), `want "other"`) {
		t.Errorf("HostOf for another run: got %v, want an error", err)
	}
	if got := cert.URIs[0].String(); got != "wdgnn://"+plan.Run+"/host/0" {
		t.Errorf("got the name %s, want wdgnn://<run>/host/0", got)
	}
	if !slices.Equal(cert.DNSNames, []string{"robot-0.local"}) || len(cert.IPAddresses) != 1 {
		t.Errorf("got names %v and %v, want those of the plan", cert.DNSNames, cert.IPAddresses)
	}
	if years := time.Until(cert.NotAfter).Hours() / 24 / 365; years < 2.9 || years > 3.1 {
		t.Errorf("valid for %.2f years, want 3", years)
	}
	if age := time.Since(cert.NotBefore); age < 23*time.Hour {
		t.Errorf("valid since %v, want a day", age)
	}
	server := read("server/server.crt")
	if host, err := HostOf(server, plan.Run); err == nil {
		t.Errorf("HostOf the server's certificate: got %d, want an error", host)
	}
	for _, name := range []string{"localhost", "127.0.0.1", "::1"} {
		if err := server.VerifyHostname(name); err != nil {
			t.Errorf("the server as %s: got %v, want no error", name, err)
		}
	}
}

func TestLoadRefuses(t *testing.T) {
	dir := made(t, line)
	if _, err := LoadClient(dir, HostName(9)); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "wdgnn swarm keys") {
		t.Errorf("a host that has no keys: got %v, want not found and a hint", err)
	}
	// The folder of one host, copied as another's.
	if err := os.Rename(filepath.Join(dir, "host-0"), filepath.Join(dir, "host-9")); err != nil {
		t.Fatal(err)
	}
	if _, err := HostTLS(dir, 9); err == nil || !strings.Contains(err.Error(), "of host 0, want 9") {
		t.Errorf("another host's certificate: got %v, want that it is of host 0", err)
	}
	// A party's folder alone, as it lies on its box.
	if _, err := HostTLS(filepath.Join(dir, "host-1"), 1); err != nil {
		t.Errorf("the host's own folder: got %v, want no error", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "server", "permissions.json"),
		[]byte(`{"run":"test","users":[{"name":"host-0","key":"UX"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadPermissions(dir); err == nil || !strings.Contains(err.Error(), "not the public key") {
		t.Errorf("damaged permissions: got %v, want an error", err)
	}
}
