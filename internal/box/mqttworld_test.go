package box

import (
	"log/slog"
	"maps"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/forecast"
	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/internal/mqtt"
)

// A step without readings is one of gaps, which nodes forecast from; what comes after it is
// told as truth, in one line if it is of one step.
func TestMQTTLate(t *testing.T) {
	origin := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	at := func(step int) time.Time { return origin.Add(time.Duration(step) * time.Minute) }
	w := &mqttWorld{
		config: new(Config), nodes: []agent.NodeID{4, 7}, spec: new(forecast.Spec), clock: new(clock),
		grid: &mqtt.Grid{Origin: origin, Interval: time.Minute, Sensors: 2},
		log:  slog.New(slog.DiscardHandler), fates: map[string]uint64{}, said: map[string]bool{},
	}
	w.grid.Begin(10)
	w.close(10)
	w.close(11)
	if len(w.queue) != 2 || len(w.queue[0].Nodes) != 2 || !math.IsNaN(float64(w.queue[0].Nodes[1].Row[0])) {
		t.Fatalf("lines %+v, want two with gaps of both nodes", w.queue)
	}
	w.queue = nil
	for k := range 2 {
		w.place(k, "t", mqtt.Reading{At: at(10), Row: []float32{float32(20 + k)}}, at(12))
	}
	w.place(0, "t", mqtt.Reading{At: at(10), Row: []float32{30}}, at(12)) // once more
	if len(w.queue) != 1 || w.queue[0].Time != 10 || len(w.queue[0].Nodes) != 2 {
		t.Fatalf("lines %+v, want one with truths of step 10", w.queue)
	}
	if n := w.queue[0].Nodes[1]; n.Node != 7 || n.Row != nil || n.Target[0] != 21 {
		t.Errorf("node 7 is told %+v, want the target 21", n)
	}
	if w.fates["late"] != 2 || w.fates["superseded"] != 1 {
		t.Errorf("fates %v, want 2 late and 1 superseded", w.fates)
	}
	w.queue = nil
	if w.close(12); w.queue[0].Nodes[0].Age != 2 {
		t.Errorf("line %+v, want node 4 read two steps ago", w.queue[0])
	}
	if a := w.answer(new(host.Answer), &host.Output{Node: 4, Value: []float32{20}, Age: 2}, 0); a.Age != 120 {
		t.Errorf("published: %+v, want a reading of two minutes ago", a)
	}
}

// A box that hears no sensor says so, with what to look at, and not where sensors may be silent
// for that long.
func TestMQTTSilence(t *testing.T) {
	w := &mqttWorld{
		config: &Config{World: World{Topic: "sensors/{name}/t"}}, wait: time.Second,
		grid: &mqtt.Grid{Interval: time.Minute}, fates: map[string]uint64{},
	}
	for _, c := range []struct {
		ago, hold time.Duration
		fate      string // of another message
		want      string // "" means that all is well
	}{
		{ago: 3 * time.Minute},
		{ago: 4 * time.Minute, want: "is world.topic right, sensors/{name}/t?"},
		{ago: 4 * time.Minute, hold: time.Hour},
		{ago: 2 * time.Hour, hold: time.Hour, want: "no reading of any sensor for 2h0m0s"},
		{ago: 4 * time.Minute, fate: fateUnknown, want: "1 messages so far could not be used, and the log says why"},
		{ago: 4 * time.Minute, fate: fateNull},
		{ago: 4 * time.Minute, fate: string(mqtt.Old), want: "2 messages so far"},
		{ago: 4 * time.Minute, fate: fateRetained, want: "3 messages so far"},
		{ago: 4 * time.Minute, fate: fateLong, want: "4 messages so far"},
	} {
		w.spoke, w.config.World.Hold = time.Now().Add(-c.ago), c.hold
		if c.fate != "" {
			w.count(c.fate)
		}
		if err := w.silence(); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: got %v, want %q", c, err, c.want)
		}
	}
}

