package lifecycle

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/internal/recipe"
	"github.com/wdgnn/wdgnn/internal/snapshot"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/rule"
)

// OnlineRun is the online phase of a configuration made ready to play: the model
// as trained and a learner beside it, which observe each sample once. Close it
// after use. It is not safe for concurrent use.
type OnlineRun struct {
	Stream *Stream
	Rule   rule.Config
	State  Adaptation // where the run is

	// Predictions are the outputs so far, a step after the other, of the
	// nodes read in the order of Stream.Read.
	Predictions []float32

	// Sets are those of the answers so far, in the same order, 1 for a class that
	// is in and otherwise 0; or intervals, a lower end and an upper one for each
	// number. Empty if the rule has none.
	Sets []float32

	config     *config.Config
	trained    *modelfile.Model
	settings   online.Config // of the observer
	learner    online.Learner
	sure       *sure // nil without sets or intervals
	frozen     *online.Observer
	y, yFrozen mat.Dense
	engine     *mat.Engine
}

// mostTensors bounds the tensors of a file that distributed learning leaves:
// their names must fit its header.
const mostTensors = 500_000

// NewOnlineRun loads the stream of c for a model. A model that has learned
// online goes on from where it is; fresh takes it back to what was trained.
func NewOnlineRun(c *config.Config, file *modelfile.Model, fresh bool) (*OnlineRun, error) {
	if c.Online == nil {
		return nil, errors.New("the configuration has no section online: say which stream to learn from")
	}
	before, err := AdaptationOf(file)
	if err != nil {
		return nil, err
	}
	remembered, found, err := snapshot.Of(file)
	if err != nil {
		return nil, err
	}
	if before != nil && !found {
		return nil, errors.New("the model has learned online, but the file does not hold what is needed to go on; " +
			"begin from the trained model, or with --fresh")
	}
	if fresh {
		before = nil
	}
	r := &OnlineRun{config: c}
	if r.trained, err = asTrained(file); err != nil {
		return nil, err
	}
	moment, err := recipe.MomentOf(r.trained)
	if err != nil {
		return nil, err
	}
	var preset string
	meta := &r.trained.Meta
	facts := online.Facts(r.trained.Network, meta.Task, moment, meta.Nodes)
	facts.Heard = facts.Heard && !meta.Delayed // with one exchange per step neighbours are not heard one by one
	if r.Rule, preset, err = c.Online.Rule(facts); err != nil {
		return nil, err
	}
	if c.Online.Measured() {
		eta, err := r.trained.MeasuredMixing()
		if err != nil {
			return nil, fmt.Errorf("online.sharing: %w, or leave it out and set online.mixing", err)
		}
		c.Online.Share(&r.Rule, eta)
	}
	if r.trained.Network.Config.Wide == nil {
		return nil, errors.New("the model has no wide part, and nothing else learns online; train one with model.wide")
	}
	if r.Stream, err = loadStream(c, r.trained); err != nil {
		return nil, err
	}
	s := r.Stream
	if before != nil && before.Nodes != s.Nodes {
		return nil, fmt.Errorf("the stream has %d nodes, the model learned online on %d; nodes that come and go keep their number, without links",
			s.Nodes, before.Nodes)
	}
	if err := r.build(moment); err != nil {
		return nil, err
	}
	r.State = Adaptation{
		Mode: c.Online.Mode, Preset: preset, Rule: r.Rule, MixingMatrix: c.Online.MixingMatrix,
		Nodes: s.Nodes, Stream: s.digest(), Length: s.Steps,
	}
	if r.Rule.Gate != nil || r.Rule.Conformal != nil {
		r.State.Read = slices.Sorted(slices.Values(s.Read))
	}
	if before != nil {
		if err := r.recall(before, remembered); err != nil {
			r.Close()
			return nil, err
		}
		if r.sure != nil {
			r.State.Metered = r.sure.meters()
		}
	}
	return r, nil
}

