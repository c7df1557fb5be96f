package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/wdgnn/wdgnn/forecast"
	"github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/internal/data"
	"github.com/wdgnn/wdgnn/internal/grid"
	"github.com/wdgnn/wdgnn/internal/lifecycle"
	"github.com/wdgnn/wdgnn/internal/rundir"
	"github.com/wdgnn/wdgnn/internal/runview"
	"github.com/wdgnn/wdgnn/internal/shop/dataset"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/train"
)

// TrainCommand trains a model as a configuration says.
type TrainCommand struct {
	Stdout, Stderr io.Writer

	config  string // path
	changes []config.Change
	resume  bool
	force   bool
	quiet   bool
	json    bool
	page    page
}

func (c *TrainCommand) command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "train CONFIG.yaml",
		Short: "Train a model on your own data or a built-in scenario",
		Long: `Reads a configuration, trains, and leaves a run in the folder that the
configuration calls out:

  model.safetensors   the parameters that did best in validation
  result.json         scores, counts, seed, version
  metrics.jsonl       one line per epoch
  checkpoint.json     where to resume
  config.yaml         the configuration, with paths as seen from there

With --page the run shows itself in a browser: loss and validation by epoch, and how
long it will take. Ctrl-C stops and keeps what was done. doc/config.md lists every key.`,
		Example: `  wdgnn init first && wdgnn train first/config.yaml
  wdgnn train first/config.yaml --resume        after Ctrl-C, or with more --epochs
  wdgnn train first/config.yaml --seed 2 --out first/second
  wdgnn train first/config.yaml --force --page
  wdgnn train first/config.yaml --force --json | jq .test.accuracy`,
		Args: arguments("CONFIG.yaml"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c.Stdout, c.Stderr, c.config = cmd.OutOrStdout(), cmd.ErrOrStderr(), args[0]
			c.changes = changed(cmd.Flags(), c.config, trainFlags)
			if err := c.page.settle(cmd); err != nil {
				return err
			}
			return c.Run(cmd.Context())
		},
	}
	cmd.Flags().Int("epochs", 0, "train.epochs, instead of what the configuration says")
	cmd.Flags().Uint64("seed", 0, "seed, instead of what the configuration says")
	cmd.Flags().Int("threads", 0, "threads to compute on, -1 for all, instead of what the configuration says; they do not change the result")
	cmd.Flags().String("out", "", "folder to write to, instead of what the configuration says")
	cmd.Flags().BoolVar(&c.resume, "resume", false, "continue the run that is in the folder; it ends as if it had not been interrupted")
	forced(cmd.Flags(), &c.force)
	cmd.Flags().BoolVarP(&c.quiet, "quiet", "q", false, "show no progress")
	cmd.Flags().BoolVar(&c.json, "json", false, "print the result as one JSON object")
	c.page.runFlags(cmd)
	return cmd
}

// checkpointVersion is that of what is written. Files without one are of version
// 1, too. It changes when an earlier program would misread them.
const checkpointVersion = 1

// checkpoint is the content of checkpoint.json.
type checkpoint struct {
	Version int               `json:"version"`
	Config  string            `json:"config"` // fingerprints of what the run computes
	Data    string            `json:"data"`
	Seconds float64           `json:"seconds"` // of training so far
	State   *train.Checkpoint `json:"state"`
	Half    []float32         `json:"half,omitempty"` // see experiment.Training
}

// metrics is one line of metrics.jsonl.
type metrics struct {
	train.Epoch
	Seconds float64 `json:"seconds"`
}

// Run trains.
func (c *TrainCommand) Run(ctx context.Context) error {
	if c.resume && c.force {
		return usageError{"wdgnn train", errors.New("--resume continues a run, --force replaces it: choose one")}
	}
	cfg, err := loadConfig(c.config, c.changes...)
	if err != nil {
		return during("train", err)
	}
	t, err := lifecycle.NewTraining(ctx, cfg)
	if err != nil {
		return helpful{during("train", err), hint(err, "wdgnn init DIR, which writes files of the right form to compare with")}
	}
	defer t.Close()
	r := &trainRun{TrainCommand: c, t: t, cfg: cfg}
	r.now = checkpoint{Version: checkpointVersion, Config: cfg.Fingerprint(), Data: t.Data.Digest()}
	defer r.close()
	done, err := r.open()
	if err != nil || done {
		return err
	}
	if err := r.show(); err != nil {
		return during("train", err)
	}
	defer r.view.base().close()
	if err := r.run(ctx); err != nil {
		return err
	}
	return during("train", r.view.base().stay(ctx))
}

