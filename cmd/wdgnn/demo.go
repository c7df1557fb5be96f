package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wdgnn/wdgnn/internal/demo"
	"github.com/wdgnn/wdgnn/internal/grid"
	"github.com/wdgnn/wdgnn/internal/live"
	"github.com/wdgnn/wdgnn/internal/liveweb"
	"github.com/wdgnn/wdgnn/train"
)

// DemoCommand trains a WD-GNN, takes links away and lets it learn online.
type DemoCommand struct {
	Stdout, Stderr io.Writer

	seed      uint64
	subgraphs int
	agents    bool
	quiet     bool
	json      bool

	page   page
	record string
}

func (c *DemoCommand) command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Train a WD-GNN, drop links, watch it learn online",
		Long: `A pulse starts in one of five communities of a network and spreads. Five
detector nodes, which hear their neighbours only, learn to say where it
started. Then 30 % of the links fail. Signals keep coming; each detector is told
the answer after it gave its own, and nodes learn from that, beside the model as
it was trained:

  paper       the update of the paper's eq. (9), all nodes to agree on one set of taps,
              with the step size 1/C_s by the curvature of the cost in training
  neighbours  the default: every node its own taps, and a weight for each
              neighbour's values, learned by second derivatives without a step size;
              a gate answers as trained where that is better

With --page it goes on until Ctrl-C and shows itself in a browser: learners side
by side on the network; links lost, nodes stopped, answers heard and a node that
lies as you choose. With --record the folder keeps what was shown,
for wdgnn view.

With --agents nothing is simulated: processes run the nodes, hear their
neighbours over NATS and learn, and every number is compared with one process
that runs all nodes. wdgnn swarm up does the same with more to choose from.`,
		Example: `  wdgnn demo
  wdgnn demo --page
  wdgnn demo --page --addr 127.0.0.1:9000 --record run
  wdgnn demo --agents
  wdgnn demo --seed 7
  wdgnn demo --json | jq '.learners[] | {name, accuracy}'`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c.Stdout, c.Stderr = cmd.OutOrStdout(), told(cmd, c.quiet)
			if err := c.page.settle(cmd, "record", "results"); err != nil {
				return err
			}
			switch {
			case c.page.wanted:
				return c.Show(cmd.Context())
			case c.agents:
				return c.Agents(cmd.Context())
			}
			return c.Run(cmd.Context())
		},
	}
	c.page.flags(cmd.Flags())
	c.page.pageFlag(cmd, "show it on a page in a browser, and go on until Ctrl-C")
	cmd.Flags().StringVar(&c.record, "record", "", "with --page: `folder` that keeps what was shown")
	cmd.Flags().Uint64Var(&c.seed, "seed", reproduceSeed,
		"root of every random stream, the network included; networks differ in how hard they are")
	cmd.Flags().IntVar(&c.subgraphs, "subgraphs", 8, "random subgraphs to average over")
	cmd.Flags().BoolVar(&c.agents, "agents", false, "run the nodes as processes that hear their neighbours only")
	cmd.Flags().BoolVarP(&c.quiet, "quiet", "q", false, "show no progress")
	cmd.Flags().BoolVar(&c.json, "json", false, "print the result as one JSON object")
	return cmd
}

