package online_test

import (
	"testing"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/online"
)

// stream is what a learner under test is fed. The suite goes around it as often
// as it needs to: step t sees sample t modulo their number.
type stream struct {
	Outputs int            // C, columns of a prediction
	Samples []graph.Sample // at least 4, all of one network; the suite changes none of them

	// Cost makes the cost of step t anew at every call, and a function that
	// scribbles over everything the cost refers to.
	Cost func(t int) (j loss.Loss, scribble func())

	// Refused are costs from which this learner cannot learn: Update must
	// return an error. Nil if it takes any.
	Refused []loss.Loss

	// Explosive is a cost that no step on it can survive: Update must return
	// online.ErrDiverged. Nil if this learner cannot diverge.
	Explosive loss.Loss

	// Pair returns two learners on one observer, each otherwise like those under
	// test. Nil if they have no observer to share.
	Pair func() (a, b online.Learner)
}

// contract checks a learner: one subtest per clause of what [online.Learner] promises. New returns a
// learner at its beginning; learners that it returns must all be alike and
// share nothing that they change.
func contract(t *testing.T, new func() online.Learner, s stream) {
	t.Helper()
	if len(s.Samples) < 4 || s.Outputs < 1 || s.Cost == nil {
		t.Fatalf("a stream of %d samples and %d outputs, with costs: %t; want at least 4 and 1",
			len(s.Samples), s.Outputs, s.Cost != nil)
	}
	for _, c := range []struct {
		name  string
		check func(t *testing.T, new func() online.Learner, s stream)
	}{
		{"predict works first", predictWorksFirst},
		{"predict is pure", predictIsPure},
		{"same input, same bits", sameBits},
		{"keeps no reference", keepsNoReference},
		{"update needs a sample", updateNeedsSample},
		{"refuses bad samples", refusesBadSamples},
		{"refuses bad costs", refusesBadCosts},
		{"survives divergence", survivesDivergence},
		{"resumes from a snapshot", resumes},
		{"refuses other snapshots", refusesSnapshots},
		{"shares an observer", sharesObserver},
		{"memory is bounded", memoryIsBounded},
		{"allocates nothing", allocatesNothing},
	} {
		t.Run(c.name, func(t *testing.T) { c.check(t, new, s) })
	}
}

// run is a learner on its way through a stream.
type run struct {
	t       *testing.T
	s       stream
	learner online.Learner
	time    int
	y       mat.Dense
}

func start(t *testing.T, learner online.Learner, s stream) *run {
	return &run{t: t, s: s, learner: learner, y: mat.NewDense(s.Samples[0].Signal.Rows, s.Outputs, nil)}
}

// sample returns the sample of the current step.
func (r *run) sample() graph.Sample {
	sample := r.s.Samples[r.time%len(r.s.Samples)]
	sample.Time = r.time
	return sample
}

// observe shows the sample of the current step.
func (r *run) observe() {
	r.t.Helper()
	if err := r.learner.Observe(r.sample()); err != nil {
		r.t.Fatalf("Observe at step %d: %v", r.time, err)
	}
}

// answer returns the prediction of the step that is open.
func (r *run) answer() mat.Dense {
	r.t.Helper()
	if err := r.learner.Predict(r.y); err != nil {
		r.t.Fatalf("Predict at step %d: %v", r.time, err)
	}
	return r.y
}

// predict shows the sample of the current step and returns the prediction.
func (r *run) predict() mat.Dense {
	r.t.Helper()
	r.observe()
	return r.answer()
}

// update learns from the current step and moves on.
func (r *run) update() {
	r.t.Helper()
	r.learn(r.time)
}

// learn learns from the current step at the cost of another, and moves on.
func (r *run) learn(cost int) {
	r.t.Helper()
	j, _ := r.s.Cost(cost % len(r.s.Samples))
	if err := r.learner.Update(j); err != nil {
		r.t.Fatalf("Update at step %d: %v", r.time, err)
	}
	r.time++
}

// steps takes n steps.
func (r *run) steps(n int) {
	r.t.Helper()
	for range n {
		r.predict()
		r.update()
	}
}

// follows checks that r and want give the same bits from here on.
func (r *run) follows(want *run) {
	r.t.Helper()
	for range 2 * len(r.s.Samples) {
		equal(r.t, r.time, r.predict(), want.predict())
		if r.t.Failed() {
			return
		}
		r.update()
		want.update()
	}
	if got, want := r.learner.Drift(), want.learner.Drift(); got != want {
		r.t.Errorf("drift %+v, want %+v", got, want)
	}
}
