package box

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"sync"
	"time"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/forecast"
	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/internal/mqtt"
)

// mqttWorld is a world of sensors that speak MQTT. Steps come by the clock, with what was
// read until then: nobody waits for the broker.
type mqttWorld struct {
	config   *Config
	nodes    []agent.NodeID // of this box
	spec     *forecast.Spec // nil if the model does not forecast
	cost     host.Cost
	template mqtt.Template
	format   mqtt.Format
	tls      *tls.Config
	grid     *mqtt.Grid
	wait     time.Duration // of a step, for readings after its time

	labels    []string        // of nodes: names of sensors, or numbers
	index     map[string]int  // of nodes, by names in topics
	elsewhere map[string]bool // names of sensors on other boxes
	topics    []string        // of all sensors here
	links     [][]agent.Link  // of nodes, nil where the configuration names them

	log    *slog.Logger
	out    *outbox // nil if answers go to no file
	kept   *readingLog
	before []loggedReading // of an earlier start
	client *mqtt.Client
	clock  *clock
	lines  chan *host.Line
	in     chan mqtt.Message
	halt   chan struct{}
	done   chan struct{}

	queue   []*host.Line // for the host
	started bool         // the first line was made, with links
	begun   bool         // start was called
	last    time.Time    // when something was heard, or the world began

	mu     sync.Mutex
	fates  map[string]uint64 // of readings
	spoke  time.Time         // when a sensor last did, by the machine's clock, or the world began
	latest map[string][]byte // answers, by topic: what a broker that was away should know

	said   map[string]bool // in the log
	mute   bool            // it was said that no sensor speaks
	unkept sync.Once
}

const (
	incoming    = 1024                   // messages that wait to be looked at
	mostQueued  = 4                      // steps that wait for the host
	mostBehind  = 1000                   // steps that are caught up with after a start, if something was read then
	quietFor    = 500 * time.Millisecond // without a message: what a broker had kept has come
	settleMost  = 5 * time.Second        // for all of it
	muteLeast   = 20 * time.Second       // without a reading of any sensor: something is wrong
	muteSteps   = 3                      // as long as so many steps, where they are longer
	mostPayload = 64 << 10               // bytes of a message
	mostSaid    = 20                     // lines of the log about readings that are not used
)

// What becomes of messages beside the fates of [mqtt.Fate].
const (
	fateUsed      = "used"
	fateNumber    = "no_number"
	fatePointer   = "no_pointer"
	fateTime      = "no_time"
	fateUnknown   = "unknown_sensor"
	fateElsewhere = "elsewhere"
	fateRetained  = "retained"
	fateNull      = "null"
	fateLong      = "too_long"
)

// open gives the world what is around it.
func (w *mqttWorld) open(b *Box) (err error) {
	w.log, w.lines, w.in = b.log, make(chan *host.Line, 1), make(chan mqtt.Message, incoming)
	w.fates, w.latest, w.said = map[string]uint64{}, map[string][]byte{}, map[string]bool{}
	if w.config.World.Answers != "" {
		w.out = b.answers
	}
	if w.config.State == "" {
		return nil
	}
	least := max(10*time.Second, 5*w.config.CheckpointEvery, 2*w.grid.Interval+w.wait, w.config.World.Hold)
	if w.kept, w.before, err = openReadingLog(w.config.abs(w.config.State), least); err != nil {
		return fmt.Errorf("world: what was read before cannot be read again: %w", err)
	}
	b.later(w.kept.close)
	return nil
}

// Lines implements [host.World].
func (w *mqttWorld) Lines() <-chan *host.Line { return w.lines }

// Refused returns how many messages could not be read.
func (w *mqttWorld) Refused() uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.fates[fateNumber] + w.fates[fatePointer] + w.fates[fateTime]
}

// Lost returns how many answers were taken and not published, or not written.
func (w *mqttWorld) Lost() (n uint64) {
	if w.client != nil {
		n = w.client.Failed()
	}
	if w.out != nil {
		n += w.out.lost.Load()
	}
	return n
}

// broker returns how things are with the broker, nil before the start.
func (w *mqttWorld) broker() *host.Broker {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.client == nil {
		return nil
	}
	return &host.Broker{Connected: w.client.Connected(), Connects: w.client.Connects(), Readings: maps.Clone(w.fates)}
}

// err says what is wrong with the broker, the file of answers or the sensors.
func (w *mqttWorld) err() error {
	w.mu.Lock()
	client := w.client
	w.mu.Unlock()
	if client == nil {
		return nil
	}
	err := client.Err()
	if w.out != nil {
		err = cmp.Or(err, w.out.err())
	}
	return cmp.Or(err, w.silence())
}

