package host

import (
	"cmp"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/wdgnn/wdgnn/agent"
)

// BrokenSensor is a sensor whose readings are not used.
type BrokenSensor struct {
	Node   agent.NodeID `json:"node"`
	Sensor string       `json:"sensor,omitempty"`
	Why    string       `json:"why"`
	Since  uint64       `json:"since"` // the step
}

const (
	mostBroken = 1000 // in a report
	mostBreaks = 5    // of one sensor that the log has
)

// SensorAge says how long ago a sensor was last read.
type SensorAge struct {
	Node    agent.NodeID `json:"node"`
	Sensor  string       `json:"sensor,omitempty"`
	Steps   uint64       `json:"steps"`
	Seconds float64      `json:"seconds,omitempty"` // by the clock of the series of training
}

// silentSteps is how many steps without a reading make a sensor silent.
const silentSteps = 12

// forecasts says whether nodes do.
func (h *Machine) forecasts() bool { return h.cfg.Plan.Forecast != nil }

// learns says whether nodes do.
func (h *Machine) learns() bool { return h.cfg.Plan.Basis != nil || h.cfg.Plan.Season != nil }

// truth returns what the world was by a line that has a reading, where nodes
// forecast: one number, NaN if nobody knows; nil if the line does not tell it apart.
// One that makes no sense is nothing that anybody knows.
func (h *Machine) truth(n *NodeLine) []float32 {
	if n.Target == nil && n.Gradient == nil {
		return nil
	}
	if err := checkTruth(n); err != nil {
		h.stats.BadTargets++
		h.complain("target", "%v", err)
		return []float32{float32(math.NaN())}
	}
	return n.Target
}

// checkTruth reports a target that cannot be what the world was.
func checkTruth(n *NodeLine) error {
	if len(n.Target) != 1 || n.Gradient != nil || math.IsInf(float64(n.Target[0]), 0) {
		return fmt.Errorf("host: node %d: a target of %d numbers, gradient of %d: where nodes forecast "+
			"a target is one number, the truth of its time, null if nobody knows", n.Node, len(n.Target), len(n.Gradient))
	}
	return nil
}

// tellTruths takes in what the world was at a step, which its line did not say. Nodes
// learn from it when the next begins.
func (h *Machine) tellTruths(l *Line) {
	for k := range l.Nodes {
		n := &l.Nodes[k]
		if n.Target == nil && n.Gradient == nil {
			continue
		}
		i, ok := h.find(n)
		if !ok {
			h.stats.StrayLines++
			h.warnOnce("stray", h.stranger(n))
			continue
		}
		if err := checkTruth(n); err != nil {
			h.stats.BadTargets++
			h.warnOnce("target", err.Error())
			continue
		}
		if unknown(n.Target[0]) {
			continue
		}
		if err := h.step(i, agent.Told{Time: l.Time, Truth: n.Target[0]}); err != nil {
			h.stats.StaleLines++
			h.warnOnce("stale target", err.Error()+"; learn.delay says how many steps late they may come")
		}
	}
}

// announce logs that a sensor is found broken, or is back, and that a newcomer begins.
func (h *Machine) announce(c *cell) {
	args := []any{"node", c.node.ID(), "time", h.time}
	if name := h.cfg.Names[c.node.ID()]; name != "" {
		args = append([]any{"sensor", name}, args...)
	}
	s := c.node.Sensor()
	if s == nil {
		if !c.awaits {
			c.awaits = true
			h.info("a node that was not in training forecasts as soon as it hears a sensor that was", args...)
		}
		return
	}
	if c.awaits {
		c.awaits = false
		h.info("a node that was not in training has joined: it begins with what its neighbours know", args...)
	}
	why, since := s.Broken()
	switch {
	case why != "" && c.broken.Why == "":
		h.stats.Broken++
		c.breaks++
		h.log(c.loudly(slog.LevelWarn), "a sensor is broken: its readings are not used until they are trusted again",
			append(args, "why", why, "since", since))
	case why == "" && c.broken.Why != "":
		h.log(c.loudly(slog.LevelInfo), "a sensor is back: its readings are used again", append(args, "broken_since", c.broken.Since))
	}
	c.broken = BrokenSensor{c.node.ID(), h.cfg.Names[c.node.ID()], why, since}
}

