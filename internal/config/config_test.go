package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/internal/recipe"
)

const small = `
seed: 7
data:
  graph: graph.csv
  signals: signals.npy
  targets: targets.npy
  task: classify
model:
  wide: {order: 2}
  deep:
    - {order: 2, features: 8}
train:
  adam: {step_size: 0.01}
`

func TestParse(t *testing.T) {
	c, err := parse([]byte(small))
	if err != nil {
		t.Fatal(err)
	}
	a := c.Model.Architecture(3, 4)
	if a.In != 3 || a.Outputs != 4 || a.Features != 8 || a.Wide.Order != 2 || len(a.Deep) != 1 {
		t.Errorf("architecture %+v, want 3 → 8 → 4 with both parts", a)
	}
	tr := c.Training()
	if tr.Seed != 7 || tr.Epochs != 40 || tr.Adam.StepSize != 0.01 || tr.Adam.Beta2 != 0.999 {
		t.Errorf("training %+v, want seed 7 and defaults where nothing is said", tr)
	}
	if got := c.Data.Shift.String(); got != "spectral" {
		t.Errorf("shift %s, want spectral", got)
	}
	if got := c.Select(); got != "accuracy" {
		t.Errorf("select %s, want accuracy", got)
	}
}

// Every whole number that can be kept is, however it is written.
func TestParseKeepsNumbers(t *testing.T) {
	for text, want := range map[string]uint64{
		"18446744073709551615": 1<<64 - 1, "0x10": 16, "1_000": 1000, "1e3": 1000, "7.0": 7, "9007199254740993": 1<<53 + 1,
	} {
		c, err := parse([]byte(strings.Replace(small, "seed: 7", "seed: "+text, 1)))
		if err != nil || c.Seed != want {
			t.Errorf("seed: %s: got %+v (%v), want %d", text, c, err, want)
		}
	}
}

// An alias is what it stands for, and a merge fills in what is not said.
func TestParseAliases(t *testing.T) {
	c, err := parse([]byte(strings.Replace(small, "    - {order: 2, features: 8}\n", `    - &layer {order: 2, features: 8, activation: tanh}
    - *layer
    - {<<: *layer, order: 1}
    - {features: 4, <<: [{order: 3}, *layer]}
`, 1)))
	if err != nil {
		t.Fatal(err)
	}
	want := []gnn.LayerConfig{{Order: 2, Features: 8}, {Order: 2, Features: 8}, {Order: 1, Features: 8}, {Order: 3, Features: 4}}
	for i := range want {
		want[i].Activation = gnn.Tanh
	}
	if !slices.Equal(c.Model.Deep, want) {
		t.Errorf("got %+v, want %+v", c.Model.Deep, want)
	}
}

