package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/internal/box"
	"github.com/wdgnn/wdgnn/internal/flock"
	"github.com/wdgnn/wdgnn/internal/grid"
	"github.com/wdgnn/wdgnn/internal/live"
	"github.com/wdgnn/wdgnn/internal/liveweb"
	"github.com/wdgnn/wdgnn/internal/swarm"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/rule"
	"github.com/wdgnn/wdgnn/transport"
)

// SwarmUpCommand starts agents as processes, and the world around them.
type SwarmUpCommand struct {
	Stdout, Stderr io.Writer

	task   swarmTask
	model  string
	config string

	options    swarm.Options
	rate       float64 // steps per second; 0 means lockstep
	pace       string  // what steps wait for; empty means what goes with the rate
	kills      []string
	partitions []string
	dir        string
	page       page
	record     string
	json       bool
	quiet      bool
	hosts      bool // the number of processes was given
}

func (c *SwarmUpCommand) command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Start agents and their world on this machine",
		Long: `Starts a NATS server inside this program, real processes that run the nodes of a
network, and the world that they observe, and lets them work:

  sourceloc  a pulse spreads in a network of 50 nodes that has lost links; five
             detectors say where it started, are told, and learn (lockstep:
             a step ends when everybody has answered)
  flocking   50 robots keep together; the simulator is the world, a tick comes
             --rate times a second, and what is late is lost

With --model and --config it is a model of your own, as wdgnn train or wdgnn online
left it, on the stream of the configuration's section online, with the rule that
wdgnn online would take; for models that forecast it is a series of readings. Nodes
of a model that has learned online go on with what they learned. wdgnn swarm collect
writes what agents learned into a model file.

Every agent hears its one-hop neighbours only. Its key lets it speak as itself
and hear those who may ever be its neighbours, nobody else.

--verify runs the same steps in one process, online.Consensus, and compares
outputs and parameters of every node bit for bit. Things can be made to go
wrong: processes killed and started again, frames lost, delayed, doubled,
reordered, hosts cut off, the server restarted.

With --out the folder keeps configurations (host-3.yaml, as wdgnn agent reads
them), keys, logs, checkpoints and result.json.`,
		Example: `  wdgnn swarm up --processes 50 --verify
  wdgnn swarm up --processes 5 --steps 2000 --kill 3@2s-4s --loss 0.1
  wdgnn swarm up --bus tcp --processes 10 --partition 0-4@3s-6s
  wdgnn swarm up --task flocking --processes 50 --rate 20 --seconds 30
  wdgnn swarm up --task flocking --model flight/model.safetensors --processes 10 --rate 100 --kill 7@1s
  wdgnn swarm up --task flocking --processes 10 --page
  wdgnn swarm up --model first/run/model.safetensors --config first/config.yaml --processes 5 --out field
  wdgnn swarm collect field --out adapted.safetensors
  wdgnn swarm up --processes 5 --json | jq '{steps_per_second, accuracy, late_share}'`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c.Stdout, c.Stderr = cmd.OutOrStdout(), told(cmd, c.quiet)
			if err := c.own(cmd.Flags()); err != nil {
				return usageError{cmd.CommandPath(), err}
			}
			if err := c.page.settle(cmd, "results"); err != nil {
				return err
			}
			return c.Run(cmd.Context())
		},
	}
	f := cmd.Flags()
	c.task.flags(f)
	f.StringVar(&c.model, "model", "", "model file, with a shift that nodes can compute; nothing trains a small one")
	f.StringVar(&c.config, "config", "", "config.yaml whose section online names the stream that --model, one of your own, works on")
	f.IntVar(&c.options.Hosts, "processes", 10, "processes; nodes are divided among them")
	f.StringVar(&c.options.Bus, "bus", box.BusNATS,
		"what carries messages: nats, tcp (direct links, no server), or mem (goroutines instead of processes)")
	f.BoolVar(&c.options.Lines, "lines", false, "the world speaks to processes on their standard input instead of NATS")
	c.paceFlags(f)
	f.BoolVar(&c.options.Verify, "verify", false, "compare with online.Consensus bit for bit; a difference is a failure")
	f.Float64Var(&c.options.Faults.Loss, "loss", 0, "probability that a frame is lost, at each receiver")
	f.Float64Var(&c.options.Faults.Duplicate, "duplicate", 0, "probability that a frame arrives twice")
	f.Float64Var(&c.options.Faults.Reorder, "reorder", 0, "probability that a frame arrives after the next one")
	f.DurationVar(&c.options.Faults.Delay, "delay", 0, "delay of every frame")
	f.DurationVar(&c.options.Faults.Jitter, "jitter", 0, "further delay, at most so long")
	f.StringArrayVar(&c.partitions, "partition", nil,
		"`HOSTS@FROM-TO` between which hosts are cut off, such as 0-4@3s-6s; may be given more than once")
	f.StringArrayVar(&c.kills, "kill", nil,
		"`HOST@TIME` at which a process is killed, HOST@FROM-TO starts it again; may be given more than once")
	f.DurationVar(&c.options.Restart, "restart-server", 0, "restart the NATS server at that time")
	c.page.flags(f)
	c.page.pageFlag(cmd, "show it on a page in a browser")
	f.StringVar(&c.record, "record", "", "`folder` that keeps what a page would show, for wdgnn view")
	f.StringVar(&c.dir, "out", "", "folder to keep; nothing means one that is removed")
	f.BoolVarP(&c.quiet, "quiet", "q", false, "show no progress")
	f.BoolVar(&c.json, "json", false, "print the result as one JSON object")
	renamed(f, map[string]string{"dir": "out"})
	completeSwarm(cmd)
	return cmd
}

