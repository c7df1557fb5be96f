package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wdgnn/wdgnn/internal/perf"
	"github.com/wdgnn/wdgnn/mat"
)

// BenchCommand times the tasks by which wdgnn is compared with other
// libraries.
type BenchCommand struct {
	Stdout, Stderr io.Writer

	json    bool
	tasks   []string
	threads int
	seconds float64
	kernel  string
}

func (c *BenchCommand) command() *cobra.Command {
	var list strings.Builder
	for _, t := range perf.Tasks() {
		fmt.Fprintf(&list, "  %-35s%s\n", t.Name, t.Doc)
	}
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Time training steps, inference and products on this machine",
		Long: `Runs each task again and again for some seconds, after a warm-up, and reports
the best and the mean time of one run. Training steps are whole ones as train
takes them, on all threads: forward, loss, backward, Adam. The largest tasks
take 800 MB of memory. The folder bench of the source compares the same tasks
with PyTorch. Online learning is timed without gates.

Tasks:
` + strings.TrimRight(list.String(), "\n"),
		Example: `  wdgnn bench
  wdgnn bench --tasks gemm_2500_192_32,movie_train_step --seconds 5
  wdgnn bench --kernels portable --threads 2
  wdgnn bench --json | jq -r '[.task, .best_s] | @tsv'`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c.Stdout, c.Stderr = cmd.OutOrStdout(), cmd.ErrOrStderr()
			return c.Run(cmd.Context())
		},
	}
	cmd.Flags().BoolVar(&c.json, "json", false, "print one JSON object per task and line")
	cmd.Flags().StringSliceVar(&c.tasks, "tasks", nil, "tasks to run, separated by commas (default all)")
	var names []string
	for _, t := range perf.Tasks() {
		names = append(names, t.Name)
	}
	words(cmd, "tasks", names...)
	cmd.Flags().IntVar(&c.threads, "threads", 1, "threads to compute on, -1 for all")
	cmd.Flags().Float64Var(&c.seconds, "seconds", 2, "time to spend on each task, at least three runs")
	cmd.Flags().StringVar(&c.kernel, "kernel", "", "the same as --kernels (default the fastest)")
	return cmd
}

// Run times the tasks and prints what it finds.
func (c *BenchCommand) Run(ctx context.Context) error {
	tasks, err := c.check()
	if err != nil {
		return usageError{"wdgnn bench", err}
	}
	if c.kernel != "" {
		if err := mat.UseKernels(c.kernel); err != nil {
			return usageError{"wdgnn bench", fmt.Errorf("--kernel: %w", err)}
		}
	}
	engine := mat.NewEngine(c.threads)
	defer engine.Close()
	if !c.json {
		fmt.Fprintf(c.Stdout, "%s kernels, threads: %d, %s/%s, %s\n\n",
			mat.Kernels(), engine.Threads(), runtime.GOOS, runtime.GOARCH, runtime.Version())
		fmt.Fprintf(c.Stdout, "%-34s %10s %10s %9s\n", "task", "best", "mean", "runs")
	}
	for _, t := range tasks {
		if t.Missing != "" && len(c.tasks) == 0 {
			fmt.Fprintf(c.Stderr, "%s: %s\n", t.Name, t.Missing)
			continue
		}
		if err := c.time(ctx, t, engine); err != nil {
			return fmt.Errorf("bench: %s: %w", t.Name, err)
		}
	}
	return nil
}

// check returns the tasks that were asked for, or what is wrong with the
// command line.
func (c *BenchCommand) check() ([]perf.Task, error) {
	var bad []error
	if !(c.seconds > 0) || math.IsInf(c.seconds, 1) {
		bad = append(bad, fmt.Errorf("--seconds is %v, want a positive number", c.seconds))
	}
	all := perf.Tasks()
	if len(c.tasks) == 0 {
		return all, errors.Join(bad...)
	}
	var tasks []perf.Task
	for _, name := range c.tasks {
		t, ok := perf.Find(strings.TrimSpace(name))
		if !ok {
			var known []string
			for _, t := range all {
				known = append(known, t.Name)
			}
			bad = append(bad, fmt.Errorf("no task is called %q; there are %s", name, strings.Join(known, ", ")))
		}
		tasks = append(tasks, t)
	}
	return tasks, errors.Join(bad...)
}

// time measures one task and prints the result.
func (c *BenchCommand) time(ctx context.Context, t perf.Task, engine *mat.Engine) error {
	debug.FreeOSMemory() // what earlier tasks used is not this one's
	resetPeakMemory()
	run, extra, err := t.New(perf.Env{Engine: engine, Seed: 1})
	if err != nil {
		return err
	}
	start := time.Now()
	timing, err := perf.Measure(ctx, run, c.seconds, func() float64 { return time.Since(start).Seconds() })
	if err != nil {
		return err
	}
	result := map[string]any{
		"task": t.Name, "best_s": timing.Best, "mean_s": timing.Mean, "runs": timing.Runs,
		"threads": engine.Threads(), "kernels": mat.Kernels(), "go": runtime.Version(),
	}
	maps.Copy(result, extra)
	if flops, ok := extra["flops"].(float64); ok {
		result["gflops"] = flops / timing.Best / 1e9
	}
	if bytes, ok := extra["bytes"].(float64); ok {
		result["gbytes_s"] = bytes / timing.Best / 1e9
	}
	if bytes, ok := peakMemory(); ok {
		result["max_rss_bytes"] = bytes
	}
	if c.json {
		return json.NewEncoder(c.Stdout).Encode(result)
	}
	_, err = fmt.Fprintf(c.Stdout, "%-34s %10s %10s %9d%s\n",
		t.Name, shortTime(timing.Best), shortTime(timing.Mean), timing.Runs, benchRemarks(t, result))
	return err
}

// benchRemarks is what a person may want to know of a result beside its time.
func benchRemarks(t perf.Task, result map[string]any) string {
	var s string
	if rate, ok := result["gflops"].(float64); ok {
		s += fmt.Sprintf("   %.0f GFLOP/s", rate)
	}
	if rate, ok := result["gbytes_s"].(float64); ok {
		s += fmt.Sprintf("   %.1f GB/s", rate)
	}
	if bytes, ok := result["max_rss_bytes"].(int64); ok && t.WantedBytes > 0 {
		s += fmt.Sprintf("   %.0f MB resident", float64(bytes)/1e6)
	}
	return s
}

// resetPeakMemory makes peakMemory count from now on, where the system can.
func resetPeakMemory() { _ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) }

// peakMemory returns the largest resident memory of this process, if the system
// tells.
func peakMemory() (bytes int64, ok bool) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(status)) {
		if rest, found := strings.CutPrefix(line, "VmHWM:"); found {
			kib, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 64)
			return kib * 1024, err == nil
		}
	}
	return 0, false
}

// shortTime writes a time in seconds with three digits.
func shortTime(s float64) string {
	unit := "s"
	switch {
	case s < 1e-3:
		s, unit = s*1e6, "µs"
	case s < 1:
		s, unit = s*1e3, "ms"
	}
	digits := max(0, 2-int(math.Floor(math.Log10(max(s, 0.01)))))
	return strconv.FormatFloat(s, 'f', digits, 64) + " " + unit
}
