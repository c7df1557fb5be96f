package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/modelfile"
)

// What stands in the wrong place is called by its name, and something better is named,
// before anything is done.
func TestMixedUpFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	if code, _, stderr := exec(t.Context(), "init", "first"); code != exitOK {
		t.Fatal(stderr)
	}
	network, err := gnn.New(gnn.Config{In: 1, Features: 5, Outputs: 5, Wide: &gnn.WideConfig{Order: 1}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll("first/run", 0o777); err != nil {
		t.Fatal(err)
	}
	if err := modelfile.Save("first/run/model.safetensors", &modelfile.Model{Network: network}); err != nil {
		t.Fatal(err)
	}
	const stream = "online: {stream: {signals: s.npy, targets: t.npy}}\n"
	for name, text := range map[string]string{
		"empty":      "",
		"bare.yaml":  "data: {graph: first/graph.csv, signals: first/signals.npy, targets: first/targets.npy, task: classify}\n" + stream,
		"agent.yaml": "run: yard\nhost: 0\nhosts: {0: {nodes: 0-3}}\nmodel: m\nbus: {kind: tcp}\nworld: {kind: lines}\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	const model, config = "first/run/model.safetensors", "first/config.yaml"
	for _, c := range []struct{ args, want, try string }{
		{"export " + config, config + " is a configuration of wdgnn train, want a model file", filepath.Clean(model)},
		{"inspect first", "first is a folder, want a model file", filepath.Clean(model)},
		{"inspect empty", "empty is an empty file, want a model file", "wdgnn train CONFIG.yaml"},
		{"inspect first/signals.npy", "is an array of NumPy, want a model file", "wdgnn train CONFIG.yaml"},
		{"eval " + config + " " + model, "is a configuration of wdgnn train, want a model file", filepath.Clean(model)},
		{"online " + model + " " + model, "is a model file, want a configuration of wdgnn train", "wdgnn init DIR"},
		{"train bare.yaml", "no model section: say what to train, such as model: {", "wdgnn init DIR"},
		{"train first", "first is a folder, want a configuration", filepath.Clean(config)},
		{"train first/graph.csv", "is a table, want a configuration", "wdgnn init DIR"},
		{"train agent.yaml", "is the configuration of a box, want a configuration of wdgnn train", "wdgnn agent --config agent.yaml"},
		{"agent --config " + config, "is a configuration of wdgnn train, want the configuration of a box", "wdgnn agent -h"},
		{"swarm keys --config " + model, "is a model file, want the configuration of a box", "wdgnn agent -h"},
		{"swarm up --model " + config, "is a configuration of wdgnn train, want a model file", filepath.Clean(model)},
		{"swarm up --model none", "no such file", "wdgnn train CONFIG.yaml"},
		{"swarm up --task flocking --model none", "no such file", "no --model"},
		{"flock " + config, "want a model file", filepath.Clean(model)},
		{"view " + model, "is a model file, want a folder", "first/run"},
		{"serve --ratings " + model + " --addr 127.0.0.1:0", "is a model file, want a table", "user,item,rating"},
		{"reproduce --from " + config, "want JSON", "manifest.json"},
	} {
		stderr := expect(t, c.args, exitFailure, c.want)
		if !strings.Contains(stderr, "\nTry: ") || !strings.Contains(stderr[strings.Index(stderr, "\nTry: "):], c.try) {
			t.Errorf("wdgnn %s: got %q, want %s to try", c.args, stderr, c.try)
		}
	}
}

// Values that make no sense are refused by the name of their flag before any work, and so
// are flags that would change nothing.
func TestBadValues(t *testing.T) {
	t.Chdir(t.TempDir())
	if code, _, stderr := exec(t.Context(), "init", "first"); code != exitOK {
		t.Fatal(stderr)
	}
	for _, c := range []struct{ args, want string }{
		{"train first/config.yaml --epochs 0", "--epochs 0: train: epochs is 0, want at least 1"},
		{"online m first/config.yaml --threads 0", "--threads is 0, want -1 for all processors, or 1 to 1024"},
		{"certify m --threads -9", "--threads is -9"},
		{"bench --threads 1000000", "--threads is 1000000"},
		{"reproduce table1 --threads 0", "--threads is 0"},
		{"online m first/config.yaml --page --speed -1", "--speed is -1"},
		{"flock --gamma -1", "--gamma is -1"},
		{"flock --gamma nan", "--gamma is NaN"},
		{"flock --seconds -1", "--seconds is -1"},
		{"swarm up --restart-server -1s", "--restart-server is -1s"},
		{"swarm up --loss 2", "--loss is 2"},
		{"swarm up --processes 0", "--processes is 0"},
		{"swarm up --task flocking --robots 0", "--robots is 0"},
		{"swarm up --task flocking --steps 5", "--steps is for --task sourceloc, and this is flocking"},
		{"swarm server --addr x", `--addr is "x", want an address and a port`},
		{"init --task forcast d", "did you mean forecast?"},
		{"help nothing", `no command is called "nothing"`},
		{"help swarm upp", "did you mean up?"},
		{"completion bish", "did you mean bash?"},
		{"agent agent.yaml", "did you mean --config agent.yaml?"},
		{"reproduce table1 --from manifest.json", "--from says which experiment: leave table1 out"},
	} {
		if stderr := expect(t, c.args, exitUsage, c.want); !strings.Contains(stderr, "\nTry: wdgnn ") {
			t.Errorf("wdgnn %s: %q does not say what to try", c.args, stderr)
		}
	}
	if err := os.WriteFile("taken", nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{
		"flock --out taken", "reproduce table1 --out taken", "swarm up --out taken", "swarm up --record taken",
		"train first/config.yaml --out taken", "data get movielens-100k --out taken", "swarm collect nowhere --out x",
	} {
		if stderr := expect(t, args, exitFailure, "wdgnn: "); !strings.Contains(stderr, "\nTry: ") || strings.Contains(stderr, "epoch") {
			t.Errorf("wdgnn %s: got %q, want what to try, and no work", args, stderr)
		}
	}
}