// completeSwarm completes flags in a shell.
func completeSwarm(cmd *cobra.Command) {
	words(cmd, "bus", box.BusNATS, box.BusTCP, swarm.BusMem)
	words(cmd, "pace", string(host.Lockstep), string(host.RealTime))
	words(cmd, "task", "sourceloc", "flocking")
	words(cmd, "preset", rule.Presets()...)
	words(cmd, "cost", string(flock.CostDistances), string(flock.CostVelocities))
}

// paceFlags adds the flags that say what steps wait for.
func (c *SwarmUpCommand) paceFlags(f *pflag.FlagSet) {
	f.Float64Var(&c.rate, "rate", 0, "steps per second by the clock; 0 means as fast as everybody answers, and 20 for flocking")
	f.DurationVar(&c.options.Pace.Deadline, "deadline", 0,
		"how long a step waits for silent neighbours; 0 means 1s, and 0.8 of the period with --rate")
	f.StringVar(&c.pace, "pace", "", "what a step waits for: lockstep, or real-time (default with --rate)")
	f.DurationVar(&c.options.Pace.Retry, "retry", 0,
		"when silent neighbours are asked again; 0 means after three times what an exchange usually takes, and of whom frames were lost "+
			"lately after as long as they take to answer; at most a fifth of the deadline")
}

