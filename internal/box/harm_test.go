package box_test

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/internal/box"
	"github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/internal/lifecycle"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/rule"
	"github.com/wdgnn/wdgnn/transport"
)

// newRegression is the example of wdgnn init --task regress, trained, and its
// stream.
func newRegression(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{dir: t.TempDir()}
	set, err := lifecycle.NewExampleSet(config.Regress)
	check(t, err)
	for name, text := range map[string]string{
		"graph.csv": set.Graph, "g.csv": set.StreamGraph, "c.yaml": `
data: {graph: graph.csv, signals: signals.npy, targets: targets.npy, task: regress, shift: symmetric, split: {valid: 0.15, test: 0.15}}
model: {wide: {order: 3}, deep: [{order: 3, features: 16, activation: tanh}]}
train: {epochs: 30, batch_size: 20, adam: {step_size: 0.005}}
`,
	} {
		check(t, os.WriteFile(f.path(name), []byte(text), 0o644))
	}
	check(t, modelfile.SaveArray(f.path("signals.npy"), set.SignalsShape, set.Signals))
	check(t, modelfile.SaveArray(f.path("targets.npy"), set.TargetsShape, set.Targets))
	check(t, modelfile.SaveArray(f.path("x.npy"), set.StreamSignalsShape, set.StreamSignals))
	check(t, modelfile.SaveArray(f.path("y.npy"), set.StreamTargetsShape, set.StreamTargets))
	f.model = trained(t, f.path("c.yaml"))
	f.save()
	return f
}

// A box whose nodes learn with the preset for classes from squared errors, and
// answer with that whatever it costs, ends with answers that are far off. It says
// so, how far and what to try; one whose learning helps, or whose nodes have a
// gate, says nothing.
func TestBoxSaysThatLearningDoesHarm(t *testing.T) {
	if testing.Short() {
		t.Skipf("SKIPPED %s: it computes much in one goroutine; it runs without -short", t.Name())
	}
	f, calm := newRegression(t), 0.1
	for name, c := range map[string]struct {
		learn *rule.Settings
		harm  bool
	}{
		"gated":   {&rule.Settings{Preset: "paper"}, false},
		"no gate": {&rule.Settings{Preset: "paper", Gate: rule.GateSettings{Off: true}}, true},
		"calm":    {&rule.Settings{StepSize: &rule.StepSettings{Value: &calm}, Gate: rule.GateSettings{Off: true}}, false},
		"own":     {&rule.Settings{Gate: rule.GateSettings{Off: true}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			config := f.config(0, 1)
			config.Hosts[transport.HostID(0)], config.Learn = box.Peer{Nodes: "0-49"}, c.learn
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			err := box.Run(ctx, f.load(t, config), box.Streams{Log: slog.New(slog.NewTextHandler(&log, nil))})
			if harm := err != nil && strings.Contains(err.Error(), "online learning does harm"); harm != c.harm || err != nil && !harm {
				t.Errorf("the box ended with %v; want an error about harm: %t", err, c.harm)
			}
			said := strings.Contains(log.String(), `level=WARN msg="online learning does harm: the answers of the last 100 steps cost `) &&
				strings.Contains(log.String(), `try="learn.step_size: {value: 0.3}, or learn.preset: own, or learn.gate: on"`)
			if said != c.harm {
				t.Errorf("harm %t, want %t; the log says\n%s", said, c.harm, log.String())
			}
			t.Log(log.String())
		})
	}
}
