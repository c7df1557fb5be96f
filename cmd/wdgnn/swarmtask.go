package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/pflag"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/flock"
	"github.com/wdgnn/wdgnn/internal/grid"
	"github.com/wdgnn/wdgnn/internal/recipe"
	"github.com/wdgnn/wdgnn/internal/swarm"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/rule"
	"github.com/wdgnn/wdgnn/scenario/flocking"
	"github.com/wdgnn/wdgnn/scenario/sourceloc"
	"github.com/wdgnn/wdgnn/train"
)

// swarmTask is what a swarm works on, as flags say it.
type swarmTask struct {
	name    string
	seed    uint64
	preset  string
	steps   int     // sourceloc: signals
	drop    float64 // sourceloc: share of links lost
	renew   int     // sourceloc: signals until others are lost
	seconds float64 // flocking: of flight
	robots  int     // flocking
	cost    string  // flocking
	gamma   float64 // flocking
	epochs  int     // of training
	strict  bool
}

func (t *swarmTask) flags(f *pflag.FlagSet) {
	f.StringVar(&t.name, "task", "sourceloc", "what the agents do: sourceloc or flocking")
	f.Uint64Var(&t.seed, "seed", reproduceSeed, "root of every random stream")
	f.StringVar(&t.preset, "preset", rule.DefaultPreset, "sourceloc: how nodes learn: auto, neighbours, own or paper (eq. 9)")
	f.IntVar(&t.steps, "steps", 1000, "sourceloc: signals; with --config: steps of the stream, all unless given")
	f.Float64Var(&t.drop, "drop", 0.3, "sourceloc: probability that a link is lost, 0 ≤ p < 1")
	f.IntVar(&t.renew, "renew", 0, "sourceloc: signals after which other links are lost; 0 means never")
	f.Float64Var(&t.seconds, "seconds", 2, "flocking: length of the flight in simulated seconds; a step is 0.01 s")
	f.IntVar(&t.robots, "robots", 50, "flocking: robots")
	f.StringVar(&t.cost, "cost", string(flock.CostDistances), "flocking: what robots learn from: distances, or velocities as in the paper")
	f.Float64Var(&t.gamma, "gamma", 0.05, "flocking: step size of learning in flight; 0 means that nothing is learned")
	f.BoolVar(&t.strict, "strict", false, "a message that does not come drops its sender to the end of the step, not for one hop only")
	f.IntVar(&t.epochs, "epochs", 0, "epochs of training where no model is given; 0 means 20, and 12 for flocking")
}

// others refuses flags of another task, which would change nothing.
func (t *swarmTask) others(f *pflag.FlagSet) error {
	for task, flags := range map[string][]string{
		"flocking":  {"seconds", "robots", "cost", "gamma"},
		"sourceloc": {"steps", "drop", "renew", "preset"},
	} {
		for _, name := range flags {
			if task != t.name && f.Changed(name) {
				return fmt.Errorf("--%s is for --task %s, and this is %s", name, task, t.name)
			}
		}
	}
	return nil
}

// validate reports everything that is wrong with t.
func (t *swarmTask) validate() error {
	var errs []error
	if t.name != "sourceloc" && t.name != "flocking" {
		errs = append(errs, fmt.Errorf("--task is %q, want sourceloc or flocking", t.name))
	}
	if t.robots < 1 {
		errs = append(errs, fmt.Errorf("--robots is %d, want at least 1", t.robots))
	}
	if t.steps < 1 || t.renew < 0 || t.epochs < 0 {
		errs = append(errs, fmt.Errorf("--steps is %d, --renew %d, --epochs %d: want 1, 0 and 0 at least", t.steps, t.renew, t.epochs))
	}
	if !(t.drop >= 0 && t.drop < 1) || !(t.seconds > 0) || !(t.gamma >= 0) {
		errs = append(errs, fmt.Errorf("--drop is %v, --seconds %v, --gamma %v: want 0 ≤ drop < 1, seconds > 0, gamma ≥ 0",
			t.drop, t.seconds, t.gamma))
	}
	_, err := t.learning(rule.Facts{Bias: true})
	return errors.Join(append(errs, err, flock.Cost(t.cost).Validate())...)
}