// show opens the page, if one is asked for.
func (r *trainRun) show() (err error) {
	about := runview.Training{Title: runview.TrainingTitle(r.dir.Path("")), Epochs: r.t.Epochs()}
	if r.t.Data.Valid.Samples > 0 {
		about.Select = r.cfg.Select()
	}
	r.view, err = openTrainPage(&r.page, r.Stderr, about, r.dir.Path(""))
	return err
}

// tryTable is what helps where a file of readings, or of links between sensors, is wrong.
const tryTable = "wdgnn init --task forecast DIR, which writes tables to compare with, or doc/series.md"

// tryUnits is what helps where readings cannot be those of the model.
const tryUnits = "readings in the unit of training; or --any-units of wdgnn forecast or online, if they are right"

// hint returns what an error itself says to try, or else what the command does.
func hint(err error, otherwise string) string {
	var p *dataset.Problem
	if errors.As(err, &p) {
		return p.Try
	}
	var h helpful
	if errors.As(err, &h) {
		return h.try
	}
	switch {
	case errors.Is(err, forecast.ErrUnits):
		return tryUnits
	case errors.As(err, new(data.TableError)):
		return tryTable
	}
	return otherwise
}

// trainFlags are the flags of train that change the configuration, and its keys.
var trainFlags = map[string]string{"epochs": "train.epochs", "seed": "seed", "threads": "threads", "out": "out"}

// changed returns what flags that were given change in the configuration at path.
// There, folders are seen from its own.
func changed(f *pflag.FlagSet, path string, keys map[string]string) (list []config.Change) {
	f.Visit(func(flag *pflag.Flag) {
		value := flag.Value.String()
		if flag.Name == "out" && value != "" && !filepath.IsAbs(value) {
			if seen, err := filepath.Rel(filepath.Dir(path), value); err == nil {
				value = seen
			} else if seen, err := filepath.Abs(value); err == nil {
				value = seen
			}
		}
		if key, ok := keys[flag.Name]; ok {
			list = append(list, config.Change{Key: key, Value: value})
		}
	})
	return list
}

// loadConfig reads a configuration for a command.
func loadConfig(path string, changes ...config.Change) (*config.Config, error) {
	if err := mistaken(path, kindConfig); err != nil {
		return nil, err
	}
	cfg, err := config.Load(path, changes...)
	if err != nil && len(changes) > 0 {
		if _, without := config.Load(path); without == nil { // so it is the flags
			return nil, badFlags(path, changes, err)
		}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, helpful{err, "wdgnn init DIR, which writes a configuration and data to begin with"}
	case err != nil:
		return nil, helpful{err, "doc/config.md, which lists every key, or wdgnn init DIR for a configuration that works"}
	}
	return cfg, nil
}

// badFlags says that flags change a configuration to one that makes no sense.
func badFlags(path string, changes []config.Change, err error) error {
	var flags []string
	for _, c := range changes {
		flags = append(flags, fmt.Sprintf("--%s %s", c.Key[strings.LastIndex(c.Key, ".")+1:], c.Value))
	}
	return usageError{err: fmt.Errorf("%s: %s", strings.Join(flags, " "), strings.ReplaceAll(err.Error(), path+": ", ""))}
}

// trainRun is a TrainCommand while it runs.
type trainRun struct {
	*TrainCommand
	t     *lifecycle.Training
	cfg   *config.Config
	dir   *rundir.Dir
	now   checkpoint // State is where to resume; nil at the start
	saved time.Time
	began time.Time
	view  *trainPage // nil without a page
}

func (r *trainRun) close() {
	if r.dir != nil {
		r.dir.Close()
	}
}

