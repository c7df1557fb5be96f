package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/internal/grid"
	"github.com/wdgnn/wdgnn/internal/lifecycle"
	"github.com/wdgnn/wdgnn/internal/rundir"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/train"
)

// BacktestCommand says how well forecasts would have been.
type BacktestCommand struct {
	Stdout, Stderr io.Writer

	config  string // path
	out     string // folder
	origins int
	part    float64
	force   bool
	quiet   bool
	json    bool
}

func (c *BacktestCommand) command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "backtest CONFIG.yaml",
		Short: "Say how well forecasts would have been, at several times",
		Long: `Cuts the last part of a series, that which forecast.split.test sets aside, into
stretches. At the beginning of each a model is trained on all that came before,
and then meets the stretch step by step: it forecasts, hears what came true when
it did and no sooner, and keeps learning. No forecast knows anything of its future.

The table says how large the errors are by horizon, of each stretch and on average,
beside those of the last value, of the value one season before, of a ridge
regression on the readings of each sensor alone, and of the same model without
learning. MAE is the mean absolute error, RMSE the root of the mean squared one,
MAPE the mean of the error in percent of what came true; coverage is how often the
interval held it, width how wide it was, both of intervals that have ends; unknown
is the share of those that have none, which say nothing.

It leaves in the folder backtest beside the configuration, or in --out:

  result.json            the table, by origin, horizon and sensor
  typical.png, .svg      forecasts with their intervals and what came true, of the
  worst.png, .svg        sensor with the median error and of the worst, last origin
  origin1/ …             predictions.npy, intervals.npy, compared.npy and truth.npy of
                         each, steps×sensors×horizons, in the units of the readings

Ctrl-C keeps the origins that are done.`,
		Example: `  wdgnn init --task forecast first
  wdgnn backtest first/config.yaml
  wdgnn backtest first/config.yaml --origins 5 --part 0.4 --out five
  wdgnn backtest first/config.yaml --force --json | jq .mean`,
		Args: arguments("CONFIG.yaml"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c.Stdout, c.Stderr, c.config = cmd.OutOrStdout(), cmd.ErrOrStderr(), args[0]
			return c.Run(cmd.Context())
		},
	}
	cmd.Flags().IntVar(&c.origins, "origins", 3, "at how many times a model is trained and tried")
	cmd.Flags().Float64Var(&c.part, "part", 0, "share of the series to forecast; 0 means forecast.split.test")
	cmd.Flags().StringVar(&c.out, "out", "", "folder to write to, instead of backtest beside the configuration")
	forced(cmd.Flags(), &c.force)
	cmd.Flags().BoolVarP(&c.quiet, "quiet", "q", false, "show no progress")
	cmd.Flags().BoolVar(&c.json, "json", false, "print the result as one JSON object")
	return cmd
}

// mostOrigins is how many origins make sense.
const mostOrigins = 1000

// Run plays all origins.
func (c *BacktestCommand) Run(ctx context.Context) error {
	if c.origins < 1 || c.origins > mostOrigins {
		return usageError{"wdgnn backtest", fmt.Errorf("--origins is %d, want 1 to %d", c.origins, mostOrigins)}
	}
	if !(c.part >= 0 && c.part < 1) {
		return usageError{"wdgnn backtest", fmt.Errorf("--part is %v, want a share between 0 and 1, such as 0.3", c.part)}
	}
	cfg, err := loadConfig(c.config)
	if err != nil {
		return during("backtest", err)
	}
	b, err := lifecycle.NewBacktest(cfg, c.origins, c.part)
	if err != nil {
		try := "wdgnn init --task forecast DIR, which writes a configuration that works, or doc/forecast.md"
		return helpful{during("backtest", err), hint(err, try)}
	}
	if c.out == "" {
		c.out = cfg.Abs(config.Path("backtest"))
	}
	if err := c.prepare(); err != nil {
		return err
	}
	began := time.Now()
	results, err := c.play(ctx, b, cfg)
	report := b.Report(results, version())
	report.Seconds = time.Since(began).Seconds()
	if len(results) > 0 {
		if err := c.leave(report); err != nil {
			return during("backtest", errors.Join(err))
		}
	}
	if err != nil {
		fmt.Fprintf(c.Stderr, "stopped after %d of %s\n", len(results), grid.Count(b.Origins(), "origin"))
		return helpful{during("backtest", err), fmt.Sprintf("wdgnn backtest %s --force, which begins anew", c.config)}
	}
	return harmful(results)
}

