package box_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/internal/box"
	"github.com/wdgnn/wdgnn/internal/keys"
	"github.com/wdgnn/wdgnn/internal/mqtttest"
	"github.com/wdgnn/wdgnn/modelfile"
)

// house is a box of examples/mqtt: thermometers that are read every two seconds.
type house struct {
	*testing.T
	config  *box.Config
	address string
	log     syncBuffer
}

// readHouse trains the model of the example and returns its configuration, in a folder of
// its own.
func readHouse(t *testing.T) *box.Config {
	t.Helper()
	dir := t.TempDir()
	check(t, os.CopyFS(dir, os.DirFS("../../examples/mqtt")))
	check(t, os.MkdirAll(filepath.Join(dir, "run"), 0o755))
	check(t, modelfile.Save(filepath.Join(dir, "run", "model.safetensors"), trained(t, filepath.Join(dir, "config.yaml"))))
	config, err := box.Load(filepath.Join(dir, "agent.yaml"))
	check(t, err)
	return config
}

// newHouse is the house with a broker at a port.
func newHouse(t *testing.T, port int, change func(*box.Config)) *house {
	t.Helper()
	h := &house{T: t, config: readHouse(t), address: fmt.Sprintf("127.0.0.1:%d", mqtttest.FreePort(t))}
	h.config.World.Broker.URL = fmt.Sprintf("mqtt://127.0.0.1:%d", port)
	h.config.Metrics = h.address
	if change != nil {
		change(h.config)
	}
	return h
}

// start runs the box until the end of the test.
func (h *house) start() {
	h.Helper()
	ctx, cancel := context.WithCancel(h.Context())
	done := make(chan error, 1)
	go func() { done <- box.Run(ctx, h.config, box.Streams{Log: slog.New(slog.NewTextHandler(&h.log, nil))}) }()
	h.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			h.Errorf("the box ended with %v", err)
		}
		if h.Failed() {
			h.Log(h.log.String())
		}
	})
}

// get returns what the box serves.
func (h *house) get(path string) string {
	r, err := http.Get("http://" + h.address + path)
	if err != nil {
		return ""
	}
	defer r.Body.Close()
	text, _ := io.ReadAll(r.Body)
	return string(text)
}

// broker returns what the box reports of it.
func (h *house) broker() host.Broker {
	var r host.Report
	if json.Unmarshal([]byte(h.get("/status")), &r) != nil || r.Health == nil || r.Health.Broker == nil {
		return host.Broker{}
	}
	return *r.Health.Broker
}

// Every message has one fate, which is counted, and the log says the first of its kind with
// what was seen.
func TestMQTTFates(t *testing.T) {
	b := mqtttest.Start(t)
	h := newHouse(t, b.Port, func(c *box.Config) { c.World.Names = map[string]string{"esp-7": "bath"} })
	h.start()
	mqtttest.Await(t, "the box is connected", func() bool { return h.broker().Connected })
	reading := func(value string, ahead time.Duration) string {
		return fmt.Sprintf(`{"temperature":%s,"time":%q}`, value, time.Now().UTC().Add(ahead).Format(time.RFC3339Nano))
	}
	want, logged := map[string]uint64{}, []string(nil)
	for _, c := range []struct{ name, payload, fate, logs string }{
		{"attic", reading("17.1", 2*time.Second), "used", ""},
		{"esp-7", reading(`"21.5"`, 2*time.Second), "used", ""},
		{"bath", reading("21.5", 0), "unknown_sensor", "topic=sensors/bath/temperature"}, // it is called esp-7
		{"hall", reading(`"warm"`, 0), "no_number", `\\\"warm\\\"`},
		{"hall", reading("null", 0), "null", ""},
		{"hall", `{"celsius":3,"time":1}`, "no_pointer", `no \"temperature\"`},
		{"hall", `{"temperature":3,"time":"noon"}`, "no_time", "noon"},
		{"hall", reading("18.5", 1000*time.Hour), "future", "one of the two clocks is wrong"},
		{"hall", reading("18.5", -1000*time.Hour), "old", "too old"},
		{"shed", reading("5", 0), "unknown_sensor", "topic=sensors/shed/temperature"},
	} {
		if out, err := b.Pub("-q", "1", "-t", "sensors/"+c.name+"/temperature", "-m", c.payload); err != nil {
			t.Fatal(err, out)
		}
		want[c.fate]++
		logged = append(logged, c.logs)
	}
	mqtttest.Await(t, fmt.Sprint("fates ", want), func() bool { return maps.Equal(h.broker().Readings, want) })
	for _, line := range logged {
		if !strings.Contains(h.log.String(), line) {
			t.Errorf("the log has no %q", line)
		}
	}
	metrics := h.get("/metrics")
	for fate, n := range want {
		if line := fmt.Sprintf("wdgnn_world_readings_total{fate=%q,run=%q} %d\n", fate, h.config.Run, n); !strings.Contains(metrics, line) {
			t.Errorf("metrics have no %q", line)
		}
	}
}

