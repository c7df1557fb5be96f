package study

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/wdgnn/wdgnn/internal/jsonfile"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/modelfile"
)

// Run runs an experiment and leaves in the folder Out/<name>:
//
//	result.json     the raw result
//	manifest.json   what it depends on
//	table.md        the tables
//	*.svg, *.png    the figures
//	units/          realizations, as they finish
//
// and trained models in Out/models. If ctx ends, finished realizations and
// models stay, and the next run with the same options goes on from there.
func (e Experiment) Run(ctx context.Context, o Options) (*Result, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	r := &Run{Options: o, name: e.Name}
	result, err := e.compute(ctx, r)
	if err != nil {
		return nil, fmt.Errorf("reproduce %s: %w", e.Name, err)
	}
	return result, nil
}

func (e Experiment) compute(ctx context.Context, r *Run) (*Result, error) {
	for _, dir := range []string{r.path("units"), r.Models()} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, err
		}
	}
	result, err := e.Do(ctx, r)
	if err != nil {
		for _, dir := range []string{r.path("units"), r.path(""), r.Models()} {
			_ = os.Remove(dir) // if nothing was kept there
		}
		return nil, err
	}
	result.Manifest = Manifest{Experiment: e.Name, Settings: r.Options, Version: r.Version, Kernels: mat.Kernels(), Family: mat.Family()}
	result.Machine = Machine{
		CPU: r.CPU, Cores: runtime.NumCPU(), Threads: r.workers(), Go: runtime.Version(), Seconds: r.seconds,
	}
	return result, r.save(e, result)
}

// Run is one run of an experiment. The zero value runs nothing and keeps count
// of the work all the same.
type Run struct {
	Options
	name string // of the experiment

	mu      sync.Mutex
	done    float64 // work done, in the unit of total
	total   float64
	seconds float64 // computing time of all units
}

// workers returns how many units run side by side.
func (r *Run) workers() int {
	if r.Threads < 0 {
		return runtime.GOMAXPROCS(0)
	}
	return max(r.Threads, 1)
}

// Inside returns how many threads each of n units may use.
func (r *Run) Inside(n int) int { return max(r.workers()/max(min(r.workers(), n), 1), 1) }

func (r *Run) path(name string) string { return filepath.Join(r.Out, r.name, name) }

// Models returns the folder of trained models.
func (r *Run) Models() string { return filepath.Join(r.Out, "models") }

// expect says how much work there will be.
func (r *Run) expect(work float64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.total += work
}

// Advance says that work was done.
func (r *Run) Advance(work float64, format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done += work
	if r.OnProgress != nil {
		r.OnProgress(Progress{Done: min(r.done/max(r.total, 1e-9), 1), What: fmt.Sprintf(format, args...)})
	}
}

// stored is a unit on disk.
type stored[T any] struct {
	Key     string  `json:"key"` // of what the unit depends on
	Seconds float64 `json:"seconds"`
	Unit    T       `json:"unit"`
}

// Units computes units 0 … n-1, threads at a time, and returns them in order.
// A unit that an earlier run stored under the same name and key is not computed
// again. Each is expected to take work, of which it reports parts.
func Units[T any](
	ctx context.Context, r *Run, n int, work float64, name func(k int) string, key any,
	do func(ctx context.Context, k int) (T, error),
) ([]T, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r.expect(work * float64(n))
	all := make([]T, n)
	next := make(chan int)
	var wg sync.WaitGroup
	for range min(r.workers(), n) {
		wg.Go(func() {
			for k := range next {
				one := func(ctx context.Context) (T, error) { return do(ctx, k) }
				unit, err := unitOf(ctx, r, work, name(k), key, one)
				if err != nil {
					cancel(fmt.Errorf("%s: %w", name(k), err))
					return
				}
				all[k] = unit
			}
		})
	}
feed:
	for k := range n {
		select {
		case next <- k:
		case <-ctx.Done():
			break feed
		}
	}
	close(next)
	wg.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return all, nil
}

// unitOf returns a stored unit, or computes and stores it.
func unitOf[T any](
	ctx context.Context, r *Run, work float64, name string, key any, do func(ctx context.Context) (T, error),
) (T, error) {
	file := r.path(filepath.Join("units", name+".json"))
	want := Fingerprint([]any{r.Version, mat.Family(), key})
	var s stored[T]
	if !r.Fresh && jsonfile.Read(file, &s) == nil && s.Key == want {
		r.Advance(work, "%s: stored", name)
		r.took(s.Seconds)
		return s.Unit, nil
	}
	begin := r.Now()
	unit, err := do(ctx)
	if err != nil {
		return unit, err
	}
	s = stored[T]{Key: want, Seconds: r.Now() - begin, Unit: unit}
	r.took(s.Seconds)
	return unit, jsonfile.Write(file, s, " ")
}

func (r *Run) took(seconds float64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seconds += seconds
}

// save writes a result.
func (r *Run) save(e Experiment, result *Result) error {
	if err := jsonfile.Write(r.path("result.json"), result, " "); err != nil {
		return err
	}
	if err := jsonfile.Write(r.path("manifest.json"), result.Manifest, " "); err != nil {
		return err
	}
	page := func(w io.Writer) error { return e.WriteMarkdown(w, result, "") }
	if err := modelfile.WriteFile(r.path("table.md"), page); err != nil {
		return err
	}
	for _, c := range result.Charts {
		if err := c.Save(r.path(c.Name)); err != nil {
			return err
		}
	}
	return nil
}

// ReadManifest reads a manifest that a run left.
func ReadManifest(path string) (Manifest, error) {
	var m Manifest
	if err := jsonfile.Read(path, &m); err != nil {
		return m, fmt.Errorf("manifest: %w", err)
	}
	if m.Family == "" { // earlier versions named the set alone
		m.Family = "fused"
		if m.Kernels == "portable" {
			m.Family = "portable"
		}
	}
	return m, m.Settings.Validate()
}

// ReadResult reads a result that a run left.
func ReadResult(path string) (*Result, error) {
	r := new(Result)
	if err := jsonfile.Read(path, r); err != nil {
		return nil, fmt.Errorf("result: %w", err)
	}
	return r, nil
}
