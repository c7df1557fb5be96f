package lifecycle

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/wdgnn/wdgnn/forecast"
	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
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

	// Compared are what else could have been forecast, in the same order, four
	// numbers for each: by the model as trained, by a ridge regression on the sensor's
	// own readings, the value of one season before, and the last value. Empty if the
	// model does not forecast. Forecasts are in the user's units.
	Compared []float32

	// News are of sensors that were not believed, were again, or joined.
	News []SensorNews

	config     *config.Config
	trained    *modelfile.Model
	states     []rule.State  // of forecasters when the run began
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
	return newOnlineRun(c, file, beginning{fresh: fresh})
}

// NewOnlineRunAnyUnits is NewOnlineRun for a series of readings that may be far outside
// what training saw.
func NewOnlineRunAnyUnits(c *config.Config, file *modelfile.Model, fresh bool) (*OnlineRun, error) {
	return newOnlineRun(c, file, beginning{fresh: fresh, anyUnits: true})
}

// ReopenOnlineRun is NewOnlineRun for a run that goes on in the middle of its stream,
// as Resume then says.
func ReopenOnlineRun(c *config.Config, file *modelfile.Model) (*OnlineRun, error) {
	return newOnlineRun(c, file, beginning{resume: true})
}

// beginning says how a run begins.
type beginning struct {
	fresh    bool         // with the taps as trained
	resume   bool         // in the middle of its stream
	series   *SeriesFiles // of forecasts: what to play instead of what the configuration says
	rows     *readings    // or this
	frozen   bool         // it does not learn
	anyUnits bool         // readings may be far outside what training saw
	again    bool         // it learns as before, if it did, whatever the configuration says
}

