package lifecycle

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/modelfile"
)

// calibrated trains the example of a task, and returns the model file and the
// configuration.
func calibrated(t *testing.T, task config.Task, changes ...string) (*modelfile.Model, *Training) {
	t.Helper()
	f := newFolder(t)
	set, err := NewExampleSet(task)
	if err != nil {
		t.Fatal(err)
	}
	f.text("graph.csv", set.Graph)
	f.save("signals.npy", set.SignalsShape, set.Signals)
	f.save("targets.npy", set.TargetsShape, set.Targets)
	text := `
data: {graph: graph.csv, signals: signals.npy, targets: targets.npy, task: TASK, split: {valid: 0.3, test: 0.3}}
model: {wide: {order: 3}, deep: [{order: 3, features: 16, activation: tanh}]}
train: {epochs: 20, batch_size: 20, adam: {step_size: 0.005}}
`
	text = strings.NewReplacer(append([]string{"TASK", string(task)}, changes...)...).Replace(text)
	f.text("config.yaml", text)
	c, err := config.Load(filepath.Join(f.dir, "config.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	training, err := NewTraining(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(training.Close)
	if _, err := training.Run(t.Context(), nil, nil, nil); err != nil {
		t.Fatal(err)
	}
	if err := training.Calibrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return training.File("test"), training
}

// Sets and intervals hold the truth of test samples as often as was asked for, by
// the scores of validation samples that the model file holds: 180 of each node, and
// 9,000 answers. The shares of single nodes vary by some percent.
func TestConfidenceHolds(t *testing.T) {
	if testing.Short() {
		t.Skipf("SKIPPED %s: it trains twice; it runs without -short", t.Name())
	}
	for _, task := range []config.Task{config.Classify, config.Regress} {
		file, training := calibrated(t, task)
		for _, coverage := range []float64{0.8, 0.9, 0.95} {
			p, err := PredictPart(t.Context(), file, training.config, "test", 1)
			if err != nil {
				t.Fatal(err)
			}
			c, err := p.Confidence(file, coverage)
			if err != nil {
				t.Fatal(err)
			}
			if c.Own != 50 || c.Nodes != 50 || c.Known != len(p.Values)/p.Shape[2] {
				t.Errorf("%s: got %d of %d nodes with scores of their own and %d answers known, want all", task, c.Own, c.Nodes, c.Known)
			}
			held, rows := 0, p.Shape[0]*p.Shape[1]
			for row := range rows {
				if c.Classes {
					held += int(c.Values[row*5+int(training.Data.Test.Labels[row])])
				} else if v := training.Data.Test.Values.Data[row]; c.Values[2*row] <= v && v <= c.Values[2*row+1] {
					held++
				}
			}
			got := float64(held) / float64(rows)
			if got < coverage-0.02 || got > coverage+0.03 && c.Size > 1.0001 {
				t.Errorf("%s: %.3f of the answers hold the truth, %.2f large on average, want %v", task, got, c.Size, coverage)
			}
			if c.Classes && (c.Size < 1 || c.Size > 4.9) || !c.Classes && (c.Size <= 0 || c.Size > 2) {
				t.Errorf("%s: got sets or intervals of %.2f on average at coverage %v", task, c.Size, coverage)
			}
		}
	}
}

// Nodes of which training saw little share their scores; a file without any says
// so, and so does one that is damaged.
func TestConfidenceOfFewScores(t *testing.T) {
	if testing.Short() {
		t.Skipf("SKIPPED %s: it trains twice; it runs without -short", t.Name())
	}
	file, training := calibrated(t, config.Regress, "valid: 0.3", "valid: 0.05")
	p, err := PredictPart(t.Context(), file, training.config, "test", 1)
	if err != nil {
		t.Fatal(err)
	}
	c, err := p.Confidence(file, 0.9)
	if err != nil {
		t.Fatal(err)
	}
	if c.Own != 0 || c.Known != len(p.Values) {
		t.Errorf("30 validation samples: got %d nodes with scores of their own and %d answers known, want 0 and %d",
			c.Own, c.Known, len(p.Values))
	}
	file, training = calibrated(t, config.Regress, "valid: 0.3", "valid: 0.15")
	if p, err = PredictPart(t.Context(), file, training.config, "test", 1); err != nil {
		t.Fatal(err)
	}
	for coverage, own := range map[float64]int{0.9: 50, 0.99: 0} { // 90 scores are too few for 99 %, 400 are enough
		if c, err = p.Confidence(file, coverage); err != nil || c.Own != own || c.Known != len(p.Values) {
			t.Errorf("coverage %v: got %d nodes with scores of their own, %d known and %v, want %d and all", coverage, c.Own, c.Known, err, own)
		}
	}
	if _, err := p.Confidence(file, 1); err == nil {
		t.Error("coverage 1: got no complaint, want one")
	}
	damaged := *file
	damaged.SetCalibration(&modelfile.Calibration{Pooled: [][]float64{{1}, {2}}})
	if _, err := p.Confidence(&damaged, 0.9); err == nil || !strings.Contains(err.Error(), "2 outputs, want 1") {
		t.Errorf("scores of other outputs: got %v", err)
	}

	file, training = calibrated(t, config.Regress, "valid: 0.3", "valid: 0")
	if p, err = PredictPart(t.Context(), file, training.config, "test", 1); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Confidence(file, 0.9); !errors.Is(err, errUncalibrated) {
		t.Errorf("no validation samples: got %v, want %v", err, errUncalibrated)
	}
}

// A file keeps a bounded number of scores, those of the last samples, and none of
// single nodes where there is no room for those of all.
func TestCalibrationIsBounded(t *testing.T) {
	c := newCalibrator(false, 2)
	for sample := range 1000 {
		for node := range 3 {
			c.put(node, 0, float64(sample))
			c.put(node, 1, float64(-sample))
		}
		c.put(7, 0, 1) // its second output is never known
	}
	k := c.calibration()
	if !slices.Equal(k.Nodes, []int{0, 1, 2}) || len(k.Scores[1][1]) != ownScores || k.Scores[1][1][ownScores-1] != -999 {
		t.Errorf("got nodes %v, %d scores, want 0, 1, 2 and the last %d", k.Nodes, len(k.Scores[1][1]), ownScores)
	}
	if n := len(k.Pooled[0]); n > pooledScores || n < pooledScores/2 {
		t.Errorf("pooled: got %d scores, want %d to %d", n, pooledScores/2, pooledScores)
	}
	for node := range mostScores / leastScores {
		c.put(node, 0, 1)
	}
	if k := c.calibration(); len(k.Nodes) != 0 {
		t.Errorf("a large network: got scores of %d nodes, want none", len(k.Nodes))
	}
}

// Interrupted training leaves a model with scores, too: they are of the model as
// saved.
func TestCalibrateOfTheModelAsSaved(t *testing.T) {
	if testing.Short() {
		t.Skipf("SKIPPED %s: it trains; it runs without -short", t.Name())
	}
	file, training := calibrated(t, config.Regress)
	first, err := file.Calibration()
	if err != nil {
		t.Fatal(err)
	}
	for i := range training.Model.Params.Flat {
		training.Model.Params.Flat[i] *= 0.5
	}
	if err := training.Calibrate(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
	second, err := training.File("test").Calibration()
	if err != nil {
		t.Fatal(err)
	}
	if slices.Equal(first.Pooled[0], second.Pooled[0]) {
		t.Error("another model: got the same scores")
	}
}
