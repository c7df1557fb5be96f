package main_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/modelfile"
)

// secure writes the files of boxes that keep checkpoints and have keys, and makes the
// keys.
func (f *field) secure() {
	f.Helper()
	for k := range boxes {
		f.configure(k, "first")
		path := filepath.Join(f.dir, fmt.Sprintf("agent-%d.yaml", k))
		text, err := os.ReadFile(path)
		f.check(err)
		secured := strings.NewReplacer("nats://", "tls://", "bus: {", "bus: {keys: keys, ", "deadline: 500ms", "deadline: 20s")
		config := secured.Replace(string(text))
		f.check(os.WriteFile(path, []byte(config+fmt.Sprintf("state: state-%d\ncheckpoint_every: 100ms\n", k)), 0o600))
	}
	f.run("wdgnn", "swarm", "keys", "--config", "agent-0.yaml", "--out", "keys")
}

// startSecure starts the server, if there is one, and all boxes.
func (f *field) startSecure() {
	f.Helper()
	if f.bus == "nats" {
		f.broker = f.command("wdgnn", "swarm", "server", "--addr", f.server, "--keys", "keys")
		f.check(f.broker.Start())
		cmd := f.broker
		f.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	}
	for k := range boxes {
		f.start(k)
	}
}

// clear ends all boxes, and removes what they and their keys left.
func (f *field) clear() {
	for k := range boxes {
		f.end(k)
	}
	for _, pattern := range []string{"state-*", "answers-*", "keys", "addresses"} {
		found, _ := filepath.Glob(filepath.Join(f.dir, pattern))
		for _, path := range found {
			f.check(os.RemoveAll(path))
		}
	}
}

// deploy returns the arguments of wdgnn swarm deploy in the field. The boxes do nothing
// but steps, so that those of the usual three seconds are many.
func (f *field) deploy(args ...string) []string {
	args = append([]string{"swarm", "deploy", "--keys", "keys", "--config", "agent-0.yaml", "--steps", "200"}, args...)
	return args
}

// another writes a model like the first whose parameters are others.
func (f *field) another(name string) {
	f.Helper()
	m, err := modelfile.Load(filepath.Join(f.dir, "first", "run", "model.safetensors"))
	f.check(err)
	for k := range m.Network.Params.Flat {
		m.Network.Params.Flat[k] *= 1 + 0.01*float32(k%7)
	}
	f.check(os.MkdirAll(filepath.Join(f.dir, name, "run"), 0o700))
	f.check(modelfile.Save(filepath.Join(f.dir, name, "run", "model.safetensors"), m))
}

// deployed is what the program says of a deployment.
type deployed struct {
	Step uint64 `json:"step"`
	Made int    `json:"made"`
}

// Five boxes take another model while they run: all of them begin the same step with it,
// every step is answered once, and answers are those of one process with the one model
// before that step and with the other from it on. The way back is one command; a box that
// is killed once it was armed comes back and follows, with the model that its
// configuration does not name.
func TestDeploy(t *testing.T) {
	f := newField(t, "tcp")
	first := f.right
	f.another("second")
	f.referenceOf("second")
	second := f.right
	for _, bus := range []string{"tcp", "nats"} {
		t.Run(bus, func(t *testing.T) {
			f := &field{T: t, dir: f.dir, bus: bus, server: f.server, first: f.first}
			f.secure()
			f.startSecure()
			defer f.clear()
			f.await("boxes run", func() bool { return f.steps(0, 1, 2, 3, 4)[0] > 20 })

			out, err := f.command("wdgnn", f.deploy("second/run/model.safetensors", "--json")...).CombinedOutput()
			if err != nil {
				t.Fatalf("deploy: %v: %s\n%s", err, out, f.logs[0].String())
			}
			var d deployed
			if err := json.Unmarshal(out, &d); err != nil || d.Made != boxes || d.Step == 0 {
				t.Fatalf("got %s (%v), want all boxes", out, err)
			}
			f.await("all are past that step", func() bool { return f.steps(0, 1, 2, 3, 4)[0] > int(d.Step)+20 })
			for k := range boxes {
				for n, a := range f.lines(fmt.Sprintf("answers-%d.jsonl", k)) {
					if f.right = first; a.Time >= d.Step {
						f.right = second
					}
					if int(a.Time) != n || !f.correct(a) {
						t.Fatalf("box %d: answer %d is of step %d, and right: %v; the model changed at step %d", k, n, a.Time, f.correct(a), d.Step)
					}
				}
			}
			f.backWithout(2)
			f.right = first
			f.await("answers are those of the first model again", func() bool { return f.rightFor(20) })
		})
	}
}

// backWithout goes back to the model before; a box is killed as soon as all are armed,
// and started again.
func (f *field) backWithout(k int) {
	f.Helper()
	cmd := f.command("wdgnn", f.deploy("--back")...)
	out, err := cmd.StdoutPipe()
	f.check(err)
	f.check(cmd.Start())
	var said []string
	for s := bufio.NewScanner(out); s.Scan(); {
		said = append(said, s.Text())
		if strings.HasPrefix(s.Text(), "armed on 5 of 5 boxes") {
			f.end(k)
			time.AfterFunc(time.Second, func() { f.start(k) })
		}
	}
	if err := cmd.Wait(); err != nil {
		f.Fatalf("back: %v: %q", err, said)
	}
	if !slices.ContainsFunc(said, func(s string) bool {
		return strings.HasPrefix(s, "switched at step") && strings.Contains(s, "5 of 5 boxes")
	}) {
		f.Errorf("back: got %q, want that all boxes switched", said)
	}
	if log := f.logs[k].String(); !strings.Contains(log, "runs a model that was deployed") {
		f.Errorf("the box that was killed says %s, want that it runs a model that was deployed", log)
	}
}
