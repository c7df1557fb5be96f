package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/flock"
	"github.com/wdgnn/wdgnn/internal/grid"
	"github.com/wdgnn/wdgnn/internal/live"
	"github.com/wdgnn/wdgnn/internal/recipe"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/scenario/flocking"
)

// FlockCommand lets a learned controller fly robots.
type FlockCommand struct {
	Stdout, Stderr io.Writer

	plan     flock.Plan
	online   string
	cost     string
	stops    []string
	nearCap  float64
	out      string
	force    bool
	transfer bool
	large    bool
	quiet    bool
	json     bool

	trainFlights, trainEpochs int
}

// The model that is trained where none is given: half the flights of the
// paper, which takes seconds. Its shift is one that robots can compute
// themselves, and bounded features make up for flights that it does not see.
const (
	flockTrainFlights = 200
	flockTrainEpochs  = 30
	flockTrainCap     = 30
)

func (c *FlockCommand) command() *cobra.Command {
	c.plan.World = flocking.Default()
	w := &c.plan.World
	cmd := &cobra.Command{
		Use:   "flock [MODEL]",
		Short: "Let a learned controller fly a team of robots, and record it",
		Long: `Robots begin with random velocities and are to fly at one velocity without
colliding. Each hears the robots within the radius and decides by a learned
controller; an expert that sees all robots at once flies the same start beside
it. MODEL is a controller that wdgnn reproduce table2 or an earlier flight left;
without one a small one is trained first and saved: 200 flights of the expert,
some of its own, each robot's features bounded and its neighbours averaged.

The folder of --out gets
  flight.html   playback in any browser, one file that needs no network
  flight.mcap   the same for Foxglove: /scene, /poses and /metrics
  events.jsonl  the same for wdgnn view
  flight.json   numbers: the same seed gives the same bytes
of the last flight, or transfer.json. What is there already is replaced with --force
only.

  --online distributed   robots learn in flight by eq. (9), each from what it senses of its neighbours
  --online centralized   eq. (7), one set of taps from what all robots sense
  --cost velocities      the paper's cost of both, which knows no distances: robots collide more often
  --carry --flights 10   what is learned in one flight is there in the next
  --transfer             teams of 25 to 400 robots and radii of 1.5, 2 and 3 m

Faults: --stop 3@1.5s stops robot 3 after 1.5 s (3@1.5s:radio and 3@1.5s:actuator a
part of it), --loss 0.3 loses 3 messages in 10, --delay 2 delivers them 2 steps late.`,
		Example: `  wdgnn flock
  wdgnn flock flight/model.safetensors --robots 200 --seconds 4 --online distributed --out learning
  wdgnn flock flight/model.safetensors --stop 3@0.5s --stop 7@1s:radio --loss 0.3 --delay 2 --out broken
  wdgnn flock flight/model.safetensors --transfer --flights 5
  wdgnn flock flight/model.safetensors --force --json | jq '.learned.flights[0].total'`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usageError{cmd.CommandPath(), fmt.Errorf("one model at a time, got %s", strings.Join(args, " and "))}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			c.Stdout, c.Stderr = cmd.OutOrStdout(), told(cmd, c.quiet)
			model := ""
			if len(args) > 0 {
				model = args[0]
			}
			return c.Run(cmd.Context(), model)
		},
	}
	f := cmd.Flags()
	f.IntVar(&w.Robots, "robots", w.Robots, "number of robots")
	f.Float64Var(&w.CommRadiusMeters, "radius", w.CommRadiusMeters, "communication radius in metres")
	f.Float64Var(&w.DurationSeconds, "seconds", w.DurationSeconds, "length of a flight; a step is 0.01 s")
	f.Uint64Var(&c.plan.Seed, "seed", reproduceSeed, "root of every random stream")
	f.IntVar(&c.plan.Flights, "flights", 1, "flights from different starts")
	f.StringVar(&c.online, "online", string(flock.OnlineOff), "learning in flight: off, centralized or distributed")
	f.StringVar(&c.cost, "cost", string(flock.CostDistances), "what robots learn from in flight: distances, or velocities as in the paper")
	f.Float64Var(&c.plan.Gamma, "gamma", 0.05, "step size of learning in flight")
	f.Float64Var(&c.plan.Clip, "clip", 1, "largest norm of a gradient in flight, 0 for any")
	f.BoolVar(&c.plan.Ungated, "ungated", false, "fly by what was learned whatever it costs, as --cost velocities does")
	f.BoolVar(&c.plan.Carry, "carry", false, "begin a flight with what was learned in the one before")
	f.StringArrayVar(&c.stops, "stop", nil, "`ROBOT@TIME` at which one stops, or :radio or :actuator of it; may be given more than once")
	f.Float64Var(&w.Faults.MessageLoss, "loss", 0, "probability that a message is lost, 0 ≤ p < 1")
	f.IntVar(&w.Faults.DelaySteps, "delay", 0, "steps that messages take")
	f.BoolVar(&c.transfer, "transfer", false, "how performance carries over to other teams and radii")
	f.BoolVar(&c.large, "large", false, "with --transfer: 1,000 robots too")
	f.Float64Var(&c.nearCap, "near-cap", -1,
		"bound of features that the model was trained with; -1 means as its file says, and 30 where one is trained")
	f.StringVar(&c.out, "out", "flight", "folder for recordings, and for the model if one is trained")
	f.IntVar(&c.trainFlights, "train-flights", flockTrainFlights, "without MODEL: flights of the expert to learn from")
	f.IntVar(&c.trainEpochs, "epochs", flockTrainEpochs, "without MODEL: epochs of training")
	f.BoolVarP(&c.quiet, "quiet", "q", false, "show no progress")
	f.BoolVar(&c.json, "json", false, "print the result as one JSON object")
	forced(f, &c.force)
	renamed(f, map[string]string{"train-epochs": "epochs"})
	words(cmd, "online", string(flock.OnlineOff), string(flock.OnlineCentralized), string(flock.OnlineDistributed))
	words(cmd, "cost", string(flock.CostDistances), string(flock.CostVelocities))
	return cmd
}

