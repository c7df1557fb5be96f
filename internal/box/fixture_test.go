package box_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/internal/box"
	"github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/internal/lifecycle"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/rule"
	"github.com/wdgnn/wdgnn/transport"
)

const (
	nodes, steps, features, classes = 12, 20, 2, 3
	patience                        = time.Minute // for whatever should come soon
)

// calmStep is a step size with which learning does no harm.
const calmStep = 0.3

// fixture is a folder with a model, and a stream whose graph changes at every
// fourth step.
type fixture struct {
	dir     string
	model   *modelfile.Model
	signals []float32
	labels  []int32
	graphs  []*graph.Graph // of each step
	steps   *rule.StepSize // nil means calmStep
	ungated bool
	delay   int // steps that targets come late
}

// newFixture writes the files. A static graph is that of step 0 all the time.
func newFixture(t testing.TB, shift graph.Shift, static bool) *fixture {
	t.Helper()
	f := &fixture{dir: t.TempDir()}
	net, err := gnn.NewRandom(gnn.Config{
		In: features, Features: 5, Outputs: classes, Wide: &gnn.WideConfig{Order: 2},
		Deep: []gnn.LayerConfig{{Order: 2, Features: 5}, {Order: 1, Features: 5}},
	}, random.Stream(3, "model"))
	check(t, err)
	f.model = &modelfile.Model{Network: net, Meta: modelfile.Meta{Shift: shift, Task: "classify"}}
	check(t, modelfile.Save(f.path("model.safetensors"), f.model))

	rng := random.Stream(3, "signals")
	for range steps * nodes * features {
		f.signals = append(f.signals, float32(rng.NormFloat64()))
	}
	check(t, modelfile.SaveArray(f.path("x.npy"), []int{steps, nodes, features}, f.signals))
	var labels []float32
	for k := range steps * nodes {
		label := int32(k % (classes + 1))
		if label == classes {
			label = loss.NoLabel
		}
		f.labels = append(f.labels, label)
		labels = append(labels, float32(label))
	}
	check(t, modelfile.SaveArray(f.path("y.npy"), []int{steps, nodes}, labels))

	whole, err := graph.SBM(graph.SBMConfig{Sizes: []int{nodes / 2, nodes / 2}, Intra: 0.7, Inter: 0.2}, random.Stream(3, "graph"))
	check(t, err)
	var text strings.Builder
	fmt.Fprintln(&text, "src,dst,time")
	for s := range steps {
		if s%4 != 0 || static && s > 0 {
			f.graphs = append(f.graphs, f.graphs[s-1])
			continue
		}
		g, err := graph.NewOutage(whole, random.Stream(3, "outage", s)).At(0.2)
		check(t, err)
		f.graphs = append(f.graphs, g)
		for i := range nodes {
			col, _ := g.Adjacency().Row(i)
			for _, j := range col {
				if int(j) > i {
					fmt.Fprintf(&text, "%d,%d,%d\n", i, j, s)
				}
			}
		}
	}
	check(t, os.WriteFile(f.path("g.csv"), []byte(text.String()), 0o644))
	return f
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// trained returns the model that a configuration gives.
func trained(t testing.TB, path string) *modelfile.Model {
	t.Helper()
	c, err := config.Load(path)
	check(t, err)
	training, err := lifecycle.NewTraining(t.Context(), c)
	check(t, err)
	defer training.Close()
	_, err = training.Run(t.Context(), nil, nil, nil)
	check(t, err)
	if c.Forecast != nil { // and what sensors remember
		check(t, training.Calibrate(t.Context()))
	}
	return training.File("test")
}

// refused checks that a box is neither described nor run, and why.
func refused(t *testing.T, c *box.Config, want string) {
	t.Helper()
	_, err := box.Describe(c)
	ran := box.Run(t.Context(), c, box.Streams{})
	for what, err := range map[string]error{"Describe": err, "Run": ran} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q in it", what, err, want)
		}
	}
}