// Run starts the swarm and prints how it went.
func (c *SwarmUpCommand) Run(ctx context.Context) error {
	if err := c.complete(); err != nil {
		return usageError{"wdgnn swarm up", err}
	}
	o := &c.options
	if c.model != "" {
		if err := mistaken(c.model, kindModel); err != nil {
			return during("swarm up", err)
		}
	}
	if c.record != "" { // before the work
		if err := kept(false, "another --record folder", filepath.Join(c.record, live.EventsName)); err != nil {
			return during("swarm up", err)
		}
	}
	dir, remove, err := workFolder(c.dir)
	if err != nil {
		return during("swarm up", err)
	}
	defer remove()
	o.Dir = dir
	if o.Task, err = c.prepare(ctx); err != nil {
		return during("swarm up", err)
	}
	if c.config != "" && !c.hosts {
		o.Hosts = min(o.Hosts, o.Task.Nodes)
	}
	if err := o.Validate(); err != nil {
		return usageError{"wdgnn swarm up", err}
	}
	if o.Bus != swarm.BusMem {
		program, err := os.Executable()
		if err != nil {
			return during("swarm up", err)
		}
		o.Program = []string{program, "agent"}
	}
	view := newSwarmView(c.Stderr)
	o.Watch = func(v *swarm.View) {
		view.show(v)
		_ = swarm.WriteStatus(dir, v) // the folder may be gone; status is for others to look at
	}
	fmt.Fprintf(c.Stderr, "%s on %s, bus %s, %s\n", c.what(), grid.Count(runtime.NumCPU(), "core"), o.Bus, grid.Count(o.Task.Nodes, "node"))
	close, err := c.present(ctx)
	if err != nil {
		return during("swarm up", err)
	}
	result, err := swarm.Up(ctx, *o)
	view.end()
	err = errors.Join(err, close())
	if result == nil {
		return during("swarm up", err)
	}
	if c.dir != "" {
		err = errors.Join(err, modelfile.WriteFile(filepath.Join(dir, swarmResult), func(w io.Writer) error { return writeJSON(w, result) }))
	}
	if c.json {
		err = errors.Join(err, writeJSON(c.Stdout, result))
	} else {
		err = errors.Join(err, printSwarm(c.Stdout, result))
	}
	if err == nil && result.Verified != nil && !result.Verified.Same() {
		err = helpful{
			fmt.Errorf("the swarm and one process differ: %s", result.Verified.First),
			"without faults, and with a longer --deadline: links that were given up make a difference",
		}
	}
	return during("swarm up", err)
}

// swarmResult is what a swarm leaves in its folder when it has ended.
const swarmResult = "result.json"

// own looks at flags of which some are for a model of one's own, and others not.
func (c *SwarmUpCommand) own(f *pflag.FlagSet) error {
	c.hosts = f.Changed("processes")
	if c.config == "" {
		return c.task.others(f)
	}
	if c.model == "" {
		return errors.New("--config says which stream; --model names the model that works on it")
	}
	for _, name := range []string{"task", "preset", "drop", "renew", "seconds", "robots", "cost", "gamma", "epochs"} {
		if f.Changed(name) {
			return fmt.Errorf("--%s is for the tasks that are built in; with --config, the configuration says what there is to do", name)
		}
	}
	if !f.Changed("steps") {
		c.task.steps = 0
	}
	return nil
}

// prepare makes the task.
func (c *SwarmUpCommand) prepare(ctx context.Context) (*swarm.Task, error) {
	if c.config == "" {
		task, err := c.task.prepare(ctx, c.Stderr, c.model)
		if err == nil && c.model != "" {
			if _, err = task.Plan(); err != nil {
				err = helpful{err, "--config CONFIG, if the model is one of your own"}
			}
		}
		return task, err
	}
	file, err := loadModel(c.model)
	if err != nil {
		return nil, err
	}
	cfg, err := loadConfig(c.config)
	if err != nil {
		return nil, err
	}
	task, err := swarm.NewStreamTask(cfg, file, c.task.steps)
	if err != nil {
		return nil, helpful{err, fmt.Sprintf("wdgnn online %s %s, which plays the same stream in one process", c.model, c.config)}
	}
	task.Strict = c.task.strict
	if note := task.Note(); note != "" {
		fmt.Fprintln(c.Stderr, note)
	}
	return task, nil
}

