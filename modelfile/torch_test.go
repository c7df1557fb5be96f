package modelfile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/random"
)

// python is Debian's, which python3-torch belongs to.
const python = "/usr/bin/python3"

// torchCase is one model and what it is run on.
type torchCase struct {
	Model     string        `json:"model"`  // empty: Python builds the model from Config
	Config    *gnn.Config   `json:"config"` //
	Saved     string        `json:"saved"`  // where Python saves the model
	Delayed   bool          `json:"delayed"`
	Adjacency [][]float32   `json:"adjacency"`
	Shifts    [][][]float32 `json:"shifts"`  // T of N×N; one unless delayed
	Signals   [][][]float32 `json:"signals"` // B or T of N×F

	name   string
	model  *Model
	shifts []*mat.CSR
}

// torchAnswer is what Python makes of it.
type torchAnswer struct {
	Meta   map[string]any       `json:"meta"`
	Names  []string             `json:"names"`
	Dense  []float32            `json:"dense"`
	Sparse []float32            `json:"sparse"`
	Shift  map[string][]float32 `json:"shift"`
}

const torchNodes = 12

// PyTorch loads what we save, computes what we compute, and we load what it
// saves.
func TestTorch(t *testing.T) {
	if out, err := exec.Command(python, "-c", "import torch").CombinedOutput(); err != nil {
		message := fmt.Sprintf("%s cannot import torch (%v): exchange with PyTorch is NOT TESTED; try: apt-get install python3-torch\n%s",
			python, err, out)
		if os.Getenv("CI") == "true" {
			t.Fatal(message)
		}
		t.Skipf("SKIPPED %s: %s", t.Name(), message)
	}
	folder := t.TempDir()
	var cases []*torchCase
	for _, name := range slices.Sorted(maps.Keys(architectures)) {
		cases = append(cases, newTorchCase(t, folder, name, false), newTorchCase(t, folder, name, true))
	}
	cases = append(cases, builtByPython(t, folder))
	small := encoded(t, smallModel(t))
	var broken []string
	for i, file := range [][]byte{
		small[:100], small[:len(small)-1], append(slices.Clone(small), 0), nil,
		replaced(t, small, `"wdgnn.format":"1"`, `"wdgnn.format":"2"`),
		replaced(t, small, `"wide.tap.1":`, `"online.tap.1":`),
		replaced(t, small, `"online.whiten.left":`, `"whiten.left":`),
		replaced(t, small, `"shape":[2,2]`, `"shape":[2,3]`),
		replaced(t, small, `\"in\":1`, `\"in\":2`),
		replaced(t, small, `\"in\":1`, `\"in\":1,\"attention\":1`),
		replaced(t, small, `\"order\":1`, `\"order\":4000000000000`),
		replaced(t, small, `\"features\":1`, `\"features\":4000000000000`),
		replaced(t, small, `\"in\":1`, `\"in\":\"x\"`),
		replaced(t, small, `"wdgnn.shift":"symmetric"`, `"wdgnn.shift":"sideways"`),
		rebuilt(small, func(string) string { return "[1,2]" }),
		rebuilt(small, func(string) string { return `{"a":3}` }),
		rebuilt(small, func(string) string { return strings.Repeat("[", 100_000) }),
	} {
		broken = append(broken, filepath.Join(folder, fmt.Sprintf("broken%d", i)))
		if err := os.WriteFile(broken[i], file, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	checkSummary(t, cases[0].Model, broken[0])
	answers, refused := runTorch(t, folder, cases, broken)
	for i, c := range cases {
		t.Run(c.name, func(t *testing.T) { c.check(t, answers[i]) })
	}
	for i, r := range refused {
		if r == "" {
			t.Errorf("Python accepts file %d that Go refuses", i)
		}
	}
}

// checkSummary runs the file as a program.
func checkSummary(t *testing.T, model, broken string) {
	t.Helper()
	program := filepath.Join("..", "python", "wdgnn_torch.py")
	out, err := exec.Command(python, "-B", program, model).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "wide.tap.2") || !strings.Contains(string(out), "shift         symmetric\n") {
		t.Errorf("summary: %v: %s", err, out)
	}
	for code, args := range map[int][]string{1: {broken}, 2: nil} {
		cmd := exec.Command(python, append([]string{"-B", program}, args...)...)
		out, err := cmd.CombinedOutput()
		if err == nil || cmd.ProcessState.ExitCode() != code || strings.Contains(string(out), "Traceback") {
			t.Errorf("%q: got exit code %d, want %d: %s", args, cmd.ProcessState.ExitCode(), code, out)
		}
	}
}

// newTorchCase saves a random model and draws a graph and signals for it.
func newTorchCase(t *testing.T, folder, name string, delayed bool) *torchCase {
	t.Helper()
	c := &torchCase{name: name, Delayed: delayed, model: randomModel(t, architectures[name])}
	if delayed {
		c.name += ", delayed"
		c.model.Meta.Delayed, c.model.Meta.Nodes = true, []int{3, 1}
		c.model.Extra = map[string]mat.Dense{
			"online.whiten.left": mat.NewDense(2, 3, []float32{1, 2, 3, 4, 5, 6}),
			"node.7.x.bias":      mat.NewDense(1, 2, []float32{-1, 0.1}),
		}
		c.model.Precise = map[string]Float64s{"online.moment": {2, 1, []float64{1.0 / 3, 1e300}}}
		c.model.Meta.Online = `{"mode":"distributed"}`
		c.model.Meta.Forecast = `{"sensors":["a"]}`
	}
	c.Model = filepath.Join(folder, strings.ReplaceAll(c.name, " ", "_")+".safetensors")
	c.Saved = c.Model + ".saved"
	if err := Save(c.Model, c.model); err != nil {
		t.Fatal(err)
	}
	rng := random.Stream(3, "torch", len(c.name))
	for step := range 4 {
		g, err := graph.ErdosRenyi(torchNodes, 0.3, rng)
		if err != nil {
			t.Fatal(err)
		}
		if step == 0 {
			c.Adjacency = rows(g.Adjacency().Dense())
		}
		s, err := graph.ShiftSymmetric.Of(g)
		if err != nil {
			t.Fatal(err)
		}
		if step == 0 || delayed {
			c.shifts = append(c.shifts, s)
			c.Shifts = append(c.Shifts, rows(s.Dense()))
		}
		x := mat.NewDense(torchNodes, c.model.Network.Config.In, nil)
		for i := range x.Data {
			x.Data[i] = float32(rng.NormFloat64())
		}
		c.Signals = append(c.Signals, rows(x))
	}
	return c
}

// builtByPython is a case whose model Python builds, with a graph and signals
// of another.
func builtByPython(t *testing.T, folder string) *torchCase {
	c := newTorchCase(t, folder, "leaky", false)
	config := architectures["leaky"]
	c.name, c.model, c.Model, c.Config = "built by Python", nil, "", &config
	c.Saved = filepath.Join(folder, "built.safetensors")
	return c
}

// rows returns a matrix as JSON holds it.
func rows(d mat.Dense) [][]float32 {
	out := make([][]float32, d.Rows)
	for i := range out {
		out[i] = d.Row(i)
	}
	return out
}

// runTorch hands the cases to Python and returns its answers.
func runTorch(t *testing.T, folder string, cases []*torchCase, broken []string) ([]torchAnswer, []string) {
	t.Helper()
	module, err := filepath.Abs(filepath.Join("..", "python"))
	if err != nil {
		t.Fatal(err)
	}
	job, err := json.Marshal(map[string]any{"python": module, "cases": cases, "broken": broken})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, "cases.json")
	if err := os.WriteFile(path, job, 0o666); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, "-B", filepath.Join("testdata", "torch_driver.py"), path)
	cmd.Env = append(os.Environ(), "OMP_NUM_THREADS=1")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	var out struct {
		Answers []torchAnswer `json:"answers"`
		Refused []string      `json:"refused"`
	}
	if err := json.Unmarshal(stdout.Bytes(), &out); err != nil {
		t.Fatalf("%v: %.500s", err, stdout.String())
	}
	return out.Answers, out.Refused
}

