package keys

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// What the operator signed is known to every host of the run, and nothing else is: not
// other words, not what a host signed, not what a revoked key did.
func TestOrders(t *testing.T) {
	dir := made(t, line)
	o, err := LoadOperator(dir)
	if err != nil {
		t.Fatal(err)
	}
	text := []byte("agree 1")
	proof, err := o.Sign(text)
	if err != nil {
		t.Fatal(err)
	}
	check, err := Orders(dir, 1, "test")
	if err != nil {
		t.Fatal(err)
	}
	if err := check(o.Cert, text, proof); err != nil {
		t.Errorf("what the operator signed: %v", err)
	}
	if err := check(o.Cert, []byte("agree 2"), proof); err == nil || !strings.Contains(err.Error(), "did not sign") {
		t.Errorf("other words: got %v, want an error", err)
	}
	host, err := readCertificate(filepath.Join(dir, "host-0", "host.crt"))
	if err != nil {
		t.Fatal(err)
	}
	if err := check(host.Raw, text, proof); err == nil || !strings.Contains(err.Error(), "not of the operator") {
		t.Errorf("the certificate of a host: got %v, want an error", err)
	}
	other := made(t, line)
	if check, err = Orders(other, 1, "test"); err != nil {
		t.Fatal(err)
	}
	if check(o.Cert, text, proof) == nil {
		t.Error("the operator of another authority is believed")
	}
	if err := Revoke(dir, Operator); err != nil {
		t.Fatal(err)
	}
	if check, err = Orders(dir, 1, "test"); err != nil {
		t.Fatal(err)
	}
	if err := check(o.Cert, text, proof); err == nil || !strings.Contains(err.Error(), "revoked") {
		t.Errorf("a revoked operator: got %v, want an error", err)
	}
}

// A set of an earlier version has no operator, which an error says; renewing makes one,
// and lets hosts hear it.
func TestOperatorOfEarlierSet(t *testing.T) {
	dir := made(t, line)
	if err := os.RemoveAll(filepath.Join(dir, Operator)); err != nil {
		t.Fatal(err)
	}
	s, err := openSet(dir)
	if err != nil {
		t.Fatal(err)
	}
	for k := range s.permissions.Users {
		u := &s.permissions.Users[k]
		old := func(subject string) bool { return strings.Contains(subject, ".deploy") }
		u.Publish, u.Subscribe = slices.DeleteFunc(u.Publish, old), slices.DeleteFunc(u.Subscribe, old)
	}
	s.permissions.Users = slices.DeleteFunc(s.permissions.Users, func(u User) bool { return u.Name == Operator })
	if err := s.save(); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadOperator(dir); err == nil || !strings.Contains(err.Error(), "wdgnn swarm keys renew --keys "+dir+" operator") {
		t.Errorf("got %v, want what to try", err)
	}
	done, err := Renew(dir, Renewal{Parties: []string{Operator}})
	if err != nil || len(done) != 1 || time.Until(done[0].Until) < 364*24*time.Hour {
		t.Fatalf("got %v, %v, want a new operator for a year", done, err)
	}
	if _, err := LoadOperator(dir); err != nil {
		t.Error(err)
	}
	if _, err := OperatorTLS(dir); err != nil {
		t.Error(err)
	}
	p, err := LoadPermissions(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range p.Users {
		may := permitted(u)
		if strings.HasPrefix(u.Name, "host-") && (!strings.Contains(may[0], "deployed.") || !strings.Contains(may[1], "deploy.")) {
			t.Errorf("%s may do %v, want to hear the operator and answer", u.Name, may)
		}
	}
}