// present opens the page and the recording, if they are wanted, and returns what
// ends them.
func (c *SwarmUpCommand) present(ctx context.Context) (func() error, error) {
	if !c.page.wanted && c.record == "" {
		return func() error { return nil }, nil
	}
	hub, err := live.NewHub(swarm.Scene(&c.options))
	if err != nil {
		return nil, err
	}
	c.options.Hub = hub
	var recorder *live.Recorder
	if c.record != "" {
		if recorder, err = live.Record(hub, c.record, live.RecordConfig{}); err != nil {
			return nil, helpful{err, "another --record folder"}
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	var served <-chan error
	if c.page.wanted {
		if served, err = c.page.start(ctx, c.Stderr, liveweb.LiveConfig{Hub: hub, Control: true}); err != nil {
			cancel()
			return nil, err
		}
	}
	return func() error {
		hub.Close()
		cancel()
		var errs []error
		if served != nil {
			errs = append(errs, <-served)
		}
		if recorder != nil {
			errs = append(errs, recorder.Close())
		}
		return errors.Join(errs...)
	}, nil
}

func (c *SwarmUpCommand) what() string {
	if c.options.Bus == swarm.BusMem {
		return grid.Count(c.options.Hosts, "goroutine")
	}
	if c.options.Hosts == 1 {
		return "1 process"
	}
	return fmt.Sprintf("%d processes", c.options.Hosts)
}

// complete completes the options from the flags.
func (c *SwarmUpCommand) complete() error {
	o := &c.options
	var errs []error
	if c.config == "" {
		errs = append(errs, c.task.validate())
	} else if c.task.steps < 0 {
		errs = append(errs, fmt.Errorf("--steps is %d, want how many steps of the stream are played", c.task.steps))
	}
	for _, text := range c.kills {
		k, err := swarm.ParseKill(text)
		if err != nil {
			err = fmt.Errorf("--kill %w", err)
		}
		o.Kills, errs = append(o.Kills, k), append(errs, err)
	}
	for _, text := range c.partitions {
		p, err := transport.ParsePartition(text)
		if err != nil {
			err = fmt.Errorf("--partition: %w", err)
		}
		o.Faults.Partitions, errs = append(o.Faults.Partitions, p), append(errs, err)
	}
	o.Pace.Mode = host.Pacing(c.pace)
	if c.rate < 0 || c.rate > 10_000 {
		errs = append(errs, fmt.Errorf("--rate is %v, want steps per second", c.rate))
	}
	if c.task.name == "flocking" && c.rate == 0 && !o.Verify {
		c.rate = 20
	}
	if c.rate > 0 {
		o.Period = time.Duration(float64(time.Second) / c.rate)
		if c.pace == "" {
			o.Pace.Mode = host.RealTime
		}
		if o.Pace.Deadline == 0 && o.Pace.Mode == host.RealTime {
			o.Pace.Deadline = host.TickDeadline(o.Period)
		}
	} else if o.Pace.Mode == host.RealTime {
		errs = append(errs, errors.New("--pace real-time follows a clock: say how fast it ticks, --rate 20"))
	}
	o.Run, o.Keep = "swarm", c.dir != "" || len(o.Kills) > 0 || c.page.wanted
	o.Faults.Seed = c.task.seed
	errs = append(errs, inFlags(o.Validate(), swarmWords))
	if o.Restart < 0 {
		errs = append(errs, fmt.Errorf("--restart-server is %v, want a time after the start", o.Restart))
	}
	if all := c.task.nodes(); c.config == "" && c.model == "" && o.Hosts > all {
		errs = append(errs, fmt.Errorf("--processes is %d, and there are %d nodes; want one for each at most", o.Hosts, all))
	}
	return errors.Join(errs...)
}

// swarmWords are the names that options have for what flags say.
var swarmWords = []string{
	"transport: faults: loss is", "--loss is", "transport: faults: delay is", "--delay is", "transport: faults: jitter is", "--jitter is",
	"transport: faults: duplicate is", "--duplicate is", "transport: faults: reorder is", "--reorder is",
	"swarm: 0 hosts, want", "--processes is 0, want",
}

// workFolder returns a folder to work in and a function that removes it if it
// was made for once.
func workFolder(dir string) (string, func(), error) {
	if dir == "" {
		dir, err := os.MkdirTemp("", "wdgnn-swarm-")
		return dir, func() { os.RemoveAll(dir) }, err
	}
	if _, err := os.Stat(filepath.Join(dir, "keys")); err == nil {
		return "", nil, helpful{fmt.Errorf("%s holds a swarm already", dir), "another --out, or rm -r " + dir}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return "", nil, helpful{err, tryFolder}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", nil, helpful{err, tryFolder}
	}
	return dir, func() {}, nil
}
