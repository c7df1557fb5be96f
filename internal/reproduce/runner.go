package reproduce

import (
	"context"
	"sync"

	"github.com/wdgnn/wdgnn/internal/reproduce/study"
	"github.com/wdgnn/wdgnn/mat"
)

// The words of package study that this one uses most.
type (
	// Experiment is one table or figure of the paper.
	Experiment = study.Experiment
	// Options are what a user chooses.
	Options = study.Options
	// Progress is how far a run is.
	Progress = study.Progress
	// Result is what an experiment found.
	Result = study.Result
)

// runner is a run as training knows it: where models are kept, and whom to tell
// how far it is.
type runner struct {
	Options
	manifest study.Manifest

	once sync.Once
	run  *study.Run // nil outside an experiment
}

// in returns what computes an experiment by the given function.
func in(do func(ctx context.Context, r *runner) (*Result, error)) func(context.Context, *study.Run) (*Result, error) {
	return func(ctx context.Context, r *study.Run) (*Result, error) {
		m := study.Manifest{Version: r.Version, Kernels: mat.Kernels()}
		return do(ctx, &runner{Options: r.Options, manifest: m, run: r})
	}
}

func (r *runner) study() *study.Run {
	r.once.Do(func() {
		if r.run == nil {
			r.run = &study.Run{Options: r.Options}
		}
	})
	return r.run
}

func (r *runner) threads() int        { return r.study().Workers() }
func (r *runner) inside(n int) int    { return r.study().Inside(n) }
func (r *runner) models() string      { return r.study().Models() }
func (r *runner) expect(work float64) { r.study().Expect(work) }
func (r *runner) advance(work float64, format string, args ...any) {
	r.study().Advance(work, format, args...)
}

// units is study.Units for a runner.
func units[T any](
	ctx context.Context, r *runner, n int, work float64, name func(k int) string, key any,
	do func(ctx context.Context, k int) (T, error),
) ([]T, error) {
	return study.Units(ctx, r.study(), n, work, name, key, do)
}

// or returns value, or otherwise if that is 0.
func or(value, otherwise int) int {
	if value == 0 {
		return otherwise
	}
	return value
}

func fingerprint(v any) string { return study.Fingerprint(v) }

func mean(values []float64) float64 { return study.Mean(values) }
