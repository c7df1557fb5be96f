package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/internal/grid"
	"github.com/wdgnn/wdgnn/internal/lifecycle"
	"github.com/wdgnn/wdgnn/internal/rundir"
	"github.com/wdgnn/wdgnn/internal/runview"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/rule"
)

// OnlineCommand lets a trained model keep learning from a stream.
type OnlineCommand struct {
	Stdout, Stderr io.Writer

	model, config string // paths
	changes       []config.Change
	out           string // folder; empty means that of the configuration
	resume        string // folder of a run to continue
	force         bool
	fresh         bool
	anyUnits      bool
	quiet         bool
	json          bool
	page          page
	speed         float64 // steps a second, for people who watch
}

func (c *OnlineCommand) command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "online MODEL CONFIG.yaml",
		Short: "Keep learning from a stream, node by node",
		Long:  onlineLong,
		Example: `  wdgnn init first && wdgnn train first/config.yaml
  wdgnn online first/run/model.safetensors first/config.yaml
  wdgnn online --resume first/online                             after Ctrl-C
  wdgnn online first/run/model.safetensors first/config.yaml --out watched --page --speed 20
  wdgnn online first/online/adapted.safetensors tomorrow.yaml    the next stream
  wdgnn online first/run/model.safetensors first/config.yaml --out again --json | jq .online.accuracy
  wdgnn online roads/run/model.safetensors roads/config.yaml --json | jq .forecast.horizons    of forecasts`,
		Args: func(cmd *cobra.Command, args []string) error {
			if c.resume == "" {
				return arguments("MODEL", "CONFIG.yaml")(cmd, args)
			}
			if len(args) > 0 || c.out != "" || c.force || c.fresh || len(changed(cmd.Flags(), "", onlineFlags)) > 0 {
				return usageError{cmd.CommandPath(), errors.New("--resume DIR takes everything from that folder; leave out the rest")}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			c.Stdout, c.Stderr = cmd.OutOrStdout(), cmd.ErrOrStderr()
			if err := c.page.settle(cmd, "speed"); err != nil {
				return err
			}
			if !(c.speed > 0) {
				return usageError{cmd.CommandPath(), fmt.Errorf("--speed is %v, want steps a second, above 0", c.speed)}
			}
			if c.resume == "" {
				c.model, c.config = args[0], args[1]
				c.changes = changed(cmd.Flags(), c.config, onlineFlags)
			}
			return c.Run(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&c.out, "out", "", "folder to write to, instead of online.out of the configuration")
	cmd.Flags().String("preset", "", "how nodes learn, instead of online.preset of the configuration: "+strings.Join(rule.Presets(), ", "))
	words(cmd, "preset", rule.Presets()...)
	cmd.Flags().Int("threads", 0, "threads to compute on, -1 for all, instead of what the configuration says; they do not change the result")
	cmd.Flags().StringVar(&c.resume, "resume", "", "continue the run in that folder; it ends as if it had not been interrupted")
	forced(cmd.Flags(), &c.force)
	cmd.Flags().BoolVar(&c.fresh, "fresh", false, "begin with the taps as trained, even if the model has learned online")
	cmd.Flags().BoolVar(&c.anyUnits, "any-units", false, "of forecasts: take readings that are far outside what training saw")
	cmd.Flags().BoolVarP(&c.quiet, "quiet", "q", false, "show no progress")
	cmd.Flags().BoolVar(&c.json, "json", false, "print the result as one JSON object")
	c.page.runFlags(cmd)
	cmd.Flags().Float64Var(&c.speed, "speed", runview.Fastest,
		fmt.Sprintf("with --page: steps a second, for people who watch; %d is as fast as it goes", runview.Fastest))
	return cmd
}

// onlineFlags are the flags of online that change the configuration, and its keys.
var onlineFlags = map[string]string{"preset": "online.preset", "threads": "threads"}

const onlineLong = `Plays a stream to a trained model, step by step: the nodes predict, hear what
the answer should have been, and move the taps of the wide part, each its own
with its neighbours' help (distributed) or all together (centralized). The model
as trained runs beside it, frozen, for comparison.

The stream is the section online of a configuration:

  online:
    stream: {signals: s.npy, targets: y.npy, graph: g.csv}   # T×N×F; T, T×N; src,dst[,weight][,time]
    mode: distributed         # or centralized
    preset: auto              # or neighbours, own, paper, season

Which preset to take:

  auto        the default: season of forecasts, neighbours where nodes classify, the model
              file knows what all heard and links do not change at every step (links),
              otherwise own
  own         second derivatives, own taps and bias; no step size, nothing is sent
  neighbours  and a weight for every neighbour, which sends no more for it; for networks
              that are those of training but for links that are lost
  paper       the paper's words: plain gradient steps and full consensus
  season      for forecasts: what the model lacks at this time of the season

With a time column in the graph, links change as the stream goes on. Where no
target is known (-1, NaN) the nodes predict and do not learn.

It leaves in the folder that online.out or --out names:

  adapted.safetensors   the model so far, with the taps of every node
  predictions.npy       outputs of the nodes read, T×R×C
  sets.npy              the classes that the answers leave possible, 1 or 0, T×R×C;
  intervals.npy         or between which numbers the truth is, T×R×C×2
  metrics.jsonl         one line per step
  result.json           scores, with online learning and without
  config.yaml           the configuration, with paths as seen from there

A gate at every node answers as trained where what was learned is not ahead, and
holds what all answers cost below 1.05 times what the model as trained would have
paid, and a little more at the start; gate: off answers with what was learned,
whatever it costs. If the end of the stream, its last tenth, still costs more than
1.5 times what the model as trained pays, learning did harm: an error says so, and
what to try, after all files are written.

A model of forecasts meets a series of readings instead, and every sensor hears what
it should have said when that comes true, and no sooner:

  online:
    stream: {series: tuesday.csv, graph: links.csv}   # left out: the test part of forecast.series
    preset: auto              # season: what the model misses at this time of the day

Its predictions and intervals are in the units of the readings. Beside them it leaves
compared.npy, what the model as trained, a ridge regression, the season before and
the last value say, T×N×C×4; truth.npy, what came true, T×N; and charts of a typical
sensor and the worst. Sensors that cannot be believed, and newcomers, are announced.

With --page the run shows itself in a browser, frozen and online in one chart, and
those who watch may pause it; wdgnn view shows it afterwards.

predict, eval, inspect and online itself take the adapted model; online goes on
from where it is. Ctrl-C stops between two steps and keeps what was done.
doc/config.md lists every key.`

// onlineRun is an OnlineCommand while it runs.
type onlineRun struct {
	*OnlineCommand
	run   *lifecycle.OnlineRun
	dir   *rundir.Dir
	saved time.Time
	pause time.Duration // between two saves
	view  *onlinePage   // nil without a page
}

// Run plays the stream.
func (c *OnlineCommand) Run(ctx context.Context) error {
	r := &onlineRun{OnlineCommand: c}
	defer r.close()
	var done bool
	var err error
	if c.resume != "" {
		done, err = r.reopen()
	} else {
		err = r.open()
	}
	if err != nil || done {
		return during("online", err)
	}
	if r.view, err = openOnlinePage(&c.page, c.Stderr, r.run, r.dir.Path(""), c.speed); err != nil {
		return during("online", err)
	}
	defer r.view.base().close()
	if err = r.play(ctx); r.run.State.At < r.run.Stream.Steps {
		return err
	}
	return errors.Join(err, r.view.base().stay(ctx))
}

func (r *onlineRun) close() {
	if r.run != nil {
		r.run.Close()
	}
	if r.dir != nil {
		r.dir.Close()
	}
}

// open begins a run.
func (r *onlineRun) open() error {
	file, err := loadModel(r.model)
	if err != nil {
		return err
	}
	cfg, err := loadConfig(r.config, r.changes...)
	if err != nil {
		return err
	}
	if cfg.Online == nil {
		return helpful{
			fmt.Errorf("%s has no section online: say which stream to learn from", r.config),
			"online: {stream: {signals: s.npy, targets: y.npy}}; wdgnn online -h shows more, doc/config.md lists every key",
		}
	}
	begin := lifecycle.NewOnlineRun
	if r.anyUnits {
		begin = lifecycle.NewOnlineRunAnyUnits
	}
	if r.run, err = begin(cfg, file, r.fresh); err != nil {
		try := hint(err, fmt.Sprintf("wdgnn inspect %s, which says what the model reads, or doc/config.md, section online", r.model))
		return helpful{during("online", err), try}
	}
	out := r.out
	if out == "" {
		out = cfg.Abs(cfg.Online.Out)
	}
	if sameFile(r.model, filepath.Join(out, rundir.AdaptedName)) {
		return helpful{fmt.Errorf("online: the run would replace its own model %s", r.model), "another folder, --out DIR"}
	}
	r.dir, err = rundir.CreateOnline(out, r.force)
	switch {
	case errors.Is(err, rundir.ErrInUse):
		return helpful{during("online", err), fmt.Sprintf("wdgnn online --resume %s to continue it, --force to replace it, or --out DIR", out)}
	case err != nil:
		return helpful{during("online", err), "--out DIR, another folder that you may write to"}
	}
	text, err := config.RelocateOnline(r.config, out, r.changes...)
	if err != nil {
		return err
	}
	if err := r.dir.Write(rundir.ConfigName, text); err != nil {
		return err
	}
	return r.save()
}

// sameFile says whether two paths lead to the same file.
func sameFile(a, b string) bool {
	first, err := os.Stat(a)
	if err != nil {
		return false
	}
	second, err := os.Stat(b)
	return err == nil && os.SameFile(first, second)
}

// reopen continues a run. It returns true if there is nothing left to do.
func (r *onlineRun) reopen() (done bool, err error) {
	again := helpful{try: "wdgnn online MODEL CONFIG.yaml to begin, with --force if there is a run already"}
	if r.dir, err = rundir.OpenOnline(r.resume); err != nil {
		again.err = during("online", err)
		return false, again
	}
	cfg, err := loadConfig(r.dir.Path(rundir.ConfigName))
	if err != nil {
		return false, err
	}
	r.model, r.config = r.dir.Path(rundir.AdaptedName), r.dir.Path(rundir.ConfigName)
	file, err := loadModel(r.model)
	if err != nil {
		return false, err
	}
	was, err := lifecycle.AdaptationOf(file)
	if err == nil && was == nil {
		err = fmt.Errorf("%s does not come from an online run", r.model)
	}
	if err == nil && r.dir.Finished() {
		return true, r.printFinished()
	}
	if err == nil {
		r.run, err = lifecycle.ReopenOnlineRun(cfg, file)
	}
	if err == nil {
		err = r.goOn(was)
	}
	if err != nil {
		again.err = fmt.Errorf("online: resume: %w", err)
		return false, again
	}
	return false, nil
}

// goOn puts the run and its files to where was says.
func (r *onlineRun) goOn(was *lifecycle.Adaptation) error {
	var predictions []float32
	if was.At > 0 {
		a, err := modelfile.LoadArray(r.dir.Path(rundir.PredictionsName))
		if err != nil {
			return err
		}
		if predictions, err = a.Float32sOrNaN(); err != nil {
			return err
		}
	}
	if err := r.run.Resume(was, predictions); err != nil {
		return err
	}
	if err := r.resumeSets(); err != nil {
		return err
	}
	if err := r.resumeForecasts(was.At); err != nil {
		return err
	}
	return r.dir.Trim(func(line []byte) bool {
		var s lifecycle.OnlineStep
		return json.Unmarshal(line, &s) == nil && s.Step < was.At
	})
}

// resumeSets gives the run back the sets or intervals that it wrote.
func (r *onlineRun) resumeSets() error {
	name := r.run.SetsName()
	if name == "" {
		return nil
	}
	var values []float32
	a, err := modelfile.LoadArray(r.dir.Path(name))
	switch {
	case errors.Is(err, fs.ErrNotExist): // a run of an earlier version wrote none
	case err != nil:
		return err
	default:
		values = a.AnyFloat32s()
	}
	return r.run.ResumeSets(values)
}

// resumeForecasts gives the run back what it wrote beside forecasts.
func (r *onlineRun) resumeForecasts(steps int) error {
	if truths, _ := r.run.Truths(); truths == nil || steps == 0 {
		return nil
	}
	others, err := modelfile.LoadArray(r.dir.Path(rundir.ComparedName))
	if err != nil {
		return err
	}
	truths, err := modelfile.LoadArray(r.dir.Path(rundir.TruthName))
	if err != nil {
		return err
	}
	return r.run.ResumeForecasts(others.AnyFloat32s(), truths.AnyFloat32s())
}

// printFinished prints what the run came to when it ended.
func (r *onlineRun) printFinished() error {
	var result lifecycle.OnlineResult
	if err := r.dir.ReadJSON(rundir.ResultName, &result); err != nil {
		return err
	}
	fmt.Fprintf(r.Stderr, "this run has ended after %s; it has nothing left to do\n", grid.Count(result.Steps, "step"))
	return r.print(&result)
}

// play plays from where the run stands and writes what comes out.
func (r *onlineRun) play(ctx context.Context) error {
	s, state := r.run.Stream, &r.run.State
	if !r.quiet {
		fmt.Fprintf(r.Stderr, "%s, %d read; %s, %s; %s\n", grid.Count(s.Nodes, "node"), len(s.Read),
			grid.Count(s.Steps, "step"), grid.Count(s.Changes, "graph"), string(state.Mode)+", "+describeRule(state.Preset, &r.run.Rule, state.Mode))
		for _, note := range r.run.Notes() {
			fmt.Fprintln(r.Stderr, note)
		}
		if n := r.run.Unknown(); n > 0 {
			fmt.Fprintf(r.Stderr, "what %s heard in training is not in the model file: they take the neighbours of their first step, "+
				"and learn by own, taps and bias alone, if they have more than %d features\n", grid.Count(n, "node"), rule.MostHeard)
		}
		if state.At > 0 {
			fmt.Fprintf(r.Stderr, "resuming at step %d\n", state.At)
		}
	}
	show := newStepProgress(r.Stderr, s.Steps, state.At)
	began := time.Now()
	r.saved = began
	err := r.run.Play(ctx, r.rest, func(step lifecycle.OnlineStep) error {
		if !r.quiet {
			show.step(step)
			show.news(step.News)
		}
		if err := r.dir.Append(step); err != nil {
			return err
		}
		return r.view.step(ctx, step)
	})
	show.end()
	if saveErr := r.save(); saveErr != nil {
		return helpful{during("online", errors.Join(saveErr, err)), "--out DIR, another folder with room to write to"}
	}
	if err != nil {
		return r.stopped(err)
	}
	result := r.run.Report(version())
	result.Seconds = time.Since(began).Seconds()
	if err := drawForecasts(r.dir.Path(""), r.run); err != nil {
		return during("online", err)
	}
	if err := r.dir.WriteJSON(rundir.ResultName, result); err != nil {
		return during("online", err)
	}
	r.view.base().end(outcome(result)...)
	return r.print(result)
}

// rest saves the run, if it is time to.
func (r *onlineRun) rest() error {
	if time.Since(r.saved) < max(saveEvery, r.pause) {
		return nil
	}
	return r.save()
}

// save writes the run as it stands. The model comes last: it says how much of
// the other files belongs to it.
func (r *onlineRun) save() error {
	began := time.Now()
	file, err := r.run.File(version())
	if err != nil {
		return err
	}
	if len(r.run.Predictions) > 0 {
		if err := modelfile.SaveArray(r.dir.Path(rundir.PredictionsName), r.run.PredictionShape(), r.run.Predictions); err != nil {
			return err
		}
		if name := r.run.SetsName(); name != "" {
			if err := modelfile.SaveArray(r.dir.Path(name), r.run.SetsShape(), r.run.Sets); err != nil {
				return err
			}
		}
	}
	if err := r.saveForecasts(); err != nil {
		return err
	}
	if err := modelfile.Save(r.dir.Path(rundir.AdaptedName), file); err != nil {
		return err
	}
	r.saved = time.Now()
	r.pause = 20 * r.saved.Sub(began)
	return nil
}

// saveForecasts writes what belongs to forecasts, if the model makes any.
func (r *onlineRun) saveForecasts() error {
	truths, shape := r.run.Truths()
	if len(truths) == 0 {
		return nil
	}
	if err := modelfile.SaveArray(r.dir.Path(rundir.ComparedName), r.run.ComparedShape(), r.run.Compared); err != nil {
		return err
	}
	return modelfile.SaveArray(r.dir.Path(rundir.TruthName), shape, truths)
}

// stopped says what is left after the play ended early, and what to do.
func (r *onlineRun) stopped(err error) error {
	state := &r.run.State
	fmt.Fprintf(r.Stderr, "stopped after %d of %s; the model so far is in %s\n",
		state.At, grid.Count(state.Length, "step"), r.dir.Path(rundir.AdaptedName))
	r.view.base().end(fmt.Sprintf("Stopped after %d of %s: %v.", state.At, grid.Count(state.Length, "step"), inWords(err)))
	try := "wdgnn online --resume " + r.dir.Path("")
	if errors.Is(err, online.ErrDiverged) {
		try = calmer(&r.run.Rule) + "; and --force"
	}
	return helpful{during("online", err), try}
}