func newOnlineRun(c *config.Config, file *modelfile.Model, b beginning) (*OnlineRun, error) {
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
	spec, err := file.Forecast()
	if err != nil {
		return nil, err
	}
	if b.series == nil && b.rows == nil && c.Forecasts() != (spec != nil) {
		return nil, kindMismatch(spec != nil)
	}
	if b.fresh {
		if before != nil && spec != nil {
			return nil, errors.New("a model of forecasts that has learned online holds no longer what it knew before; begin from the trained model")
		}
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
	preset, err := r.chooseRule(spec, before, b, moment)
	if err != nil {
		return nil, err
	}
	if spec != nil {
		err = r.loadSeries(spec, before, b)
	} else {
		r.Stream, err = loadStream(c, r.trained)
	}
	c = r.config
	if err != nil {
		return nil, err
	}
	s := r.Stream
	if before != nil && before.Nodes != s.Nodes && !(r.Rule.Season != nil && before.Nodes < s.Nodes) {
		return nil, fmt.Errorf("the stream has %d nodes, the model learned online on %d; nodes that come and go keep their number, without links",
			s.Nodes, before.Nodes)
	}
	if err := r.build(moment, b.frozen); err != nil {
		return nil, err
	}
	r.State = Adaptation{
		Mode: c.Online.Mode, Preset: preset, Rule: r.Rule, MixingMatrix: c.Online.MixingMatrix,
		Nodes: s.Nodes, Stream: s.digest(), Length: s.Steps,
	}
	if r.Rule.Gate != nil || r.Rule.Conformal != nil {
		r.State.Read = slices.Sorted(slices.Values(s.Read))
	}
	if s.sensors != nil {
		r.State.Forecasts, r.State.First = true, s.sensors.first
	}
	if err := r.begin(before, remembered, b); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// kindMismatch says that a stream is not what a model learns from.
func kindMismatch(forecasts bool) error {
	if forecasts {
		return errors.New("the model forecasts what sensors read, and the stream has signals and targets; " +
			"name a series of readings: online.stream.series")
	}
	return errors.New("the stream is a series of readings, and the model does not forecast; train one with a section forecast, " +
		"or name signals and targets: online.stream.signals")
}

// chooseRule sets how nodes learn, and returns the name of the preset.
func (r *OnlineRun) chooseRule(spec *forecast.Spec, before *Adaptation, b beginning, moment *rule.SecondMoment) (preset string, err error) {
	c, meta, net := r.config, &r.trained.Meta, r.trained.Network
	facts := online.Facts(net, meta.Task, moment, meta.Nodes)
	facts.Heard = facts.Heard && !meta.Delayed                          // with one exchange per step neighbours are not heard one by one
	facts.Forecast = spec != nil && c.Online.Mode == config.Distributed // one set of taps for all has no seasons
	if r.Rule, preset, err = c.Online.Rule(facts); err != nil {
		return "", err
	}
	if b.again && before != nil {
		asked, settings := *c, *c.Online
		settings.Mode, settings.MixingMatrix = before.Mode, before.MixingMatrix
		asked.Online = &settings
		r.config, r.Rule, preset = &asked, before.Rule, before.Preset
	}
	switch {
	case net.Config.Wide != nil:
	case r.Rule.Season == nil:
		return "", errors.New("the model has no wide part, and nothing else learns online; train one with model.wide")
	default: // there are no taps to begin from; the season is learned without
		season := *r.Rule.Season
		season.Taps = -1
		r.Rule.Season = &season
	}
	return preset, nil
}

// begin gives the learner what a model file remembers: of an earlier run, nil if there
// was none, or of the replay that ends the training of forecasts.
func (r *OnlineRun) begin(before *Adaptation, s online.Snapshot, b beginning) error {
	f, forecasts := r.learner.(*online.Forecaster)
	if before == nil || before.Rule.Season != nil {
		r.states = s.Nodes
	}
	switch {
	case b.frozen:
		return nil
	case forecasts && (before == nil || len(r.states) < r.Stream.Nodes):
		if err := f.Begin(r.states); err != nil {
			return fmt.Errorf("the model cannot go on with these settings: %w; choose those it learned with, or train it again", err)
		}
	case before == nil:
		return nil
	default:
		if err := r.recall(before, s); err != nil {
			return err
		}
	}
	if before != nil && r.sure != nil {
		r.State.Metered = r.sure.meters()
	}
	return nil
}

// build makes the observer and the learner on it.
func (r *OnlineRun) build(moment *rule.SecondMoment, frozen bool) error {
	c, s, net := r.config, r.Stream, r.trained.Network
	distributed := c.Online.Mode == config.Distributed
	if tensors := s.Nodes * (net.InputOrder() + 2); distributed && r.Rule.Season == nil && tensors > mostTensors {
		return fmt.Errorf("a distributed run leaves the taps of %d nodes by name, %d tensors, want at most %d; try mode centralized",
			s.Nodes, tensors, mostTensors)
	}
	s.mixes, s.mixing = distributed && r.Rule.Mixes(), c.Online.MixingMatrix
	if s.sensors != nil && s.mixes {
		var note string
		if s.mixing, note = sensorMixing(s.mixing, s.Graphs[0]); note != "" {
			s.sensors.notes = append(s.sensors.notes, note)
		}
	}
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
	case frozen:
		r.learner, err = r.newUnchanging(scores)
	case r.Rule.Season != nil:
		r.learner, err = r.newForecaster()
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
	r.News = before.News
	r.Predictions = append(r.Predictions[:0], predictions[:n]...)
	r.State.Metered = nil
	if before.Rule.Conformal != nil && len(before.Metered) == len(r.Stream.Read) { // else meters begin anew
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
	err := online.Play(ctx, r.y, counted{r.learner, r}, s, func(_ int, y mat.Dense, j loss.Loss) error {
		if err := rest(); err != nil {
			return err
		}
		step, err := r.step(s.row, y, j)
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

// Observe tells forecasters what became known before they are asked again.
func (c counted) Observe(sample graph.Sample) error {
	if f, ok := c.Learner.(*online.Forecaster); ok {
		if err := c.run.welcome(f); err != nil {
			return err
		}
	}
	if f, ok := c.Learner.(teller); ok {
		f.Tell(uint64(sample.Time), c.run.Stream.sensors.truths(c.run.Stream.row))
	}
	return c.Learner.Observe(sample)
}

// teller is a learner that is told the truth by the step that it is of.
type teller interface {
	Tell(t uint64, truths []float32) (judged int)
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
	var step OnlineStep
	if s.sensors != nil {
		r.keepForecasts(y)
		step = r.judgeForecasts(t)
	} else {
		for _, i := range s.Read {
			r.Predictions = append(r.Predictions, y.Row(i)...)
		}
		step = r.judge(t, y, j)
	}
	r.watchSets(y)
	if every := (s.Steps + driftLines - 1) / driftLines; t%every == 0 || t == s.Steps-1 {
		d := r.learner.Drift()
		step.Moved, step.Disagreement = &d.Moved, &d.Disagreement
	}
	r.watchGates(&step)
	r.watchCoverage(&step)
	r.watchSensors(&step)
	return step, nil
}

// judge counts what the prediction y cost, and that of the model as trained.
func (r *OnlineRun) judge(t int, y mat.Dense, j loss.Loss) OnlineStep {
	scores := &r.State.Scores
	if r.Stream.cost.known {
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
	step := scores.step(t, r.Stream.cost.known)
	if r.Stream.cost.known && r.Stream.Task == config.Classify && len(r.Stream.Read) <= mostLetters {
		step.Right, step.FrozenRight = r.letters(y), r.letters(r.yFrozen)
	}
	return step
}

// mostLetters is how many nodes a line of the metrics speaks of one by one.
const mostLetters = 256

// letters says which of the answers y are right: see OnlineStep.Right.
func (r *OnlineRun) letters(y mat.Dense) string {
	text := make([]byte, len(r.Stream.Read))
	for k, i := range r.Stream.Read {
		switch label := r.Stream.cost.crossEntropy.Labels[i]; {
		case label == loss.NoLabel:
			text[k] = '-'
		case mat.Argmax(y.Row(i)) == int(label):
			text[k] = '1'
		default:
			text[k] = '0'
		}
	}
	return string(text)
}

// step returns the line of step t; judged says that its costs are known.
func (s *scores) step(t int, judged bool) OnlineStep {
	a, b := s.Online.score(), s.Frozen.score()
	step := OnlineStep{
		Step: t, MeanCost: a.Cost, FrozenMeanCost: b.Cost, Accuracy: a.Accuracy, FrozenAccuracy: b.Accuracy, Asked: s.Online.Asked,
	}
	if judged {
		cost, frozen := s.Online.Cost, s.Frozen.Cost
		step.Cost, step.FrozenCost = &cost, &frozen
	}
	return step
}

// driftLines is about how many lines of the metrics say where the taps are,
// which takes a walk over all nodes.
const driftLines = 200

// File returns the model as it is saved, with all that is needed to go on.
func (r *OnlineRun) File(version string) (*modelfile.Model, error) {
	r.State.Drift, r.State.News = r.learner.Drift(), r.News
	file, err := adaptedFile(r.trained, r.learner, &r.State)
	if err != nil {
		return nil, err
	}
	file.Meta.Version = version
	if r.Stream.sensors != nil {
		err = r.Stream.sensors.keep(file, r.State.At)
	}
	return file, err
}
