package box_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/box"
	"github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/internal/lifecycle"
	"github.com/wdgnn/wdgnn/modelfile"
)

// online plays the stream by wdgnn online, from where a model is, and returns the
// model that this leaves and what was answered.
func (f *fixture) online(t *testing.T, m *modelfile.Model, settings string) (*modelfile.Model, *expected) {
	t.Helper()
	text := fmt.Sprintf("online: {stream: {graph: g.csv, signals: x.npy, targets: y.npy, delay: %d}, %s}\n", f.delay, settings)
	check(t, os.WriteFile(f.path("config.yaml"), []byte(text), 0o644))
	c, err := config.Load(f.path("config.yaml"))
	check(t, err)
	r, err := lifecycle.NewOnlineRun(c, m, false)
	check(t, err)
	defer r.Close()
	check(t, r.Play(t.Context(), func() error { return nil }, func(lifecycle.OnlineStep) error { return nil }))
	adapted, err := r.File("test")
	check(t, err)
	e := &expected{}
	for s := range steps {
		e.outputs = append(e.outputs, r.Predictions[s*nodes*classes:(s+1)*nodes*classes])
	}
	return adapted, e
}

// learned is what config's Learn is in the words of wdgnn online.
func (f *fixture) learned() string {
	how := fmt.Sprintf("preset: paper, step_size: {value: %v}", calmStep)
	if f.ungated {
		how += ", gate: off"
	}
	return how
}

// Agents that begin with a model that wdgnn online left answer as wdgnn online does
// when it goes on with it, to the same bits: taps, gates and answers that
// still wait are all there. A checkpoint goes before that.
func TestSeedSameBits(t *testing.T) {
	for name, set := range map[string]func(f *fixture){
		"gated":   func(*fixture) {},
		"no gate": func(f *fixture) { f.ungated = true },
		"late":    func(f *fixture) { f.delay = 3 },
		"delayed": func(f *fixture) { f.model.Meta.Delayed = true },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, graph.ShiftRowStochastic, true)
			set(f)
			once, _ := f.online(t, f.model, f.learned())
			_, twice := f.online(t, once, f.learned())
			f.model = once
			f.save()
			c := f.config(0, 1)
			c.State = "state"
			loaded := f.load(t, c)
			text, err := box.Describe(loaded)
			check(t, err)
			if want := "nodes begin with what they learned online; a checkpoint goes before that"; !strings.Contains(text, want) {
				t.Errorf("got %s, want %q in it", text, want)
			}
			twice.check(t, run(t, loaded))
			if again := run(t, f.load(t, c)); len(again) != 0 {
				t.Errorf("got %q from a box whose checkpoint is at the end of its stream, want nothing", again)
			}
		})
	}
}

// Boxes that begin with different files have different digests; one set of taps
// that learned for all nodes is where all begin.
func TestSeedDigest(t *testing.T) {
	f := newFixture(t, graph.ShiftRowStochastic, true)
	digest := func(m *modelfile.Model) string {
		f.model = m
		f.save()
		text, err := box.Describe(f.load(t, f.config(0, 1)))
		check(t, err)
		return text[strings.Index(text, "digest "):strings.Index(text, "bounds ")]
	}
	trained := f.model
	once, _ := f.online(t, trained, f.learned())
	twice, _ := f.online(t, once, f.learned())
	central, _ := f.online(t, trained, "mode: centralized, preset: paper")
	seen := map[string]bool{}
	for _, m := range []*modelfile.Model{trained, once, twice, central} {
		seen[digest(m)] = true
	}
	if len(seen) != 4 {
		t.Errorf("got %d digests of 4 beginnings: %v", len(seen), seen)
	}
}

// What does not fit is said before anything starts, with what to do.
func TestSeedRefusals(t *testing.T) {
	f := newFixture(t, graph.ShiftRowStochastic, true)
	f.model, _ = f.online(t, f.model, f.learned())
	f.save()
	c := f.config(0, 1)
	c.Learn = nil
	refused(t, f.load(t, c), "without learn: nodes answer as trained; try learn: {preset: paper}")
	c = f.config(0, 1)
	c.Learn.Preset, c.Learn.StepSize = "own", nil
	refused(t, f.load(t, c), "choose what it learned with, learn: {preset: paper} (wdgnn inspect shows all of it)")
	c = f.config(0, 1)
	c.Hosts[0] = box.Peer{Nodes: "0-12"}
	refused(t, f.load(t, c), "there is no node 12 among the 12 that learned")
}
