package box_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/internal/box"
	"github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/internal/lifecycle"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/rule"
	"github.com/wdgnn/wdgnn/transport"
)

// Sizes of the yard.
const (
	yardHosts, yardNodes, yardSteps = 5, 50, 120

	yardPatience = 2 * time.Minute // for a whole stream
)

// yard is what doc/runtime.md begins with: the data of wdgnn init, a model
// trained on them for agents, and five boxes that play the stream as fast as
// their neighbours, for yardSteps steps of it.
type yard struct {
	dir     string
	read    []int
	targets []float32 // of a step
	model   *modelfile.Model
}

// newYard trains the model.
func newYard(t testing.TB) *yard {
	t.Helper()
	set, err := lifecycle.NewExampleSet(config.Classify)
	check(t, err)
	y := &yard{dir: t.TempDir(), read: set.Read, targets: set.StreamTargets}
	for name, text := range map[string]string{
		"graph.csv": set.Graph, "stream_graph.csv": set.StreamGraph,
		"config.yaml": `
seed: 1
data: {graph: graph.csv, signals: signals.npy, targets: targets.npy, task: classify, read: [5, 15, 25, 35, 45],
  shift: row-stochastic, split: {valid: 0.15, test: 0.15}}
model: {wide: {order: 3}, deep: [{order: 3, features: 16, activation: relu}, {order: 3, features: 16, activation: relu}]}
train: {epochs: 150, batch_size: 20, adam: {step_size: 0.005}}
`,
	} {
		check(t, os.WriteFile(y.path(name), []byte(text), 0o600))
	}
	check(t, modelfile.SaveArray(y.path("signals.npy"), set.SignalsShape, set.Signals))
	check(t, modelfile.SaveArray(y.path("targets.npy"), set.TargetsShape, set.Targets))
	check(t, modelfile.SaveArray(y.path("stream_signals.npy"), []int{yardSteps, yardNodes, 1}, set.StreamSignals[:yardSteps*yardNodes]))
	check(t, modelfile.SaveArray(y.path("stream_targets.npy"), []int{yardSteps}, set.StreamTargets[:yardSteps]))
	y.model = trained(t, y.path("config.yaml"))
	y.save(t)
	return y
}

func (y *yard) path(name string) string { return filepath.Join(y.dir, name) }

func (y *yard) save(t testing.TB) {
	t.Helper()
	check(t, modelfile.Save(y.path("model.safetensors"), y.model))
}

// configs returns the configurations of the boxes, with direct links between
// the given addresses.
func (y *yard) configs(addresses []string) []*box.Config {
	var list []*box.Config
	for id := range yardHosts {
		c := &box.Config{
			Run: "yard", Host: transport.HostID(id), Hosts: map[transport.HostID]box.Peer{}, Model: "model.safetensors",
			Learn: &rule.Settings{Preset: "paper"}, Bus: box.Bus{Kind: box.BusTCP},
			World: box.World{Kind: box.WorldStream, Signals: "stream_signals.npy", Targets: "stream_targets.npy", Graph: "stream_graph.csv"},
			Pace:  box.Pace{Deadline: 200 * time.Millisecond, First: 5 * time.Second, Linger: 500 * time.Millisecond},
		}
		for h := range yardHosts {
			first := h * yardNodes / yardHosts
			c.Hosts[transport.HostID(h)] = box.Peer{Nodes: fmt.Sprintf("%d-%d", first, first+yardNodes/yardHosts-1), Address: addresses[h]}
		}
		list = append(list, c)
	}
	return list
}

// played is what became of a stream.
type played struct {
	answers []host.Answer // ascending by time, of all boxes
	logs    map[transport.HostID]string
	took    time.Duration
}

// play runs boxes to the end of their streams.
func (y *yard) play(t *testing.T, configs []*box.Config) *played {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), yardPatience)
	defer cancel()
	began := time.Now()
	outs, logs := make([]syncBuffer, len(configs)), make([]syncBuffer, len(configs))
	var wait sync.WaitGroup
	for k, c := range configs {
		path := y.path(fmt.Sprintf("agent-%d.yaml", c.Host))
		check(t, box.Save(path, c))
		loaded, err := box.Load(path)
		check(t, err)
		wait.Go(func() {
			if err := box.Run(ctx, loaded, box.Streams{Out: &outs[k], Log: slog.New(slog.NewTextHandler(&logs[k], nil))}); err != nil {
				t.Errorf("host %d: %v", c.Host, err)
			}
		})
	}
	wait.Wait()
	if ctx.Err() != nil {
		t.Fatal("the boxes did not end")
	}
	p := &played{logs: map[transport.HostID]string{}, took: time.Since(began)}
	for k, c := range configs {
		p.logs[c.Host] = logs[k].String()
		for line := range bytes.Lines([]byte(outs[k].String())) {
			var a host.Answer
			if err := json.Unmarshal(line, &a); err != nil {
				t.Fatalf("line %q: %v", line, err)
			}
			p.answers = append(p.answers, a)
		}
	}
	slices.SortStableFunc(p.answers, func(a, b host.Answer) int { return cmp.Compare(a.Time, b.Time) })
	return p
}

// score says how the answers of the given hosts at the nodes that are read did:
// the share that is right of all that there should be, and how many came.
func (y *yard) score(p *played, hosts int) (right float64, came int) {
	due := 0
	for _, node := range y.read {
		if node < hosts*yardNodes/yardHosts {
			due += yardSteps
		}
	}
	hits := 0
	for _, a := range p.answers {
		for _, o := range a.Outputs {
			if int(a.Host) >= hosts || !slices.Contains(y.read, int(o.Node)) {
				continue
			}
			came++
			if mat.Argmax(o.Value) == int(y.targets[a.Time]) {
				hits++
			}
		}
	}
	return float64(hits) / float64(due), came
}

// rowOf returns the part of a message that is the row of its exchange, and that
// which is parameters.
func (y *yard) rowOf(m *agent.Message) (row, params []float32) {
	if m.Exchange > 0 {
		return m.Values, nil
	}
	in := y.model.Network.Config.In
	return m.Values[:in], m.Values[in:]
}
