package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	process "os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wdgnn/wdgnn/bench/agents"
)

// SwarmBenchCommand measures how fast agents are.
type SwarmBenchCommand struct {
	Stdout, Stderr io.Writer

	json    bool
	only    []string
	seconds float64
	seed    uint64
	agent   string
}

func (c *SwarmBenchCommand) command() *cobra.Command {
	var list strings.Builder
	var names []string
	for _, m := range append(agents.Measurements(), agents.Liars...) {
		names = append(names, m.Name)
		fmt.Fprintf(&list, "  %-15s %s\n  %-15s wanted: %s\n", m.Name, m.Title, "", m.Wanted)
	}
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure how fast agents are on this machine",
		Long: `Runs swarms for some seconds each and prints steps per second, messages and
bytes per step, latencies from the beginning of a step to the answer, and the
share of neighbours' messages that came too late. Models are random: nothing is
trained. With --json every line also says on which processor, at which commit
and from which seed, as the folder bench of the source keeps them.

Measurements:
` + strings.TrimRight(list.String(), "\n"),
		Example: `  wdgnn swarm bench
  wdgnn swarm bench --only sourceloc-mem,sourceloc-5 --seconds 5
  wdgnn swarm bench --seconds 60 --json >swarm.jsonl`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c.Stdout, c.Stderr = cmd.OutOrStdout(), cmd.ErrOrStderr()
			return c.Run(cmd.Context())
		},
	}
	f := cmd.Flags()
	f.BoolVar(&c.json, "json", false, "print one JSON object per figure and line")
	f.StringSliceVar(&c.only, "only", nil, "measurements to make, separated by commas; liars and what needs root if named (default all)")
	words(cmd, "only", names...)
	f.Float64Var(&c.seconds, "seconds", 10, "length of each run")
	f.Uint64Var(&c.seed, "seed", 1, "root of every random stream")
	f.StringVar(&c.agent, "agent", "", "the program wdgnn-agent (default the one beside this program)")
	return cmd
}

// Run measures and prints what it finds.
func (c *SwarmBenchCommand) Run(ctx context.Context) error {
	list, err := c.check()
	if err != nil {
		return usageError{"wdgnn swarm bench", err}
	}
	self, err := os.Executable()
	if err != nil {
		return during("swarm bench", err)
	}
	dir, err := os.MkdirTemp("", "wdgnn-bench-")
	if err != nil {
		return during("swarm bench", err)
	}
	defer os.RemoveAll(dir)
	b := &agents.Bench{Self: []string{self}, Agent: c.findAgent(self), Dir: dir, Seconds: c.seconds, Seed: c.seed}
	b.Say = func(what string) { fmt.Fprintf(c.Stderr, "%s  %s\n", time.Now().Format(time.TimeOnly), what) }
	people := c.Stdout
	if c.json {
		people = c.Stderr
	}
	var all []*agents.Figure
	for _, m := range list {
		fmt.Fprintf(people, "\n%s: %s\n", m.Name, m.About)
		var failed error
		b.Found = func(f *agents.Figure) {
			all = append(all, f)
			failed = errors.Join(failed, printFigure(people, f))
			if c.json {
				failed = errors.Join(failed, json.NewEncoder(c.Stdout).Encode(c.line(m, f)))
			}
		}
		if err := errors.Join(m.Run(ctx, b), failed); err != nil {
			return err
		}
	}
	lies := slices.DeleteFunc(slices.Clone(all), func(f *agents.Figure) bool { return f.Lie == "" })
	if len(lies) == 0 {
		return printFigures(people, all)
	}
	all = slices.DeleteFunc(all, func(f *agents.Figure) bool { return f.Lie != "" })
	err = printLies(people, lies)
	if len(all) > 0 {
		err = errors.Join(err, printFigures(people, all))
	}
	return err
}

// check returns the measurements that were asked for.
func (c *SwarmBenchCommand) check() ([]agents.Measurement, error) {
	var errs []error
	if !(c.seconds >= 1) || math.IsInf(c.seconds, 1) {
		errs = append(errs, fmt.Errorf("--seconds is %v, want 1 at least", c.seconds))
	}
	if len(c.only) == 0 {
		list := slices.DeleteFunc(agents.Measurements(), func(m agents.Measurement) bool { return m.Named })
		return list, errors.Join(errs...)
	}
	var list []agents.Measurement
	for _, name := range c.only {
		m, err := agents.Find(strings.TrimSpace(name))
		list, errs = append(list, m), append(errs, err)
	}
	return list, errors.Join(errs...)
}

// findAgent returns the path of wdgnn-agent, empty if there is none.
func (c *SwarmBenchCommand) findAgent(self string) string {
	if c.agent != "" {
		return c.agent
	}
	beside := filepath.Join(filepath.Dir(self), "wdgnn-agent")
	if _, err := os.Stat(beside); err == nil {
		return beside
	}
	path, _ := process.LookPath("wdgnn-agent") // empty if there is none
	return path
}

// line returns a figure and where it was measured.
func (c *SwarmBenchCommand) line(m agents.Measurement, f *agents.Figure) agents.Line {
	return agents.Line{
		Figure: *f, About: m.About, Date: time.Now().UTC().Format(time.RFC3339), CPU: cpuName(), Cores: runtime.NumCPU(), Load: loadAverage(),
		Commit: commit(), Go: runtime.Version(), Seed: c.seed, Length: c.seconds,
	}
}

// commit returns the commit that this program was built from, and whether files
// had changed since; empty if the build does not say.
func commit() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	var revision, changed string
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			revision = s.Value[:min(len(s.Value), 12)]
		case "vcs.modified":
			if s.Value == "true" {
				changed = "-dirty"
			}
		}
	}
	return revision + changed
}

// loadAverage returns that of the last minute, -1 if the system does not tell.
func loadAverage() float64 {
	text, err := os.ReadFile("/proc/loadavg")
	var load float64
	if err == nil {
		_, err = fmt.Sscan(string(text), &load)
	}
	if err != nil {
		return -1
	}
	return load
}
