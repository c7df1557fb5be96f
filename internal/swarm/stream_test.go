package swarm_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/internal/lifecycle"
	"github.com/wdgnn/wdgnn/internal/swarm"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/random"
)

const (
	ownNodes, ownSteps, ownFeatures, ownOutputs = 12, 30, 2, 3
)

// ownCase is a folder with a stream of one's own, and a model for it.
type ownCase struct {
	*testing.T
	dir   string
	model *modelfile.Model
}

// newOwnCase writes a stream in which links come and go if changing is set.
func newOwnCase(t *testing.T, task config.Task, shift graph.Shift, changing bool) *ownCase {
	t.Helper()
	f := &ownCase{T: t, dir: t.TempDir()}
	net, err := gnn.NewRandom(gnn.Config{
		In: ownFeatures, Features: 4, Outputs: ownOutputs, Wide: &gnn.WideConfig{Order: 2}, Deep: []gnn.LayerConfig{{Order: 1, Features: 4}},
	}, random.Stream(5, "model"))
	check(t, err)
	f.model = &modelfile.Model{Network: net, Meta: modelfile.Meta{Shift: shift, Task: string(task)}}
	rng := random.Stream(5, "stream")
	numbers := func(n int) []float32 {
		all := make([]float32, n)
		for k := range all {
			all[k] = float32(rng.NormFloat64())
		}
		return all
	}
	signals := numbers(ownSteps * ownNodes * ownFeatures)
	check(t, modelfile.SaveArray(f.path("x.npy"), []int{ownSteps, ownNodes, ownFeatures}, signals))
	targets, shape := numbers(ownSteps*ownNodes*ownOutputs), []int{ownSteps, ownNodes, ownOutputs}
	if task == config.Classify {
		targets, shape = make([]float32, ownSteps*ownNodes), []int{ownSteps, ownNodes}
		for k := range targets {
			targets[k] = float32(k*k%(ownOutputs+1) - 1) // some are not known
		}
	}
	check(t, modelfile.SaveArray(f.path("y.npy"), shape, targets))
	var edges strings.Builder
	fmt.Fprintln(&edges, "src,dst,time")
	for from := 0; from < ownSteps; from += 10 {
		for i := range ownNodes {
			if !changing || i != from/10 {
				fmt.Fprintf(&edges, "%d,%d,%d\n", i, (i+1)%ownNodes, from)
			}
		}
		if !changing {
			break
		}
	}
	f.write("g.csv", edges.String())
	s, err := shift.Of(graph.Ring(ownNodes))
	check(t, err)
	moment := online.InputMoment(net, s, mat.NewDense(len(signals)/ownFeatures, ownFeatures, signals), nil, nil, nil)
	f.model.SetMoment(modelfile.Float64s{Rows: moment.Inputs + 1, Cols: moment.Inputs + 1, Data: moment.Mean}, moment.Count)
	return f
}

func (f *ownCase) path(name string) string { return filepath.Join(f.dir, name) }

func (f *ownCase) write(name, text string) {
	f.Helper()
	check(f.T, os.WriteFile(f.path(name), []byte(text), 0o644))
}

// config returns a configuration with the given keys under online and its stream.
func (f *ownCase) config(settings, stream string) *config.Config {
	f.Helper()
	f.write("config.yaml", fmt.Sprintf("online: {stream: {graph: g.csv, signals: x.npy, targets: y.npy%s}%s}\n", stream, settings))
	c, err := config.Load(f.path("config.yaml"))
	check(f.T, err)
	return c
}

// online plays the stream in one process, from where m is, and returns the model
// that this leaves, and what was answered.
func (f *ownCase) online(c *config.Config, m *modelfile.Model) (*modelfile.Model, []float32) {
	f.Helper()
	r, err := lifecycle.NewOnlineRun(c, m, false)
	check(f.T, err)
	defer r.Close()
	check(f.T, r.Play(f.Context(), func() error { return nil }, func(lifecycle.OnlineStep) error { return nil }))
	adapted, err := r.File("test")
	check(f.T, err)
	return adapted, r.Predictions
}

// up runs agents from where m is, on so many hosts, and returns how it went.
func (f *ownCase) up(c *config.Config, m *modelfile.Model, hosts int, dir string) *swarm.Result {
	f.Helper()
	return f.upSteps(c, m, hosts, dir, 0)
}

