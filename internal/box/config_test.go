package box_test

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/internal/box"
	"github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/rule"
	"github.com/wdgnn/wdgnn/transport"
)

// A configuration that is written and read again is the same.
func TestConfigRoundTrip(t *testing.T) {
	f := newFixture(t, graph.ShiftRowStochastic, true)
	c := f.config(1, 3)
	c.Scale, c.Cost, c.MaxNorm, c.ClipNorm = 4.5, host.CrossEntropy, 100, 10
	c.Links = map[uint32][]host.Link{4: {{Node: 5, Weight: 1}, {Node: 9, Weight: 0.5}}, 7: {}}
	c.Hear = []transport.HostID{0, 2}
	c.Bus = box.Bus{Kind: box.BusNATS, URL: "nats://127.0.0.1:4222", Keys: "keys/host-1"}
	c.Pace.Mode, c.Pace.Period, c.Pace.Start = host.RealTime, 100*time.Millisecond, time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	c.Pace.First, c.Pace.Suspect = time.Minute, 5
	c.State, c.CheckpointEvery, c.Metrics = "state", 5*time.Second, "127.0.0.1:0"
	c.Faults = &transport.Faults{
		Seed: 7, Loss: 0.3, Delay: 20 * time.Millisecond,
		Partitions: []transport.Partition{{Hosts: []transport.HostID{2}, From: time.Second, To: 2 * time.Second}},
	}
	got := f.load(t, c)
	again := f.load(t, got)
	if !reflect.DeepEqual(got, again) {
		t.Errorf("read twice: got %+v, want %+v", again, got)
	}
	c.Links[7] = []host.Link{}
	want := *c
	gotLinks, wantLinks := got.Links, want.Links
	if !reflect.DeepEqual(gotLinks, wantLinks) || !reflect.DeepEqual(got.Faults, want.Faults) || !reflect.DeepEqual(got.Pace, want.Pace) ||
		!reflect.DeepEqual(got.Hosts, want.Hosts) || !reflect.DeepEqual(got.Learn, want.Learn) || got.Scale != want.Scale {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// good is a configuration in which everything is right.
const good = `run: test
host: 0
hosts: {0: {nodes: 0-11}}
model: model.safetensors
bus: {kind: none}
world: {kind: lines}
`

// What is wrong is said, all of it, with what to try.
func TestConfigRefusals(t *testing.T) {
	f := newFixture(t, graph.ShiftRowStochastic, true)
	for _, c := range []struct {
		name, old, new string   // new takes the place of old; empty old means at the end
		want           []string // parts of the error
	}{
		{"nothing", good, "", []string{"bad.yaml: the configuration is empty"}},
		{"no YAML", good, "run: [", []string{"bad.yaml: line 1"}},
		{"a list", good, "- run", []string{"want keys and values, such as run"}},
		{"two documents", "", "---\nrun: other\n", []string{"more than one YAML document"}},
		{"unknown key", "model:", "modle:", []string{`line 4: unknown key "modle"; did you mean "model"?`}},
		{"unknown key, far off", "", "colour: red\n", []string{`unknown key "colour"; the keys here are run, host, hosts`}},
		{"unknown key within", "{kind: none}", "{kind: none, ulr: x}", []string{`unknown key "bus.ulr"; did you mean "url"?`}},
		{"unknown key in a host", "{nodes: 0-11}", "{nods: 0-11}", []string{`"hosts.0.nods"; did you mean "nodes"?`}},
		{"unknown fault", "", "faults: {los: 0.3}\n", []string{`"faults.los"; did you mean "loss"?`}},
		{"a host twice", "{0: {nodes: 0-11}}", "{0: {nodes: 0-11}, 0x0: {nodes: 12}}", []string{`key "hosts.0" for the second time`}},
		{"twice", "", "run: again\n", []string{`line 7: key "run" for the second time`}},
		{
			"seed of 65 bits", "", "faults: {seed: 18446744073709551616}\n",
			[]string{`line 7: faults.seed is "18446744073709551616", want a whole number, 0 or more, below 2⁶⁴`},
		},
		{"a host and a half", "host: 0", "host: 0.5", []string{`line 2: host is "0.5", want a whole number, 0 or more, below 2³²`}},
		{"a node and a half", "", "links: {0.5: [1]}\n", []string{`a key of links is "0.5", want a whole number`}},
		{"a link to half a node", "", "links: {0: [1.5]}\n", []string{"want [node, weight]"}},
		{"half a step", "", "pace: {suspect: 2.5}\n", []string{`pace.suspect is "2.5", want a whole number`}},
		{
			"a word for a duration", "", "pace: {deadline: fast}\n",
			[]string{`line 7: pace.deadline is "fast", want a duration such as 200ms or 7d`},
		},
		{"half a nanosecond", "", "pace: {deadline: 1.5}\n", []string{`pace.deadline is "1.5", want a duration such as 200ms or 7d`}},
		{"a time in words", "", "pace: {start: noon}\n", []string{`pace.start is "noon", want a time such as 2030-01-02T15:04:05Z`}},
		{
			"unknown preset", "", "learn: {preset: wild}\n",
			[]string{`learn.preset is "wild", want auto, neighbours, own, paper or season`},
		},
		{"unknown key of the rule", "", "learn: {rigde: 3}\n", []string{`line 7: unknown key "learn.rigde"; did you mean "ridge"?`}},
		{"unknown key of the step", "", "learn: {step_size: {vlaue: 3}}\n", []string{`"learn.step_size.vlaue"; did you mean "value"?`}},
		{"a key in capitals", "", "learn: {Ridge: 3}\n", []string{`unknown key "learn.Ridge"; did you mean "ridge"?`}},
		{
			"unknown schedule", "", "learn: {step_size: {schedule: cosine}}\n",
			[]string{`learn.step_size.schedule is "cosine", want fixed or decaying`},
		},
		{"half a step late", "", "learn: {delay: 2.5}\n", []string{`learn.delay is "2.5", want a whole number`}},
		{
			"bad rule", "", "learn: {limit: -7, ridge: -1}\n",
			[]string{"bad.yaml: learn.limit is -7, want a number ≥ 0", "bad.yaml: learn.ridge is -1"},
		},
		{"learning in a word", "", "learn: own\n", []string{`learn is "own", want keys and values`}},
		{"a bad link", "", "links: {0: [[1, 2, 3]]}\n", []string{"[node, weight]"}},
		{"a link in words", "", "links: {0: [one]}\n", []string{"a link is a node, or [node, weight]"}},
		{"no run", "run: test", "run: ''", []string{"run:", "want 1 to 64"}},
		{"a run with dots", "run: test", "run: a.b", []string{"letters, digits"}},
		{"no such host", "host: 0", "host: 4", []string{"host is 4, which is not under hosts"}},
		{"bad nodes", "0-11", "0-x", []string{"want a list such as 0-9,12"}},
		{"shared nodes", "{0: {nodes: 0-11}}", "{0: {nodes: 0-6}, 1: {nodes: 6-11}}", []string{"node 6 belongs to host 0 and to host 1"}},
		{"no model", "model: model.safetensors", "model: ''", []string{"model: name a model file"}},
		{"bad scale", "", "scale: big\n", []string{`scale is "big", want a number`}},
		{"negative scale", "", "scale: -1\n", []string{"a number above 0"}},
		{"bad cost", "", "cost: love\n", []string{"cross-entropy, mse"}},
		{"links of others", "", "links: {40: [1]}\n", []string{"node 40 is not one of host 0, which has 0-11"}},
		{"links to nobody", "", "links: {4: [99]}\n", []string{"node 4 hears node 99, which no host has"}},
		{"a link that weighs too much", "", "links: {4: [[5, 1.0e+30]]}\n", []string{"link to 5 with weight 1e+30"}},
		{"hears nobody", "", "hear: [9]\n", []string{"there is no host 9"}},
		{"no bus", "{kind: none}", "{}", []string{`bus.kind is "", want nats, tcp, or none`}},
		{"no url", "{kind: none}", "{kind: nats}", []string{"bus.url", "nats://127.0.0.1:4222"}},
		{
			"plain, elsewhere", "{kind: none}", "{kind: nats, url: 'nats://127.0.0.1:4222,nats://10.0.0.1:4222', plain: true}",
			[]string{"not on loopback"},
		},
		{"no address", "{kind: none}", "{kind: tcp}", []string{"bus.listen"}},
		{
			"no address of others", "{0: {nodes: 0-11}}\nmodel: model.safetensors\nbus: {kind: none}",
			"{0: {nodes: 0}, 1: {nodes: 1}}\nmodel: m\nbus: {kind: tcp, listen: 'localhost:1'}",
			[]string{"host 1", "host:port"},
		},
		{"others without a bus", "{0: {nodes: 0-11}}", "{0: {nodes: 0}, 1: {nodes: 1}}", []string{"there are 2 hosts; try nats or tcp"}},
		{"faults without a bus", "", "faults: {loss: 0.5}\n", []string{"bus.kind is none"}},
		{"bad faults", "", "faults: {loss: 2}\n", []string{"want a probability"}},
		{"no world", "{kind: lines}", "{kind: sphere}", []string{"want lines, stream, subject or mqtt"}},
		{"half a stream", "{kind: lines}", "{kind: stream, signals: x.npy}", []string{"a stream needs signals and graph"}},
		{"a stream of lines", "{kind: lines}", "{kind: lines, signals: x.npy}", []string{"are of kind stream"}},
		{"a subject without NATS", "{kind: lines}", "{kind: subject}", []string{"needs bus.kind nats"}},
		{"mqtt without a broker", "{kind: lines}", "{kind: mqtt, topic: 's/{name}'}", []string{"world.broker.url: say where"}},
		{
			"a password in a URL", "{kind: lines}", "{kind: mqtt, topic: 's/{name}', broker: {url: 'mqtt://a:secret@b:1883'}}",
			[]string{"broker.password_file, so that it is in no log"},
		},
		{"another scheme", "{kind: lines}", "{kind: mqtt, topic: 's/{name}', broker: {url: 'tcp://b:1'}}", []string{"want mqtt://host:port"}},
		{
			"a switch", "{kind: lines}", "{kind: mqtt, topic: 's/{name}', broker: {url: 'mqtt://b:1'}, discovery: true}",
			[]string{"looks at, homeassistant"},
		},
		{
			"a topic without a name and more", "{kind: lines}",
			"{kind: mqtt, topic: s, values: [t], time: /x, publish: wdgnn/x, broker: {url: 'mqtt://b:1', qos: 2, ca: c, key: k, password_file: p}}",
			[]string{
				"world.topic:", "has no {name}", `"t" is no JSON pointer`, "below wdgnn the boxes", "qos is 2, want 0 or 1", "write mqtts://",
				"cert and key go together", "name it: user",
			},
		},
		{"a topic of lines", "{kind: lines}", "{kind: lines, topic: 's/{name}', hold: 1s}", []string{"are of kind mqtt, and this is lines"}},
		{"a period of stdin", "", "pace: {period: 1s}\n", []string{"pace.period is for streams and files"}},
		{
			"a period of several", "{0: {nodes: 0-11}}\nmodel: model.safetensors\nbus: {kind: none}\nworld: {kind: lines}",
			"{0: {nodes: 0}, 1: {nodes: 1}}\nmodel: m\nbus: {kind: nats, url: x}\nworld: {kind: lines, file: l}\npace: {period: 1s}",
			[]string{"must agree when step 0 is"},
		},
		{"a start without a period", "", "pace: {start: 2030-01-01T00:00:00Z}\n", []string{"needs a pace.period"}},
		{"bad pace", "", "pace: {mode: fast}\n", []string{"try lockstep or real-time"}},
		{"negative deadline", "", "pace: {deadline: -1s}\n", []string{"want 0 or more"}},
		{"bad metrics", "", "metrics: '9100'\n", []string{"127.0.0.1:9100"}},
		{"negative norm", "", "clip_norm: -1\n", []string{"want 0 or more"}},
		{"several", "host: 0\n", "host: 3\nscale: -2\n", []string{"host is 3", "scale is -2"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := good + c.new
			if c.old != "" {
				text = strings.Replace(good, c.old, c.new, 1)
			}
			check(t, os.WriteFile(f.path("bad.yaml"), []byte(text), 0o644))
			_, err := box.Load(f.path("bad.yaml"))
			if err == nil {
				t.Fatalf("read %q without an error, want %q", text, c.want)
			}
			for _, part := range c.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("got %q, want %q in it", err, part)
				}
			}
		})
	}
}

