package lifecycle

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/rule"
)

// sharingStrengths are the strengths η that are tried.
var sharingStrengths = []float64{0, 0.003, 0.03, 0.3, 1}

const (
	sharingMost  = 200   // samples that are played at most
	sharingLeast = 40    // and at least: fewer say nothing
	sharingWork  = 400e6 // products that all trials together may take, about a second
)

// measureSharing finds how much nodes should share online: it plays the last
// training samples as a stream to learners that mix with different strengths, and
// for values also to one that has a single set of taps for all nodes, and keeps
// what their answers cost before they were told. Whether sharing pays is a matter
// of the task; this asks the task.
//
// How long it takes is bounded by what is played, not by a clock, so that the same
// data give the same numbers. Skipped says why nothing was measured, if so.
func (t *Training) measureSharing() (s *modelfile.Sharing, skipped string, err error) {
	d, r := t.Data, t.sharingRule()
	switch {
	case t.Model.Config.Wide == nil:
		return nil, "the model has no wide part", nil
	case d.forecast != nil:
		return nil, "what forecasts should have said is known late, and what their nodes share does not depend on it", nil
	case d.each > 0 || d.Delayed():
		return nil, "samples have graphs of their own", nil
	}
	steps := t.sharingSteps(r)
	if steps < sharingLeast {
		return nil, fmt.Sprintf("%d of %d samples could be played in time, want %d", max(steps, 0), d.Train.Samples, sharingLeast), nil
	}
	mixing, err := graph.MixingMetropolis.Of(d.graph)
	if err != nil {
		return nil, err.Error(), nil
	}
	observer, err := online.NewObserver(t.Model, online.Config{Nodes: d.Nodes, Read: sortedRead(d), Moment: t.moment, Engine: t.engine})
	if err != nil {
		return nil, "", err
	}
	learners := []online.Learner{observer}
	for _, eta := range sharingStrengths {
		own := r
		own.Mixing = eta
		l, err := online.NewConsensus(observer, own)
		if err != nil {
			return nil, "", err
		}
		learners = append(learners, l)
	}
	if d.task == config.Regress {
		l, err := online.NewCentralized(observer, r)
		if err != nil {
			return nil, "", err
		}
		learners = append(learners, l)
	}
	costs, err := t.playTail(observer, learners, graph.Sample{Shift: t.shift, Mixing: mixing}, steps)
	if err != nil {
		return nil, "", err
	}
	s = &modelfile.Sharing{Steps: steps, Frozen: costs[0]}
	for k, eta := range sharingStrengths {
		s.Trials = append(s.Trials, modelfile.SharingTrial{Mixing: eta, Cost: costs[1+k]})
	}
	if d.task == config.Regress {
		s.Pooled = &costs[len(costs)-1]
	}
	return s, "", nil
}

// sharingRule is the rule by which trials learn: one without a step size, since a
// wrong one would be measured in place of sharing.
func (t *Training) sharingRule() rule.Config {
	c := rule.Config{Newton: &rule.Newton{}, Clip: rule.ClipMedian}
	if t.Data.task == config.Classify {
		c.Newton.Doubt = 0.2
	}
	if len(t.Model.Params.Wide.Bias) > 0 {
		c.Retrain = rule.RetrainTapsAndBias
	}
	return c
}

// sharingSteps returns how many samples there is time for. An update of a node
// takes about the square of the numbers that it is uncertain of.
func (t *Training) sharingSteps(r rule.Config) int {
	d := t.Data
	taps := (t.Model.Config.Wide.Order+1)*d.in + 1
	if d.task == config.Classify {
		taps *= d.outputs
	}
	trials := len(sharingStrengths) + 1
	each := 4*float64(taps*taps) + 1000
	return min(int(sharingWork/(each*float64(trials*len(t.tailRead())))), d.Train.Samples/2, sharingMost)
}

// tailRead returns the nodes that are told, in the order of the targets.
func (t *Training) tailRead() []int {
	if t.Data.read != nil {
		return t.Data.read
	}
	all := make([]int, t.Data.Nodes)
	for i := range all {
		all[i] = i
	}
	return all
}

// sortedRead returns the nodes read in ascending order, nil if they are all.
func sortedRead(d *Dataset) []int {
	if len(d.read) == 0 || len(d.read) == d.Nodes {
		return nil
	}
	return slices.Sorted(slices.Values(d.read))
}

// playTail plays the last steps training samples to learners on an observer, and
// returns the mean cost of what each answered. One that diverges costs +Inf.
func (t *Training) playTail(o *online.Observer, learners []online.Learner, sample graph.Sample, steps int) ([]float64, error) {
	d, costs := t.Data, make([]float64, len(learners))
	y := mat.NewDense(d.Nodes, d.outputs, nil)
	for k := range steps {
		number := d.Train.Samples - steps + k
		sample.Time, sample.Signal = k, d.Train.signals.View(number*d.Nodes, 0, d.Nodes, d.in)
		if err := o.Observe(sample); err != nil {
			return nil, err
		}
		j := t.tailCost(number)
		for l, learner := range learners {
			if math.IsInf(costs[l], 1) {
				continue
			}
			if err := learner.Predict(y); err != nil {
				return nil, err
			}
			costs[l] += j.Eval(mat.Dense{}, y) / float64(steps)
			if err := learner.Update(j); errors.Is(err, rule.ErrDiverged) {
				costs[l] = math.Inf(1)
			} else if err != nil {
				return nil, err
			}
		}
	}
	return costs, nil
}

// tailCost returns what answers to a training sample cost, by node.
func (t *Training) tailCost(sample int) loss.Loss {
	d, read := t.Data, t.tailRead()
	first := sample * len(read)
	if d.task == config.Classify {
		labels := slices.Repeat([]int32{loss.NoLabel}, d.Nodes)
		for k, i := range read {
			labels[i] = d.Train.Labels[first+k]
		}
		return loss.CrossEntropy{Labels: labels}
	}
	values, mask := mat.NewDense(d.Nodes, d.outputs, nil), make([]bool, d.Nodes)
	for k, i := range read {
		copy(values.Row(i), d.Train.Values.Row(first+k))
		mask[i] = len(d.Train.Mask) == 0 || d.Train.Mask[first+k]
	}
	return d.criterion.With(values, mask)
}

// SharingLine says in a line what was measured.
func SharingLine(s *modelfile.Sharing) string {
	best := s.Best()
	what := fmt.Sprintf("mixing taps by %v costs least", best.Mixing)
	switch {
	case best.Mixing == 0:
		what = "taps of one's own cost least"
	case best.Mixing == 1:
		what = "taps that all agree on cost least"
	}
	line := fmt.Sprintf("%s: %.4g, all in common %.4g, as trained %.4g, on the last %d training samples",
		what, best.Cost, s.Trials[len(s.Trials)-1].Cost, s.Frozen, s.Steps)
	if s.Pooled != nil && *s.Pooled < best.Cost {
		line += fmt.Sprintf("; one set of taps for all costs less still, %.4g: try mode: centralized", *s.Pooled)
	}
	return line
}
