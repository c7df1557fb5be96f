package box_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/internal/box"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/rule"
	"github.com/wdgnn/wdgnn/transport"
)

// traffic is where METR-LA and its changing stream lie, beside the checkout.
const traffic = "../../../shared"

// newTraffic writes fifty steps of METR-LA around the one at which 41 of 207
// sensors break, with 30 % of the links gone, and a model that was trained in a few
// seconds on what came before. At a desk without the data the test is skipped; in
// CI that is a failure.
func newTraffic(t *testing.T) *fixture {
	t.Helper()
	if _, err := os.Stat(traffic + "/data/metr-la"); os.IsNotExist(err) && os.Getenv("CI") != "true" {
		t.Skipf("SKIPPED %s: no METR-LA at %s/data/metr-la", t.Name(), traffic)
	}
	const lags, ahead, training, around = 12, 3, 300, 25
	text, err := os.ReadFile(traffic + "/reference/metrla_stream.json")
	check(t, err)
	var c struct {
		Broken          int `json:"broken_from"`
		Mean, Deviation float64
		Lost            [][2]int
		Zero, Noise     []int
		Readings        [][]float64 `json:"noise_readings"`
	}
	check(t, json.Unmarshal(text, &c))
	speed, near := numbers(t, "speed.csv")[1:], numbers(t, "adjacency.csv")
	scaled := func(v float64) float32 { return float32((v - c.Mean) / c.Deviation) }
	f := &fixture{dir: t.TempDir()}
	write := func(x, y string, from, steps int, seen [][]float64) {
		var in, out []float32
		for at := from; at < from+steps; at++ {
			for i := range speed[at] {
				for lag := range lags {
					in = append(in, scaled(seen[at-lags+1+lag][i]))
				}
				out = append(out, scaled(speed[at+ahead][i]))
			}
		}
		check(t, modelfile.SaveArray(f.path(x), []int{steps, len(speed[0]), lags}, in))
		check(t, modelfile.SaveArray(f.path(y), []int{steps, len(speed[0]), 1}, out))
	}
	write("signals.npy", "targets.npy", lags, training, speed)
	broken := make([][]float64, len(speed))
	for row := range speed {
		broken[row] = append([]float64(nil), speed[row]...)
		for k := 0; row >= c.Broken && k < len(c.Noise); k++ {
			broken[row][c.Noise[k]] = c.Readings[row-c.Broken][k]
		}
		for k := 0; row >= c.Broken && k < len(c.Zero); k++ {
			broken[row][c.Zero[k]] = 0
		}
	}
	write("x.npy", "y.npy", c.Broken-around, 2*around, broken)
	links := func(name string, lost map[[2]int]bool) {
		edges := "src,dst,weight\n"
		for i := range near {
			for j := range i {
				if w := max(near[i][j], near[j][i]); w > 0 && !lost[[2]int{j, i}] {
					edges += fmt.Sprintf("%d,%d,%v\n", j, i, w)
				}
			}
		}
		check(t, os.WriteFile(f.path(name), []byte(edges), 0o644))
	}
	lost := map[[2]int]bool{}
	for _, l := range c.Lost {
		lost[[2]int{min(l[0], l[1]), max(l[0], l[1])}] = true
	}
	links("graph.csv", nil)
	links("g.csv", lost)
	check(t, os.WriteFile(f.path("config.yaml"), []byte(`
data: {graph: graph.csv, signals: signals.npy, targets: targets.npy, task: regress, shift: row-stochastic, split: {valid: 0.1, test: 0}}
model: {wide: {order: 2}, deep: [{order: 2, features: 16}]}
train: {epochs: 3, batch_size: 20, adam: {step_size: 0.005}}
`), 0o644))
	f.model = trained(t, f.path("config.yaml"))
	check(t, modelfile.Save(f.path("model.safetensors"), f.model))
	return f
}

// numbers reads a table of METR-LA.
func numbers(t *testing.T, name string) [][]float64 {
	t.Helper()
	file, err := os.Open(filepath.Join(traffic, "data/metr-la", name))
	check(t, err)
	defer file.Close()
	lines, err := csv.NewReader(file).ReadAll()
	check(t, err)
	rows := make([][]float64, len(lines))
	for r, line := range lines {
		for _, field := range line {
			v, err := strconv.ParseFloat(field, 64)
			check(t, err)
			rows[r] = append(rows[r], v)
		}
	}
	return rows
}

// Agents that learn from real traffic with the preset for classes, told at once or
// three steps late, do no harm behind gates, and say which of them answer as
// trained. Without gates the same box says that it does harm.
func TestAgentsDoNoHarmOnTraffic(t *testing.T) {
	if testing.Short() {
		t.Skipf("SKIPPED %s: it computes much in one goroutine; it runs without -short", t.Name())
	}
	f := newTraffic(t)
	for name, c := range map[string]struct {
		learn rule.Settings
		cost  host.Cost
		harm  bool
	}{
		"paper":            {rule.Settings{Preset: "paper"}, "mse", false},
		"paper, smooth-l1": {rule.Settings{Preset: "paper"}, "smooth-l1", false},
		"own":              {rule.Settings{Preset: "own"}, "mse", false},
		"own, late":        {rule.Settings{Preset: "own", Delay: 3}, "huber", false},
		"auto":             {rule.Settings{Preset: "auto", Delay: 3}, "mse", false},
		"paper, late":      {rule.Settings{Preset: "paper", Delay: 3}, "mse", false},
		"paper, no gate":   {rule.Settings{Preset: "paper", Gate: rule.GateSettings{Off: true}, Delay: 3}, "mse", true},
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			config := f.config(0, 1)
			config.Hosts[transport.HostID(0)], config.Learn, config.Cost = box.Peer{Nodes: "0-206"}, &c.learn, c.cost
			ctx, cancel := context.WithTimeout(t.Context(), 4*patience)
			defer cancel()
			err := box.Run(ctx, f.load(t, config), box.Streams{Log: slog.New(slog.NewTextHandler(&log, nil))})
			if harm := err != nil && strings.Contains(err.Error(), "online learning does harm"); harm != c.harm || err != nil && !harm {
				t.Errorf("the box ended with %v; want an error about harm: %t", err, c.harm)
			}
			if harm := strings.Contains(log.String(), "online learning does harm"); harm != c.harm {
				t.Errorf("harm %t, want %t; the log says\n%s", harm, c.harm, log.String())
			}
			if said := strings.Contains(log.String(), " answers as trained since step "); said == c.harm {
				t.Errorf("a gate is named: %t, want %t", said, !c.harm)
			}
		})
	}
}
