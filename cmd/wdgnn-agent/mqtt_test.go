package main_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/internal/clocktest"
	"github.com/wdgnn/wdgnn/internal/mqtttest"
)

// house is examples/mqtt as a user starts it, with steps of a second: a broker, a box, and
// thermometers that are mosquitto_pub. The box waits longer for readings than tests do for answers, so that a busy
// machine loses none.
type house struct {
	*testing.T
	dir   string
	port  int
	flags []string // of the thermometers

	metrics string // where the box counts

	rows  [][]string // of readings.csv: a time and a reading of every thermometer
	fed   []string   // rows with the times at which they were sent
	next  time.Time  // of the next row
	names []string
}

const tick = time.Second

// newHouse copies the example and trains its model.
func newHouse(t *testing.T) *house {
	t.Helper()
	mqtttest.Need(t)
	clocktest.Need(t)
	h := &house{T: t, dir: t.TempDir(), port: mqtttest.FreePort(t), metrics: fmt.Sprintf("127.0.0.1:%d", mqtttest.FreePort(t))}
	t.Cleanup(func() {
		if text, _ := os.ReadFile(h.path("box.log")); t.Failed() {
			t.Logf("the box said\n%s", text)
		}
	})
	h.check(os.CopyFS(h.dir, os.DirFS("../../examples/mqtt")))
	text, err := os.ReadFile(h.path("readings.csv"))
	h.check(err)
	start := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	for k, line := range strings.Fields(strings.ReplaceAll(string(text), " ", "T")) {
		row := strings.Split(line, ",")
		if k > 0 {
			row[0] = start.Add(time.Duration(k) * tick).Format(time.DateTime)
		}
		h.rows = append(h.rows, row)
	}
	h.names = h.rows[0][1:]
	h.write("readings.csv", table(h.rows))
	h.replace("config.yaml", "horizons: [2s, 10s]", "horizons: [1s, 5s]", "season: 60s", "season: 30s")
	h.replace("agent.yaml", "mqtt://127.0.0.1:1883", fmt.Sprintf("mqtt://127.0.0.1:%d", h.port), "127.0.0.1:9100", h.metrics,
		"  time: /time", "  time: /time\n  wait: 1m")
	h.run("wdgnn", "train", "config.yaml")
	return h
}

func (h *house) check(err error) {
	h.Helper()
	if err != nil {
		h.Fatal(err)
	}
}

func (h *house) path(name string) string { return filepath.Join(h.dir, name) }

func (h *house) write(name, text string) {
	h.Helper()
	h.check(os.WriteFile(h.path(name), []byte(text), 0o600))
}

func (h *house) replace(name string, pairs ...string) {
	h.Helper()
	text, err := os.ReadFile(h.path(name))
	h.check(err)
	for k := 0; k < len(pairs); k += 2 {
		if !strings.Contains(string(text), pairs[k]) {
			h.Fatalf("%s has no %q", name, pairs[k])
		}
	}
	h.write(name, strings.NewReplacer(pairs...).Replace(string(text)))
}

func table(rows [][]string) string {
	var b strings.Builder
	for _, row := range rows {
		b.WriteString(strings.Join(row, ",") + "\n")
	}
	return b.String()
}

// command returns one of our programs, in the folder of the house.
func (h *house) command(name string, args ...string) *exec.Cmd {
	h.Helper()
	dir, err := programs()
	h.check(err)
	cmd := exec.Command(filepath.Join(dir, name), args...)
	cmd.Dir = h.dir
	return cmd
}

func (h *house) run(name string, args ...string) {
	h.Helper()
	if out, err := h.command(name, args...).CombinedOutput(); err != nil {
		h.Fatalf("%s %v: %v: %s", name, args, err, out)
	}
}

// started starts a program that is killed at the end, and returns what kills it before.
func (h *house) started(cmd *exec.Cmd) (kill func()) {
	h.Helper()
	h.check(cmd.Start())
	kill = sync.OnceFunc(func() { cmd.Process.Kill(); cmd.Wait() })
	h.Cleanup(kill)
	return kill
}

// start starts the box and waits until it runs.
func (h *house) start() (kill func()) {
	h.Helper()
	path := h.path("box.log")
	log, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	h.check(err)
	defer log.Close()
	before := h.logged("msg=running")
	cmd := h.command("wdgnn-agent", "--config", "agent.yaml")
	cmd.Stderr = log
	kill = h.started(cmd)
	mqtttest.Await(h, "the box runs", func() bool { return h.logged("msg=running") > before })
	return kill
}

// logged returns how often the box said something.
func (h *house) logged(words string) int {
	text, _ := os.ReadFile(h.path("box.log"))
	return strings.Count(string(text), words)
}

