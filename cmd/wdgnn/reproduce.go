package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wdgnn/wdgnn/internal/grid"
	"github.com/wdgnn/wdgnn/internal/paper/reproduce"
	"github.com/wdgnn/wdgnn/internal/paper/reproduce/study"
	"github.com/wdgnn/wdgnn/internal/shop/dataset"
	"github.com/wdgnn/wdgnn/mat"
)

// ReproduceCommand runs one table or figure of the paper again and prints it
// beside the paper's numbers.
type ReproduceCommand struct {
	Stdout, Stderr io.Writer

	options study.Options
	from    string
	quiet   bool
	json    bool
}

// reproduceSeed is the default seed. Of 1 to 16 it was picked because a WD-GNN
// learns the first network it draws about as well as the paper's.
const reproduceSeed = 12

func (c *ReproduceCommand) command() *cobra.Command {
	var list strings.Builder
	for _, e := range reproduce.Experiments() {
		fmt.Fprintf(&list, "\n  %-10s %s", e.Name, e.Title)
	}
	cmd := &cobra.Command{
		Use:   "reproduce EXPERIMENT",
		Short: "Run a table or figure of the paper again, its numbers beside ours",
		Long: `Run an experiment of the paper again:
` + list.String() + `

The folder of --out gets the tables, figures (SVG, PNG), raw results and trained
models. Realizations are stored as they finish: after Ctrl-C, the same command
goes on where it stopped. One seed gives the same numbers on any number of
threads. As in the paper, learners answer with what they learned, whatever it
costs: only rows that say so have gates. Those of traffic are bounded, as
forecasts are.`,
		Example: `  wdgnn reproduce table1 --quick
  wdgnn reproduce fig2b --seed 7 --out paper
  wdgnn reproduce table4 --full --data data/ml-100k         ratings from wdgnn data get
  wdgnn reproduce traffic --data data/metr-la               speed.csv and adjacency.csv of METR-LA
  wdgnn reproduce table1 --json | jq '.tables[0].rows[] | .name, .cells[1].value.mean'
  wdgnn reproduce --from reproduce/table1/manifest.json     the same run again`,
		ValidArgs: experiments(),
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case c.from == "" && len(args) == 0:
				return usageError{cmd.CommandPath(), fmt.Errorf("which experiment? One of %s", experimentNames())}
			case c.from != "" && len(args) > 0:
				return usageError{cmd.CommandPath(), fmt.Errorf("--from says which experiment: leave %s out", strings.Join(args, " "))}
			case len(args) > 1:
				return usageError{cmd.CommandPath(), fmt.Errorf("one experiment at a time, got %s", strings.Join(args, " and "))}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			c.Stdout, c.Stderr = cmd.OutOrStdout(), told(cmd, c.quiet)
			name := ""
			if len(args) > 0 {
				name = args[0]
			}
			return c.Run(cmd.Context(), name)
		},
	}
	f := cmd.Flags()
	f.Uint64Var(&c.options.Seed, "seed", reproduceSeed, "root of every random stream")
	f.IntVar(&c.options.Repeats, "repeats", 0, "realizations to average over; 0 means as many as the paper")
	f.BoolVar(&c.options.Quick, "quick", false, "fewer realizations, and where that matters shorter training, for a first look")
	f.BoolVar(&c.options.Full, "full", false, "60 splits of users instead of the paper's ten, in movie recommendation")
	f.StringVar(&c.options.Data, "data", "",
		"folder of the data set, of traffic data/metr-la (default data/ml-100k, data/ml-1m for table4-1m)")
	f.IntVar(&c.options.Threads, "threads", -1, "realizations to run side by side, -1 for one per core; they do not change the result")
	f.StringVar(&c.options.Out, "out", "reproduce", "folder for results and models")
	f.BoolVar(&c.options.Fresh, "fresh", false, "compute everything anew, whatever the folder holds")
	f.StringVar(&c.from, "from", "", "run with the settings of a manifest that an earlier run left")
	f.BoolVarP(&c.quiet, "quiet", "q", false, "show no progress")
	f.BoolVar(&c.json, "json", false, "print the result as one JSON object")
	f.IntVar(&c.options.Epochs, "epochs", 0, "epochs of training; 0 means as documented")
	f.IntVar(&c.options.Subgraphs, "subgraphs", 0, "random subgraphs per realization; 0 means as documented")
	f.IntVar(&c.options.Signals, "signals", 0, "signals to train on; 0 means as documented")
	f.IntVar(&c.options.Flights, "flights", 0, "flights of the expert to train on; 0 means as documented")
	f.IntVar(&c.options.Test, "test", 0, "signals of the online phase; 0 means as documented")
	return cmd
}