// upSteps is up for the first steps of the stream, all if there are 0.
func (f *ownCase) upSteps(c *config.Config, m *modelfile.Model, hosts int, dir string, steps int) *swarm.Result {
	f.Helper()
	task, err := swarm.NewStreamTask(c, m, steps)
	check(f.T, err)
	check(f.T, os.MkdirAll(f.path(dir), 0o755))
	result, err := swarm.Up(f.Context(), swarm.Options{
		Task: task, Run: "own", Hosts: hosts, Bus: swarm.BusMem, Dir: f.path(dir), Verify: true, Keep: true,
		Pace: host.Pace{Deadline: 20 * time.Second, Retry: 20 * time.Millisecond},
	})
	check(f.T, err)
	return result
}

// A model of one's own runs on its stream as agents, to the bits of one process,
// whatever is asked, however late that is told, and wherever it begins.
func TestOwnModel(t *testing.T) {
	for _, c := range []struct {
		name             string
		task             config.Task
		shift            graph.Shift
		changing         bool
		settings, stream string
	}{
		{"classify", config.Classify, graph.ShiftRowStochastic, true, "", ""},
		{"regress", config.Regress, graph.ShiftSymmetric, true, "", ""},
		{"spectral", config.Classify, graph.ShiftSpectral, true, "", ""},
		{"late", config.Classify, graph.ShiftRowStochastic, false, "", ", delay: 3"},
		{"late values of another loss", config.Regress, graph.ShiftRowStochastic, false, "", ", delay: 2, loss: smooth-l1"},
		{"decaying", config.Classify, graph.ShiftRowStochastic, true, ", step_size: {schedule: decaying, value: 0.3}", ""},
		{"paper without a gate", config.Classify, graph.ShiftRowStochastic, true, ", preset: paper, gate: off", ""},
		{"some nodes are read", config.Classify, graph.ShiftRowStochastic, true, "", ", read: [7, 2, 4]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newOwnCase(t, c.task, c.shift, c.changing)
			if strings.Contains(c.stream, "read") {
				check(t, modelfile.SaveArray(f.path("y.npy"), []int{ownSteps, 3}, make([]float32, ownSteps*3)))
			}
			cfg := f.config(c.settings, c.stream)
			adapted, _ := f.online(cfg, f.model)
			for name, m := range map[string]*modelfile.Model{"trained": f.model, "adapted": adapted} {
				r := f.up(cfg, m, 3, name)
				if !r.Verified.Same() || r.Steps != ownSteps {
					t.Errorf("%s: %d steps: %s", name, r.Steps, r.Verified.First)
				}
				if r.FrozenCost == 0 || (r.Accuracy >= 0) != (c.task == config.Classify) {
					t.Errorf("%s: accuracy %v, cost of the model as trained %v", name, r.Accuracy, r.FrozenCost)
				}
			}
		})
	}
}

// One set of taps that learned for all nodes is where all begin.
func TestOwnModelCentralized(t *testing.T) {
	f := newOwnCase(t, config.Classify, graph.ShiftRowStochastic, false)
	central, _ := f.online(f.config(", mode: centralized", ""), f.model)
	if r := f.up(f.config("", ""), central, 2, "up"); !r.Verified.Same() {
		t.Error(r.Verified.First)
	}
}

// What agents cannot do is said in words.
func TestOwnModelRefusals(t *testing.T) {
	f := newOwnCase(t, config.Classify, graph.ShiftRowStochastic, false)
	refused := func(c *config.Config, m *modelfile.Model, want string) {
		t.Helper()
		if _, err := swarm.NewStreamTask(c, m, 0); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q in it", err, want)
		}
	}
	refused(f.config(", mode: centralized", ""), f.model, "try online.mode: distributed")
	refused(f.config(", preset: paper, mixing_matrix: max-degree", ""), f.model, "try metropolis")
	refused(f.config("", ", directed: true"), f.model, "try directed: false")
	refused(&config.Config{}, f.model, "the configuration has no section online")
	adapted, _ := f.online(f.config("", ""), f.model)
	refused(f.config(", preset: paper", ""), adapted, "the model cannot go on with these settings")
	net, err := gnn.NewRandom(gnn.Config{In: ownFeatures, Features: ownOutputs, Deep: []gnn.LayerConfig{{Order: 1, Features: ownOutputs}}},
		random.Stream(5, "deep"))
	check(t, err)
	refused(f.config("", ""), &modelfile.Model{Network: net, Meta: f.model.Meta}, "the model has no wide part")
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