// Who is told how a cost bends learns by own, without a step size.
func TestCurvedTakesOwn(t *testing.T) {
	f := newFixture(t, graph.ShiftSymmetric, true)
	c := f.config(0, 1)
	c.Cost, c.Learn = host.Curved, &rule.Settings{Preset: "auto"}
	p, err := c.Plan(f.model)
	check(t, err)
	if _, square := p.Cost.(loss.MSE); !square || p.Rule.Newton == nil {
		t.Errorf("got a plan of %T and %+v, want squared errors and second derivatives", p.Cost, p.Rule)
	}
}

// What only the files show is refused before anything is started.
func TestFileRefusals(t *testing.T) {
	for _, c := range []struct {
		name   string
		shift  graph.Shift
		change func(f *fixture, c *box.Config)
		want   string
	}{
		{"no model file", graph.ShiftSymmetric, func(_ *fixture, c *box.Config) { c.Model = "gone.safetensors" }, "gone.safetensors"},
		{"spectral", graph.ShiftSpectral, func(*fixture, *box.Config) {}, "give the scale, or train with row-stochastic or symmetric"},
		{"a slope alone", graph.ShiftSymmetric, func(_ *fixture, c *box.Config) {
			c.Cost, c.Learn, c.World = host.Gradient, &rule.Settings{Preset: "auto"}, box.World{Kind: box.WorldLines}
		}, "preset own needs to know how a cost bends, and cost: gradient tells its slope alone; set preset: paper and a step_size, " +
			"or tell the curvature, too, with cost: curved"},
		{"no keys", graph.ShiftSymmetric, func(_ *fixture, c *box.Config) {
			c.Bus = box.Bus{Kind: box.BusNATS, URL: "nats://127.0.0.1:1", Keys: "gone"}
		}, "wdgnn swarm keys"},
		{"no signals", graph.ShiftSymmetric, func(_ *fixture, c *box.Config) { c.World.Signals = "gone.npy" }, "gone.npy"},
		{
			"signals of labels", graph.ShiftSymmetric, func(_ *fixture, c *box.Config) { c.World.Signals = "y.npy" },
			"y.npy: signals of shape [20 12] have 1 features, the model reads 2",
		},
		{
			"targets of signals", graph.ShiftSymmetric, func(_ *fixture, c *box.Config) { c.World.Targets = "x.npy" },
			"x.npy: targets of shape [20 12 2], want 20, one class per sample, or 20×12",
		},
		{"too many nodes", graph.ShiftSymmetric, func(_ *fixture, c *box.Config) { c.Hosts[0] = box.Peer{Nodes: "0-12"} }, "host 0 has node 12"},
		{"a model that has learned", graph.ShiftSymmetric, func(f *fixture, _ *box.Config) {
			f.model.Meta.Online = `{"mode":"distributed","nodes":12}`
			f.save()
		}, "name the file that wdgnn train left"},
		{"a model that has learned who knows how", graph.ShiftSymmetric, func(f *fixture, _ *box.Config) {
			f.model.Meta.Online = "{}"
			f.save()
		}, "makes no sense; the file is damaged"},
		{"a task in free text", graph.ShiftSymmetric, func(f *fixture, _ *box.Config) {
			f.model.Meta.Task = "steer"
			f.save()
		}, "try cost: mse"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFixture(t, c.shift, true)
			config := f.config(0, 1)
			c.change(f, config)
			refused(t, f.load(t, config), c.want)
		})
	}
}

