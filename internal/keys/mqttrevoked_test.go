package keys

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/bcrypt"
)

// A password that was revoked never comes back: not when its user is made anew, and not
// when that one is given another password.
func TestRevokedMQTTStaysOut(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "keys")
	if err := Make(dir, Plan{Run: "test", Hosts: []Host{{ID: 0}}}); err != nil {
		t.Fatal(err)
	}
	password := func() []byte {
		text, err := os.ReadFile(filepath.Join(dir, "mqtt-pump", "password"))
		if err != nil {
			t.Fatal(err)
		}
		return []byte(strings.TrimSpace(string(text)))
	}
	add := func(topic string) {
		t.Helper()
		if _, err := AddMQTT(dir, "pump", []string{topic}, nil); err != nil {
			t.Fatal(err)
		}
	}
	add("everything/#")
	stolen := password()
	if err := Revoke(dir, "mqtt-pump"); err != nil {
		t.Fatal(err)
	}
	add("sensors/pump/#")
	if _, err := Renew(dir, Renewal{Parties: []string{"mqtt-pump"}, Rekey: true}); err != nil {
		t.Fatal(err)
	}
	p, err := LoadPermissions(dir)
	if err != nil || len(p.MQTT) != 1 || len(p.RevokedMQTT) != 0 || p.MQTT[0].Publish[0] != "sensors/pump/#" {
		t.Fatalf("got %+v (%v), want one user pump with its topics of today", p, err)
	}
	hash := []byte(p.MQTT[0].Password)
	if bcrypt.CompareHashAndPassword(hash, stolen) == nil || bcrypt.CompareHashAndPassword(hash, password()) != nil {
		t.Error("the password that was revoked is let in, or that of today is not")
	}
	p.MQTT = append(p.MQTT, p.MQTT[0])
	if err := p.Validate(); err == nil || !strings.Contains(err.Error(), "pump is there twice") {
		t.Errorf("a user that is there twice: got %v, want a complaint", err)
	}
}
