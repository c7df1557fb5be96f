package box

import (
	"fmt"
	"strings"
	"time"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/internal/keys"
	"github.com/wdgnn/wdgnn/rule"
)

// Describe says in words what Run would do, a line for each subject. It reads
// the model, the keys and the files of a stream, and starts nothing.
func Describe(c *Config) (string, error) {
	if err := c.Validate(); err != nil {
		return "", err
	}
	b := &Box{Config: c}
	if err := b.read(); err != nil {
		return "", err
	}
	plan, err := c.Plan(b.model)
	if err != nil {
		return "", err
	}
	seed, err := b.readSeed(plan)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	say := func(subject, format string, args ...any) {
		fmt.Fprintf(&out, "%-8s %s\n", subject, fmt.Sprintf(format, args...))
	}
	say("run", "%s, host %d of %d: nodes %s", c.Run, c.Host, len(c.Hosts), host.FormatNodes(b.nodes))
	b.sayModel(say, plan)
	say("learn", "%s", b.describeLearning(plan))
	if seed != nil {
		say("seed", "%s", b.describeSeed())
	}
	say("digest", "%s", describeDigest(plan))
	bounds, err := b.describeBounds()
	if err != nil {
		return "", err
	}
	say("bounds", "%s", bounds)
	bus, err := c.describeBus()
	if err != nil {
		return "", err
	}
	say("bus", "%s", bus)
	joins, err := c.describeJoining()
	if err != nil {
		return "", err
	}
	if joins != "" {
		say("joins", "%s", joins)
	}
	world, err := b.describeWorld(plan)
	if err != nil {
		return "", err
	}
	say("world", "%s", world)
	say("pace", "%s", c.describePace())
	if c.State == "" {
		say("state", "none: a restart begins anew; name a folder with state:")
	} else {
		every := c.CheckpointEvery
		if every == 0 {
			every = time.Second
		}
		say("state", "%s, a checkpoint every %v", c.State, every)
	}
	if at := c.serves(); at != "" {
		say("metrics", "http://%s/metrics, /status, /healthz", at)
	}
	if c.Faults != nil && c.Faults.Any() {
		say("faults", "ON PURPOSE: what arrives is disturbed")
	}
	if c.Faults != nil {
		say("trial", "the world may have frames lost and nodes reset")
	}
	return out.String(), nil
}

// sayModel describes the model, where it is from, and what it forecasts.
func (b *Box) sayModel(say func(subject, format string, args ...any), plan *agent.Plan) {
	say("model", "%s: %s", b.modelName(), b.describeModel(plan))
	if d := b.deployed; d != nil {
		say("deploy", "%s", b.describeDeployment(d))
	}
	if plan.Forecast != nil {
		say("forecast", "%s", b.describeForecast(plan.Forecast))
	}
}

// describeDigest names what all boxes of a run must have in common.
func describeDigest(p *agent.Plan) string {
	return fmt.Sprintf("%06x, the same on all boxes of the run", p.Digest())
}

func (b *Box) describeModel(p *agent.Plan) string {
	n := b.model.Network
	parts := []string{fmt.Sprintf("%d in, %d out", n.Config.In, n.Outputs())}
	if n.Config.Wide != nil {
		parts = append(parts, fmt.Sprintf("a wide part of order %d", n.Config.Wide.Order))
	}
	if k := len(n.Config.Deep); k > 0 {
		parts = append(parts, fmt.Sprintf("%d layers", k))
	}
	shift := "shift " + p.Operator.String()
	if !p.Operator.Local() {
		shift += fmt.Sprintf(" with scale %v", p.Scale)
	}
	mode := fmt.Sprintf("%d exchanges per step", p.Exchanges())
	if p.Delayed {
		mode = "delayed, one exchange per step"
	}
	return strings.Join(append(parts, shift, mode), "; ")
}

func (b *Box) describeLearning(p *agent.Plan) string {
	if p.Season != nil {
		return p.Rule.Season.String()
	}
	if p.Basis == nil {
		return "not at all: nodes predict only; try learn: {preset: auto}"
	}
	if p.Rule.Retrain == rule.RetrainHeard {
		known := 0
		for _, node := range b.nodes {
			if p.Basis.Hears(int(node)) {
				known++
			}
		}
		return fmt.Sprintf("neighbours: %s, a weight for every neighbour; %d of %d nodes are known from training",
			p.Rule.Newton, known, len(b.nodes))
	}
	if w := p.Rule.Newton; w != nil {
		return fmt.Sprintf("own: %s, %d numbers per node", w, p.Basis.Len())
	}
	preset := p.Rule.Settings().Preset
	if b.Learn.Rule != "" {
		preset = fmt.Sprintf("%s, a rule of this program, with the preset %s", b.Learn.Rule, preset)
	}
	more := ""
	if p.Rule.Gate == nil {
		more = "; no gate: what is learned is answered, whatever it costs"
	}
	if h := p.Rule.Delay; h > 0 {
		more += fmt.Sprintf("; targets may come %d steps late", h)
	}
	return fmt.Sprintf("%s: %d numbers per node%s", preset, p.Basis.Len(), more)
}