// accept serves everybody who dials an address, until the test ends, and returns
// the address.
func accept(t *testing.T, address string, serve func(net.Conn)) string {
	t.Helper()
	at, err := net.Listen("tcp", address)
	check(t, err)
	t.Cleanup(func() { at.Close() })
	go func() {
		for {
			c, err := at.Accept()
			if err != nil {
				return
			}
			go serve(c)
		}
	}()
	return at.Addr().String()
}

func (f *fixture) path(name string) string { return filepath.Join(f.dir, name) }

// config returns the configuration of one of so many hosts with the nodes in
// runs of the same length.
func (f *fixture) config(id, hosts int) *box.Config {
	step := calmStep
	c := &box.Config{
		Run: "test", Host: transport.HostID(id), Hosts: map[transport.HostID]box.Peer{}, Model: "model.safetensors",
		Learn: &rule.Settings{
			Preset: "paper", StepSize: &rule.StepSettings{Value: &step}, Gate: rule.GateSettings{Off: f.ungated}, Delay: f.delay,
		},
		Bus:   box.Bus{Kind: box.BusNone},
		World: box.World{Kind: box.WorldStream, Signals: "x.npy", Targets: "y.npy", Graph: "g.csv"},
		Pace:  box.Pace{Deadline: 20 * time.Second, Retry: 20 * time.Millisecond, Linger: 300 * time.Millisecond},
	}
	for h := range hosts {
		c.Hosts[transport.HostID(h)] = box.Peer{Nodes: fmt.Sprintf("%d-%d", h*nodes/hosts, (h+1)*nodes/hosts-1)}
	}
	return c
}

// rule is what config's Learn means.
func (f *fixture) rule() rule.Config {
	r := rule.Paper(false).Ungated()
	r.StepSize.Value, r.Delay = calmStep, f.delay
	if !f.ungated {
		r.Gate = &rule.Gate{}
	}
	if f.steps != nil {
		r.StepSize = *f.steps
	}
	return r
}

// load writes a configuration and reads it again, as a box does.
func (f *fixture) load(t testing.TB, c *box.Config) *box.Config {
	t.Helper()
	loaded, err := box.Load(f.write(t, c))
	check(t, err)
	return loaded
}

func (f *fixture) write(t testing.TB, c *box.Config) string {
	t.Helper()
	text, err := yaml.Marshal(c)
	check(t, err)
	path := f.path(fmt.Sprintf("agent-%d.yaml", c.Host))
	check(t, os.WriteFile(path, text, 0o644))
	return path
}

// The fixture is an online.World.
func (f *fixture) Samples() iter.Seq[graph.Sample] {
	return func(yield func(graph.Sample) bool) {
		for s := range steps {
			x := mat.NewDense(nodes, features, f.signals[s*nodes*features:(s+1)*nodes*features])
			shift, err := f.model.Meta.Shift.Of(f.graphs[s])
			if err != nil {
				panic(err)
			}
			mixing, err := graph.Metropolis(f.graphs[s])
			if err != nil {
				panic(err)
			}
			if !yield(graph.Sample{Time: s, Signal: x, Shift: shift, Mixing: mixing}) {
				return
			}
		}
	}
}

// revealing is the fixture with the step that is being played.
type revealing struct {
	*fixture
	now int
}

func (r *revealing) Reveal(mat.Dense) loss.Loss {
	told := r.now - r.delay
	if told < 0 {
		return loss.CrossEntropy{Labels: slices.Repeat([]int32{loss.NoLabel}, nodes)}
	}
	return loss.CrossEntropy{Labels: r.labels[told*nodes : (told+1)*nodes]}
}

func (r *revealing) Samples() iter.Seq[graph.Sample] {
	return func(yield func(graph.Sample) bool) {
		for s := range r.fixture.Samples() {
			r.now = s.Time
			if !yield(s) {
				return
			}
		}
	}
}

