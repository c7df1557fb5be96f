package broker_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/wdgnn/wdgnn/internal/broker"
	"github.com/wdgnn/wdgnn/internal/keys"
	"github.com/wdgnn/wdgnn/internal/mqtttest"
)

// mqttServer is a server with keys that speaks MQTT, and its clients of mosquitto.
type mqttServer struct {
	*testing.T
	dir    string
	config broker.Config
	*broker.Server
	port int
}

// newMQTT starts one that knows two sensors, pump and tank, and a box that reads what sensors say.
func newMQTT(t *testing.T) *mqttServer {
	t.Helper()
	return newMQTTOf(t, 0)
}

// newMQTTOf is newMQTT with a store of so many bytes.
func newMQTTOf(t *testing.T, store int64) *mqttServer {
	t.Helper()
	return newMQTTOn(t, store, filepath.Join(t.TempDir(), "store"))
}

// newMQTTOn is newMQTTOf with its folder.
func newMQTTOn(t *testing.T, store int64, dir string) *mqttServer {
	t.Helper()
	mqtttest.Need(t)
	s := &mqttServer{T: t, dir: makeKeys(t)}
	s.add("pump", []string{"sensors/pump/#"}, nil)
	s.add("tank", []string{"sensors/tank/#"}, nil)
	s.add("box", []string{"answers/#"}, []string{"sensors/+/temperature", "answers/#"})
	s.config = secure(t, s.dir)
	s.config.MQTT = &broker.MQTT{Addr: "127.0.0.1:0", Store: dir, MaxStore: store}
	s.start()
	return s
}

func (s *mqttServer) add(name string, publish, subscribe []string) {
	s.Helper()
	if _, err := keys.AddMQTT(s.dir, name, publish, subscribe); err != nil {
		s.Fatal(err)
	}
}

func (s *mqttServer) start() {
	s.Helper()
	var err error
	if s.Server, err = broker.Start(s.config); err != nil {
		s.Fatal(err)
	}
	s.Cleanup(s.Server.Stop)
	host, port, ok := strings.Cut(strings.TrimPrefix(s.MQTT(), "mqtts://"), ":")
	if !ok || host != "127.0.0.1" {
		s.Fatalf("URL %q, want mqtts://127.0.0.1:PORT", s.MQTT())
	}
	s.port, err = strconv.Atoi(port)
	if err != nil {
		s.Fatal(err)
	}
	s.config.MQTT.Addr = "127.0.0.1:" + port // the same when it is started again
}

// as returns the flags of a user.
func (s *mqttServer) as(user string, more ...string) []string {
	s.Helper()
	text, err := os.ReadFile(filepath.Join(s.dir, "mqtt-"+user, "password"))
	if err != nil {
		s.Fatal(err)
	}
	trusts := filepath.Join(s.dir, "mqtt-"+user, "ca.crt")
	return append([]string{"--cafile", trusts, "-u", user, "-P", strings.TrimSpace(string(text))}, more...)
}

func (s *mqttServer) pub(user string, more ...string) {
	s.Helper()
	if out, err := mqtttest.Pub(s.port, s.as(user, more...)...); err != nil {
		s.Fatal(out, err)
	}
}

// subscribed makes a session of the box that outlives its connection.
func (s *mqttServer) subscribed(more ...string) {
	s.Helper()
	if out, err := mqtttest.Sub(s.port, s.as("box", append(more, "-i", "box", "-c", "-q", "1", "-E")...)...); err != nil {
		s.Fatal(out, err)
	}
}

// next returns the next messages of that session.
func (s *mqttServer) next(n int, more ...string) string {
	s.Helper()
	out, err := mqtttest.Sub(s.port, s.as("box", append(more, "-i", "box", "-c", "-q", "1", "-W", "20", "-C", strconv.Itoa(n))...)...)
	if err != nil {
		s.Error(err)
	}
	return out
}

// What is published with QoS 1 waits for a session that is not there, what is retained for
// everybody, and both outlive the server. Who publishes what it may not is told nothing,
// and nobody hears it; the server counts it.
func TestMQTT(t *testing.T) {
	s := newMQTT(t)
	s.subscribed("-t", "sensors/+/temperature")
	s.pub("pump", "-q", "1", "-t", "sensors/pump/temperature", "-m", "1")
	s.pub("pump", "-q", "1", "-t", "sensors/other/temperature", "-m", "2") // dropped without a word
	s.pub("pump", "-q", "1", "-t", "sensors/pump/temperature", "-m", "3")
	s.pub("box", "-q", "1", "-r", "-t", "answers/kept", "-m", "4")
	if n := s.Stats().Refused; n != 1 {
		t.Errorf("%d refused, want the one that was forbidden", n)
	}
	s.Server.Stop()
	s.start()
	if got, want := s.next(2, "-t", "sensors/+/temperature"), "1\n3\n"; got != want {
		t.Errorf("after a restart the session got %q, want %q", got, want)
	}
	got, err := mqtttest.Sub(s.port, s.as("box", "-t", "answers/#", "-v", "-C", "1", "-W", "20")...)
	if err != nil || got != "answers/kept 4\n" {
		t.Errorf("retained: got %q (%v), want answers/kept 4", got, err)
	}
}