// nodes returns how many there are in a task that is built in.
func (t *swarmTask) nodes() int {
	if t.name == "flocking" {
		return t.robots
	}
	world := sourceloc.Default()
	return world.Communities * world.Members
}

// prepare loads or trains a model and builds its world.
func (t *swarmTask) prepare(ctx context.Context, stderr io.Writer, model string) (*swarm.Task, error) {
	build := t.sourceloc
	if t.name == "flocking" {
		build = t.flocking
	}
	task, err := build(ctx, stderr, model)
	if err == nil {
		task.Strict = t.strict
	}
	return task, err
}

func (t *swarmTask) sourceloc(ctx context.Context, stderr io.Writer, model string) (*swarm.Task, error) {
	var l *recipe.Localized
	var err error
	if model == "" {
		l, err = t.localize(ctx, stderr)
	} else {
		l, err = locate(model)
	}
	if err != nil {
		return nil, err
	}
	r, err := t.learning(online.Facts(l.Model.Network, l.Model.Meta.Task, l.Moment, l.World.Detectors))
	if err != nil {
		return nil, err
	}
	return swarm.NewSourceTask(l, r, t.steps, t.renew, t.drop)
}

// learning returns how nodes of a model learn.
func (t *swarmTask) learning(f rule.Facts) (rule.Config, error) {
	s := rule.Settings{Preset: t.preset}
	switch {
	case t.renew == 1:
		s.Links = rule.LinksEveryStep
	case t.renew > 1:
		s.Links = rule.LinksOutages
	}
	return s.For(f).Config(false, nil)
}

// localize trains a model.
func (t *swarmTask) localize(ctx context.Context, stderr io.Writer) (*recipe.Localized, error) {
	epochs := t.epochs
	if epochs == 0 {
		epochs = 20
	}
	fmt.Fprintf(stderr, "no model given: one learns to localize sources, %s\n", grid.Count(epochs, "epoch"))
	bar := newProgress(stderr, epochs, "accuracy")
	defer bar.end()
	return recipe.Localize(ctx, recipe.Localization{
		Seed: t.seed, Epochs: epochs, Shift: graph.ShiftRowStochastic, OnEpoch: func(e train.Epoch) { bar.epoch(e) },
	})
}

// locate reads a model and finds the network that it was trained on.
func locate(path string) (*recipe.Localized, error) {
	file, err := loadModel(path)
	if err != nil {
		return nil, err
	}
	moment, err := recipe.MomentOf(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if c := file.Network.Config; c.In != 1 || file.Meta.Task != "classify" || file.Meta.Delayed {
		return nil, helpful{
			fmt.Errorf("%s was not trained to localize sources", path),
			fmt.Sprintf("wdgnn swarm up --model %s --config CONFIG, with a section online that names a stream; or no --model: one is trained", path),
		}
	}
	return recipe.Locate(file, moment)
}

func (t *swarmTask) flocking(ctx context.Context, stderr io.Writer, model string) (*swarm.Task, error) {
	var c *flock.Controller
	var err error
	if model == "" {
		epochs := t.epochs
		if epochs == 0 {
			epochs = 12
		}
		c, err = imitate(ctx, stderr, t.seed, 100, epochs, -1)
	} else if c, err = flock.Load(model, -1); err != nil {
		err = helpful{err, "no --model: a controller is trained first"}
	}
	if err != nil {
		return nil, err
	}
	world := flocking.Default()
	world.Robots, world.DurationSeconds = t.robots, t.seconds
	r := recipe.OnlineFlight(t.gamma, 1)
	r.Gate = &rule.Gate{}
	return swarm.NewFlockTask(c, world, flock.Cost(t.cost).OfRobots(), r, t.seed, version())
}