// The log says why a message is not looked into, once for each sensor.
func TestMQTTUnfit(t *testing.T) {
	var said strings.Builder
	template, err := mqtt.ParseTemplate("sensors/{name}/t")
	if err != nil {
		t.Fatal(err)
	}
	w := &mqttWorld{
		config: new(Config), clock: &clock{even: func() time.Duration { return 0 }}, template: template, index: map[string]int{"attic": 0},
		log: slog.New(slog.NewTextHandler(&said, nil)), fates: map[string]uint64{}, said: map[string]bool{},
	}
	for range 2 {
		w.hear(mqtt.Message{Topic: "sensors/attic/t", Payload: []byte("21.5"), Retained: true})
		w.hear(mqtt.Message{Topic: "sensors/attic/t", Payload: make([]byte, mostPayload+1)})
	}
	if w.fates[fateRetained] != 2 || w.fates[fateLong] != 2 {
		t.Errorf("fates %v, want 2 retained and 2 too long", w.fates)
	}
	for _, want := range []string{"of unknown age", "too long"} {
		if n := strings.Count(said.String(), want); n != 1 {
			t.Errorf("the log says %d times %q, want once:\n%s", n, want, said.String())
		}
	}
}

// A broker that is back is told the latest answers, also where the box answers while it is told.
func TestMQTTAnnouncesTheLatest(t *testing.T) {
	w := &mqttWorld{config: new(Config), latest: map[string][]byte{"answers/a": []byte("1"), "answers/b": []byte("1")}}
	retained := map[string]string{}
	answers := map[string]string{"answers/a": "2", "answers/b": "3"} // what the box says before announce is heard
	w.announce(func(topic string, payload []byte) bool {
		if newer := answers[topic]; newer != "" {
			w.mu.Lock()
			w.latest[topic] = []byte(newer)
			w.mu.Unlock()
			retained[topic], answers[topic] = newer, ""
		}
		retained[topic] = string(payload)
		return true
	})
	if want := map[string]string{"answers/a": "2", "answers/b": "3"}; !maps.Equal(retained, want) {
		t.Errorf("retained: got %v, want %v", retained, want)
	}
}

// The log of readings reaches back far enough, whichever of its files is the newer, and reads
// what a crash left.
func TestReadingLog(t *testing.T) {
	dir := t.TempDir()
	put := func(l *readingLog, payload string) {
		t.Helper()
		if err := l.put(mqtt.Message{Topic: "a", Payload: []byte(payload)}); err != nil {
			t.Fatal(err)
		}
	}
	reopen := func(least time.Duration, want ...string) *readingLog {
		t.Helper()
		l, before, err := openReadingLog(dir, least)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.close() })
		if len(before) != len(want) {
			t.Fatalf("read %v, want %q", before, want)
		}
		for k, r := range before {
			if r.Payload != want[k] {
				t.Errorf("read %v, want %q", before, want)
			}
		}
		return l
	}
	l := reopen(time.Hour)
	put(l, "1")
	put(l, "2")
	l = reopen(time.Hour, "1", "2")
	put(l, "3")
	l.since = time.Now().Add(-2 * time.Hour)
	put(l, "4") // into the other file
	l = reopen(time.Hour, "1", "2", "3", "4")
	put(l, "5")
	l.since = time.Now().Add(-2 * time.Hour)
	put(l, "6") // the first file begins anew
	path := filepath.Join(dir, readingLogs[l.turn])
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteString(`{"came":"20`) // cut off
		f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	l = reopen(time.Hour, "4", "5", "6")
	put(l, "7")
	reopen(time.Hour, "4", "5", "6", "7")
}

// Who floods a box does not fill its disk: the log keeps what came last.
func TestReadingLogIsBounded(t *testing.T) {
	dir := t.TempDir()
	l, _, err := openReadingLog(dir, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	defer l.close()
	l.most = 10_000
	payload := make([]byte, 500)
	for range 1000 {
		if err := l.put(mqtt.Message{Topic: "a", Payload: payload}); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.put(mqtt.Message{Topic: "last", Payload: []byte("1")}); err != nil {
		t.Fatal(err)
	}
	size := int64(0)
	for _, name := range readingLogs {
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil {
			size += info.Size()
		}
	}
	if size > 3*l.most {
		t.Errorf("the log has %d bytes, want about twice %d", size, l.most)
	}
	again, before, err := openReadingLog(dir, time.Hour)
	defer again.close()
	if n := len(before); err != nil || n < 2 || before[n-1].Topic != "last" {
		t.Errorf("%d readings are read again (%v), want some, and the last", n, err)
	}
}
