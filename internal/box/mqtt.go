package box

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/forecast"
	"github.com/wdgnn/wdgnn/internal/data"
	"github.com/wdgnn/wdgnn/internal/duration"
	"github.com/wdgnn/wdgnn/internal/mqtt"
)

const (
	publishDefault = "answers"
	publishOff     = "off"
)

// ofMQTT says whether something is said of a world by MQTT.
func (w *World) ofMQTT() bool {
	return w.Broker != Broker{} || w.Topic+w.Time+w.Publish+w.Discovery != "" || len(w.Values)+len(w.Names) > 0 || w.Hold != 0 || w.Wait != 0
}

// checkMQTT looks at what a world by MQTT needs.
func (c *Config) checkMQTT(bad *complaints) {
	w := &c.World
	c.checkBroker(bad)
	if _, err := mqtt.ParseTemplate(w.Topic); err != nil {
		bad.add("world.topic: %w", err)
	}
	if _, err := mqtt.NewFormat(w.Values, w.Time, time.UTC); err != nil {
		bad.add("world.values and world.time: %w", err)
	}
	if w.Hold < 0 || w.Wait < 0 {
		bad.add("world.hold is %v and world.wait %v, want durations such as 10m", w.Hold, w.Wait)
	}
	for key, prefix := range map[string]string{"publish": w.Publish, "discovery": w.Discovery} {
		if strings.ContainsAny(prefix, "+#{} \x00") || strings.HasPrefix(prefix, "/") || strings.HasSuffix(prefix, "/") {
			bad.add("world.%s is %q, want the beginning of topics, such as answers", key, prefix)
		}
	}
	if slices.Contains([]string{"true", "yes", "on", "false", "no", "off"}, strings.ToLower(w.Discovery)) {
		bad.add("world.discovery is %q, want the beginning of the topics that Home Assistant looks at, homeassistant; left out, it is not told",
			w.Discovery)
	}
	if strings.HasPrefix(c.publishes()+"/", "wdgnn/") {
		bad.add("world.publish is %q: below wdgnn the boxes of a NATS server speak with each other; choose another word", w.Publish)
	}
	if w.File != "" {
		bad.add("world.file is of kind lines, and this is mqtt")
	}
}

// checkBroker looks at where the broker is.
func (c *Config) checkBroker(bad *complaints) {
	b := &c.World.Broker
	u, err := url.Parse(b.URL)
	switch {
	case b.URL == "":
		bad.add("world.broker.url: say where the broker is, such as mqtt://127.0.0.1:1883, or mqtts:// with TLS")
	case err != nil || u.Scheme != "mqtt" && u.Scheme != "mqtts" || u.Port() == "" || u.Hostname() == "":
		bad.add("world.broker.url: want mqtt://host:port, or mqtts://host:port with TLS")
	case u.User != nil:
		bad.add("world.broker.url holds a user; name it as broker.user, and the password in broker.password_file, so that it is in no log")
	case u.Scheme == "mqtt" && b.CA+b.Cert+b.Key != "":
		bad.add("world.broker: ca, cert and key are for TLS, and the url is %s; write mqtts://", b.URL)
	}
	if (b.Cert == "") != (b.Key == "") {
		bad.add("world.broker: cert and key go together")
	}
	if b.PasswordFile != "" && b.User == "" {
		bad.add("world.broker: a password is that of a user; name it: user")
	}
	if b.QoS != nil && *b.QoS != 0 && *b.QoS != 1 {
		bad.add("world.broker.qos is %d, want 0 or 1", *b.QoS)
	}
}

// publishes returns where answers go, "" for nowhere.
func (c *Config) publishes() string {
	switch c.World.Publish {
	case publishOff:
		return ""
	case "":
		return publishDefault
	}
	return c.World.Publish
}

// qos returns the quality of service.
func (b *Broker) qos() byte {
	if b.QoS != nil && *b.QoS == 0 {
		return 0
	}
	return 1
}

