package swarm_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/internal/snapshot"
	"github.com/wdgnn/wdgnn/internal/swarm"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/online"
)

// collect gathers what agents left in a folder.
func (f *ownCase) collect(m *modelfile.Model, dir string) *modelfile.Model {
	f.Helper()
	c, err := swarm.Collect(m, []string{f.path(dir)}, false, "test")
	check(f.T, err)
	if c.Nodes != ownNodes || c.Found != ownNodes || c.Boxes != 3 || c.Step != ownSteps-1 || len(c.Warnings) > 0 {
		f.Errorf("got %v with the warnings %q, want %d nodes of 3 boxes", c, c.Warnings, ownNodes)
	}
	return again(f.T, c.Model)
}

// again returns a model as it comes back from a file.
func again(t *testing.T, m *modelfile.Model) *modelfile.Model {
	t.Helper()
	path := filepath.Join(t.TempDir(), "model.safetensors")
	check(t, modelfile.Save(path, m))
	m, err := modelfile.Load(path)
	check(t, err)
	return m
}

// remembered returns what the learners of a model file remember.
func remembered(t *testing.T, m *modelfile.Model) online.Snapshot {
	t.Helper()
	s, found, err := snapshot.Of(m)
	if err != nil || !found {
		t.Fatalf("there is a snapshot: %v, %v", found, err)
	}
	return s
}

// What is gathered from agents is what wdgnn online leaves after the same stream,
// and so it stays when one goes on where the other ended: online, agents, online is
// to the bit online three times.
func TestCollectSameBits(t *testing.T) {
	for _, c := range []struct {
		name             string
		task             config.Task
		settings, stream string
	}{
		{"classify", config.Classify, "", ""},
		{"regress", config.Regress, "", ""},
		{"decaying", config.Classify, ", step_size: {schedule: decaying, value: 0.3}", ""},
		{"paper without a gate", config.Classify, ", preset: paper, gate: off, coverage: 0", ""},
		{"late", config.Regress, "", ", delay: 3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newOwnCase(t, c.task, graph.ShiftRowStochastic, true)
			cfg := f.config(c.settings, c.stream)
			once, _ := f.online(cfg, f.model)
			f.up(cfg, f.model, 3, "first")
			if got, want := remembered(t, f.collect(f.model, "first")), remembered(t, again(t, once)); !reflect.DeepEqual(got, want) {
				t.Errorf("agents leave\n%+v\nand one process\n%+v", got, want)
			}
			twice, _ := f.online(cfg, once)
			f.up(cfg, once, 3, "second")
			gathered := f.collect(once, "second")
			if got, want := remembered(t, gathered), remembered(t, again(t, twice)); !reflect.DeepEqual(got, want) {
				t.Errorf("agents that went on leave\n%+v\nand one process\n%+v", got, want)
			}
			_, want := f.online(cfg, twice)
			if _, got := f.online(cfg, gathered); !slices.Equal(got, want) {
				t.Error("one process goes on differently after agents than after itself")
			}
		})
	}
}

// missingNodes returns those of a collection.
func missingNodes(t *testing.T, c *swarm.Collection) []agent.NodeID {
	t.Helper()
	nodes, err := host.ParseNodes(c.Missing)
	check(t, err)
	return nodes
}

// timed returns the edges of a ring at every step, as delayed models want them.
func timed() string {
	var b strings.Builder
	fmt.Fprintln(&b, "src,dst,time")
	for t := range ownSteps {
		for i := range ownNodes {
			fmt.Fprintf(&b, "%d,%d,%d\n", i, (i+1)%ownNodes, t)
		}
	}
	return b.String()
}