// describeBounds says what is accepted from neighbours.
func (b *Box) describeBounds() (string, error) {
	switch {
	case b.MaxNorm < 0:
		return "none: neighbours are believed whatever they send; leave max_norm out for four times what training saw", nil
	case b.MaxNorm > 0:
		return fmt.Sprintf("rows and parameters no longer than %v", b.MaxNorm), nil
	}
	_, source, err := maxRows(b.model)
	return source, err
}

// describeBus looks at the keys as well.
func (c *Config) describeBus() (string, error) {
	switch c.Bus.Kind {
	case BusNATS:
		if c.Bus.Keys == "" {
			return fmt.Sprintf("NATS at %s, without keys: anybody who reaches the server may speak as any host", c.Bus.URL), nil
		}
		_, err := keys.LoadClient(c.abs(c.Bus.Keys), keys.HostName(c.Host))
		return fmt.Sprintf("NATS at %s, with the keys of %s", c.Bus.URL, keys.HostName(c.Host)), err
	case BusTCP:
		if c.Bus.Keys == "" {
			return "direct links without keys, on loopback addresses only", nil
		}
		_, err := keys.HostTLS(c.abs(c.Bus.Keys), c.Host)
		return fmt.Sprintf("direct links with the keys of %s, to %d other hosts at most", keys.HostName(c.Host), len(c.Hosts)-1), err
	}
	return "none: all nodes are here", nil
}

// describeWorld reads the files of a stream.
func (b *Box) describeWorld(p *agent.Plan) (string, error) {
	answers := "stdout"
	if b.World.Answers != "" {
		answers = b.World.Answers
	}
	switch {
	case b.World.Kind == WorldSubject:
		return "lines over NATS, answers too", nil
	case b.World.Kind == WorldMQTT:
		if err := b.loadFiles(p); err != nil {
			return "", err
		}
		return b.sensed.describe(), nil
	case b.World.Kind == WorldStream:
		if err := b.loadFiles(p); err != nil {
			return "", err
		}
		if b.series != nil {
			return b.describeSeries(p, answers), nil
		}
		s := b.files
		targets := "targets are " + string(b.cost)
		if b.World.Targets == "" {
			targets = "no targets: nothing to learn from"
		}
		return fmt.Sprintf("a stream of %d steps on %d nodes; %s; answers to %s", s.Steps, s.Nodes, targets, answers), nil
	case b.World.File != "":
		return fmt.Sprintf("lines of %s; targets are %s; answers to %s", b.World.File, b.cost, answers), nil
	}
	return fmt.Sprintf("lines on stdin; targets are %s; answers to %s, reports to stdout", b.cost, answers), nil
}

// describeSeries says what is played.
func (b *Box) describeSeries(p *agent.Plan, answers string) string {
	f := b.series
	text := fmt.Sprintf("a series of %d steps of %d sensors", f.series.Steps, f.series.Nodes)
	if at := p.Forecast.Time(f.from); !at.IsZero() {
		text += ", from " + at.Format(time.DateTime)
	} else {
		text += fmt.Sprintf(", from step %d", f.from)
	}
	if dropped := f.from - f.first; dropped > 0 {
		text += fmt.Sprintf(" on: its first %d steps are known", dropped)
	}
	if f.truths != nil {
		text += "; truths of " + b.World.Truths
	}
	text += "; answers to " + answers
	if f.unlike != nil {
		text += "; " + f.unlike.Error()
	}
	return text
}

func (c *Config) describePace() string {
	p := c.pace()
	deadline := p.Deadline
	if deadline == 0 {
		deadline = host.DefaultDeadline
	}
	if p.Mode == host.RealTime {
		tick := "a tick for each line of the world"
		if c.Pace.Period > 0 {
			tick = fmt.Sprintf("a tick every %v", c.Pace.Period)
		}
		return fmt.Sprintf("real time: %s, silent neighbours are given up after %v", tick, deadline)
	}
	return fmt.Sprintf("lockstep: a step waits for neighbours, up to %v", deadline)
}