// Every complaint names the line and the key.
func TestParseComplains(t *testing.T) {
	const (
		linear  = "\nmodel: {wide: {order: 1}, features: 4}"
		flights = "scenario: flocking" + linear
	)
	for _, c := range []struct{ name, text, want string }{
		{"unknown key", "seeed: 7", `line 1: unknown key "seeed"; did you mean "seed"?`},
		{"unknown key inside", small + "  batchsize: 5", `line 14: unknown key "train.batchsize"; did you mean "batch_size"?`},
		{"tab", "seed: 1\ntrain:\n\tepochs: 3", "line 3: a tab begins it, want spaces"},
		{"tab after spaces", "train:\n  epochs: 3\n \tbatch_size: 2", "line 3: a tab begins it, want spaces"},
		{"tab after a dash", "model:\n  deep:\n  -\t{order: 3}", "line 3: a tab begins it, want spaces"},
		{"no tab", "seed: @x", "found character that cannot start any token"},
		{"no model", "data: {graph: g.csv, signals: s.npy, targets: t.npy, task: classify}", "model.features is 0, want at least 1"},
		{"no model for a scenario", "scenario: flocking\nonline: {stream: {graph: g, signals: s, targets: t}}", "model.features is 0"},
		{"letters exchanged", "oinline: {}", `did you mean "online"?`},
		{"a book for a key", strings.Repeat("seed", 200) + ": 1", "the keys here are seed"},
		{"nothing near", "qqqqqqqq: 1", "the keys here are seed, threads"},
		{"in a list", "model: {deep: [{ordr: 1}]}", `unknown key "model.deep[0].ordr"; did you mean "order"?`},
		{"twice", "seed: 7\nseed: 8", `line 2: key "seed" for the second time`},
		{"not a number", "train: {epochs: many}", `line 1: train.epochs is "many", want a whole number`},
		{"negative seed", "seed: -1", "seed is \"-1\", want a whole number, 0 or more"},
		{"seed of 65 bits", "seed: 18446744073709551616", "seed is \"18446744073709551616\", want a whole number, 0 or more, below 2⁶⁴"},
		{"seed beyond what a float has", "seed: 1e17", "seed is \"1e17\", want a whole number"},
		{"negative seed with a point", "seed: -1.0", "seed is \"-1.0\", want a whole number"},
		{"half an epoch", "train: {epochs: 1.5}", `train.epochs is "1.5", want a whole number`},
		{"epochs below every integer", "train: {epochs: -9223372036854775809}", "want a whole number"},
		{"a node and a half", "data: {read: [1, 2.5]}", `data.read[1] is "2.5", want a whole number`},
		{"a list", "seed: [1]", "seed is a list, want a whole number"},
		{"no section", "data: 5", `data is "5", want keys and values`},
		{"no list", "model: {deep: 5}", `model.deep is "5", want a list`},
		{"shift", "data: {shift: sideways}", `no shift is called "sideways"`},
		{"activation", "model: {deep: [{activation: sigmoid}]}", `no activation is called "sigmoid"`},
		{"alias of text", "out: &a there\nthreads: *a", `threads is "there", want a whole number`},
		{"alias within itself", "data: &a {read: [*a]}", "line 1: *a stands within what it means"},
		{
			"aliases of aliases",
			"data: {read: &a [" + strings.Repeat("1,", 2000) + "]}\nmodel: {deep: &b [" + strings.Repeat("*a,", 2000) + "]}",
			"aliases stand for more than 1048576 values",
		},
		{"merge of a number", "model: {<<: 3}", `<< is "3", want a section`},
		{"empty", "", "the configuration is empty"},
		{"a scalar", "hello", "want keys and values"},
		{"two documents", "seed: 1\n---\nseed: 2", "more than one YAML document"},
		{"broken", "seed: [", "line 1"},
		{"nothing to train on", "model: {wide: {order: 1}, features: 4}", "neither data nor scenario"},
		{"both", small + "scenario: sourceloc", "both data and scenario"},
		{"other settings", flights + "\nsourceloc: {members: 3}", `sourceloc has settings, but scenario is "flocking"`},
		{
			"flights", flights + "\nflocking: {robots: 0, train_flights: -1, valid_flights: -2, test_flights: -3}",
			"flocking: robots is 0, want 1 to 10000000\n" +
				"flocking.train_flights is -1, want at least 1\nflocking.valid_flights is -2, " +
				"want 0 or more\nflocking.test_flights is -3, want 0 or more",
		},
		{"many flights", flights + "\nflocking: {robots: 5000, train_flights: 9999}", "make 1.2e+11 numbers, want at most 1073741824"},
		{"two layers", "scenario: flocking\nmodel: {deep: [{features: 4}, {features: 4}]}", "model.deep has 2 layers, want at most 1"},
		{"lost links", flights + "\ntrain: {outage_prob: 0.1}", "the scenario flocking loses no links at random"},
		{"lost links, a range", flights + "\ntrain: {outage: {to: 0.1}}", "train.outage, but the scenario flocking loses no links at random"},
		{"outage", small + "  outage: {from: 0.5, to: 0.4}", "train: outage from 0.5 to 0.4, want 0 ≤ from ≤ to < 1"},
		{"no outage", small + "  outage: {}", "train.outage.to is missing"},
		{"outages", small + "  outage: {to: 0.4}\n  outage_prob: 0.1", "both outage and outage_prob"},
		{"subgraphs", small + "  outage: {to: 0.4, subgraphs: 99999999}", "train.outage.subgraphs is 99999999, want at most 1048576"},
		{"inputs", small + "  inputs: {scale: half}", `train: inputs.scale is "half", want none, one, diag or full`},
		{"no such scenario", "scenario: ants\nmodel: {wide: {order: 1}, features: 4}", `no scenario is called "ants"`},
		{"no model", "scenario: sourceloc", "model.features is 0, want at least 1"},
		{"not finite", small + "  ridge: .nan", "train: ridge is NaN"},
		{"huge", "scenario: sourceloc\nmodel: {wide: {order: 99999999}, features: 4}", "too large"},
		{
			"many parameters", "scenario: sourceloc\nmodel: {deep: [{order: 60000, features: 60000}]}",
			"model: 3.6e+09 parameters, want at most 268435456",
		},
		{
			"many nodes", "scenario: sourceloc\nsourceloc: {members: 99999999999}\nmodel: {wide: {order: 1}, features: 4}",
			"want at most 10000 nodes",
		},
		{
			"many samples",
			"scenario: sourceloc\nsourceloc: {train_samples: 99999999999}\nmodel: {wide: {order: 1}, features: 4}",
			"want at most 1073741824 numbers",
		},
		{"penalty", small + "  lipschitz: {low: 1, high: 0}", "train.lipschitz.strength is missing"},
		{"optimisers", small + "  sgd: {step_size: 1}", "both adam and sgd"},
		{"split", strings.Replace(small, "task:", "split: {valid: 0.6, test: 0.6}\n  task:", 1), "leave some to train on"},
		{"loss", strings.Replace(small, "classify", "regress\n  loss: l2", 1), `data.loss is "l2", want mse`},
		{"read", strings.Replace(small, "task:", "read: [1, 1, -2]\n  task:", 1), "data.read names node 1 twice\ndata.read names node -2"},
		{
			"all at once", "threads: -5\nscenario: sourceloc\ntrain: {epochs: 0, outage_prob: 2}\nmodel: {wide: {order: 1}, features: 4}",
			"threads is -5, want -1 for all processors, or up to 1024\ntrain: epochs is 0, want at least 1\ntrain.outage_prob is 2",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := parse([]byte(c.text))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// The copy in a run's folder leads to the same files.
func TestRelocate(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(file, []byte("# kept\n"+small+"out:\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	first, err := Load(file)
	if err != nil {
		t.Fatal(err)
	}
	text, err := Relocate(file, filepath.Join(dir, "runs", "a"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "runs", "a"), 0o755); err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(dir, "runs", "a", "config.yaml")
	if err := os.WriteFile(copied, text, 0o644); err != nil {
		t.Fatal(err)
	}
	second, err := Load(copied)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	if got, want := second.Abs(second.Data.Signals), first.Abs(first.Data.Signals); got != want {
		t.Errorf("the copy leads to %s, want %s", got, want)
	}
	if got, want := second.Abs(second.Out), filepath.Dir(copied); got != want {
		t.Errorf("the copy writes to %s, want %s", got, want)
	}
	if !strings.Contains(string(text), "# kept") {
		t.Errorf("comments are lost in\n%s", text)
	}
}

func TestFingerprint(t *testing.T) {
	read := func(text string) string {
		c, err := parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return c.Fingerprint()
	}
	base := read(small)
	if got := read(small + "  epochs: 99\nthreads: 2\nout: elsewhere\n"); got != base {
		t.Errorf("epochs, threads and out change the fingerprint to %s from %s", got, base)
	}
	if got := read(small + "  ridge: 0.1\n"); got == base {
		t.Errorf("the ridge leaves the fingerprint at %s", got)
	}
}

// Whatever the text, reading it returns.
func FuzzParse(f *testing.F) {
	f.Add([]byte(small))
	f.Add([]byte("scenario: sourceloc\nmodel: {deep: [{order: 1, features: 3}], gains: {wide: .inf}}"))
	f.Add([]byte("a: &a [*a]\n? [x]\n: y"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if c, err := parse(text); err == nil {
			if again := c.Validate(); again != nil {
				t.Errorf("accepted, then refused: %v", again)
			}
			c.Fingerprint()
		}
	})
}

// parse is Load for a text.
func parse(text []byte) (*Config, error) {
	c := defaults()
	if err := decode(text, &c, nil); err != nil {
		return nil, err
	}
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return &c, nil
}

// Where nothing is said, the scenario sourceloc has as many signals as the paper.
func TestSourcelocSplit(t *testing.T) {
	c, err := parse([]byte("scenario: sourceloc\nmodel: {features: 2, wide: {order: 1}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	s, paper := c.Settings(), recipe.DefaultSourceloc(0)
	if got, want := [3]int{s.TrainSamples, s.ValidSamples, s.TestSamples}, [3]int{paper.Train, paper.Valid, paper.Test}; got != want {
		t.Errorf("got %v signals to train, validate and test, want %v", got, want)
	}
}