// open prepares the run's folder. It returns true if the run is to be resumed
// and has nothing left to do.
func (r *trainRun) open() (done bool, err error) {
	out := r.cfg.Abs(r.cfg.Out)
	if r.resume {
		return r.reopen(out)
	}
	r.dir, err = rundir.Create(out, r.force)
	switch {
	case errors.Is(err, rundir.ErrInUse):
		return false, helpful{
			during("train", err),
			fmt.Sprintf("wdgnn train %s --resume to continue it, --force to replace it, or --out DIR", r.config),
		}
	case err != nil:
		return false, helpful{during("train", err), "--out DIR, a folder that you may write to"}
	}
	return false, r.copyConfig(out)
}

func (r *trainRun) copyConfig(out string) error {
	text, err := config.Relocate(r.config, out, r.changes...)
	if err != nil {
		return during("train", err)
	}
	if err := r.dir.Write(rundir.ConfigName, text); err != nil {
		return during("train", err)
	}
	return nil
}

// reopen continues with the folder of an earlier run.
func (r *trainRun) reopen(out string) (done bool, err error) {
	fresh := helpful{try: fmt.Sprintf("wdgnn train %s to begin, with --force if there is a run already", r.config)}
	if r.dir, err = rundir.Open(out); err != nil {
		fresh.err = during("train", err)
		return false, fresh
	}
	var was checkpoint
	err = r.dir.ReadJSON(rundir.CheckpointName, &was) // of a later version at least the number
	if was.Version > checkpointVersion {
		return false, helpful{
			fmt.Errorf("train: resume: %s is of version %d, this program reads %d: a newer wdgnn wrote it",
				r.dir.Path(rundir.CheckpointName), was.Version, checkpointVersion),
			"a newer wdgnn to go on with it, or --out DIR to begin anew",
		}
	}
	if err != nil {
		fresh.err = fmt.Errorf("train: resume: %w", err)
		return false, fresh
	}
	switch {
	case was.State == nil:
		fresh.err = fmt.Errorf("train: resume: %s holds no state", r.dir.Path(rundir.CheckpointName))
	case was.Config != r.now.Config:
		fresh.err = fmt.Errorf("train: resume: the run in %s began with another configuration; only epochs, threads and paths may change", out)
	case was.Data != r.now.Data:
		fresh.err = fmt.Errorf("train: resume: the run in %s began with other data", out)
	}
	if fresh.err != nil {
		return false, fresh
	}
	was.Version = checkpointVersion
	r.now, r.t.Half = was, was.Half
	if r.dir.Finished() {
		var result lifecycle.TrainingResult
		if err := r.dir.ReadJSON(rundir.ResultName, &result); err != nil {
			return false, fmt.Errorf("train: resume: %w", err)
		}
		if result.Stopped || was.State.Progress.Epoch >= r.t.Epochs() {
			fmt.Fprintf(r.Stderr, "this run has ended after %s; it has nothing left to do\n", grid.Count(result.Epochs, "epoch"))
			return true, r.print(&result)
		}
		if err := os.Remove(r.dir.Path(rundir.ResultName)); err != nil {
			return false, fmt.Errorf("train: resume: %w", err)
		}
	}
	if err := r.dir.Trim(keepUntil(was.State.Progress)); err != nil {
		return false, fmt.Errorf("train: resume: %w", err)
	}
	return false, r.copyConfig(out)
}