// Run flies and prints how it went.
func (c *FlockCommand) Run(ctx context.Context, model string) error {
	if err := c.settle(); err != nil {
		return usageError{"wdgnn flock", err}
	}
	if err := kept(c.force, "another --out", c.leaves(model)...); err != nil {
		return during("flock", err)
	}
	pilot, err := c.controller(ctx, model)
	if err != nil {
		return err
	}
	if err := c.folder(); err != nil {
		return err
	}
	if c.transfer {
		return c.runTransfer(ctx, pilot)
	}
	view := newFlightView(c.Stderr, &c.plan)
	began := time.Now()
	result, err := c.plan.Fly(ctx, pilot, func(m flock.Instant) error { return view.show(ctx, m) })
	took := time.Since(began) - view.paused
	view.end()
	if err != nil {
		return during("flock", err)
	}
	if err := c.save(result); err != nil {
		return err
	}
	if c.json {
		return result.WriteJSON(c.Stdout)
	}
	return c.print(result, took)
}

// Names of what a flight leaves, beside those that others know.
const (
	flightMCAP   = "flight.mcap"
	flightJSON   = "flight.json"
	flightPage   = "flight.html"
	flightModel  = "model.safetensors"
	transferJSON = "transfer.json"
)

// leaves lists the files that the command will write.
func (c *FlockCommand) leaves(model string) []string {
	names := []string{flightPage, flightMCAP, live.EventsName, flightJSON}
	if c.transfer {
		names = []string{transferJSON}
	}
	if model == "" {
		names = append(names, flightModel)
	}
	for k, name := range names {
		names[k] = filepath.Join(c.out, name)
	}
	return names
}

// settle completes the plan from the flags and reports everything that is wrong
// with it.
func (c *FlockCommand) settle() error {
	c.plan.Online, c.plan.Cost = flock.Online(c.online), flock.Cost(c.cost)
	var errs []error
	for _, text := range c.stops {
		stop, err := parseStop(text, c.plan.World.SampleSeconds)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		c.plan.World.Faults.Stops = append(c.plan.World.Faults.Stops, stop)
	}
	errs = append(errs, inFlags(c.plan.Validate(), flockWords))
	if c.plan.Online == flock.OnlineOff && !(c.plan.Gamma >= 0) {
		errs = append(errs, fmt.Errorf("--gamma is %v, want 0 or more", c.plan.Gamma))
	}
	if c.nearCap < 0 && c.nearCap != -1 || math.IsNaN(c.nearCap) || math.IsInf(c.nearCap, 0) {
		errs = append(errs, fmt.Errorf("--near-cap is %v, want -1, 0 or a bound", c.nearCap))
	}
	if c.large && !c.transfer {
		errs = append(errs, errors.New("--large adds a team to --transfer, which is not there"))
	}
	if c.transfer && errors.Join(errs...) == nil {
		for _, p := range c.plan.Worlds(c.large) {
			if err := p.Validate(); err != nil {
				errs = append(errs, fmt.Errorf("--transfer to %d robots: %w", p.World.Robots, err))
				break
			}
		}
	}
	if c.trainFlights < 1 || c.trainEpochs < 1 {
		errs = append(errs, fmt.Errorf("--train-flights is %d and --epochs is %d, want at least 1", c.trainFlights, c.trainEpochs))
	}
	return errors.Join(errs...)
}