// Show runs the demo on a page until ctx ends.
func (c *DemoCommand) Show(ctx context.Context) (err error) {
	d, err := demo.Demo{Seed: c.seed}.Live()
	if err != nil {
		return during("demo", err)
	}
	if c.record != "" {
		var recorder *live.Recorder
		if recorder, err = live.Record(d.Hub(), c.record, live.RecordConfig{}); err != nil {
			return helpful{during("demo", err), "another --record folder"}
		}
		defer func() { err = errors.Join(err, during("demo", recorder.Close())) }()
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	served, err := c.page.start(ctx, c.Stdout, liveweb.LiveConfig{Hub: d.Hub(), Control: true})
	if err != nil {
		return during("demo", err)
	}
	ran := make(chan error, 1)
	go func() { ran <- d.Run(ctx, nil) }()
	select { // whichever ends first ends the other
	case err = <-served:
		cancel()
		err = errors.Join(err, <-ran)
	case err = <-ran:
		cancel()
		err = errors.Join(err, <-served)
	}
	return during("demo", err)
}

// Run runs the demo and prints its result.
func (c *DemoCommand) Run(ctx context.Context) error {
	if c.subgraphs < 1 {
		return usageError{"wdgnn demo", fmt.Errorf("--subgraphs is %d, want at least 1", c.subgraphs)}
	}
	var bar *progress
	view := &race{newScreen(c.Stderr)}
	d := demo.Demo{
		Seed: c.seed, Subgraphs: c.subgraphs,
		OnStart: func(s demo.Setup) {
			fmt.Fprintf(c.Stderr, "%d nodes, %d links, %d detectors; a WD-GNN of %d parameters learns from %d signals\n",
				s.Nodes, s.Edges, s.Detectors, s.Parameters, s.Signals)
			bar = newProgress(c.Stderr, s.Epochs, "accuracy")
		},
		OnEpoch: func(e train.Epoch) { bar.epoch(e) },
		OnSignal: func(f demo.Frame) error {
			bar.end()
			return view.show(ctx, f)
		},
	}
	result, err := d.Run(ctx)
	view.end()
	if err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	if c.json {
		return writeJSON(c.Stdout, result)
	}
	return c.print(result)
}

func (c *DemoCommand) print(r *demo.Result) error {
	out := lines{w: c.Stdout}
	subgraphs := r.Learners[0].Subgraphs
	out.printf("\n")
	lost := fmt.Sprintf("30 %% of the links lost, mean of %s", grid.Count(subgraphs, "subgraph"))
	bar := func(share float64) string { return "  " + gauge(share, 25) }
	if wide := columns(c.Stdout); wide > 0 && wide < 120 {
		lost, bar = fmt.Sprintf("links lost, mean of %d", subgraphs), func(float64) string { return "" }
	}
	var rows [][]string
	for k, l := range r.Learners {
		row := []string{
			l.Name, fmt.Sprintf("%.1f %%", 100*l.Same),
			fmt.Sprintf("%.1f %% ± %.1f%s", 100*l.Accuracy, 100*l.Deviation, bar(l.Accuracy)),
			fmt.Sprintf("%.1f %%", 100*l.Last),
		}
		if k > 0 {
			row = append(row, fmt.Sprintf("%d of %d", l.Better, subgraphs))
		}
		rows = append(rows, row)
	}
	out.table([]string{"Right answers", "all links", lost, "last 300", "better than frozen"}, rows)
	for _, l := range r.Learners {
		if l.Warning != "" {
			out.printf("%s\n", l.Warning)
		}
	}
	out.printf("%s\n", demo.Many())
	out.printf(`
Next:
  wdgnn reproduce table1 --quick   the paper's table, its numbers beside ours (about two minutes)
  wdgnn init first                 a configuration and data to replace by yours
  wdgnn online -h                  let a trained model learn from your own stream
`)
	return out.err
}

// race shows learners side by side while signals come in.
type race struct{ screen }

// pace is how long a signal lasts on a terminal, so that people can watch.
const pace = 5 * time.Millisecond

func (r *race) show(ctx context.Context, f demo.Frame) error {
	first, last := f.Signal == 1, f.Signal == f.Signals
	if first {
		fmt.Fprintf(r.out, "\n%d links are lost. Right answers so far:\n", f.Lost)
		if !r.terminal() {
			fmt.Fprintf(r.out, "signals %23s\n", strings.Join(pad(f.Names, 19), "  "))
		}
	}
	if !r.terminal() {
		if f.Signal%100 == 0 || f.Signal == 10 {
			fmt.Fprintf(r.out, "%7d", f.Signal)
			for k, a := range f.Accuracy {
				fmt.Fprintf(r.out, "  %*.1f %%", max(len(f.Names[k]), 19)-2, 100*a)
			}
			fmt.Fprintln(r.out)
		}
		return nil
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(pace):
	}
	if !last && !r.due() {
		return nil
	}
	var bars []string
	for k, name := range f.Names {
		bars = append(bars, fmt.Sprintf("%-20s %5.1f %%  %s", name, 100*f.Accuracy[k], gauge(f.Accuracy[k], min(50, r.wide-31))))
	}
	r.draw(append(bars, fmt.Sprintf("signal %d of %d", f.Signal, f.Signals))...)
	return nil
}

// pad makes words at least so wide.
func pad(words []string, width int) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = fmt.Sprintf("%*s", width, w)
	}
	return out
}

// gauge draws a share from 0 to 1 as a bar of so many characters; it is empty where
// there is no room.
func gauge(share float64, width int) string {
	width = max(width, 0)
	eighths := int(share*float64(width)*8 + 0.5)
	bar := strings.Repeat("█", eighths/8)
	if rest := eighths % 8; rest > 0 {
		bar += string([]rune(" ▏▎▍▌▋▊▉")[rest])
	}
	return bar + strings.Repeat(" ", width-len([]rune(bar)))
}
