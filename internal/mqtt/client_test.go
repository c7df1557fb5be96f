package mqtt

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/wdgnn/wdgnn/internal/keys"
	"github.com/wdgnn/wdgnn/internal/mqtttest"
)

// heard is what a client took.
type heard struct {
	mu  sync.Mutex
	all []string
}

func (h *heard) take(m Message) {
	h.mu.Lock()
	defer h.mu.Unlock()
	text := m.Topic + " " + string(m.Payload)
	if m.Retained {
		text += " retained"
	}
	h.all = append(h.all, text)
}

func (h *heard) has(texts ...string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return strings.Contains("\n"+strings.Join(h.all, "\n")+"\n", "\n"+strings.Join(texts, "\n")+"\n")
}

// journal is a log that tests read.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

// client starts one that is stopped at the end of the test.
func client(t *testing.T, c Config) (*Client, *heard, *journal) {
	t.Helper()
	h, j := new(heard), new(journal)
	c.Take, c.Log = h.take, slog.New(slog.NewTextHandler(j, nil))
	if c.ClientID == "" {
		c.ClientID = "box"
	}
	if c.Filters == nil {
		c.Filters = [][]string{{"sensors/+/temperature"}}
	}
	started := Start(c)
	t.Cleanup(started.Close)
	return started, h, j
}

func check(t *testing.T, out string, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err, out)
	}
}

// A client hears what was retained, goes on when the broker was killed and is back, and then
// hears what came with QoS 1 while it was away. Its status says whether it is there.
func TestReconnect(t *testing.T) {
	b := mqtttest.Start(t)
	out, err := b.Pub("-r", "-q", "1", "-t", "sensors/a/temperature", "-m", "1")
	check(t, out, err)
	c, h, log := client(t, Config{URL: "mqtt://" + b.Addr(), QoS: 1, Status: "answers/box"})
	mqtttest.Await(t, "the retained message comes", func() bool { return h.has("sensors/a/temperature 1 retained") })
	mqtttest.Await(t, "the status comes back", c.echoed.Load)
	if err := c.Err(); err != nil {
		t.Errorf("trouble: %v, want none", err)
	}
	b.Kill()
	mqtttest.Await(t, "the end is noticed", func() bool { return !c.Connected() && c.Err() != nil })
	if err := c.Publish("answers/x", []byte("1"), false); err != ErrAway {
		t.Errorf("published without a broker: %v, want %v", err, ErrAway)
	}
	b.Restart()
	mqtttest.Await(t, "it is connected again", func() bool { return c.Connected() && c.Connects() == 2 })
	out, err = b.Pub("-q", "1", "-t", "sensors/a/temperature", "-m", "2")
	check(t, out, err)
	mqtttest.Await(t, "messages come again", func() bool { return h.has("sensors/a/temperature 2") })
	c.Close()
	out, err = b.Sub("-t", "answers/box", "-C", "1", "-W", "20")
	if check(t, out, err); out != "offline\n" {
		t.Errorf("the status of a client that is gone is %q, want offline", out)
	}
	out, err = b.Pub("-q", "1", "-t", "sensors/a/temperature", "-m", "3")
	check(t, out, err)
	out, err = b.Pub("-q", "0", "-t", "sensors/a/temperature", "-m", "4")
	check(t, out, err)
	_, h, _ = client(t, Config{URL: "mqtt://" + b.Addr(), QoS: 1})
	mqtttest.Await(t, "what came meanwhile is heard", func() bool { return h.has("sensors/a/temperature 3") })
	if strings.Count(log.String(), "no connection with the broker") > 3 {
		t.Errorf("the log repeats itself:\n%s", log)
	}
}