// Delayed models remember rows that were sent; those that nobody reads again are not
// gathered, and nothing else is different.
func TestCollectDelayed(t *testing.T) {
	f := newOwnCase(t, config.Classify, graph.ShiftRowStochastic, false)
	f.model.Meta.Delayed = true
	f.write("g.csv", timed())
	cfg := f.config("", "")
	once, _ := f.online(cfg, f.model)
	f.up(cfg, f.model, 3, "up")
	_, want := f.online(cfg, once)
	if _, got := f.online(cfg, f.collect(f.model, "up")); !slices.Equal(got, want) {
		t.Error("one process goes on differently after agents than after itself")
	}
}

// What is missing, torn or of somebody else is said, and nothing is written over it.
func TestCollectRefusals(t *testing.T) {
	f := newOwnCase(t, config.Classify, graph.ShiftRowStochastic, false)
	cfg := f.config("", "")
	f.up(cfg, f.model, 3, "up")
	once, _ := f.online(cfg, f.model)
	state := func(k string) string { return filepath.Join(f.path("up"), "state", k) }
	refused := func(m *modelfile.Model, want string, folders ...string) {
		t.Helper()
		if _, err := swarm.Collect(m, folders, false, "test"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q in it", err, want)
		}
	}
	refused(f.model, "have no checkpoint here", state("0"), state("2"))
	refused(f.model, "is in", state("0"), state("0"))
	refused(f.model, "holds no checkpoints: name the folder of state:", t.TempDir())
	refused(once, "the model is not the one that the agents of", f.path("up"))
	other := f.config(", preset: paper", "")
	f.up(other, f.model, 3, "other")
	refused(f.model, "their boxes ran different models, or learned differently", state("0"), filepath.Join(f.path("other"), "state", "1"))

	part, err := swarm.Collect(f.model, []string{state("0"), state("2")}, true, "test")
	check(t, err)
	if part.Found+len(missingNodes(t, part)) != ownNodes || len(part.Warnings) != 1 {
		t.Errorf("got %v, missing %s, with the warnings %q", part, part.Missing, part.Warnings)
	}
	taken, all := remembered(t, part.Model), remembered(t, once)
	for _, i := range missingNodes(t, part) {
		if taken.Nodes[i].Steps() != 0 {
			t.Errorf("node %d, which is missing, has learned %d steps, want none", i, taken.Nodes[i].Steps())
		}
		all.Nodes[i] = taken.Nodes[i]
	}
	if !reflect.DeepEqual(taken.Nodes, all.Nodes) {
		t.Error("nodes that are not missing remember something else than in one process")
	}

	snapshots, err := filepath.Glob(filepath.Join(state("1"), "snapshot-*"))
	check(t, err)
	for _, path := range snapshots {
		text, err := os.ReadFile(path)
		check(t, err)
		check(t, os.WriteFile(path, text[:len(text)/2], 0o600))
	}
	refused(f.model, "no checkpoint can be read: snapshot-", f.path("up"))
	if left, err := filepath.Glob(filepath.Join(state("1"), "snapshot-*")); err != nil || !slices.Equal(left, snapshots) {
		t.Errorf("the folder holds %v afterwards, want %v", left, snapshots)
	}
}

// Boxes at different steps are told apart by what they made last.
func TestCollectSteps(t *testing.T) {
	f := newOwnCase(t, config.Classify, graph.ShiftRowStochastic, false)
	f.up(f.config("", ""), f.model, 3, "up")
	f.upSteps(f.config("", ""), f.model, 3, "short", 10)
	folders := []string{f.path("up/state/0"), f.path("short/state/1"), f.path("short/state/2")}
	_, err := swarm.Collect(f.model, folders, false, "test")
	if want := "boxes are at different steps: step 9 in"; !errors.Is(err, swarm.ErrPartial) || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q in it", err, want)
	}
	c, err := swarm.Collect(f.model, folders, true, "test")
	check(t, err)
	if c.Found != ownNodes || c.Step != ownSteps-1 || len(c.Warnings) != 1 {
		t.Errorf("got %v with the warnings %q", c, c.Warnings)
	}
}