// loudly returns the level at which the log hears of a sensor, which is a whisper
// for one that comes and goes.
func (c *cell) loudly(level slog.Level) slog.Level {
	if c.breaks > mostBreaks {
		return slog.LevelDebug
	}
	return level
}

// broken returns the sensors whose readings are not used, the first thousand, and how
// many there are.
func (h *Machine) broken() (list []BrokenSensor, all int) {
	for i := range h.cells {
		if b := &h.cells[i].broken; b.Why != "" {
			if all++; all <= mostBroken {
				list = append(list, *b)
			}
		}
	}
	return list, all
}

// senses says whether a node has a sensor: a newcomer has none before it hears one of training.
func (h *Machine) senses(c *cell) bool { return !h.forecasts() || c.node.Sensor() != nil }

// grow makes all readings older by the steps up to the one that begins.
func (h *Machine) grow(time uint64) {
	passed := uint64(1)
	if h.begun {
		passed = time - h.time
	}
	for i := range h.cells {
		h.cells[i].age += passed
		h.cells[i].missed = true
	}
}

// read takes in how old the reading of a line is.
func (c *cell) read(n *NodeLine) {
	if c.missed = len(n.Row) == 0 || unknown(n.Row[0]); !c.missed || n.Age > 0 {
		c.age = n.Age
	}
}

// hush logs which sensors have just fallen silent, and which are heard again. Of one that
// comes and goes it says so a few times.
func (h *Machine) hush() {
	var silent, back []string
	for i := range h.cells {
		c := &h.cells[i]
		was := c.hushed
		c.hushed = c.missed && c.age >= silentSteps && h.senses(c)
		if c.hushed == was || c.breaks > mostBreaks {
			continue
		}
		name := cmp.Or(h.cfg.Names[c.node.ID()], fmt.Sprint(c.node.ID()))
		if was {
			back = append(back, name)
			continue
		}
		c.breaks++
		silent = append(silent, name)
	}
	if len(silent) > 0 {
		h.warn("sensors are silent: are they dead, or cut off?", "sensors", some(silent), "time", h.time, "steps", silentSteps)
	}
	if len(back) > 0 {
		h.info("sensors that were silent are read again", "sensors", some(back), "time", h.time)
	}
}

// some names the first of a list.
func some(list []string) string {
	const most = 20
	if len(list) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(list[:most], ", "), len(list)-most)
	}
	return strings.Join(list, ", ")
}

// ages returns how long ago sensors were last read, and how many are silent. Nodes that do
// not forecast take part with a reading or not at all: only those that did not are named.
func (h *Machine) ages() (list []SensorAge, silent int) {
	interval := time.Duration(0)
	if s := h.cfg.Plan.Forecast; s != nil {
		interval = s.Interval
	}
	for i := range h.cells {
		c := &h.cells[i]
		if c.hushed {
			silent++
		}
		if h.senses(c) && (c.age > 0 || h.forecasts()) {
			list = append(list, SensorAge{c.node.ID(), h.cfg.Names[c.node.ID()], c.age, (time.Duration(c.age) * interval).Seconds()})
		}
	}
	slices.SortStableFunc(list, func(a, b SensorAge) int { return cmp.Compare(b.Steps, a.Steps) })
	return list[:min(len(list), mostBroken)], silent
}

// compareForecast takes in how forecasts of a node turned out that are judged in this
// step.
func (h *Machine) compareForecast(c *cell) {
	if j := c.node.Judged(); j.Horizons > 0 && h.learns() {
		h.contest.add(h.time, j.Answered, j.Trained)
	}
}
