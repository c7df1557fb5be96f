package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/internal/grid"
	"github.com/wdgnn/wdgnn/internal/lifecycle"
	"github.com/wdgnn/wdgnn/internal/rundir"
	"github.com/wdgnn/wdgnn/rule"
)

// print says what came out of the run. That learning did harm is an error: no
// script is to go on with such a model as if all were well.
func (r *onlineRun) print(result *lifecycle.OnlineResult) error {
	if err := r.printResult(result); err != nil || result.Warning == "" {
		return err
	}
	return harm("online: ", result.Warning)
}

// harm is the error of a warning.
func harm(where, warning string) error {
	what, try, _ := strings.Cut(warning, "; try ")
	return helpful{errors.New(where + what), try}
}

func (r *onlineRun) printResult(result *lifecycle.OnlineResult) error {
	if result.Forecast != nil {
		defer warn(r.Stderr, result.Forecast.Verdicts)
	}
	if r.json {
		return writeJSON(r.Stdout, result)
	}
	w := &lines{w: r.Stdout}
	if result.Forecast != nil {
		return r.printForecasts(w, result)
	}
	w.printf("played %s in %s\n", grid.Count(result.Steps, "step"), brief(time.Duration(result.Seconds*float64(time.Second))))
	w.printf("             all steps                      from step %d\n", result.LateFrom)
	w.printf("frozen       %-30s %s\n", result.Frozen, result.LateFrozen)
	w.printf("online       %-30s %s\n", result.Online, result.LateOnline)
	if result.Gate != nil {
		w.printf("gate         %s\n", result.Gate)
	}
	if result.Coverage != nil {
		w.printf("coverage     %s\n", result.Coverage)
	}
	w.printf("moved        %.4g from the trained taps, disagreement %.4g\n", result.Drift.Moved, result.Drift.Disagreement)
	w.printf("predictions  %s\n", r.dir.Path(rundir.PredictionsName))
	if c := result.Coverage; c != nil && c.Classes {
		w.printf("sets         %s\n", r.dir.Path(rundir.SetsName))
	} else if c != nil {
		w.printf("intervals    %s\n", r.dir.Path(rundir.IntervalsName))
	}
	w.printf("model        %s\n", r.dir.Path(rundir.AdaptedName))
	return w.err
}

// outcome says in a few sentences what came out of a run, for those who watch.
func outcome(r *lifecycle.OnlineResult) []string {
	list := []string{fmt.Sprintf("All is played, %s.", grid.Count(r.Steps, "step"))}
	if r.Gate != nil {
		list = append(list, r.Gate.String()+".")
	}
	switch {
	case r.Online.Accuracy != nil:
		list = append(list, fmt.Sprintf("Right answers: online %.1f %%, frozen %.1f %%.", 100**r.Online.Accuracy, 100**r.Frozen.Accuracy))
	case r.Forecast != nil:
		list = append(list, fmt.Sprintf("Mean absolute error: online %.4g, frozen %.4g %s.", r.Online.Cost, r.Frozen.Cost, r.Forecast.Unit))
	default:
		list = append(list, fmt.Sprintf("Mean cost: online %.4g, frozen %.4g.", r.Online.Cost, r.Frozen.Cost))
	}
	if r.Warning != "" {
		list = append(list, r.Warning+".")
	}
	return list
}

// inWords says why a run ended early.
func inWords(err error) string {
	if errors.Is(err, context.Canceled) {
		return "somebody pressed Ctrl-C"
	}
	return err.Error()
}

// printForecasts says how forecasts turned out.
func (r *onlineRun) printForecasts(w *lines, result *lifecycle.OnlineResult) error {
	f := result.Forecast
	w.printf("played %s, %s to %s, in %s\n", grid.Count(result.Steps, "step"), f.From, f.To,
		brief(time.Duration(result.Seconds*float64(time.Second))))
	printScores(w, f.Unit, f.Horizons)
	printVerdicts(w, f.Unit, f.Verdicts)
	if r.run == nil || !r.run.Past() {
		w.printf("%d of %d sensors answer with what they learned\n", f.Learned, len(f.Sensors))
	}
	for _, n := range f.Broken {
		w.printf("! %s\n", n)
	}
	for _, c := range []struct{ what, name string }{
		{"forecasts", rundir.PredictionsName},
		{"intervals", rundir.IntervalsName},
		{"charts", typicalChart + ".png"},
		{"", worstChart + ".png"},
		{"model", rundir.AdaptedName},
	} {
		if _, err := os.Stat(r.dir.Path(c.name)); err == nil {
			w.printf("%-12s %s\n", c.what, r.dir.Path(c.name))
		}
	}
	return w.err
}

// calmer says which settings of a configuration make learning calmer.
func calmer(c *rule.Config) string {
	var words []string
	for _, setting := range c.Calmer() {
		words = append(words, "online."+setting)
	}
	return strings.Join(words, ", or ")
}

// describeRule says how nodes learn.
func describeRule(preset string, c *rule.Config, mode config.Mode) string {
	if c.Season != nil {
		return "preset " + preset + ": " + c.Season.String()
	}
	if c.Newton != nil {
		return "preset " + preset + ": " + c.Newton.String()
	}
	words := []string{fmt.Sprintf("preset %s: step size %g", preset, c.StepSize.Value)}
	if c.StepSize.Schedule == rule.Decaying {
		words[0] += ", decaying"
	}
	if c.Gate == nil {
		words = append(words, "no gate")
	}
	if c.Delay > 0 {
		words = append(words, fmt.Sprintf("targets %s late", grid.Count(c.Delay, "step")))
	}
	if c.Retrain != "" {
		words = append(words, "retraining "+string(c.Retrain))
	}
	return strings.Join(words, ", ")
}
