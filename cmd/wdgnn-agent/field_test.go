package main_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/internal/clocktest"
	"github.com/wdgnn/wdgnn/modelfile"
)

// How a field looks: the network of wdgnn init, ten nodes on each box.
const (
	boxes, perBox = 5, 10
	nodes         = boxes * perBox
	period        = 400 // steps of the stream of init, which is repeated
	repeats       = 100
	patience      = 90 * time.Second // for what takes seconds on an idle machine
)

// What all fields share, made once: ground is a folder with the data and a model of wdgnn
// init, and its stream many times over; answers are the right ones.
var (
	ground  string
	answers [][]float32
)

// field is five boxes as a user starts them: processes, each with a file and a
// stream of its own that waits for nobody but the neighbours. Nobody watches
// over them, nobody paces them. What they run does not learn, so that the right
// answers are known to the bit: those of one box with all nodes.
type field struct {
	*testing.T
	dir    string
	bus    string // nats or tcp
	server string // address of the NATS server
	first  string // how long the first step may take
	logs   [boxes]bytes.Buffer
	procs  [boxes]*exec.Cmd
	broker *exec.Cmd
	right  [][]float32         // by step of the period and node
	read   map[string]*written // by file of answers
}

// written is what was read of a file of answers so far.
type written struct {
	bytes int64
	all   []host.Answer
}

