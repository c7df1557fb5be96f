package lifecycle

import (
	"context"
	"maps"
	"slices"

	"github.com/wdgnn/wdgnn/conformal"
	"github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/internal/data"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/train"
)

// How many scores a model file keeps.
const (
	ownScores    = 200     // of one node and output at most
	leastScores  = 40      // with fewer a node has none of its own
	pooledScores = 400     // of all nodes together, by output
	mostScores   = 1 << 17 // of single nodes in all: a megabyte
)

// Calibrate keeps for File how the answers of the model as it is turned out on
// the validation samples; nothing without such samples. Of forecasts it also keeps
// how large errors are and what is known of the past.
func (t *Training) Calibrate(ctx context.Context) error {
	t.calibration, t.replayed = nil, nil
	if t.Data.forecast != nil {
		if err := t.measureSigma(ctx); err != nil {
			return err
		}
		if err := t.replay(ctx); err != nil {
			return err
		}
	}
	if t.valid.data == nil {
		return nil
	}
	d := t.Data
	c := newCalibrator(d.task == config.Classify, t.Model.Outputs())
	ev := train.Evaluator{Engine: t.engine, PassRows: t.config.Train.PassRows}
	err := ev.Each(ctx, t.Model, t.watched(ctx, "intervals", t.valid.data, 1), t.config.Seed, func(p *train.Pass, y mat.Dense) {
		for r, row := range p.Rows {
			node := sharedNode
			if d.each == 0 {
				node = d.nodeOf(row)
			}
			c.add(node, y.Row(r), &d.Valid.Targets, row)
		}
	})
	if err == nil {
		t.calibration = c.calibration()
	}
	return err
}

// sharedNode is that of samples which belong to no node in particular.
const sharedNode = -1

// calibrator collects scores.
type calibrator struct {
	classes bool
	own     map[int][][]float64 // by node and output
	all     [][]float64         // by output
}

func newCalibrator(classes bool, outputs int) *calibrator {
	k := conformal.Config{Classes: classes}
	return &calibrator{classes: classes, own: map[int][][]float64{}, all: make([][]float64, k.Windows(outputs))}
}

// add takes in the answer y of a node and its truth, a row of the targets.
func (c *calibrator) add(node int, y []float32, targets *data.Targets, row int) {
	if c.classes {
		if label := targets.Labels[row]; label != loss.NoLabel {
			c.put(node, 0, conformal.Margin(y, int(label)))
		}
		return
	}
	if targets.Mask != nil && !targets.Mask[row] {
		return
	}
	for k, v := range targets.Values.Row(row) {
		c.put(node, k, conformal.Residual(y[k], v))
	}
}

// put takes in a score, unless it is not finite.
func (c *calibrator) put(node, output int, score float64) {
	if score-score != 0 {
		return
	}
	c.all[output] = append(c.all[output], score)
	if node == sharedNode {
		return
	}
	if c.own[node] == nil {
		c.own[node] = make([][]float64, len(c.all))
	}
	c.own[node][output] = append(c.own[node][output], score)
}

// calibration returns what is kept of the scores: of every node the last, if they
// are enough and if there is room for those of all nodes; and of all together an
// even choice.
func (c *calibrator) calibration() *modelfile.Calibration {
	out := new(modelfile.Calibration)
	for _, all := range c.all {
		step := max((len(all)+pooledScores-1)/pooledScores, 1)
		var pooled []float64
		for k := 0; k < len(all); k += step {
			pooled = append(pooled, all[k])
		}
		out.Pooled = append(out.Pooled, pooled)
	}
	room := min(ownScores, mostScores/max(len(c.own)*len(c.all), 1))
	if room < leastScores {
		return out
	}
	for _, node := range slices.Sorted(maps.Keys(c.own)) {
		lists := c.own[node]
		if slices.ContainsFunc(lists, func(l []float64) bool { return len(l) < leastScores }) {
			continue
		}
		for k, l := range lists {
			lists[k] = l[max(len(l)-room, 0):]
		}
		out.Nodes, out.Scores = append(out.Nodes, node), append(out.Scores, lists)
	}
	return out
}