// feed sends the readings of the next step, each thermometer its own.
func (h *house) feed() {
	h.Helper()
	time.Sleep(time.Until(h.next.Add(-tick)))
	row := h.rows[1+len(h.fed)]
	at := h.next.Format(time.RFC3339)
	for k, name := range h.names {
		if row[1+k] == "" {
			row[1+k] = "15"
		}
		payload := fmt.Sprintf(`{"temperature": %s, "time": %q}`, row[1+k], at)
		if out, err := mqtttest.Pub(h.port, append(h.flags, "-q", "1", "-t", "sensors/"+name+"/temperature", "-m", payload)...); err != nil {
			h.Fatal(err, out)
		}
	}
	h.fed = append(h.fed, strings.Join(append([]string{h.next.Format(time.DateTime)}, row[1:]...), ","))
	h.next = h.next.Add(tick)
}

// answers returns what is in a file of answers, by time.
func (h *house) answers(name string) map[string][]host.Output {
	h.Helper()
	text, err := os.ReadFile(h.path(name))
	if err != nil {
		return nil
	}
	all := map[string][]host.Output{}
	for line := range bytes.Lines(text) {
		var a host.Answer
		if !bytes.HasSuffix(line, []byte("\n")) {
			break // being written
		}
		h.check(json.Unmarshal(line, &a))
		if was := all[a.At]; was != nil && !slices.EqualFunc(was, a.Outputs, equalOutputs) {
			h.Errorf("%s is answered twice, with %v and then %v", a.At, was, a.Outputs)
		}
		all[a.At] = a.Outputs
	}
	return all
}

func equalOutputs(a, b host.Output) bool {
	return a.Sensor == b.Sensor && slices.Equal(a.Value, b.Value)
}

// await waits for the answer to the last step that was sent, and returns how long after the
// step that was.
func (h *house) await() time.Duration {
	h.Helper()
	at := h.next.Add(-tick)
	mqtttest.Await(h, "an answer to the step of "+at.Format(time.TimeOnly), func() bool {
		return len(h.answers("answers.jsonl")[at.Format(time.RFC3339)]) == len(h.names)
	})
	return time.Since(at)
}

// begin feeds the box until it is in time for a step, as it may take longer to start.
func (h *house) begin() {
	h.Helper()
	for used := 0.0; used == 0; {
		h.feed()
		mqtttest.Await(h, "the box looks at what was sent", func() bool {
			used = h.count(`wdgnn_world_readings_total{fate="used",run="house"}`)
			return used+h.count(`wdgnn_world_readings_total{fate="old",run="house"}`) == float64(len(h.fed)*len(h.names))
		})
	}
}

// within wants the box to answer the last of n steps before anything of the next is sent,
// however busy the machine is, and from all readings so far.
func (h *house) within(n int) {
	h.Helper()
	h.Logf("answered %v after the time of the step", h.await())
	if got := len(h.answers("answers.jsonl")); got != n {
		clocktest.Need(h)
		h.Errorf("%d steps are answered, want %d", got, n)
	}
	for _, name := range []string{`wdgnn_world_readings_total{fate="used",run="house"}`, `wdgnn_agent_predicted_total{run="house"}`} {
		want := float64(n * len(h.names))
		mqtttest.Await(h, fmt.Sprintf("%s is %v after %d steps", name, want, n), func() bool { return h.count(name) == want })
	}
}

// count returns a number of the box's metrics, 0 if it is not there.
func (h *house) count(name string) (value float64) {
	h.Helper()
	r, err := http.Get("http://" + h.metrics + "/metrics")
	h.check(err)
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	h.check(err)
	if _, after, ok := strings.Cut(string(text), "\n"+name+" "); ok {
		fmt.Sscan(after, &value)
	}
	return value
}

// equal compares all answers with those of a box that reads the same readings from a table
// and was never disturbed.
func (h *house) equal() {
	h.Helper()
	got := h.answers("answers.jsonl")
	from := slices.IndexFunc(h.fed, func(row string) bool { // the first of which the box was there in time
		at, err := time.Parse(time.DateTime, row[:len(time.DateTime)])
		h.check(err)
		return got[at.Format(time.RFC3339)] != nil
	})
	h.write("fed.csv", "time,"+strings.Join(h.names, ",")+"\n"+strings.Join(h.fed[from:], "\n")+"\n")
	h.write("table.yaml", `run: house
host: 0
hosts: {0: {nodes: 0-5}}
model: run/model.safetensors
learn: {}
bus: {kind: none}
world: {kind: stream, series: fed.csv, answers: table.jsonl}
`)
	h.run("wdgnn-agent", "--config", "table.yaml")
	want := h.answers("table.jsonl")
	if len(want) < 5 {
		h.Errorf("%d steps were answered, want at least 5", len(want))
	}
	for at, outputs := range want {
		if !slices.EqualFunc(got[at], outputs, equalOutputs) {
			h.Errorf("%s: answers %v, want those of a box that was not disturbed, %v", at, got[at], outputs)
		}
	}
}