// build makes the observer and the learner on it.
func (r *OnlineRun) build(moment *rule.SecondMoment) error {
	c, s, net := r.config, r.Stream, r.trained.Network
	if r.Rule.Whiten && moment == nil {
		return errors.New("whitened steps need the second moment of the inputs in training, " +
			"which the model file does not hold; train the model again with this version, or set online.whiten: false")
	}
	distributed := c.Online.Mode == config.Distributed
	if tensors := s.Nodes * (net.Config.Wide.Order + 2); distributed && tensors > mostTensors {
		return fmt.Errorf("a distributed run leaves the taps of %d nodes by name, %d tensors, want at most %d; try mode centralized",
			s.Nodes, tensors, mostTensors)
	}
	s.mixes, s.mixing = distributed && r.Rule.Mixing != 0, c.Online.MixingMatrix
	scores, err := r.beginSure()
	if err != nil {
		return err
	}
	r.engine = mat.NewEngine(c.Threads)
	r.settings = online.Config{
		Nodes: s.Nodes, Moment: moment, Read: s.sorted(), Delayed: r.trained.Meta.Delayed, Scores: scores, Engine: r.engine,
	}
	r.frozen, err = online.NewObserver(net, r.settings)
	switch {
	case err != nil:
	case distributed:
		r.learner, err = online.NewConsensus(r.frozen, r.Rule)
	default:
		r.learner, err = online.NewCentralized(r.frozen, r.Rule)
	}
	if err == nil {
		_, err = s.of(s.Graphs[0])
	}
	if err != nil {
		r.Close()
		return err
	}
	r.sure = r.newSure()
	r.y, r.yFrozen = mat.NewDense(s.Nodes, net.Outputs(), nil), mat.NewDense(s.Nodes, net.Outputs(), nil)
	return nil
}

// recall puts the learner where an earlier run left it.
func (r *OnlineRun) recall(before *Adaptation, s online.Snapshot) error {
	if before.Mode != r.State.Mode {
		return fmt.Errorf("the model has learned in mode %s, the configuration says %s; choose the same, or begin anew with --fresh",
			before.Mode, r.State.Mode)
	}
	if err := r.learner.Restore(s); err != nil {
		return fmt.Errorf("the model cannot go on with these settings: %w; choose those it learned with, or begin anew with --fresh", err)
	}
	return nil
}

// Unknown returns how many of the nodes read are to weight their neighbours one by
// one though the model file does not say what they heard in training.
func (r *OnlineRun) Unknown() int {
	l, ok := r.learner.(*online.Consensus)
	if !ok || r.Rule.Retrain != rule.RetrainHeard {
		return 0
	}
	n := 0
	for _, i := range r.Stream.Read {
		if !l.Basis().Hears(i) {
			n++
		}
	}
	return n
}

// Setup returns the model as trained and how it is observed, for whoever plays
// the stream with a learner of their own. Close ends the threads of the settings.
func (r *OnlineRun) Setup() (*gnn.WideDeep, online.Config) { return r.trained.Network, r.settings }

// Snapshot returns what the learner remembers.
func (r *OnlineRun) Snapshot() online.Snapshot { return r.learner.Snapshot() }

// Close ends the threads.
func (r *OnlineRun) Close() {
	if r.engine != nil {
		r.engine.Close()
	}
}

// Resume goes on in the middle of the stream, where before was written. The
// predictions are those that the earlier run made, at least as many.
func (r *OnlineRun) Resume(before *Adaptation, predictions []float32) error {
	began, rule := before.Rule, r.Rule
	if r.config.Online.Clip == nil { // a run of an earlier version did not clip, and goes on
		began.Clip = r.Rule.Clip
	}
	if began.Gate == nil { // of an earlier version, which had none: a gate may begin at any step
		rule.Gate = nil
	}
	if began.Conformal == nil || rule.Conformal == nil { // sets and intervals may begin and end at any
		began.Conformal, rule.Conformal = nil, nil
	}
	was, err := json.Marshal(began)
	if err != nil {
		return err
	}
	is, err := json.Marshal(rule)
	if err != nil {
		return err
	}
	n := before.At * r.answers()
	switch {
	case before.Stream != r.State.Stream || before.Length != r.State.Length:
		return errors.New("the run began with another stream")
	case string(was) != string(is) || before.Mode != r.State.Mode || before.MixingMatrix != r.State.MixingMatrix:
		return errors.New("the run began with another configuration; only threads and paths may change")
	case before.Diverged:
		return fmt.Errorf("the run diverged at step %d: going on would end there again", before.At)
	case len(predictions) < n:
		return fmt.Errorf("there are predictions of %d numbers for %d steps, want %d", len(predictions), before.At, n)
	}
	r.State.At, r.State.Scores = before.At, before.Scores
	r.Predictions = append(r.Predictions[:0], predictions[:n]...)
	r.State.Metered = nil
	if len(before.Metered) == len(r.Stream.Read) {
		r.State.Metered = before.Metered
	}
	return nil
}