// A box whose broker is away runs, says so, and is well as soon as the broker is there.
func TestMQTTBrokerAway(t *testing.T) {
	mqtttest.Need(t)
	port := mqtttest.FreePort(t)
	h := newHouse(t, port, nil)
	h.start()
	mqtttest.Await(t, "health says that the broker is away", func() bool {
		return strings.Contains(h.get("/healthz"), "is the broker running?")
	})
	if metrics := h.get("/metrics"); !strings.Contains(metrics, fmt.Sprintf("wdgnn_world_connected{run=%q} 0\n", h.config.Run)) {
		t.Errorf("metrics say that there is a connection:\n%s", metrics)
	}
	b := mqtttest.StartAt(t, port)
	mqtttest.Await(t, "the box is connected and well", func() bool { return h.broker().Connected && h.get("/healthz") == "ok\n" })
	out, err := b.Sub("-t", "answers/house/host-0", "-C", "1", "-W", "20")
	if err != nil || out != "online\n" {
		t.Errorf("its status is %q (%v), want online", out, err)
	}
}

// What cannot be is said before anything is opened.
func TestMQTTRefusals(t *testing.T) {
	good := readHouse(t)
	for _, c := range []struct {
		what   string
		change func(*box.Config)
		want   string
	}{
		{"two numbers", func(c *box.Config) { c.World.Values = []string{"/a", "/b"} }, "a reading of 2 numbers, the model was trained with 1"},
		{"a period of its own", func(c *box.Config) { c.Pace.Period = time.Minute }, "the sensors of the model read every 2s"},
		{
			"a name that nobody has", func(c *box.Config) { c.World.Names = map[string]string{"x": "q"} },
			`no sensor is called so; there are attic, bath, cellar`,
		},
		{"no such password", func(c *box.Config) { c.World.Broker.User, c.World.Broker.PasswordFile = "u", "gone" }, "broker.password_file"},
		{"no such authority", func(c *box.Config) { c.World.Broker.URL, c.World.Broker.CA = "mqtts://b:1", "gone" }, "world.broker.ca"},
	} {
		config := *good
		c.change(&config)
		if _, err := box.Describe(&config); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.what, err, c.want)
		}
	}
}

// A broker that asks for certificates knows a box by those of wdgnn swarm keys.
func TestMQTTCertificate(t *testing.T) {
	mqtttest.Need(t)
	dir := filepath.Join(t.TempDir(), "keys")
	check(t, keys.Make(dir, keys.Plan{Run: "house", Hosts: []keys.Host{{ID: 0}}}))
	server := filepath.Join(dir, "server")
	b := mqtttest.Start(t, "allow_anonymous true", "require_certificate true", "cafile "+server+"/ca.crt",
		"certfile "+server+"/server.crt", "keyfile "+server+"/server.key")
	h := newHouse(t, b.Port, func(c *box.Config) {
		own := filepath.Join(dir, "host-0")
		c.World.Broker.URL = fmt.Sprintf("mqtts://localhost:%d", b.Port)
		c.World.Broker.CA, c.World.Broker.Cert, c.World.Broker.Key = own+"/ca.crt", own+"/host.crt", own+"/host.key"
	})
	h.start()
	mqtttest.Await(t, "the box is connected", func() bool { return h.broker().Connected })
}

// The unit of systemd hands over every secret that it, or the page, says a box finds, and starts
// a box that has no password.
func TestUnitCredentials(t *testing.T) {
	unit, err := os.ReadFile("../../deploy/wdgnn-agent.service")
	check(t, err)
	page, err := os.ReadFile("../../doc/mqtt.md")
	check(t, err)
	const folder = "/run/credentials/wdgnn-agent.service/"
	for _, text := range []string{string(unit), string(page)} {
		_, after, found := strings.Cut(text, "password_file: "+folder)
		name := strings.FieldsFunc(after+" ", func(r rune) bool { return strings.ContainsRune(" ,`}\n", r) })
		if !found || len(name) == 0 {
			t.Fatal("nobody says where a box finds the password of its broker")
		}
		for _, line := range []string{"\nLoadCredential=" + name[0] + ":", "\nSetCredential=" + name[0] + ":"} {
			if !strings.Contains(string(unit), line) {
				t.Errorf("the unit has no line %q", strings.TrimSpace(line))
			}
		}
	}
}