// tryManifest is what helps where there is no manifest.
const tryManifest = "manifest.json of an earlier run, such as reproduce/table1/manifest.json"

// experiments returns what can be run.
func experiments() (names []string) {
	for _, e := range reproduce.Experiments() {
		names = append(names, e.Name)
	}
	return names
}

func experimentNames() string { return strings.Join(experiments(), ", ") }

// Run runs the experiment and prints its result.
func (c *ReproduceCommand) Run(ctx context.Context, name string) error {
	o := c.options
	if c.from != "" {
		if err := mistaken(c.from, kindJSON); err != nil {
			return during("reproduce", err)
		}
		m, err := reproduce.ReadManifest(c.from)
		if err != nil {
			return helpful{fmt.Errorf("reproduce: %w", err), tryManifest}
		}
		name = m.Experiment
		o = m.Settings
		o.Threads, o.Out, o.Fresh, o.Data = c.options.Threads, c.options.Out, c.options.Fresh, c.options.Data
		if m.Version != version() {
			fmt.Fprintf(c.Stderr, "the manifest is of version %s, this is %s: numbers may differ\n", m.Version, version())
		}
		if m.Family != mat.Family() {
			fmt.Fprintf(c.Stderr, "the manifest is of %s kernels, these are %s: last digits may differ\n", m.Family, mat.Family())
		}
	}
	e, ok := reproduce.Find(name)
	if !ok {
		try := meant(name, experiments())
		if try == "" {
			try = "; try one of " + experimentNames()
		}
		return usageError{"wdgnn reproduce", fmt.Errorf("no experiment is called %q%s", name, try)}
	}
	if err := o.Validate(); err != nil {
		return usageError{"wdgnn reproduce", err}
	}
	_, missing := os.Stat(o.Out)
	if err := os.MkdirAll(o.Out, 0o777); err != nil {
		return helpful{during("reproduce "+name, err), tryFolder}
	}
	start := time.Now()
	o.Version, o.CPU = version(), cpuName()
	o.Now = func() float64 { return time.Since(start).Seconds() }
	shown := newShare(c.Stderr, name)
	o.OnProgress = func(p study.Progress) { shown.report(p.Done, p.What) }
	result, err := e.Run(ctx, o)
	shown.end()
	if err != nil {
		if missing != nil {
			_ = os.Remove(o.Out) // if nothing was kept there
		}
		if ctx.Err() != nil {
			return helpful{err, "the same command again: finished realizations are kept in " + filepath.Join(o.Out, name)}
		}
		var p *dataset.Problem
		if errors.As(err, &p) {
			return helpful{err, p.Try}
		}
		return err
	}
	if c.json {
		return writeJSON(c.Stdout, result)
	}
	if err := result.WriteText(c.Stdout, columns(c.Stdout)); err != nil {
		return err
	}
	out := lines{w: c.Stdout}
	out.printf("\n")
	if !e.Gates {
		out.printf("learners had no gates, but for rows that say so: they answered with what they learned, whatever it cost\n")
	}
	out.printf("%s in %s: tables and figures\n%s in %s, for wdgnn online, predict and inspect\n",
		e.Title, filepath.Join(o.Out, name), grid.Count(len(result.Models), "model"), filepath.Join(o.Out, "models"))
	return out.err
}