// answers returns how many numbers are predicted at a step.
func (r *OnlineRun) answers() int { return len(r.Stream.Read) * r.y.Cols }

// PredictionShape returns the shape of Predictions: steps×R×C.
func (r *OnlineRun) PredictionShape() []int {
	return []int{len(r.Predictions) / r.answers(), len(r.Stream.Read), r.y.Cols}
}

// lateFrom returns the step at which the last quarter of the stream begins.
func (r *OnlineRun) lateFrom() int { return r.Stream.Steps - (r.Stream.Steps+3)/4 }

// endFrom returns the step at which the end of the stream begins, by which is
// judged whether learning did harm: its last tenth, but ten steps at least if
// there are as many.
func (r *OnlineRun) endFrom() int {
	n := r.Stream.Steps
	return max(n-max((n+9)/10, leastEnd), 0)
}

// leastEnd is how many steps the end of a stream has at least.
const leastEnd = 10

// Play plays what is left of the stream. Between steps it calls rest, which may
// save the run, and after each prediction watch. If learning diverges it ends
// with online.ErrDiverged and the parameters of the last good step; if ctx ends,
// between two steps.
func (r *OnlineRun) Play(ctx context.Context, rest func() error, watch func(OnlineStep) error) error {
	s := r.Stream
	s.next = r.State.At
	err := online.Play(ctx, r.y, counted{r.learner, r}, s, func(t int, y mat.Dense, j loss.Loss) error {
		if err := rest(); err != nil {
			return err
		}
		step, err := r.step(t, y, j)
		if err != nil {
			return err
		}
		return watch(step)
	})
	if err == nil {
		err = s.Err()
	}
	r.State.Diverged = errors.Is(err, online.ErrDiverged)
	return err
}

// counted counts the steps that were learned from, and tells late what answers
// cost if the stream does.
type counted struct {
	online.Learner
	run *OnlineRun
}

func (c counted) Update(j loss.Loss) error {
	if h := c.run.Rule.Delay; h > 0 {
		j = c.run.Stream.Late(h)
	}
	err := c.Learner.Update(j)
	if err == nil {
		c.run.State.At++
	}
	return err
}

// step judges a prediction, and that of the model as trained.
func (r *OnlineRun) step(t int, y mat.Dense, j loss.Loss) (OnlineStep, error) {
	s := r.Stream
	if err := r.frozen.Predict(r.yFrozen); err != nil {
		return OnlineStep{}, err
	}
	for _, i := range s.Read {
		for _, v := range y.Row(i) {
			if v-v != 0 {
				return OnlineStep{}, fmt.Errorf("online: step %d: the output of node %d is %v: %w", t, i, v, online.ErrDiverged)
			}
		}
	}
	for _, i := range s.Read {
		r.Predictions = append(r.Predictions, y.Row(i)...)
	}
	r.watchSets(y)
	scores := &r.State.Scores
	if s.cost.known {
		scores.Online.watch(y, j)
		scores.Frozen.watch(r.yFrozen, j)
		if t >= r.lateFrom() {
			scores.LateOnline.watch(y, j)
			scores.LateFrozen.watch(r.yFrozen, j)
		}
		if t >= r.endFrom() {
			scores.EndOnline.watch(y, j)
			scores.EndFrozen.watch(r.yFrozen, j)
		}
	}
	a, b := scores.Online.score(), scores.Frozen.score()
	step := OnlineStep{Step: t, MeanCost: a.Cost, FrozenMeanCost: b.Cost, Accuracy: a.Accuracy, FrozenAccuracy: b.Accuracy}
	if s.cost.known {
		cost, frozen := scores.Online.Cost, scores.Frozen.Cost
		step.Cost, step.FrozenCost = &cost, &frozen
	}
	if every := (s.Steps + driftLines - 1) / driftLines; t%every == 0 || t == s.Steps-1 {
		d := r.learner.Drift()
		step.Moved, step.Disagreement = &d.Moved, &d.Disagreement
	}
	r.watchGates(&step)
	r.watchCoverage(&step)
	return step, nil
}

// driftLines is about how many lines of the metrics say where the taps are,
// which takes a walk over all nodes.
const driftLines = 200

// File returns the model as it is saved, with all that is needed to go on.
func (r *OnlineRun) File(version string) (*modelfile.Model, error) {
	r.State.Drift = r.learner.Drift()
	file, err := adaptedFile(r.trained, r.learner, &r.State)
	if err == nil {
		file.Meta.Version = version
	}
	return file, err
}