// flockWords are the names that a plan has for what flags say.
var flockWords = []string{
	"flocking: robots is", "--robots is", "flocking: comm_radius_meters is", "--radius is", "flocking: duration_seconds is", "--seconds is",
	"flocking: faults: message_loss is", "--loss is", "flocking: faults: delay_steps is", "--delay is",
	"flock: flights is", "--flights is", "flock: online is", "--online is", "flock: gamma is", "--gamma is", "flock: clip is", "--clip is",
	"flock: cost is", "--cost is",
}

// parseStop reads ROBOT@TIME or ROBOT@TIME:PART.
func parseStop(text string, sampleSeconds float64) (flocking.Stop, error) {
	bad := fmt.Errorf("--stop %s: want ROBOT@TIME such as 3@1.5s, 3@1.5s:%s or 3@1.5s:%s", text, flocking.PartRadio, flocking.PartActuator)
	robot, when, ok := strings.Cut(text, "@")
	if !ok {
		return flocking.Stop{}, bad
	}
	when, part, _ := strings.Cut(when, ":")
	number, err := strconv.Atoi(robot)
	if err != nil {
		return flocking.Stop{}, bad
	}
	d, err := time.ParseDuration(when)
	if err != nil || d < 0 {
		return flocking.Stop{}, bad
	}
	return flocking.Stop{Robot: number, Step: int(math.Round(d.Seconds() / sampleSeconds)), Part: flocking.Part(part)}, nil
}

// controller loads the model, or trains one.
func (c *FlockCommand) controller(ctx context.Context, model string) (*flock.Controller, error) {
	if model != "" {
		if err := mistaken(model, kindModel); err != nil {
			return nil, during("flock", err)
		}
		pilot, err := flock.Load(model, c.nearCap)
		if err != nil {
			return nil, helpful{during("flock", err), "wdgnn flock, which trains a controller first"}
		}
		return pilot, nil
	}
	if err := c.folder(); err != nil { // before the work
		return nil, err
	}
	pilot, err := imitate(ctx, c.Stderr, c.plan.Seed, c.trainFlights, c.trainEpochs, c.nearCap)
	if err != nil {
		return nil, during("flock", err)
	}
	path := filepath.Join(c.out, flightModel)
	if err := modelfile.Save(path, pilot.File(c.plan.Seed, version())); err != nil {
		return nil, during("flock", err)
	}
	fmt.Fprintf(c.Stderr, "saved %s\n", path)
	return pilot, nil
}

// folder makes the folder of --out.
func (c *FlockCommand) folder() error {
	if err := os.MkdirAll(c.out, 0o777); err != nil {
		return helpful{during("flock", err), tryFolder}
	}
	return nil
}

// imitate trains a controller on flights of the expert. A negative nearCap means
// the usual bound of the features.
func imitate(ctx context.Context, stderr io.Writer, seed uint64, flights, epochs int, nearCap float64) (*flock.Controller, error) {
	im := recipe.Imitation{
		World: flocking.Default(), Seed: seed, Flights: flights, Epochs: epochs,
		Shift: graph.ShiftRowStochastic, Threads: runtime.GOMAXPROCS(0), Dagger: flights >= 8,
	}
	im.World.NearCap = nearCap
	if nearCap < 0 {
		im.World.NearCap = flockTrainCap
	}
	fmt.Fprintf(stderr, "no model given: one learns from %s of the expert, of %d robots\n", grid.Count(im.Flights, "flight"), im.World.Robots)
	shown := newShare(stderr, "training")
	shown.report(0, "the expert flies")
	im.OnProgress = shown.report
	trained, err := recipe.Imitate(ctx, im)
	shown.end()
	if err != nil {
		return nil, err
	}
	return &flock.Controller{Model: trained.Model, Shift: trained.Shift, NearCap: im.World.NearCap}, nil
}

// save writes the recordings.
func (c *FlockCommand) save(r *flock.Result) error {
	for _, f := range []struct {
		name  string
		write func(io.Writer) error
	}{
		{flightMCAP, r.Recording.WriteMCAP},
		{live.EventsName, r.Recording.WriteEvents},
		{flightJSON, r.WriteJSON},
	} {
		if err := modelfile.WriteFile(filepath.Join(c.out, f.name), f.write); err != nil {
			return during("flock", err)
		}
	}
	recording, err := live.Open(c.out)
	if err != nil {
		return during("flock", err)
	}
	defer recording.Close()
	return during("flock", export(filepath.Join(c.out, flightPage), recording))
}