// tls returns what a connection with the broker needs, nil without encryption.
func (c *Config) brokerTLS() (*tls.Config, error) {
	b := &c.World.Broker
	if !strings.HasPrefix(b.URL, "mqtts://") {
		return nil, nil
	}
	t := &tls.Config{MinVersion: tls.VersionTLS12}
	if b.CA != "" {
		text, err := os.ReadFile(c.abs(b.CA))
		if err != nil {
			return nil, fmt.Errorf("world.broker.ca: %w", err)
		}
		if t.RootCAs = x509.NewCertPool(); !t.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("world.broker.ca: %s holds no certificate", b.CA)
		}
	}
	if b.Cert != "" {
		pair, err := tls.LoadX509KeyPair(c.abs(b.Cert), c.abs(b.Key))
		if err != nil {
			return nil, fmt.Errorf("world.broker.cert: %w", err)
		}
		t.Certificates = []tls.Certificate{pair}
	}
	return t, nil
}

// newMQTT returns a world of what sensors say by MQTT, and says all that is wrong with it
// before anything is opened.
func (b *Box) newMQTT(p *agent.Plan) (*mqttWorld, error) {
	w := &mqttWorld{config: b.Config, nodes: b.nodes, spec: p.Forecast, cost: b.cost, halt: make(chan struct{}), done: make(chan struct{})}
	if err := b.prepareMQTT(w); err != nil {
		return nil, fmt.Errorf("world: %w", err)
	}
	return w, nil
}

func (b *Box) prepareMQTT(w *mqttWorld) (err error) {
	zone := time.Local
	if w.spec != nil {
		zone = w.spec.Origin.Location()
	}
	if w.template, err = mqtt.ParseTemplate(b.World.Topic); err != nil {
		return err
	}
	if w.format, err = mqtt.NewFormat(b.World.Values, b.World.Time, zone); err != nil {
		return err
	}
	want := b.model.Network.Config.In
	if w.spec != nil {
		want = 1 + w.spec.Extras
	}
	if got := w.format.Width(); got != want {
		return fmt.Errorf("a reading of %d numbers, the model was trained with %d; world.values points to each of them", got, want)
	}
	w.grid = &mqtt.Grid{Hold: b.World.Hold, Sensors: len(b.nodes), Untimed: !w.format.Timed()}
	if w.grid.Origin, w.grid.Interval, err = b.gridOf(w.spec); err != nil {
		return err
	}
	if w.wait = b.World.Wait; w.wait == 0 {
		w.wait = w.grid.Interval / 2
	}
	w.grid.Wait = w.wait
	if w.tls, err = b.brokerTLS(); err != nil {
		return err
	}
	if f := b.World.Broker.PasswordFile; f != "" {
		if _, err := os.Stat(b.abs(f)); err != nil {
			return fmt.Errorf("broker.password_file: %w", err)
		}
	}
	if err := w.name(); err != nil {
		return err
	}
	return b.mqttLinks(w)
}

// gridOf returns when steps are: by the clock of the series of training, or by pace.period
// and pace.start where it has none. Steps of a series that is counted follow those of training.
func (b *Box) gridOf(spec *forecast.Spec) (origin time.Time, every time.Duration, err error) {
	if spec != nil && spec.Interval > 0 {
		if b.Pace.Period != 0 && b.Pace.Period != spec.Interval {
			return origin, 0, fmt.Errorf("pace.period is %v, and the sensors of the model read every %v; leave it out", b.Pace.Period, spec.Interval)
		}
		if !b.Pace.Start.IsZero() {
			return origin, 0, errors.New("pace.start: the model knows when its steps are; leave it out")
		}
		return spec.Origin, spec.Interval, nil
	}
	if b.Pace.Period <= 0 || b.Pace.Start.IsZero() {
		return origin, 0, errors.New("the model knows no clock: say when its steps are, pace: {period: 1m, start: 2030-01-02T15:04:05Z}")
	}
	if origin = b.Pace.Start; spec != nil {
		origin = origin.Add(-time.Duration(spec.Steps) * b.Pace.Period)
	}
	return origin, b.Pace.Period, nil
}