// silence is an error if no sensor was heard for longer than their readings are apart.
func (w *mqttWorld) silence() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	since := time.Since(w.spoke)
	if since < max(muteLeast, muteSteps*w.grid.Interval)+w.wait+w.config.World.Hold {
		return nil
	}
	refused := uint64(0)
	for _, fate := range []string{
		fateNumber, fatePointer, fateTime, fateUnknown, fateLong, fateRetained, string(mqtt.Future), string(mqtt.Old),
	} {
		refused += w.fates[fate]
	}
	if refused > 0 {
		return fmt.Errorf("no reading of any sensor for %v; %d messages so far could not be used, and the log says why",
			since.Round(time.Second), refused)
	}
	return fmt.Errorf("no reading of any sensor for %v; is world.topic right, %s? mosquitto_sub -t '#' -v shows what others publish",
		since.Round(time.Second), w.config.World.Topic)
}

// listen says in the log when sensors fall silent, all of them, and when they speak again.
func (w *mqttWorld) listen() {
	switch err := w.silence(); {
	case err != nil && !w.mute && w.client.Connected():
		w.mute = true
		w.log.Warn("mqtt: nothing is heard; steps go on with gaps", "err", err)
	case err == nil && w.mute:
		w.mute = false
		w.log.Info("mqtt: sensors are heard again")
	}
}

func (w *mqttWorld) start(next uint64) error {
	w.clock = w.config.newGridClock(next, w.grid.Origin, w.grid.Interval)
	first := w.clock.first(next)
	from := first
	queued := w.format.Timed() && w.config.World.Broker.qos() > 0 // the broker may have kept what was read meanwhile
	if queued || len(w.before) > 0 {
		from = min(max(next, first-min(first, mostBehind)), first)
	}
	w.grid.Begin(from)
	w.replay(from)
	c := w.config
	client := mqtt.Start(mqtt.Config{
		URL: c.World.Broker.URL, User: c.World.Broker.User, PasswordFile: c.abs(c.World.Broker.PasswordFile), TLS: w.tls,
		ClientID: cmp.Or(c.World.Broker.Client, fmt.Sprintf("wdgnn-%s-%d", c.Run, c.Host)), QoS: c.World.Broker.qos(),
		Filters: w.filters(), Status: w.status(), Take: w.take, OnConnect: w.announce, Log: w.log,
	})
	w.mu.Lock()
	w.client, w.begun, w.spoke = client, true, time.Now()
	w.mu.Unlock()
	go w.run(from, first)
	return nil
}

func (w *mqttWorld) stop() {
	close(w.halt)
	if w.begun {
		w.client.Close()
		<-w.done
	}
}

// replay reads again what was heard before the start and is of steps to come.
func (w *mqttWorld) replay(from uint64) {
	now := w.clock.now()
	for _, b := range w.before {
		name, _ := w.template.Name(b.Topic)
		k, here := w.index[name]
		r, err := w.format.Read([]byte(b.Payload), b.Came)
		step, ok := w.grid.Step(r.At)
		unfit, _ := w.unfit(mqtt.Message{Topic: b.Topic, Payload: []byte(b.Payload), Retained: b.Retained})
		if !here || err != nil || math.IsNaN(float64(r.Row[0])) || !ok || unfit != "" {
			continue
		}
		if step < from {
			w.grid.Recall(k, r) // for as long as it is held
			continue
		}
		w.place(k, b.Topic, r, now)
	}
	w.before = nil
}

// take hears a message from the client, which acknowledges it then.
func (w *mqttWorld) take(m mqtt.Message) {
	name, _ := w.template.Name(m.Topic)
	if _, here := w.index[name]; here && len(m.Payload) <= mostPayload {
		if err := w.kept.put(m); err != nil {
			w.unkept.Do(func() { w.log.Warn("mqtt: readings cannot be kept for a restart; they are used", "err", err) })
		}
	}
	select {
	case w.in <- m:
	case <-w.halt:
	}
}

// run makes lines of readings, from step from on, until the end. Before step first, what
// the broker had kept must come.
func (w *mqttWorld) run(from, first uint64) {
	defer close(w.done)
	defer close(w.lines)
	step, began := from, time.Now()
	w.last = began
	settled := from == first
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		settled = settled || w.settled(began)
		pause := quietFor / 5
		if settled && len(w.queue) < mostQueued {
			step = w.skip(step)
			if pause = w.due(step); pause <= 0 {
				w.close(step)
				w.listen()
				step++
				continue
			}
		}
		timer.Reset(min(pause, tolerance))
		var to chan *host.Line
		var line *host.Line
		if len(w.queue) > 0 {
			to, line = w.lines, w.queue[0]
		}
		select {
		case to <- line:
			w.queue = w.queue[1:]
		case m := <-w.in:
			w.last = time.Now()
			w.hear(m)
		case <-timer.C:
		case <-w.halt:
			return
		}
	}
}

// settled says whether all has come that a broker had kept.
func (w *mqttWorld) settled(began time.Time) bool {
	if !w.client.Connected() {
		w.last = time.Now()
	}
	return time.Since(w.last) > quietFor || time.Since(began) > settleMost
}

// skip leaves out steps that are over and of which nothing was read.
func (w *mqttWorld) skip(step uint64) uint64 {
	now := w.clock.first(step)
	if now <= step+1 {
		return step
	}
	if open, ok := w.grid.Earliest(); ok {
		return min(open, now-1)
	}
	return now - 1
}