// What is wrong with a connection is said with what to do, and never with the password.
func TestConnectionErrors(t *testing.T) {
	mqtttest.Need(t)
	dir := filepath.Join(t.TempDir(), "keys")
	if err := keys.Make(dir, keys.Plan{Run: "test", Hosts: []keys.Host{{ID: 0}}}); err != nil {
		t.Fatal(err)
	}
	server := filepath.Join(dir, "server")
	passwords, acl := filepath.Join(t.TempDir(), "passwords"), filepath.Join(t.TempDir(), "acl")
	if out, err := exec.Command("mosquitto_passwd", "-b", "-c", passwords, "box", "secret").CombinedOutput(); err != nil {
		t.Fatal(err, string(out))
	}
	write(t, acl, "user box\ntopic read sensors/#\ntopic read answers/#\n")
	secure := mqtttest.Start(t, "allow_anonymous false", "password_file "+passwords, "acl_file "+acl, "cafile "+server+"/ca.crt",
		"certfile "+server+"/server.crt", "keyfile "+server+"/server.key")
	plain := mqtttest.Start(t)
	right, wrong := filepath.Join(t.TempDir(), "right"), filepath.Join(t.TempDir(), "wrong")
	write(t, right, "secret\n")
	write(t, wrong, "guessed\n")
	trust := &tls.Config{RootCAs: x509.NewCertPool()}
	text, err := os.ReadFile(server + "/ca.crt")
	if err != nil || !trust.RootCAs.AppendCertsFromPEM(text) {
		t.Fatal(err)
	}
	url := fmt.Sprintf("mqtts://localhost:%d", secure.Port)
	for _, c := range []struct {
		what   string
		config Config
		want   string
	}{
		{"nobody listens", Config{URL: fmt.Sprintf("mqtt://127.0.0.1:%d", mqtttest.FreePort(t))}, "is the broker running?"},
		{"a wrong password", Config{URL: url, TLS: trust, User: "box", PasswordFile: wrong}, `does not take the user "box" with this password`},
		{"nobody by name", Config{URL: url, TLS: trust}, "name broker.user"},
		{"an authority that is not known", Config{URL: url, TLS: &tls.Config{}, User: "box", PasswordFile: right}, "broker.ca"},
		{
			"another name than the certificate's",
			Config{URL: fmt.Sprintf("mqtts://127.0.0.1:%d", secure.Port), TLS: &tls.Config{RootCAs: trust.RootCAs, ServerName: "elsewhere"}},
			"as its certificate does",
		},
		{"TLS where there is none", Config{URL: fmt.Sprintf("mqtts://localhost:%d", plain.Port), TLS: trust}, "speaks no TLS"},
		{"no TLS where there is", Config{URL: fmt.Sprintf("mqtt://localhost:%d", secure.Port)}, "write mqtts://"},
		{
			"a topic that one may not write",
			Config{URL: url, TLS: trust, User: "box", PasswordFile: right, Status: "answers/box"},
			`may forbid the user "box" to write answers/box`,
		},
	} {
		t.Run(c.what, func(t *testing.T) {
			t.Parallel()
			client, _, log := client(t, c.config)
			mqtttest.Await(t, c.want, func() bool { return client.Err() != nil && strings.Contains(client.Err().Error(), c.want) })
			if text := log.String(); strings.Contains(text, "secret") || strings.Contains(text, "guessed") {
				t.Errorf("the log holds a password:\n%s", text)
			}
		})
	}
}

// Two clients with one name throw each other out. Both say so, wait longer and longer, and do not
// fill the log.
func TestRivals(t *testing.T) {
	t.Parallel()
	b := mqtttest.Start(t)
	one, _, log := client(t, Config{URL: "mqtt://" + b.Addr(), QoS: 1})
	two, _, _ := client(t, Config{URL: "mqtt://" + b.Addr(), QoS: 1})
	for _, c := range []*Client{one, two} {
		mqtttest.Await(t, "a client says that another has its name", func() bool {
			return c.Err() != nil && strings.Contains(c.Err().Error(), `another client calls itself "box"`)
		})
	}
	if n := strings.Count(log.String(), "\n"); n > 2*fewBrief+2 {
		t.Errorf("%d lines of the log:\n%s", n, log)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