// A wrong password, a topic that one may not read, and a client that does not trust the
// server are told so.
func TestMQTTRefusals(t *testing.T) {
	s := newMQTT(t)
	wrong := s.as("pump", "-t", "sensors/pump/temperature", "-m", "1")
	wrong[5] = "guessed"
	for _, c := range []struct {
		what string
		run  func() (string, error)
		want string
	}{
		{"a wrong password", func() (string, error) { return mqtttest.Pub(s.port, wrong...) }, "not authorised"},
		{
			"a topic that one may not read",
			func() (string, error) { return mqtttest.Sub(s.port, s.as("box", "-t", "secret/#", "-W", "5", "-E")...) },
			"All subscription requests were denied",
		},
		{
			"no certificate to trust",
			func() (string, error) {
				return mqtttest.Pub(s.port, "-u", "pump", "-P", "x", "-t", "a", "-m", "1", "--tls-use-os-certs")
			},
			"TLS error",
		},
	} {
		if out, err := c.run(); !strings.Contains(out, c.want) {
			t.Errorf("%s: got %q (%v), want %q", c.what, out, err, c.want)
		}
	}
}

// A user that is added while the server runs is let in, and one that is revoked no more.
func TestMQTTUsersChange(t *testing.T) {
	s := newMQTT(t)
	reload := func() {
		t.Helper()
		p, err := keys.LoadPermissions(s.dir)
		if err == nil {
			err = s.Reload(p)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	may := func() bool {
		_, err := mqtttest.Pub(s.port, s.as("late", "-q", "1", "-t", "sensors/late/temperature", "-m", "1")...)
		return err == nil
	}
	s.add("late", []string{"sensors/late/#"}, nil)
	if reload(); !may() {
		t.Error("a user that came later is not let in")
	}
	if err := keys.Revoke(s.dir, "mqtt-late"); err != nil {
		t.Fatal(err)
	}
	if reload(); may() {
		t.Error("a user that was revoked is let in")
	}
	if _, err := keys.Renew(s.dir, keys.Renewal{Parties: []string{"mqtt-late"}, Rekey: true}); err != nil {
		t.Fatal(err)
	}
	if reload(); !may() {
		t.Error("with another password it is not let in again")
	}
}

// A NATS server of its own reads the same users.
func TestMQTTUsersOfOthers(t *testing.T) {
	dir := makeKeys(t)
	if _, err := keys.AddMQTT(dir, "pump", []string{"sensors/pump/#"}, nil); err != nil {
		t.Fatal(err)
	}
	t.Chdir(filepath.Join(dir, "server"))
	o, err := server.ProcessConfigFile("nats.conf")
	if err != nil || len(o.Users) != 1 || o.Users[0].Username != "pump" {
		t.Errorf("nats.conf: %v, want the user pump", err)
	}
}

// What cannot be is refused with what to do.
func TestMQTTConfig(t *testing.T) {
	for _, c := range []struct {
		config broker.Config
		want   string
	}{
		{broker.Config{MQTT: &broker.MQTT{Addr: "0.0.0.0:0", Store: "x"}}, "there are no keys"},
		{broker.Config{MQTT: &broker.MQTT{Addr: "127.0.0.1:0"}}, "no folder"},
		{broker.Config{MQTT: &broker.MQTT{Addr: "here", Store: "x"}}, "want host:port"},
		{
			broker.Config{MQTT: &broker.MQTT{Addr: "127.0.0.1:0", Store: "x"}, Cluster: &broker.Cluster{Name: "a", Addr: "127.0.0.1:0"}},
			"one server for MQTT beside the cluster",
		},
	} {
		if _, err := broker.Start(c.config); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
}

// startOpen starts a server without keys that speaks MQTT at a port of this machine.
func startOpen(t *testing.T, store string, port int) *broker.Server {
	t.Helper()
	s, err := broker.Start(broker.Config{MQTT: &broker.MQTT{Addr: "127.0.0.1:" + strconv.Itoa(port), Store: store}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	return s
}