// run trains from where the run stands and writes what comes out.
func (r *trainRun) run(ctx context.Context) error {
	d := r.t.Data
	if !r.quiet {
		fmt.Fprintf(r.Stderr, "%s; %d parameters; samples: %d to train on, %d to validate, %d to test\n",
			describeGraph(d), len(r.t.Model.Params.Flat), d.Train.Samples, d.Valid.Samples, d.Test.Samples)
		if r.now.State != nil {
			fmt.Fprintf(r.Stderr, "resuming after epoch %d\n", r.now.State.Progress.Epoch)
		}
		for _, note := range r.t.Notes() {
			fmt.Fprintf(r.Stderr, "%s\n", note)
		}
		r.t.Watch = newCountProgress(r.Stderr).at
		if d.Valid.Samples == 0 {
			fmt.Fprintln(r.Stderr, "nothing to validate on: the last parameters will be kept")
		}
	}
	before := r.now.Seconds
	r.began, r.saved = time.Now(), time.Now()
	show := newProgress(r.Stderr, r.t.Epochs(), r.cfg.Select())
	trained, err := r.t.Run(ctx, r.now.State, func(e train.Epoch) error {
		r.now.Seconds = before + time.Since(r.began).Seconds()
		if !r.quiet {
			show.epoch(e)
		}
		return errors.Join(r.afterEpoch(e), r.view.epoch(e))
	}, func(s train.Step) error {
		if !r.quiet {
			show.step(s)
		}
		r.now.Seconds = before + time.Since(r.began).Seconds()
		return errors.Join(r.checkpoint(s), r.view.step(s))
	})
	show.end()
	r.now.Seconds = before + time.Since(r.began).Seconds()
	if trained.Last == nil { // it did not begin
		if !r.resume {
			r.close()
			os.Remove(r.dir.Path(rundir.MetricsName)) // for the folder is nobody's yet
		}
		return during("train", err)
	}
	r.now.State, r.now.Half = trained.Last, r.t.Half
	unmeasured := r.t.Calibrate(ctx)
	err = cmp.Or(err, unmeasured)
	if saveErr := r.save(); saveErr != nil {
		return helpful{during("train", errors.Join(saveErr, err)), "--out DIR, a folder with room to write to"}
	}
	var result *lifecycle.TrainingResult
	if err == nil {
		result, err = r.t.Report(ctx, trained, version())
	}
	if err != nil {
		return r.stopped(trained, err, unmeasured == nil)
	}
	result.Seconds = r.now.Seconds
	if err := r.dir.WriteJSON(rundir.ResultName, result); err != nil {
		return during("train", err)
	}
	r.view.base().end(scored(result)...)
	return r.print(result)
}

// saveEvery is how often a checkpoint is written.
const saveEvery = 2 * time.Second

func (r *trainRun) afterEpoch(e train.Epoch) error {
	if err := r.dir.Append(metrics{e, r.now.Seconds}); err != nil {
		return err
	}
	return r.checkpoint(e)
}

// checkpoint writes where the run stands, if it is time to.
func (r *trainRun) checkpoint(at interface{ Checkpoint() *train.Checkpoint }) error {
	if time.Since(r.saved) < saveEvery {
		return nil
	}
	r.now.State, r.now.Half, r.saved = at.Checkpoint(), r.t.Half, time.Now()
	return r.dir.WriteCompact(rundir.CheckpointName, r.now)
}

// save writes the best model so far and the checkpoint. If one fails the other
// is still tried.
func (r *trainRun) save() error {
	return errors.Join(
		modelfile.Save(r.dir.Path(rundir.ModelName), r.t.File(version())),
		r.dir.WriteCompact(rundir.CheckpointName, r.now),
	)
}

// stopped says what is left after training ended early, and what to do. Measured says
// that the model has all that is measured after the last epoch.
func (r *trainRun) stopped(trained train.Result, err error, measured bool) error {
	lacking := ""
	if !measured {
		lacking = ", without intervals and what else is measured after the last epoch"
	}
	fmt.Fprintf(r.Stderr, "stopped after %s; the best model so far is in %s%s\n",
		grid.Count(trained.Epochs, "epoch"), r.dir.Path(rundir.ModelName), lacking)
	r.view.base().end(fmt.Sprintf("Stopped after %s: %s.", grid.Count(trained.Epochs, "epoch"), inWords(err)))
	try := fmt.Sprintf("wdgnn train %s --resume", r.config)
	if !measured && trained.Epochs > 0 {
		try += fmt.Sprintf(", with --epochs %d to end there", trained.Epochs)
	}
	if errors.Is(err, train.ErrDiverged) {
		try = "a smaller train.adam.step_size, or train.clip_norm: 1, and --force"
	}
	return helpful{during("train", err), try}
}

func (r *trainRun) print(result *lifecycle.TrainingResult) error {
	defer warn(r.Stderr, result.Verdicts)
	if r.json {
		return writeJSON(r.Stdout, result)
	}
	w := &lines{w: r.Stdout}
	w.printf("trained %s in %s\n", grid.Count(result.Epochs, "epoch"), brief(time.Duration(result.Seconds*float64(time.Second))))
	w.printf("train  %s\n", result.Train)
	if result.Valid != nil {
		w.printf("valid  %s\n", result.Valid)
	}
	if result.Test != nil {
		w.printf("test   %s\n", result.Test)
	}
	w.horizons(result)
	w.printf("model  %s\n", r.dir.Path(rundir.ModelName))
	return w.err
}
