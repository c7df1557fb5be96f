package perf

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/random"
)

// Env is what a task runs in. The zero value is one thread and seed 0.
type Env struct {
	Engine *mat.Engine // threads to compute on; nil means the calling one
	Seed   uint64      // root of the random streams

	// Who hears of the model that a task trains and of its batch; nil if nobody.
	trained func(m *gnn.WideDeep)
	batch   func(b *batch)
}

// stream returns the generator for one purpose.
func (e Env) stream(name string, index ...int) *rand.Rand {
	return random.Stream(e.Seed, "perf "+name, index...)
}

// Task is one piece of work to be timed.
type Task struct {
	Name string // as the peers call it
	Doc  string // one line: what is computed

	// Skips says what our side may leave out or compute beforehand; Peer says
	// the same of the peer, empty if there is none.
	Skips, Peer string

	// Wanted is how many times as fast as the peer on one thread the task
	// should be, WantedMany the same on ManyThreads, 0 if nothing is wanted.
	// WantedBytes is the largest resident memory it may take, 0 if that does not
	// matter.
	Wanted, WantedMany float64
	WantedBytes        int64

	// allocates says why a run allocates memory; empty if it does not.
	allocates string

	// Missing says why the task cannot run yet; empty if it can.
	Missing string

	// New draws the data and returns a function that does the work once, and
	// sizes worth reporting. "flops", float64, are the operations of one run, and
	// "bytes" what it moves, where its time depends on them. The function is not
	// safe for concurrent use.
	New func(env Env) (run func(), extra map[string]any, err error)
}

// ManyThreads is the number of threads that WantedMany is meant for.
const ManyThreads = 16

// Tasks lists all tasks in the order of the report.
func Tasks() []Task {
	return []Task{
		gemm, gemmBlock, gemmSquare, gemmATB, gemmABT,
		sourcelocTrain, sourcelocTrainMany, sourcelocTrainPruned,
		movieTrain, movieTrainPruned,
		flockingTrain,
		sourcelocInfer,
		onlineCentral, onlineDistributed,
		flockingRollout, flockingOnline,
		largeFilter,
		spmmRandom, spmmBanded, spmmScaleFree, streamTriad, fmaPeak,
	}
}

// Find returns the task called name.
func Find(name string) (Task, bool) {
	for _, t := range Tasks() {
		if t.Name == name {
			return t, true
		}
	}
	return Task{}, false
}

// Timing is what Measure found, in seconds.
type Timing struct {
	Best, Mean float64
	Runs       int
}

// Measure runs a task until the given number of seconds has passed, and at
// least three times, after a warm-up that is not counted: one run, and more for
// a tenth of that time but no longer than 0.1 s. Now returns the time in
// seconds since some moment. If ctx ends, Measure returns its error.
func Measure(ctx context.Context, run func(), seconds float64, now func() float64) (Timing, error) {
	const leastRuns = 3
	run()
	for end := now() + min(seconds/10, 0.1); now() < end; {
		run()
	}
	t, sum := Timing{Best: math.Inf(1)}, 0.0
	for end := now() + seconds; t.Runs < leastRuns || now() < end; t.Runs++ {
		if err := ctx.Err(); err != nil {
			return Timing{}, err
		}
		from := now()
		run()
		took := now() - from
		t.Best, sum = min(t.Best, took), sum+took
	}
	t.Mean = sum / float64(t.Runs)
	return t, nil
}

// uniform returns a rows×cols matrix of values between 0 and 1.
func uniform(rng *rand.Rand, rows, cols int) mat.Dense {
	a := mat.NewDense(rows, cols, nil)
	for i := range a.Data {
		a.Data[i] = rng.Float32()
	}
	return a
}

// normal returns a rows×cols matrix of standard normal values.
func normal(rng *rand.Rand, rows, cols int) mat.Dense {
	a := mat.NewDense(rows, cols, nil)
	for i := range a.Data {
		a.Data[i] = float32(rng.NormFloat64())
	}
	return a
}