// name finds out which sensor is which node, and how they are called in topics.
func (w *mqttWorld) name() error {
	c := w.config
	w.labels, w.index, w.elsewhere = make([]string, len(w.nodes)), map[string]int{}, map[string]bool{}
	called := map[string]int{}
	for k, node := range w.nodes {
		label := strconv.Itoa(int(node))
		if w.spec != nil && int(node) < len(w.spec.Sensors) {
			label = w.spec.Sensors[node]
		} else if c.Sensors[uint32(node)] != "" {
			label = c.Sensors[uint32(node)]
		}
		if _, twice := called[label]; twice {
			return fmt.Errorf("sensors: two nodes are called %q", label)
		}
		w.labels[k], called[label] = label, k
	}
	if w.spec != nil {
		for _, label := range w.spec.Sensors {
			_, here := called[label]
			w.elsewhere[label] = !here
		}
	}
	renamed := map[string]bool{}
	for topic, label := range c.World.Names {
		k, here := called[label]
		switch {
		case here:
			w.index[topic], renamed[label] = k, true
		case !w.elsewhere[label]:
			return fmt.Errorf("names: %s is said to be %q, and no sensor is called so; there are %s", topic, label,
				some(slices.Sorted(maps.Keys(called))))
		default:
			w.elsewhere[topic] = true
		}
	}
	for label, k := range called {
		if _, taken := w.index[label]; !renamed[label] && !taken {
			w.index[label] = k
		}
	}
	for name := range w.index {
		topic, err := w.template.Topic(name)
		if err != nil {
			return err
		}
		w.topics = append(w.topics, topic)
	}
	slices.Sort(w.topics)
	return nil
}

// some names the first of a list.
func some(list []string) string {
	if len(list) > 6 {
		return fmt.Sprintf("%s and %d more", strings.Join(list[:6], ", "), len(list)-6)
	}
	return strings.Join(list, ", ")
}

// filters returns what to subscribe to: a wildcard, which also hears sensors that nobody
// knows, where all sensors are here and the broker permits it; else every topic by itself.
func (w *mqttWorld) filters() [][]string {
	if all, ok := w.template.Filter(); ok && len(w.config.Hosts) == 1 {
		wild := []string{all}
		for name := range w.index {
			if strings.Contains(name, "/") { // + stands for one level
				topic, _ := w.template.Topic(name) // name has looked at it
				wild = append(wild, topic)
			}
		}
		slices.Sort(wild[1:])
		return [][]string{wild, w.topics}
	}
	return [][]string{w.topics}
}

// mqttLinks finds the links of nodes that the configuration does not name: those of the
// file, or of the model.
func (b *Box) mqttLinks(w *mqttWorld) error {
	if w.spec == nil {
		if b.World.Graph != "" {
			return errors.New("graph is for models that forecast, by the names of their sensors; give links")
		}
		return nil
	}
	names := slices.Clone(w.spec.Sensors)
	for node := len(names); node <= int(slices.Max(b.nodes)); node++ {
		name := b.Sensors[uint32(node)]
		if name == "" {
			name = strconv.Itoa(node)
		}
		names = append(names, name)
	}
	graphs, err := b.sensorGraphs(&data.Series{Names: names, Known: len(w.spec.Sensors), Nodes: len(names), Steps: 1})
	if err != nil {
		return err
	}
	if len(graphs.Graphs) != 1 {
		return fmt.Errorf("graph %s changes by time, and sensors speak now; give the links of today", b.World.Graph)
	}
	w.links = make([][]agent.Link, len(b.nodes))
	for k, node := range b.nodes {
		if _, named := b.Links[uint32(node)]; !named {
			w.links[k] = agent.LinksOf([]agent.Link{}, graphs.Graphs[0].Adjacency(), int(node))
		}
	}
	return nil
}

// describe says what is heard and where answers go.
func (w *mqttWorld) describe() string {
	c := w.config
	who := "nobody by name"
	if c.World.Broker.User != "" {
		who = c.World.Broker.User
	}
	if w.tls == nil {
		who += ", without encryption"
	}
	text := fmt.Sprintf("MQTT at %s as %s, QoS %d: %s of %d sensors, every %s", c.World.Broker.URL, who, c.World.Broker.qos(),
		c.World.Topic, len(w.nodes), duration.Text(w.grid.Interval))
	if c.World.Hold > 0 {
		text += fmt.Sprintf(", held for %s", duration.Text(c.World.Hold))
	}
	if prefix := c.publishes(); prefix != "" {
		text += fmt.Sprintf("; answers to %s/%s/…", prefix, c.Run)
	}
	if c.World.Discovery != "" {
		text += ", and Home Assistant is told below " + c.World.Discovery
	}
	return text
}

// nothing is a number that nobody knows.
var nothing = float32(math.NaN())