// check compares outputs, names, shifts and the file that Python saved.
func (c *torchCase) check(t *testing.T, a torchAnswer) {
	if c.model == nil {
		c.checkBuilt(t)
	}
	want := c.outputs(c.model.Network)
	near(t, "outputs with a dense shift", a.Dense, want)
	near(t, "outputs with a sparse shift", a.Sparse, want)
	var names []string
	for _, w := range c.model.Network.Params.Windows() {
		names = append(names, w.Name)
	}
	if !slices.Equal(a.Names, names) {
		t.Errorf("Python's names are %v, want %v", a.Names, names)
	}
	c.checkShifts(t, a)
	back, err := Load(c.Saved)
	if err != nil {
		t.Fatal(err)
	}
	if !sameBits(back.Network.Params.Flat, c.model.Network.Params.Flat) || !sameExtra(back.Extra, c.model.Extra) ||
		!reflect.DeepEqual(back.Precise, c.model.Precise) {
		t.Error("Python saved other numbers")
	}
	if !reflect.DeepEqual(back.Meta, c.model.Meta) || !reflect.DeepEqual(back.Network.Config, c.model.Network.Config) {
		t.Errorf("Python saved %+v %+v, want %+v %+v", back.Network.Config, back.Meta, c.model.Network.Config, c.model.Meta)
	}
	if got := c.outputs(back.Network); !sameBits(got, want) {
		t.Error("the model that Python saved predicts otherwise")
	}
}