// prepare makes room in the folder.
func (c *BacktestCommand) prepare() error {
	result := filepath.Join(c.out, rundir.ResultName)
	if err := kept(c.force, "another --out", result); err != nil {
		return during("backtest", err)
	}
	err := os.MkdirAll(c.out, 0o755)
	if err == nil {
		err = os.RemoveAll(result) // it says that all is done
	}
	if err != nil {
		return helpful{during("backtest", err), "--out DIR, another folder that you may write to"}
	}
	return nil
}

// play trains and plays one origin after the other. If it fails it returns those that
// were done.
func (c *BacktestCommand) play(
	ctx context.Context, b *lifecycle.Backtest, cfg *config.Config,
) (results []lifecycle.OriginResult, err error) {
	show := &backtestProgress{progress: newProgress(c.Stderr, cfg.Train.Epochs, ""), origins: b.Origins(), quiet: c.quiet}
	defer show.end()
	if !c.quiet {
		for _, note := range b.Notes() {
			fmt.Fprintln(c.Stderr, note)
		}
	}
	for k := range b.Origins() {
		before, play := b.Span(k)
		show.origin, show.steps = k, play
		epochs := 0
		run, err := b.Train(ctx, k, version(), func(e train.Epoch) error {
			epochs = e.Index
			show.epochDone(e)
			return nil
		})
		if err != nil {
			return results, fmt.Errorf("origin %d, after %s: %w", k+1, grid.Count(before, "step"), err)
		}
		err = run.Play(ctx, func() error { return nil }, func(s lifecycle.OnlineStep) error {
			show.stepDone(s)
			return nil
		})
		if err == nil {
			results = append(results, b.Result(k, run, epochs))
			err = c.keep(run, k, k == b.Origins()-1)
		}
		run.Close()
		if err != nil {
			return results, fmt.Errorf("origin %d, after %s: %w", k+1, grid.Count(before, "step"), err)
		}
		show.originDone()
	}
	return results, nil
}

// keep writes what a run said, and charts of the last one.
func (c *BacktestCommand) keep(run *lifecycle.OnlineRun, k int, last bool) error {
	dir := filepath.Join(c.out, fmt.Sprintf("origin%d", k+1))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	truths, shape := run.Truths()
	arrays := []struct {
		name   string
		shape  []int
		values []float32
	}{
		{rundir.PredictionsName, run.PredictionShape(), run.Predictions},
		{rundir.ComparedName, run.ComparedShape(), run.Compared},
		{rundir.TruthName, shape, truths},
	}
	if name := run.SetsName(); name != "" {
		arrays = append(arrays, arrays[0])
		at := &arrays[len(arrays)-1]
		at.name, at.shape, at.values = name, run.SetsShape(), run.Sets
	}
	for _, a := range arrays {
		if err := modelfile.SaveArray(filepath.Join(dir, a.name), a.shape, a.values); err != nil {
			return err
		}
	}
	if !last {
		return nil
	}
	return drawForecasts(c.out, run)
}

// leave writes and prints the result.
func (c *BacktestCommand) leave(report *lifecycle.BacktestResult) error {
	err := modelfile.WriteFile(filepath.Join(c.out, rundir.ResultName), func(w io.Writer) error { return writeJSON(w, report) })
	if err != nil {
		return err
	}
	defer warn(c.Stderr, report.Verdicts)
	if c.json {
		return writeJSON(c.Stdout, report)
	}
	w := &lines{w: c.Stdout}
	for k, o := range report.Origins {
		w.printf("origin %d of %d: %s; %s before it, %s played\n",
			k+1, report.Planned, o.Origin, grid.Count(o.Trained, "step"), grid.Count(o.Played, "step"))
		printScores(w, o.Result.Unit, o.Result.Horizons)
	}
	if len(report.Origins) > 1 {
		w.printf("mean of %s\n", grid.Count(len(report.Origins), "origin"))
		printScores(w, report.Unit, report.Mean)
	}
	printVerdicts(w, report.Unit, report.Verdicts)
	w.printf("%-12s %s\n", "result", filepath.Join(c.out, rundir.ResultName))
	return w.err
}

// harmful is an error if learning did harm at an origin.
func harmful(results []lifecycle.OriginResult) error {
	for k, o := range results {
		if o.Warning != "" {
			return harm(fmt.Sprintf("backtest: origin %d: ", k+1), o.Warning)
		}
	}
	return nil
}