// published looks at what Home Assistant is told.
func (h *house) published(flags []string) {
	h.Helper()
	get := func(topic string, v any) {
		h.Helper()
		out, err := mqtttest.Sub(h.port, append(slices.Clone(flags), "-t", topic, "-C", "1", "-W", "60")...)
		h.check(err)
		h.check(json.Unmarshal([]byte(out), v))
	}
	var entity struct {
		State      string `json:"state_topic"`
		Attributes string `json:"json_attributes_topic"`
		Unit       string `json:"unit_of_measurement"`
		ID         string `json:"unique_id"`
	}
	get("homeassistant/sensor/wdgnn_house/attic_5s/config", &entity)
	const topic, id = "answers/house/attic/5s", "wdgnn_house_attic_5s"
	if entity.State != topic || entity.Attributes != topic || entity.Unit != "°C" || entity.ID != id {
		h.Errorf("discovery is %+v, want the state of the attic in 5 s, in °C", entity)
	}
	var state struct {
		Value, Low, High float32
		At, For          string
	}
	get(entity.State, &state)
	at, err := time.Parse(time.RFC3339, state.At)
	h.check(err)
	if state.For != at.Add(5*time.Second).Format(time.RFC3339) || !(state.Low <= state.Value && state.Value <= state.High) {
		h.Errorf("state is %+v, want a forecast for 5 s later within its interval", state)
	}
	for _, o := range h.answers("answers.jsonl")[state.At] {
		if o.Sensor == "attic" && o.Value[1] != state.Value {
			h.Errorf("published %v, want %v, as in the file of answers", state.Value, o.Value[1])
		}
	}
}

// drill feeds the box, kills it and the broker in turn, and wants no answer to be another
// than if nothing had happened: by QoS 1 nothing is lost.
func (h *house) drill(restart func() (kill func()), hears []string) {
	h.Helper()
	killBroker := restart()
	h.next = time.Now().UTC().Truncate(tick).Add(tick)
	killBox := h.start()
	mqtttest.Await(h, "the box is connected", func() bool { return h.logged("mqtt: connected") > 0 })
	h.begin()
	h.within(1)
	for n := range 2 {
		h.feed()
		h.within(n + 2)
	}
	h.published(hears)
	killBox()
	h.feed() // kept by the broker
	killBroker()
	killBroker = restart()
	h.feed() // for a session that it read from its disk
	h.start()
	h.await()
	killBroker()
	mqtttest.Await(h, "the box notices", func() bool { return h.logged("the connection ended") > 0 })
	restart()
	h.feed()
	h.await()
	h.equal()
	h.Logf("%d steps, %d connections", len(h.fed), h.logged("mqtt: connected"))
}

// A box fed by mosquitto_pub over mosquitto answers within a step; killing it and the broker
// loses nothing that was sent with QoS 1 and saved.
func TestMosquitto(t *testing.T) {
	if testing.Short() {
		t.Skipf("SKIPPED %s: with -short no boxes are started; without, they are", t.Name())
	}
	t.Parallel()
	h := newHouse(t)
	b := mqtttest.NewAt(t, h.port)
	h.drill(func() func() {
		b.Restart()
		return func() {
			b.Saved()
			b.Kill()
		}
	}, nil)
}

// The same over the server that is inside wdgnn, with TLS, users and topics.
func TestSwarmServerMQTT(t *testing.T) {
	if testing.Short() {
		t.Skipf("SKIPPED %s: with -short no boxes are started; without, they are", t.Name())
	}
	t.Parallel()
	h := newHouse(t)
	h.run("wdgnn", "swarm", "keys", "--config", "agent.yaml")
	h.run("wdgnn", "swarm", "keys", "mqtt", "thermometers", "--publish", "sensors/#")
	h.run("wdgnn", "swarm", "keys", "mqtt", "box", "--subscribe", "sensors/+/temperature,answers/#", "--publish", "answers/#,homeassistant/#")
	h.run("wdgnn", "swarm", "keys", "mqtt", "hass", "--subscribe", "answers/#,homeassistant/#")
	h.replace("agent.yaml", fmt.Sprintf(`{url: "mqtt://127.0.0.1:%d"}`, h.port),
		fmt.Sprintf(`{url: "mqtts://localhost:%d", user: box, password_file: keys/mqtt-box/password, ca: keys/mqtt-box/ca.crt}`, h.port))
	as := func(user string) []string {
		password, err := os.ReadFile(h.path("keys/mqtt-" + user + "/password"))
		h.check(err)
		return []string{"--cafile", h.path("keys/mqtt-" + user + "/ca.crt"), "-u", user, "-P", strings.TrimSpace(string(password))}
	}
	h.flags = as("thermometers")
	h.drill(func() func() {
		address := fmt.Sprintf("127.0.0.1:%d", h.port)
		kill := h.started(h.command("wdgnn", "swarm", "server", "--keys", "keys", "--addr", "127.0.0.1:0", "--mqtt", address, "--store", "store"))
		mqtttest.Await(h, "the server takes connections", func() bool {
			conn, err := net.Dial("tcp", address)
			if err == nil {
				conn.Close()
			}
			return err == nil
		})
		return kill
	}, as("hass"))
	text, err := os.ReadFile(h.path("box.log"))
	h.check(err)
	if password := as("box")[5]; strings.Contains(string(text), password) {
		h.Error("the log of the box holds its password")
	}
}