// due returns how long it is until a step begins: at its time if all was read, or else
// some time later.
func (w *mqttWorld) due(step uint64) time.Duration {
	left := w.clock.left(step)
	if left > 0 || w.grid.Complete(step) {
		return left
	}
	return left + w.wait
}

// close makes the line of a step.
func (w *mqttWorld) close(step uint64) {
	w.clock.begun = true // from now on a jump of the machine's clock is one
	rows, _ := w.grid.Take(step)
	line := &host.Line{Time: step}
	for k, node := range w.nodes {
		n := host.NodeLine{Node: node, Row: rows[k], Age: w.grid.Age(k, step)}
		if n.Row == nil && w.spec != nil {
			n.Row = make(host.Numbers, 1+w.spec.Extras)
			for c := range n.Row {
				n.Row[c] = nothing
			}
		}
		if !w.started && w.links != nil && w.links[k] != nil {
			n.SetLinks(w.links[k])
		}
		if n.Row != nil || n.Links != nil {
			line.Nodes = append(line.Nodes, n)
		}
	}
	w.started = true
	if len(line.Nodes) > 0 {
		w.queue = append(w.queue, line)
	}
}

// hear finds out what a message says, and of whom.
func (w *mqttWorld) hear(m mqtt.Message) {
	name, ok := w.template.Name(m.Topic)
	k, here := w.index[name]
	now := w.clock.now()
	switch {
	case ok && here:
	case ok && w.elsewhere[name]:
		w.count(fateElsewhere)
		return
	default:
		w.count(fateUnknown)
		w.say(fateUnknown+name, "mqtt: no sensor of the model is called so; world.names says who is who", "topic", m.Topic)
		return
	}
	if fate, why := w.unfit(m); fate != "" {
		w.count(fate)
		w.say(fate+name, why, "topic", m.Topic, "bytes", len(m.Payload))
		return
	}
	r, err := w.format.Read(m.Payload, now)
	if err != nil {
		fate := refusal(err)
		w.count(fate)
		w.say(fate+name, "mqtt: a reading cannot be read; others like it are counted without a word", "topic", m.Topic, "err", err)
		return
	}
	if math.IsNaN(float64(r.Row[0])) {
		w.count(fateNull)
		return
	}
	w.place(k, m.Topic, r, now)
}

// unfit returns the fate of a message that is not looked into, and why it is not; "" if it is.
func (w *mqttWorld) unfit(m mqtt.Message) (fate, why string) {
	switch {
	case len(m.Payload) > mostPayload:
		return fateLong, "mqtt: a reading is too long to be looked into"
	case m.Retained && !w.format.Timed() && w.config.World.Hold == 0:
		return fateRetained, "mqtt: a retained reading is of unknown age and not used; world.time or world.hold would place it"
	}
	return "", ""
}

// refusal returns why a payload was not read.
func refusal(err error) string {
	switch {
	case errors.Is(err, mqtt.ErrNumber):
		return fateNumber
	case errors.Is(err, mqtt.ErrTime):
		return fateTime
	}
	return fatePointer
}

// place puts a reading on its step.
func (w *mqttWorld) place(k int, topic string, r mqtt.Reading, now time.Time) {
	fate, step, instead := w.grid.Put(k, r, now)
	if instead {
		fate = mqtt.Superseded // the one that was there
	}
	switch fate {
	case mqtt.Placed:
		w.count(fateUsed)
		return
	case mqtt.Late:
		w.truth(k, step, r)
	case mqtt.Future:
		w.say(string(fate)+topic, "mqtt: a reading is of the future and not used; one of the two clocks is wrong",
			"topic", topic, "at", r.At.Format(time.RFC3339), "now", now.Format(time.RFC3339))
	case mqtt.Old:
		w.say(string(fate)+topic, "mqtt: a reading is too old to be used", "topic", topic, "at", r.At.Format(time.RFC3339))
	}
	w.count(string(fate))
}

// truth tells late what a sensor read at a step that had to go on without: where nodes
// forecast they learn from it.
func (w *mqttWorld) truth(k int, step uint64, r mqtt.Reading) {
	if w.spec == nil {
		return
	}
	n := host.NodeLine{Node: w.nodes[k], Target: host.Numbers{r.Row[0]}}
	if last := len(w.queue) - 1; last >= 0 && w.queue[last].Time == step && w.queue[last].Nodes[0].Row == nil {
		w.queue[last].Nodes = append(w.queue[last].Nodes, n)
		return
	}
	w.queue = append(w.queue, &host.Line{Time: step, Nodes: []host.NodeLine{n}})
}

// count counts what became of a message.
func (w *mqttWorld) count(fate string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fates[fate]++
	switch fate {
	case fateUsed, fateNull, string(mqtt.Late), string(mqtt.Superseded):
		w.spoke = time.Now()
	}
}

// say logs something once, and not more than so many things.
func (w *mqttWorld) say(key, text string, args ...any) {
	if w.said[key] || len(w.said) > mostSaid {
		return
	}
	if w.said[key] = true; len(w.said) > mostSaid {
		w.log.Warn("mqtt: more readings are not used for such reasons; metrics count them")
		return
	}
	w.log.Warn(text, args...)
}
