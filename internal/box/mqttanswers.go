package box

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/internal/duration"
	"github.com/wdgnn/wdgnn/internal/mqtt"
	"github.com/wdgnn/wdgnn/mat"
)

// mqttAnswer is what is published of one answer of a node: a forecast for one time.
type mqttAnswer struct {
	Value float32   `json:"value"`
	Low   *float32  `json:"low,omitempty"` // between which numbers the truth should be
	High  *float32  `json:"high,omitempty"`
	Set   []int     `json:"set,omitempty"`     // or which classes it may be
	All   []float32 `json:"outputs,omitempty"` // of a class, what speaks for each
	At    string    `json:"at,omitempty"`
	For   string    `json:"for,omitempty"`
	Step  uint64    `json:"step"`
	Age   float64   `json:"age_seconds"` // of the last reading
}

// status is the topic that says whether this box is there, "" if nothing is published.
func (w *mqttWorld) status() string {
	if w.config.publishes() == "" {
		return ""
	}
	return fmt.Sprintf("%s/%s/host-%d", w.config.publishes(), w.config.Run, w.config.Host)
}

// topic returns where an answer of a node goes.
func (w *mqttWorld) topic(k int, what string) string {
	name := level(w.labels[k])
	for j, other := range w.labels {
		if j != k && level(other) == name && name != w.labels[k] {
			name = fmt.Sprintf("%s_%d", name, w.nodes[k]) // another looks the same
			break
		}
	}
	return strings.Join([]string{w.config.publishes(), w.config.Run, name, what}, "/")
}

// level makes a level of a topic of a name.
func level(name string) string {
	return strings.NewReplacer("/", "_", "+", "_", "#", "_", " ", "_", "\t", "_", "\x00", "_").Replace(name)
}

// whats returns what answers are of: horizons, or the answer itself.
func (w *mqttWorld) whats() []string {
	if w.spec == nil {
		return []string{"answer"}
	}
	list := make([]string, len(w.spec.Horizons))
	for c, h := range w.spec.Horizons {
		list[c] = fmt.Sprintf("%d-steps", h)
		if w.spec.Interval > 0 {
			list[c] = duration.Text(time.Duration(h) * w.spec.Interval)
		}
	}
	return list
}

// Act implements [host.World]. It does not wait: what a broker that is away misses is
// lost, but for the latest of each node.
func (w *mqttWorld) Act(a *host.Answer) (err error) {
	if w.out != nil {
		text, failed := a.AppendText(nil)
		if err = failed; err == nil {
			err = w.out.put(text)
		}
	}
	if w.config.publishes() == "" {
		return err
	}
	places := map[uint32]int{}
	for k, node := range w.nodes {
		places[uint32(node)] = k
	}
	for i := range a.Outputs {
		k, ok := places[uint32(a.Outputs[i].Node)]
		if !ok {
			continue // a node that joined while the box runs
		}
		for c, what := range w.whats() {
			text, failed := json.Marshal(w.answer(a, &a.Outputs[i], c))
			if failed == nil {
				failed = w.publish(w.topic(k, what), text)
			}
			if failed != nil && err == nil {
				err = failed
			}
		}
	}
	return err
}

// answer returns what is published of output c of a node.
func (w *mqttWorld) answer(a *host.Answer, o *host.Output, c int) mqttAnswer {
	m := mqttAnswer{At: a.At, Step: a.Time, Set: o.Set, Age: (time.Duration(o.Age) * w.grid.Interval).Seconds()}
	switch {
	case w.spec != nil && c < len(o.Value):
		m.Value = o.Value[c]
	case w.spec == nil && w.cost == host.CrossEntropy:
		m.Value, m.All = float32(mat.Argmax(o.Value)), o.Value
	case len(o.Value) > 0:
		m.Value = o.Value[0]
		if len(o.Value) > 1 {
			m.All = o.Value
		}
	}
	if c < len(a.For) {
		m.For = a.For[c]
	}
	if c < len(o.Intervals) && mat.Finite(o.Intervals[c].Low, o.Intervals[c].High) {
		m.Low, m.High = &o.Intervals[c].Low, &o.Intervals[c].High
	}
	return m
}

// publish sends an answer, retained, and remembers it for a broker that comes back.
func (w *mqttWorld) publish(topic string, text []byte) error {
	w.mu.Lock()
	w.latest[topic] = text
	w.mu.Unlock()
	return w.client.Publish(topic, text, true)
}

// announce tells a broker that was just met what it should know: which sensors there are,
// for Home Assistant, and the latest answers, where it has missed some.
func (w *mqttWorld) announce(publish func(topic string, payload []byte) bool) {
	if w.config.publishes() == "" {
		return
	}
	if w.config.World.Discovery != "" {
		for k := range w.nodes {
			for _, what := range w.whats() {
				text, err := json.Marshal(w.discovery(k, what))
				if err != nil || !publish(w.discoveryTopic(k, what), text) {
					return
				}
			}
		}
	}
	w.mu.Lock()
	missed := slices.Sorted(maps.Keys(w.latest))
	w.mu.Unlock()
	for _, topic := range missed {
		if !w.catchUp(topic, publish) {
			return
		}
	}
}

// catchUp publishes the latest answer of a topic. The box may answer meanwhile, ahead of it
// in the queue: then the newer one is published once more, as what is retained is the last.
func (w *mqttWorld) catchUp(topic string, publish func(topic string, payload []byte) bool) bool {
	latest := func() []byte {
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.latest[topic]
	}
	for {
		text := latest()
		if !publish(topic, text) {
			return false
		}
		if bytes.Equal(text, latest()) {
			return true
		}
	}
}

// notID is what may not be in an identifier of Home Assistant.
var notID = regexp.MustCompile(`[^A-Za-z0-9_-]`)

// id identifies what is said of a node, to Home Assistant.
func (w *mqttWorld) id(k int, what string) string {
	name := notID.ReplaceAllString(w.labels[k], "_")
	if name != w.labels[k] {
		name = fmt.Sprintf("%s_%d", name, w.nodes[k]) // another may look the same
	}
	return fmt.Sprintf("%s_%s", name, notID.ReplaceAllString(what, "_"))
}

// discoveryTopic is where Home Assistant looks.
func (w *mqttWorld) discoveryTopic(k int, what string) string {
	return fmt.Sprintf("%s/sensor/wdgnn_%s/%s/config", w.config.World.Discovery, w.config.Run, w.id(k, what))
}

// discovery is what Home Assistant wants to know of a sensor.
func (w *mqttWorld) discovery(k int, what string) map[string]any {
	c, topic := w.config, w.topic(k, what)
	name := "answer"
	if w.spec != nil {
		name = "in " + what
	}
	d := map[string]any{
		"name": name, "unique_id": fmt.Sprintf("wdgnn_%s_%s", c.Run, w.id(k, what)),
		"state_topic": topic, "value_template": "{{ value_json.value }}", "json_attributes_topic": topic,
		"availability_topic": w.status(), "payload_available": mqtt.Online, "payload_not_available": mqtt.Offline,
		"device": map[string]any{
			"identifiers": []string{fmt.Sprintf("wdgnn_%s_%d", c.Run, w.nodes[k])}, "name": w.labels[k] + " forecast", "manufacturer": "wdgnn",
		},
	}
	if w.spec == nil {
		d["device"].(map[string]any)["name"] = w.labels[k]
	}
	if w.spec != nil && w.spec.Unit != "" {
		d["unit_of_measurement"], d["state_class"] = w.spec.Unit, "measurement"
	}
	return d
}
