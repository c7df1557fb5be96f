package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/random"
)

// onnxLimit is how far outputs of other programs may be from those of predict, as a
// share of the largest, or of 1 where that is less.
const onnxLimit = 1e-5

// onnxCase is a model on a graph and what predict makes of it, all in files.
type onnxCase struct {
	Name    string `json:"name"`
	Onnx    string `json:"onnx"`
	Shift   string `json:"shift"`
	Signals string `json:"signals"`
	Want    string `json:"want"`
	Delayed bool   `json:"delayed"`
}

// onnxResult is what another program says of a case.
type onnxResult struct {
	Name       string  `json:"name"`
	Difference float64 `json:"difference"`
	Largest    float64 `json:"largest"`
}

// Exported models pass onnx's checker and give the outputs of predict, on networks of
// several sizes: computed by NumPy, and by onnxruntime-web in node where the folder
// that holds it in node_modules is named.
func TestExportAgrees(t *testing.T) {
	python := "/usr/bin/python3"
	if out, err := osexec.Command(python, "-c", "import numpy, onnx").CombinedOutput(); err != nil {
		message := fmt.Sprintf("%s cannot import onnx (%v): exported models are NOT TESTED; try: apt-get install python3-onnx\n%s",
			python, err, out)
		if os.Getenv("CI") == "true" {
			t.Fatal(message)
		}
		t.Skipf("SKIPPED %s: %s", t.Name(), message)
	}
	folder := t.TempDir()
	cases := onnxCases(t, folder)
	list := filepath.Join(folder, "cases.json")
	text, err := json.Marshal(cases)
	if err == nil {
		err = os.WriteFile(list, text, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Run("numpy", func(t *testing.T) { checkAgreement(t, cases, python, "-B", "testdata/onnx/check.py", list) })
	t.Run("onnxruntime-web", func(t *testing.T) {
		modules := os.Getenv("WDGNN_ONNXRUNTIME")
		if modules == "" {
			t.Skipf("SKIPPED %s: WDGNN_ONNXRUNTIME names no folder with onnxruntime-web in node_modules; .ci/run does", t.Name())
		}
		for _, r := range checkAgreement(t, cases, "node", "testdata/onnx/check.mjs", modules, list) {
			row := fmt.Sprintf("| %s | %.0e |", r.Name, r.Difference/max(r.Largest, 1))
			t.Log(row)
			checkAgreementRow(t, r.Name)
		}
	})
}

// checkAgreement runs a program on the cases and compares what it says of each.
func checkAgreement(t *testing.T, cases []onnxCase, program string, args ...string) (results []onnxResult) {
	t.Helper()
	out, err := osexec.CommandContext(t.Context(), program, args...).Output()
	if err != nil {
		stderr := ""
		if e, ok := err.(*osexec.ExitError); ok {
			stderr = string(e.Stderr)
		}
		t.Fatalf("%s: %v\n%s%s", program, err, out, stderr)
	}
	if err := json.Unmarshal(out, &results); err != nil || len(results) != len(cases) {
		t.Fatalf("%s: got %d results (%v), want %d: %s", program, len(results), err, len(cases), out)
	}
	for _, r := range results {
		if !(r.Difference <= onnxLimit*max(r.Largest, 1)) {
			t.Errorf("%s: got a difference of %.3g to predict, want at most %.0e of %.3g", r.Name, r.Difference, onnxLimit, r.Largest)
		}
	}
	return results
}

// checkAgreementRow looks for a case in the table of doc/onnx.md.
func checkAgreementRow(t *testing.T, name string) {
	t.Helper()
	page, err := os.ReadFile("../../doc/onnx.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), "\n| "+name+" | ") {
		t.Errorf("doc/onnx.md has no row %q", name)
	}
}

// onnxCases writes models of every kind and what predict says.
func onnxCases(t *testing.T, folder string) []onnxCase {
	t.Helper()
	wide := func(order int) *gnn.WideConfig { return &gnn.WideConfig{Order: order} }
	layer := func(order, features int, a gnn.Activation) gnn.LayerConfig {
		return gnn.LayerConfig{Order: order, Features: features, Activation: a}
	}
	both := gnn.Config{In: 3, Features: 8, Outputs: 2, Wide: wide(3), Deep: []gnn.LayerConfig{layer(2, 16, gnn.Tanh), layer(2, 8, gnn.ReLU)}}
	w := onnxWriter{t: t, folder: folder}
	w.add("a trained model, `examples/own-data`", "../../examples/own-data/model.safetensors", 0, 20, 50, 200)
	w.add("taps of their own, learned online", adapted(t, folder, "regress"), 0, 50)
	w.add("graph filter of order 3", w.save(gnn.Config{In: 2, Features: 3, Wide: wide(3)}, 0, false), 0, 5, 40)
	w.add("GNN of two layers, ReLU", w.save(gnn.Config{In: 2, Features: 6, Outputs: 4, Deep: []gnn.LayerConfig{
		layer(2, 12, gnn.ReLU), layer(3, 6, gnn.ReLU),
	}}, 0, false), 0, 40)
	w.add("wide and deep, tanh and ReLU", w.save(both, 0, false), 0, 2, 17, 60)
	w.add("leaky ReLU, no biases, no readout", w.save(gnn.Config{
		In: 1, Features: 3, NoBias: true, Wide: wide(0), Deep: []gnn.LayerConfig{layer(2, 3, gnn.LeakyReLU)},
	}, 0, false), 0, 25)
	w.add("nothing is exchanged, order 0", w.save(gnn.Config{In: 2, Features: 2, Wide: wide(0)}, 0, false), 0, 9)
	w.add("wide and deep, taps of their own", w.save(both, 12, false), 0, 12)
	w.add("delayed, 8 steps", w.save(both, 0, true), 8, 7, 30)
	deeper := both
	deeper.Wide = wide(1) // a shorter reach than the first layer's
	w.add("delayed, taps of their own, 8 steps", w.save(deeper, 10, true), 8, 10)
	w.traffic()
	return w.cases
}

// Of a model that learned online as it does by default, the file has what was learned, or
// there is none and the reason is said.
func TestExportWhatWasLearned(t *testing.T) {
	for _, c := range []struct {
		task string
		code int
		want string
	}{
		{"classify", exitFailure, "nodes weight their neighbours one by one"},
		{"regress", exitOK, "nodes have taps of their own"},
		{"forecast", exitFailure, "what sensors learned online"},
	} {
		dir := filepath.Join(t.TempDir(), c.task)
		config, out := filepath.Join(dir, "config.yaml"), filepath.Join(dir, "adapted.onnx")
		expect(t, "export "+adapted(t, dir, c.task)+" --out "+out, c.code, c.want)
		if _, err := os.Stat(out); (err == nil) != (c.code == exitOK) {
			t.Errorf("%s: the file: %v", c.task, err)
		}
		if model := filepath.Join(dir, "run", "model.safetensors"); c.task == "forecast" {
			expect(t, "predict "+model, exitUsage, "--out is missing; "+model+" forecasts readings\nTry: wdgnn forecast -h")
			expect(t, "predict "+model+" --graph "+config+" --signals "+config+" --out "+out, exitFailure, "\nTry: wdgnn forecast "+model)
		}
	}
}

// adapted writes an example to a folder, trains its model for a moment, has it learn online
// and returns the file of what came of it.
func adapted(t *testing.T, dir, task string) string {
	t.Helper()
	config := filepath.Join(dir, "config.yaml")
	expect(t, "init "+dir+" --task "+task, exitOK, "")
	expect(t, "train "+config+" --epochs 3 -q", exitOK, "model ")
	expect(t, "online "+filepath.Join(dir, "run", "model.safetensors")+" "+config+" -q", exitOK, "model ")
	return filepath.Join(dir, "online", "adapted.safetensors")
}

// onnxWriter writes cases.
type onnxWriter struct {
	t      *testing.T
	folder string
	files  int
	cases  []onnxCase
}

// path returns one that was not used before.
func (w *onnxWriter) path(ending string) string {
	w.files++
	return filepath.Join(w.folder, fmt.Sprintf("%d%s", w.files, ending))
}

// save writes a model of drawn numbers, with taps of their own at every other node of
// a network if its size is given.
func (w *onnxWriter) save(c gnn.Config, nodes int, delayed bool) string {
	w.t.Helper()
	rng := random.Stream(5, "export", w.files)
	net, err := gnn.NewRandom(c, rng)
	if err != nil {
		w.t.Fatal(err)
	}
	copy(net.Params.Gain, []float32{0.7, 1.3, -0.2})
	m := &modelfile.Model{Network: net, Meta: modelfile.Meta{Shift: graph.ShiftSymmetric, Delayed: delayed}, Extra: map[string]mat.Dense{}}
	for i := 0; i < nodes; i += 2 {
		for _, window := range net.Params.Windows() {
			if strings.HasPrefix(window.Name, "wide.") {
				m.Extra[fmt.Sprintf("node.%d.%s", i, window.Name)] = mat.NewDense(window.Rows, window.Cols, drawn(rng, window.Len()))
			}
		}
	}
	path := w.path(".safetensors")
	if err := modelfile.Save(path, m); err != nil {
		w.t.Fatal(err)
	}
	return path
}

// drawn returns n random numbers.
func drawn(rng *rand.Rand, n int) []float32 {
	values := make([]float32, n)
	for i := range values {
		values[i] = float32(rng.NormFloat64())
	}
	return values
}

// add exports a model and predicts with it, on a drawn graph for every number of nodes,
// which changes at every step if there are any.
func (w *onnxWriter) add(name, model string, steps int, sizes ...int) {
	w.t.Helper()
	m, err := modelfile.Load(model)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, n := range sizes {
		rng := random.Stream(6, name, n)
		c := onnxCase{
			Name: fmt.Sprintf("%s | %d", name, n), Onnx: w.path(".onnx"), Shift: w.path(".npy"), Signals: w.path(".npy"),
			Want: w.path(".npy"), Delayed: steps > 0,
		}
		shape := []int{3, n, m.Network.Config.In}
		if steps > 0 {
			shape = []int{3, steps, n, m.Network.Config.In}
		}
		if err := modelfile.SaveArray(c.Signals, shape, drawn(rng, 3*max(steps, 1)*n*m.Network.Config.In)); err != nil {
			w.t.Fatal(err)
		}
		w.compare(c, model, w.graph(rng, n, steps), "")
	}
}

// compare exports a model for a graph and predicts with it.
func (w *onnxWriter) compare(c onnxCase, model, g, flags string) {
	w.t.Helper()
	expect(w.t, fmt.Sprintf("export %s --onnx %s --graph %s --shift %s%s", model, c.Onnx, g, c.Shift, flags), exitOK, "wrote ")
	expect(w.t, fmt.Sprintf("predict %s --graph %s --signals %s --out %s%s", model, g, c.Signals, c.Want, flags), exitOK, "wrote ")
	w.cases = append(w.cases, c)
}

// traffic trains a model to forecast METR-LA, for a moment, and adds it on the roads of Los
// Angeles.
func (w *onnxWriter) traffic() {
	w.t.Helper()
	const data = sharedData + "metr-la/"
	text, err := os.ReadFile(data + "speed.csv")
	if os.IsNotExist(err) && os.Getenv("CI") != "true" {
		w.t.Logf("SKIPPED the forecast of %s: no METR-LA at %s", w.t.Name(), data)
		return
	}
	roads, failed := os.ReadFile(data + "adjacency.csv")
	if err = errors.Join(err, failed); err != nil {
		w.t.Fatal(err)
	}
	series := strings.Join(strings.SplitAfter(string(text), "\n")[:300], "")
	names := strings.Split(strings.TrimSpace(strings.SplitN(series, "\n", 2)[0]), ",")
	named, numbered := "src,dst,weight\n", "src,dst,weight\n"
	for i, line := range strings.Split(strings.TrimSpace(string(roads)), "\n") {
		for j, weight := range strings.Split(line, ",") {
			if weight != "0" && i != j {
				named += fmt.Sprintf("%s,%s,%s\n", names[j], names[i], weight)
				numbered += fmt.Sprintf("%d,%d,%s\n", j, i, weight)
			}
		}
	}
	dir := w.path(".traffic")
	files := map[string]string{
		"speed.csv": series, "named.csv": named, "roads.csv": numbered, "config.yaml": `seed: 1
out: run
forecast: {series: speed.csv, graph: named.csv, directed: true, lags: 4, horizons: [1, 3], split: {valid: 0.1, test: 0.1}}
model: {wide: {order: 2}, deep: [{order: 2, features: 16}]}
train: {epochs: 2}
`,
	}
	err = os.Mkdir(dir, 0o777)
	for name, text := range files {
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
	}
	c := onnxCase{
		Name: "a forecast, METR-LA | 207", Onnx: w.path(".onnx"), Shift: w.path(".npy"), Signals: w.path(".npy"), Want: w.path(".npy"),
	}
	const features = 5
	if err = errors.Join(err, modelfile.SaveArray(c.Signals, []int{3, len(names), features},
		drawn(random.Stream(7, "traffic"), 3*len(names)*features))); err != nil {
		w.t.Fatal(err)
	}
	expect(w.t, "train "+filepath.Join(dir, "config.yaml"), exitOK, "model ")
	w.compare(c, filepath.Join(dir, "run", "model.safetensors"), filepath.Join(dir, "roads.csv"), " --directed")
}

// graph writes a matrix of a ring with chords, or a list of links for every step.
func (w *onnxWriter) graph(rng *rand.Rand, n, steps int) string {
	w.t.Helper()
	if steps == 0 {
		a := make([]float32, n*n)
		for i := range n {
			for _, j := range []int{(i + 1) % n, rng.IntN(n)} {
				if v := rng.Float32() + 0.5; i != j {
					a[i*n+j], a[j*n+i] = v, v
				}
			}
		}
		path := w.path(".npy")
		if err := modelfile.SaveArray(path, []int{n, n}, a); err != nil {
			w.t.Fatal(err)
		}
		return path
	}
	text := "src,dst,time\n"
	for t := range steps {
		for i := range n - 1 {
			if t == 0 || t == steps-1 || rng.IntN(4) > 0 {
				text += fmt.Sprintf("%d,%d,%d\n", i, i+1, t)
			}
		}
	}
	path := w.path(".csv")
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		w.t.Fatal(err)
	}
	return path
}