// Describe says what a box would do, and leaves no trace.
func TestDescribe(t *testing.T) {
	f := newFixture(t, graph.ShiftSpectral, true)
	c := f.config(0, 1)
	c.Scale, c.State, c.Metrics = 3.5, "state", "127.0.0.1:9100"
	got, err := box.Describe(f.load(t, c))
	check(t, err)
	for _, want := range []string{
		"run      test, host 0 of 1: nodes 0-11\n", "a wide part of order 2; 2 layers; shift spectral with scale 3.5; 3 exchanges per step",
		"learn    paper: 18 numbers per node\n", "bus      none: all nodes are here\n",
		"a stream of 20 steps on 12 nodes; targets are cross-entropy; answers to stdout",
		"pace     lockstep: a step waits for neighbours, up to 20s\n", "state    state, a checkpoint every 1s\n", "http://127.0.0.1:9100/metrics",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("got\n%s\nwant %q in it", got, want)
		}
	}
	if _, err := os.Stat(f.path("state")); err == nil {
		t.Error("the folder of checkpoints was made")
	}
}

// In real time a step waits for eight tenths of its period, in a box as in a
// swarm.
func TestDeadlineOfATick(t *testing.T) {
	f := newFixture(t, graph.ShiftRowStochastic, true)
	c := f.config(0, 1)
	c.Pace = box.Pace{Period: 100 * time.Millisecond}
	got, err := box.Describe(f.load(t, c))
	check(t, err)
	if want := "silent neighbours are given up after " + host.TickDeadline(c.Pace.Period).String(); !strings.Contains(got, want) ||
		host.TickDeadline(time.Second) != 800*time.Millisecond {
		t.Errorf("got %q, want %q", got, want)
	}
}