// programs builds what users start, once.
var programs = sync.OnceValues(func() (dir string, err error) {
	if dir, err = os.MkdirTemp("", "wdgnn-field-"); err != nil {
		return "", err
	}
	build := exec.Command("go", "build", "-o", dir, "../wdgnn", ".")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return dir, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if dir, err := programs(); err == nil {
		os.RemoveAll(dir)
	}
	os.RemoveAll(ground)
	os.Exit(code)
}

func newField(t *testing.T, bus string) *field {
	t.Helper()
	if testing.Short() {
		t.Skipf("SKIPPED %s: with -short no boxes are started; without, they are", t.Name())
	}
	prepare(t)
	f := &field{T: t, dir: t.TempDir(), bus: bus, server: free(t), first: "1m", right: answers}
	for _, name := range []string{"first", "long_stream_signals.npy", "long_stream_targets.npy"} {
		f.check(os.Symlink(filepath.Join(ground, name), filepath.Join(f.dir, name)))
	}
	return f
}

// prepare makes what all fields share, if no test before has done so.
func prepare(t *testing.T) {
	t.Helper()
	if answers != nil {
		return
	}
	f := &field{T: t}
	var err error
	f.dir, err = os.MkdirTemp("", "wdgnn-ground-")
	f.check(err)
	ground = f.dir
	f.train("first")
	f.prolong("stream_signals.npy")
	f.prolong("stream_targets.npy")
	f.referenceOf("first")
	answers = f.right
}

// command returns one of our programs, ready to start in the field.
func (f *field) command(name string, args ...string) *exec.Cmd {
	f.Helper()
	dir, err := programs()
	f.check(err)
	cmd := exec.Command(filepath.Join(dir, name), args...)
	cmd.Dir = f.dir
	return cmd
}

func (f *field) check(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

// train makes the data and a model of wdgnn init, for agents.
func (f *field) train(name string) {
	f.Helper()
	f.run("wdgnn", "init", name)
	path := filepath.Join(f.dir, name, "config.yaml")
	text, err := os.ReadFile(path)
	f.check(err)
	config := strings.Replace(string(text), "shift: spectral", "shift: row-stochastic", 1)
	f.check(os.WriteFile(path, []byte(config), 0o644))
	f.run("wdgnn", "train", path)
}

func (f *field) run(name string, args ...string) {
	f.Helper()
	if out, err := f.command(name, args...).CombinedOutput(); err != nil {
		f.Fatalf("%s %v: %v: %s", name, args, err, out)
	}
}

// prolong repeats an array of the stream.
func (f *field) prolong(name string) {
	f.Helper()
	a, err := modelfile.LoadArray(filepath.Join(f.dir, "first", name))
	f.check(err)
	values, err := a.Float32s()
	f.check(err)
	shape := slices.Clone(a.Shape)
	shape[0] *= repeats
	f.check(modelfile.SaveArray(filepath.Join(f.dir, "long_"+name), shape, slices.Repeat(values, repeats)))
}

// referenceOf computes the right answers of a model: one box, all nodes, one period.
func (f *field) referenceOf(model string) {
	f.Helper()
	f.write("one.yaml", `run: field
host: 0
hosts: {0: {nodes: 0-49}}
model: `+model+`/run/model.safetensors
bus: {kind: none}
world: {kind: stream, signals: first/stream_signals.npy, targets: first/stream_targets.npy, graph: first/graph.csv, answers: one.jsonl}
`)
	f.run("wdgnn-agent", "--config", "one.yaml")
	f.right = make([][]float32, period*nodes)
	for _, a := range f.lines("one.jsonl") {
		for _, o := range a.Outputs {
			f.right[int(a.Time)*nodes+int(o.Node)] = o.Value
		}
	}
}

func (f *field) write(name, text string) {
	f.Helper()
	f.check(os.WriteFile(filepath.Join(f.dir, name), []byte(text), 0o644))
}

// lines returns the whole lines of a file of answers, which only grows.
func (f *field) lines(name string) []host.Answer {
	f.Helper()
	file, err := os.Open(filepath.Join(f.dir, name))
	if err != nil {
		return nil
	}
	defer file.Close()
	if f.read == nil {
		f.read = map[string]*written{}
	}
	w := f.read[name]
	if w == nil {
		w = new(written)
		f.read[name] = w
	}
	text, err := io.ReadAll(io.NewSectionReader(file, w.bytes, math.MaxInt64-w.bytes))
	f.check(err)
	for line := range bytes.Lines(text) {
		if !bytes.HasSuffix(line, []byte("\n")) {
			break // being written
		}
		var a host.Answer
		if err := json.Unmarshal(line, &a); err != nil {
			f.Fatalf("%s: %q: %v", name, line, err)
		}
		w.bytes, w.all = w.bytes+int64(len(line)), append(w.all, a)
	}
	return w.all
}

// configure writes the file of box k, which runs the given model.
func (f *field) configure(k int, model string) {
	f.Helper()
	var text strings.Builder
	fmt.Fprintf(&text, "run: field\nhost: %d\nhosts:\n", k)
	for other := range boxes {
		fmt.Fprintf(&text, "  %d: {nodes: %d-%d, address: %q}\n", other, other*perBox, (other+1)*perBox-1, f.address(other))
	}
	fmt.Fprintf(&text, "model: %s/run/model.safetensors\nbus: {kind: %s, url: \"nats://%s\"}\n", model, f.bus, f.server)
	text.WriteString("world: {kind: stream, signals: long_stream_signals.npy, targets: long_stream_targets.npy, graph: first/graph.csv, ")
	fmt.Fprintf(&text, "answers: answers-%d.jsonl}\npace: {deadline: 500ms, first: %s}\n", k, f.first)
	config := text.String()
	if f.bus == "tcp" {
		config = strings.Replace(config, fmt.Sprintf(", url: \"nats://%s\"", f.server), "", 1)
	}
	f.write(fmt.Sprintf("agent-%d.yaml", k), config)
}

// addresses of boxes that speak directly, by box; drawn when first asked for.
func (f *field) address(k int) string {
	path := filepath.Join(f.dir, "addresses")
	text, err := os.ReadFile(path)
	if err != nil {
		for range boxes {
			text = append(text, free(f.T)+"\n"...)
		}
		f.check(os.WriteFile(path, text, 0o644))
	}
	return strings.Fields(string(text))[k]
}

// start starts box k.
func (f *field) start(k int) {
	f.Helper()
	cmd := f.command("wdgnn-agent", "--config", fmt.Sprintf("agent-%d.yaml", k))
	cmd.Stderr = &f.logs[k]
	f.check(cmd.Start())
	f.procs[k] = cmd
	f.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
}

// startAll starts the server, if there is one, and all boxes.
func (f *field) startAll() {
	f.Helper()
	if f.bus == "nats" {
		f.serve()
	}
	for k := range boxes {
		f.start(k)
	}
}

// serve starts the NATS server.
func (f *field) serve() {
	f.Helper()
	f.broker = f.command("wdgnn", "swarm", "server", "--addr", f.server)
	f.check(f.broker.Start())
	cmd := f.broker
	f.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
}

// end kills box k and returns what it said on stderr.
func (f *field) end(k int) string {
	f.Helper()
	f.procs[k].Process.Kill()
	f.procs[k].Wait()
	return f.logs[k].String()
}

// await waits until done, and says how long that took.
func (f *field) await(what string, done func() bool) {
	f.Helper()
	from := time.Now()
	for !done() {
		if time.Since(from) > patience {
			clocktest.Need(f)
			for k := range boxes {
				f.Logf("box %d is at step %d: %.3000s", k, f.step(k), f.end(k))
			}
			f.Fatalf("not after %v: %s", patience, what)
		}
		time.Sleep(100 * time.Millisecond)
	}
	f.Logf("%.1f s: %s", time.Since(from).Seconds(), what)
}

// step returns the latest step that box k has answered, -1 if none.
func (f *field) step(k int) int {
	if all := f.lines(fmt.Sprintf("answers-%d.jsonl", k)); len(all) > 0 {
		return int(all[len(all)-1].Time)
	}
	return -1
}

// steps returns the latest steps of the given boxes, the smallest first.
func (f *field) steps(which ...int) []int {
	var all []int
	for _, k := range which {
		all = append(all, f.step(k))
	}
	slices.Sort(all)
	return all
}

// rightFor says whether all boxes have given nothing but right answers in
// the last so many steps, none left out.
func (f *field) rightFor(steps int) bool {
	latest := f.steps(0, 1, 2, 3, 4)[0]
	seen := 0
	for k := range boxes {
		for _, a := range slices.Backward(f.lines(fmt.Sprintf("answers-%d.jsonl", k))) {
			if int(a.Time) <= latest-steps {
				break
			}
			if int(a.Time) > latest-steps && int(a.Time) <= latest && f.correct(a) {
				seen++
			}
		}
	}
	return seen == boxes*steps
}

func (f *field) correct(a host.Answer) bool {
	for _, o := range a.Outputs {
		if !slices.Equal(o.Value, f.right[int(a.Time)%period*nodes+int(o.Node)]) {
			return false
		}
	}
	return len(a.Outputs) == perBox
}

// free returns an address on which nobody listens.
func free(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