// expected is what one process computes.
type expected struct {
	outputs [][]float32 // by step, N×C
	params  func(node int) []float32
}

// reference plays the stream with online.Consensus.
func (f *fixture) reference(t testing.TB) *expected {
	t.Helper()
	o, err := online.NewObserver(f.model.Network, online.Config{Nodes: nodes, HopByHop: true})
	check(t, err)
	l, err := online.NewConsensus(o, f.rule())
	check(t, err)
	e := &expected{params: l.Params}
	err = online.Play(t.Context(), mat.NewDense(nodes, classes, nil), l, &revealing{fixture: f}, func(_ int, y mat.Dense, _ loss.Loss) error {
		var all []float32
		for i := range nodes {
			all = append(all, y.Row(i)...)
		}
		e.outputs = append(e.outputs, all)
		return nil
	})
	check(t, err)
	return e
}

// check compares answers, lines of all boxes, with what is expected.
func (e *expected) check(t *testing.T, lines []byte) {
	t.Helper()
	seen := 0
	for line := range bytes.Lines(lines) {
		var a host.Answer
		if err := json.Unmarshal(line, &a); err != nil {
			t.Fatalf("line %q: %v", line, err)
		}
		for _, o := range a.Outputs {
			want := e.outputs[a.Time][int(o.Node)*classes : (int(o.Node)+1)*classes]
			if !slices.Equal(o.Value, want) {
				t.Fatalf("step %d, node %d: got %v, want %v", a.Time, o.Node, o.Value, want)
			}
			seen++
		}
	}
	if seen != steps*nodes {
		t.Errorf("got %d predictions, want %d", seen, steps*nodes)
	}
}

// run runs boxes to their end and returns what they wrote.
func run(t *testing.T, configs ...*box.Config) []byte {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	outs := make([]syncBuffer, len(configs))
	var wait sync.WaitGroup
	for k, c := range configs {
		wait.Go(func() {
			if err := box.Run(ctx, c, box.Streams{Out: &outs[k]}); err != nil {
				t.Errorf("host %d: %v", c.Host, err)
			}
		})
	}
	wait.Wait()
	if ctx.Err() != nil {
		t.Fatal("the boxes did not end")
	}
	var all []byte
	for k := range outs {
		all = append(all, outs[k].String()...)
	}
	return all
}

// memory is what a checkpoint holds of the nodes' parameters.
func (f *fixture) memory(t *testing.T, state string) map[int][]float32 {
	t.Helper()
	entries, err := filepath.Glob(filepath.Join(f.path(state), "snapshot-*"))
	check(t, err)
	if len(entries) == 0 {
		t.Fatal("no checkpoint")
	}
	text, err := os.ReadFile(slices.Max(entries))
	check(t, err)
	_, body, _ := bytes.Cut(text, []byte("\n"))
	var c struct {
		Nodes []struct {
			Node  int
			State rule.State
		}
	}
	check(t, json.Unmarshal(body, &c))
	params := map[int][]float32{}
	for _, n := range c.Nodes {
		for _, v := range n.State.Params() {
			params[n.Node] = append(params[n.Node], float32(v))
		}
	}
	return params
}

// checkParams compares the parameters in checkpoints with what is expected.
func (e *expected) checkParams(t *testing.T, all ...map[int][]float32) {
	t.Helper()
	seen := 0
	for _, params := range all {
		for node, x := range params {
			seen++
			if want := e.params(node); !slices.Equal(x, want) {
				t.Errorf("node %d: parameters %v, want %v", node, x, want)
			}
		}
	}
	if seen != nodes {
		t.Errorf("parameters of %d nodes, want %d", seen, nodes)
	}
}

// save writes the model again.
func (f *fixture) save() {
	if err := modelfile.Save(f.path("model.safetensors"), f.model); err != nil {
		panic(err)
	}
}
