package box

import (
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/forecast"
	"github.com/wdgnn/wdgnn/internal/mqtt"
	"github.com/wdgnn/wdgnn/transport"
)

// thermometers is a world that hears the given sensors, without a broker.
func thermometers(t *testing.T, topic string, names map[string]string, sensors ...string) *mqttWorld {
	t.Helper()
	c := &Config{Run: "r", Hosts: map[transport.HostID]Peer{0: {}}}
	c.World.Names, c.World.Topic = names, topic
	w := &mqttWorld{
		config: c, spec: &forecast.Spec{Sensors: sensors, Horizons: []int{1}, Interval: time.Minute},
		log: slog.New(slog.DiscardHandler), fates: map[string]uint64{}, said: map[string]bool{},
		in: make(chan mqtt.Message, 1), halt: make(chan struct{}),
	}
	for k := range sensors {
		w.nodes = append(w.nodes, agent.NodeID(k))
	}
	var err error
	if w.template, err = mqtt.ParseTemplate(topic); err == nil {
		err = w.name()
	}
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// since puts a world on a grid of minutes from an hour ago, whose next step is from.
func (w *mqttWorld) since(t *testing.T, g mqtt.Grid, from uint64, dir string) {
	t.Helper()
	g.Origin, g.Interval, g.Sensors = time.Now().Add(-time.Hour).Truncate(time.Minute), time.Minute, 1
	w.grid, w.clock = &g, w.config.newGridClock(0, g.Origin, time.Minute)
	w.grid.Begin(from)
	var err error
	if w.kept, w.before, err = openReadingLog(dir, time.Hour); err != nil {
		t.Fatal(err)
	}
}

// Names with a slash are more than one level, which + does not stand for; names that
// differ in a space or a slash only have answers of their own.
func TestMQTTNamesWithSlashes(t *testing.T) {
	w := thermometers(t, "sensors/{name}/temperature", map[string]string{"house/kitchen": "kitchen"}, "kitchen", "hall")
	if got, want := w.filters()[0], []string{"sensors/+/temperature", "sensors/house/kitchen/temperature"}; !slices.Equal(got, want) {
		t.Errorf("subscribes to %q, want %q", got, want)
	}
	w, topics := thermometers(t, "sensors/{name}/temperature", nil, "a/b", "a_b", "a b"), map[string]bool{}
	for k := range w.nodes {
		topics[w.topic(k, "1m")] = true
	}
	if len(topics) != 3 {
		t.Errorf("answers of three sensors go to %v", topics)
	}
}

// What was refused when it came is refused when it is read again, and what was held is.
func TestMQTTReadAgain(t *testing.T) {
	dir, w := t.TempDir(), thermometers(t, "s/{name}", nil, "a")
	w.format, _ = mqtt.NewFormat(nil, "", time.UTC)
	w.since(t, mqtt.Grid{Untimed: true}, 59, dir)
	w.take(mqtt.Message{Topic: "s/a", Payload: []byte("999"), Retained: true}) // of nobody knows when
	w.hear(<-w.in)
	w.kept.close()
	w.fates = map[string]uint64{}
	w.since(t, mqtt.Grid{Untimed: true}, 59, dir)
	w.replay(59)
	if rows, _ := w.grid.Take(60); w.fates["used"] != 0 || rows[0] != nil {
		t.Errorf("a retained reading is believed after a restart: %v, %v", w.fates, rows)
	}
	w.kept.close()

	dir = t.TempDir()
	w.format, _ = mqtt.NewFormat([]string{"/v"}, "/t", time.UTC)
	w.since(t, mqtt.Grid{Hold: 10 * time.Minute}, 50, dir)
	at := w.grid.Origin.Add(50 * time.Minute).UTC().Format(time.RFC3339)
	w.take(mqtt.Message{Topic: "s/a", Payload: []byte(`{"v": 21, "t": "` + at + `"}`)})
	w.hear(<-w.in)
	w.kept.close()
	w.since(t, mqtt.Grid{Hold: 10 * time.Minute}, 52, dir)
	defer w.kept.close()
	w.replay(52)
	if rows, _ := w.grid.Take(52); !slices.Equal(rows[0], []float32{21}) {
		t.Errorf("a killed box forgot what it held: got %v, want 21", rows)
	}
}
