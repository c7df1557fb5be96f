package box

import (
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/host"
)

// A box is not well while answers are lost, checkpoints fail, or a neighbour has
// been silent for long; one that has just fallen silent is no reason, nor one
// that came back in between.
func TestIlls(t *testing.T) {
	m := new(monitor)
	at := func(after time.Duration, r *host.Report) string {
		m.see(r)
		return strings.Join(m.problems(time.Now().Add(after)), "; ")
	}
	if got := strings.Join(m.problems(time.Now()), "; "); got != "starting" {
		t.Errorf("before the first report: got %q, want starting", got)
	}
	silent := &host.Report{Silent: []agent.NodeID{3, 4, 5, 9}}
	if got := at(0, silent); got != "" {
		t.Errorf("silent for a moment: got %q, want nothing", got)
	}
	m.see(&host.Report{Silent: []agent.NodeID{3, 4, 9}}) // 5 speaks
	for node := range m.latest.Load().silent {
		m.latest.Load().silent[node] = time.Now().Add(-silentFor)
	}
	if got := at(0, silent); got != "neighbours that have been silent for 30s and more: nodes 3-4,9" {
		t.Errorf("silent for long: got %q", got)
	}
	if got := at(0, &host.Report{Unsaved: true}); !strings.Contains(got, "checkpoint") {
		t.Errorf("an unwritten checkpoint: got %q", got)
	}
	if got := at(11*time.Second, &host.Report{}); got != "the last report is 11s old" {
		t.Errorf("an old report: got %q", got)
	}
	var trouble error
	m.watch(func() error { return trouble })
	if got := at(0, &host.Report{}); got != "" {
		t.Errorf("nothing is wrong: got %q", got)
	}
	trouble = errors.New("no space left on device")
	if got := at(0, &host.Report{}); got != "answers are lost: no space left on device" {
		t.Errorf("lost answers: got %q", got)
	}
}

// Who has connected and asks nothing, as browsers do, does not make the end of a box a
// failure.
func TestMonitorCutsOff(t *testing.T) {
	m, err := newMonitor(t.Context(), "test", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", m.addr.String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	first, err := http.Get("http://" + m.addr.String() + "/healthz") // conn was accepted before it
	if err != nil {
		t.Fatal(err)
	}
	first.Body.Close()
	if err := m.close(); err != nil {
		t.Errorf("close with a connection open: got %v, want no error", err)
	}
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the connection: got %v, want it cut off", err)
	}
}

// Metrics name the run, the sensors whose readings are not used and how long ago others were read.
func TestSensorMetrics(t *testing.T) {
	r := &host.Report{Broken: []host.BrokenSensor{{Node: 3, Sensor: "773869", Why: "rain", Since: 7}}, BrokenSensors: 1}
	r.Ages, r.SilentSensors = []host.SensorAge{{Node: 4, Sensor: "attic", Steps: 126}, {Node: 3, Sensor: "773869"}}, 1
	r.Stats.Broken, r.Gate = 2, &host.GateReport{Trained: 1, Horizons: 3}
	w := httptest.NewRecorder()
	metricsHandler("test", func() *host.Report { return r }).ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	for _, want := range []string{
		`wdgnn_sensor_broken{node="3",run="test",sensor="773869"} 1`, `wdgnn_sensors_broken{run="test"} 1`,
		`wdgnn_host_broken_total{run="test"} 2`, `wdgnn_horizons_trained{run="test"} 3`, `wdgnn_sensors_silent{run="test"} 1`,
		`wdgnn_sensor_age_steps{node="4",run="test",sensor="attic"} 126`, `wdgnn_sensor_age_steps{node="3",run="test",sensor="773869"} 0`,
	} {
		if text := w.Body.String(); !strings.Contains(text, want+"\n") {
			t.Errorf("got\n%s\nwant %s in it", text, want)
		}
	}
}