// checkBuilt loads the model that Python built and makes it that of the case.
func (c *torchCase) checkBuilt(t *testing.T) {
	m, err := Load(c.Saved)
	if err != nil {
		t.Fatal(err)
	}
	want := Meta{Shift: graph.ShiftSpectral, Task: "regress", Nodes: []int{2, 0}, Seed: math.MaxUint64}
	if !reflect.DeepEqual(m.Meta, want) || !reflect.DeepEqual(m.Network.Config, *c.Config) {
		t.Errorf("Python saved %+v %+v, want %+v %+v", m.Network.Config, m.Meta, *c.Config, want)
	}
	if w := m.Extra["online.w"]; len(m.Extra) != 1 || w.Rows != 2 || w.Cols != 3 || w.Row(1)[2] != 5 {
		t.Errorf("Python saved further tensors %v", m.Extra)
	}
	p, norm := &m.Network.Params, 0.0
	for _, v := range p.Flat {
		norm += float64(v) * float64(v)
	}
	if norm == 0 || !slices.Equal(p.Gain, []float32{1, 1, 0}) {
		t.Errorf("Python starts with gains %v and a norm of %v", p.Gain, norm)
	}
	c.model = m
}

// checkShifts compares Python's shift operators with ours.
func (c *torchCase) checkShifts(t *testing.T, a torchAnswer) {
	var edges []graph.Edge
	for i, row := range c.Adjacency {
		for j, v := range row[:i] {
			if v > 0 {
				edges = append(edges, graph.Edge{From: j, To: i, Weight: float64(v)})
			}
		}
	}
	g, err := graph.FromEdges(torchNodes, edges, false)
	if err != nil {
		t.Fatal(err)
	}
	for kind := graph.ShiftAdjacency; kind <= graph.ShiftRowStochastic; kind++ {
		s, err := kind.Of(g)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "shift "+kind.String(), a.Shift[kind.String()], s.Dense().Data)
	}
}

// outputs runs the network as the case asks: B×N×C or T×N×C, in C order.
func (c *torchCase) outputs(m *gnn.WideDeep) []float32 {
	var out []float32
	y := mat.NewDense(torchNodes, m.Outputs(), nil)
	delayed := gnn.Delayed{Model: m}
	for i, signal := range c.Signals {
		x := mat.NewDense(torchNodes, m.Config.In, slices.Concat(signal...))
		if c.Delayed {
			delayed.Predict(y, c.shifts[i], x)
			delayed.Advance()
		} else {
			m.Predict(y, c.shifts[0], x)
		}
		out = append(out, y.Data...)
	}
	return out
}

// near fails unless got is want within 1e-5 of the largest value.
func near(t *testing.T, what string, got, want []float32) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d values, want %d", what, len(got), len(want))
		return
	}
	scale, worst := 0.0, 0.0
	for i := range want {
		scale = max(scale, math.Abs(float64(want[i])))
		worst = max(worst, math.Abs(float64(got[i])-float64(want[i])))
	}
	if !(worst <= 1e-5*scale) {
		t.Errorf("%s: off by %g of %g", what, worst, scale)
	}
}