// One grammar for one rule: what stands under learn in agent.yaml and under
// online in config.yaml means the same, and is refused with the same words.
func TestLearnIsOnline(t *testing.T) {
	f := newFixture(t, graph.ShiftRowStochastic, true)
	for _, text := range []string{
		"preset: own", "preset: paper", "preset: neighbours", "preset: season", "preset: own, retrain: taps", "links: outages",
		"preset: own, newton: {fresh: 1e1, forget: .5}", "step_size: {schedule: decaying, value: 1e-1, steps: 7}",
		"step_size: {value: &v 0.2}, ridge: *v",
		"ridge: 1, clip_norm: 2, retrain: taps+bias, limit: 0x10", "step_size: {}, preset: ", "ridge: ~, clip_norm: .5",
		"preset: bold", "rigde: 3", "Ridge: 3", "newton: {fresh: 2.5}", "newton: {fresh: -1}", "ridge: [1]", "ridge: 1, ridge: 2",
		"ridge: .nan", "limit: -2, ridge: -1", "preset: own, ridge: 1", "window: 3", "mixing: 1",
		"step_size: 3", "step_size: {schedule: cosine}", "step_size: {schedule: automatic}", "step_size: {valu: 1}", "retrain: all",
		"limit: far", "preset: [paper]", "<<: 3", "ridge: *nothing",
		"rule: mine", "rule: mine, preset: paper", "rule: [mine]",
		"gate: off", "gate: on", "gate: {margin: 0.1}", "gate: {window: 2.5}", "gate: perhaps", "gate: {margin: -1}", "gate: [1]",
	} {
		check(t, os.WriteFile(f.path("agent.yaml"), []byte(good+"learn: {"+text+"}"), 0o644))
		check(t, os.WriteFile(f.path("config.yaml"), []byte("\n\n\n\n\n\nonline: {stream: {graph: g, signals: s, targets: t}, "+text+"}"), 0o644))
		c, refused := box.Load(f.path("agent.yaml"))
		other, err := config.Load(f.path("config.yaml"))
		if refused != nil || err != nil {
			same := strings.NewReplacer("config.yaml", "agent.yaml", "online", "learn")
			if want := same.Replace(fmt.Sprint(err)); fmt.Sprint(refused) != want && !strings.Contains(want, "the keys here are") {
				t.Errorf("%s: got %v, want %s", text, refused, want)
			}
			continue
		}
		got, err := c.Learn.Config(false, nil)
		check(t, err)
		want, _, err := other.Online.Rule(rule.Facts{Bias: true})
		check(t, err)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, want %+v", text, got, want)
		}
	}
}

// A section without a word is none: nodes predict only.
func TestLearnNothing(t *testing.T) {
	f := newFixture(t, graph.ShiftRowStochastic, true)
	c := f.config(0, 1)
	for _, c.Learn = range []*rule.Settings{nil, {}} {
		if got, err := box.Describe(f.load(t, c)); err != nil || !strings.Contains(got, "learn    not at all: nodes predict only") {
			t.Errorf("got %s (%v), want nodes that predict only", got, err)
		}
	}
}
