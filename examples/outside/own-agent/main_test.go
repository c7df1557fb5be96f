package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/modelfile"
)

const data = "../../own-data/"

// own-agent runs as a process.
func TestOwnAgent(t *testing.T) {
	program, config := build(t), read(t, "agent.yaml")
	t.Run("learns", func(t *testing.T) { learns(t, program, config) })
	t.Run("goes on", func(t *testing.T) { goesOn(t, program, config) })
	t.Run("names its rules", func(t *testing.T) { namesRules(t, program, config) })
}

// What nodes learn by their own rule is another thing than what they learn by
// gradient steps, and better than nothing.
func learns(t *testing.T, program, config string) {
	const learn = "learn: {rule: momentum}"
	momentum := answers(t, run(t, program, config))
	steps := answers(t, run(t, program, strings.Replace(config, learn, "learn: {preset: paper}", 1)))
	frozen := answers(t, run(t, program, strings.Replace(config, learn, "learn: {}", 1)))
	if !slices.Equal(momentum[0], steps[0]) || slices.Equal(momentum[399], steps[399]) {
		t.Error("the answers of two rules: want the same at the first step, and others at the last")
	}
	own, usual, none := share(t, momentum), share(t, steps), share(t, frozen)
	t.Logf("right answers: %.3f with momentum, %.3f with gradient steps, %.3f without learning", own, usual, none)
	if own < none+0.02 || own < usual-0.02 {
		t.Errorf("right answers: got %.3f, want more than the %.3f without learning, and about the %.3f of gradient steps", own, none, usual)
	}
}

// What a rule keeps is part of checkpoints: a box that is stopped and started
// again gives the answers of one that was not.
func goesOn(t *testing.T, program, config string) {
	const stop = 150
	want := answers(t, run(t, program, config))
	config += "state: " + filepath.ToSlash(t.TempDir()) + "\n"
	got := answers(t, run(t, program, strings.ReplaceAll(config, data+"stream_", shorten(t, stop)+"/stream_")))
	rest := answers(t, run(t, program, config))
	if len(got) != stop || rest[stop-1] != nil {
		t.Fatalf("got %d steps at first, and step %d again: %t; want %d and the rest", len(got), stop-1, rest[stop-1] != nil, stop)
	}
	got = append(got, rest[stop:]...)
	for s := range want {
		if !slices.Equal(got[s], want[s]) {
			t.Fatalf("step %d: got %v, want %v", s, got[s], want[s])
		}
	}
}

// A program says which rules it has.
func namesRules(t *testing.T, program, config string) {
	for _, c := range []struct {
		config, want string
		fails        bool
	}{
		{config, "learn    momentum, a rule of this program, with the preset paper: ", false},
		{strings.Replace(config, "momentum", "momentun", 1), `learn.rule: no rule is called "momentun"; this program has: momentum`, true},
	} {
		out, err := command(t, program, c.config, "--check").CombinedOutput()
		if (err != nil) != c.fails || !strings.Contains(string(out), c.want) {
			t.Errorf("got %v and %s, want %q", err, out, c.want)
		}
	}
}

// build compiles the program.
func build(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "own-agent")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", path, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return path
}

// command is the program with a configuration, whose paths are as seen from here.
func command(t *testing.T, program, config string, args ...string) *exec.Cmd {
	t.Helper()
	here, err := filepath.Abs(data)
	check(t, err)
	path := filepath.Join(t.TempDir(), "agent.yaml")
	check(t, os.WriteFile(path, []byte(strings.ReplaceAll(config, data, filepath.ToSlash(here)+"/")), 0o644))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return exec.CommandContext(ctx, program, append([]string{"--config", path}, args...)...)
}

// run returns what the program prints.
func run(t *testing.T, program, config string, args ...string) []byte {
	t.Helper()
	c := command(t, program, config, args...)
	var log bytes.Buffer
	c.Stderr = &log
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, log.String())
	}
	return out
}

// answers returns the outputs of all nodes by step; nil where there are none.
func answers(t *testing.T, out []byte) [][]float32 {
	t.Helper()
	var all [][]float32
	for line := range bytes.Lines(out) {
		var a host.Answer
		check(t, json.Unmarshal(line, &a))
		for uint64(len(all)) <= a.Time {
			all = append(all, nil)
		}
		for _, o := range a.Outputs {
			all[a.Time] = append(all[a.Time], o.Value...)
		}
	}
	if len(all) == 0 {
		t.Fatalf("no answers: %s", out)
	}
	return all
}

// share returns how many answers of the nodes that are read are right.
func share(t *testing.T, answers [][]float32) float64 {
	t.Helper()
	file, err := modelfile.LoadArray(data + "stream_targets.npy")
	check(t, err)
	targets, err := file.Int32s()
	check(t, err)
	const classes = 5
	right, all := 0, 0
	for s, outputs := range answers {
		for _, node := range []int{5, 15, 25, 35, 45} { // those that config.yaml of the data names
			y := outputs[node*classes : (node+1)*classes]
			if slices.Index(y, slices.Max(y)) == int(targets[s]) {
				right++
			}
			all++
		}
	}
	return float64(right) / float64(all)
}

// shorten writes the first steps of the stream to a folder.
func shorten(t *testing.T, steps int) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"stream_signals.npy", "stream_targets.npy"} {
		a, err := modelfile.LoadArray(data + name)
		check(t, err)
		values, err := a.Float32s()
		check(t, err)
		shape := append([]int{steps}, a.Shape[1:]...)
		check(t, modelfile.SaveArray(filepath.Join(dir, name), shape, values[:len(values)/a.Shape[0]*steps]))
	}
	var kept strings.Builder
	for line := range strings.Lines(read(t, data+"stream_graph.csv")) {
		fields := strings.Split(strings.TrimSpace(line), ",")
		if at, err := strconv.Atoi(fields[len(fields)-1]); err != nil || at < steps {
			kept.WriteString(line)
		}
	}
	check(t, os.WriteFile(filepath.Join(dir, "stream_graph.csv"), []byte(kept.String()), 0o644))
	return filepath.ToSlash(dir)
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	check(t, err)
	return string(text)
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
