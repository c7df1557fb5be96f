package reproduce

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/wdgnn/wdgnn/internal/recipe"
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
	r := &runner{Options: o, name: e.Name, manifest: Manifest{Experiment: e.Name, Settings: o, Version: o.Version, Kernels: mat.Kernels()}}
	for _, dir := range []string{r.path("units"), r.models()} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, fmt.Errorf("reproduce %s: %w", e.Name, err)
		}
	}
	result, err := e.run(ctx, r)
	if err != nil {
		return nil, fmt.Errorf("reproduce %s: %w", e.Name, err)
	}
	result.Manifest = r.manifest
	result.Machine = Machine{CPU: o.CPU, Cores: runtime.NumCPU(), Threads: r.threads(), Go: runtime.Version(), Seconds: r.seconds}
	if err := r.save(result); err != nil {
		return nil, fmt.Errorf("reproduce %s: %w", e.Name, err)
	}
	return result, nil
}

// runner is one run of an experiment.
type runner struct {
	Options
	name     string
	manifest Manifest

	mu      sync.Mutex
	done    float64 // work done, in the unit of total
	total   float64
	seconds float64 // computing time of all units
}

func (r *runner) threads() int {
	if r.Threads < 0 {
		return runtime.GOMAXPROCS(0)
	}
	return max(r.Threads, 1)
}

func (r *runner) path(name string) string { return filepath.Join(r.Out, r.name, name) }
func (r *runner) models() string          { return filepath.Join(r.Out, "models") }

// expect says how much work there will be.
func (r *runner) expect(work float64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.total += work
}

// advance says that work was done.
func (r *runner) advance(work float64, format string, args ...any) {
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

// units computes units 0 … n-1, threads at a time, and returns them in order.
// A unit that an earlier run stored under the same name and key is not computed
// again. Each is expected to take work, of which it reports parts.
func units[T any](ctx context.Context, r *runner, n int, work float64, name func(k int) string, key any, do func(ctx context.Context, k int) (T, error)) ([]T, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r.expect(work * float64(n))
	all := make([]T, n)
	next := make(chan int)
	var wg sync.WaitGroup
	for range min(r.threads(), n) {
		wg.Go(func() {
			for k := range next {
				unit, err := unitOf(ctx, r, work, name(k), key, func(ctx context.Context) (T, error) { return do(ctx, k) })
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
func unitOf[T any](ctx context.Context, r *runner, work float64, name string, key any, do func(ctx context.Context) (T, error)) (T, error) {
	file := r.path(filepath.Join("units", name+".json"))
	want := fingerprint([]any{r.manifest.Version, r.manifest.Kernels, key})
	var s stored[T]
	if !r.Fresh && recipe.ReadJSON(file, &s) == nil && s.Key == want {
		r.advance(work, "%s: stored", name)
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
	return unit, recipe.WriteJSON(file, s)
}

func (r *runner) took(seconds float64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seconds += seconds
}

// save writes a result.
func (r *runner) save(result *Result) error {
	if err := recipe.WriteJSON(r.path("result.json"), result); err != nil {
		return err
	}
	if err := recipe.WriteJSON(r.path("manifest.json"), result.Manifest); err != nil {
		return err
	}
	if err := modelfile.WriteFile(r.path("table.md"), func(w io.Writer) error { return result.WriteMarkdown(w, "") }); err != nil {
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
	if err := recipe.ReadJSON(path, &m); err != nil {
		return m, fmt.Errorf("manifest: %w", err)
	}
	if _, ok := Find(m.Experiment); !ok {
		return m, fmt.Errorf("manifest %s: no experiment is called %.40q", path, m.Experiment)
	}
	return m, m.Settings.Validate()
}

// ReadResult reads a result that a run left.
func ReadResult(path string) (*Result, error) {
	r := new(Result)
	if err := recipe.ReadJSON(path, r); err != nil {
		return nil, fmt.Errorf("result: %w", err)
	}
	return r, nil
}
