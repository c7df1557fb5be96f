package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wdgnn/wdgnn/internal/experiment"
	"github.com/wdgnn/wdgnn/train"
)

// DemoCommand trains a WD-GNN, takes links away and shows what is lost.
type DemoCommand struct {
	Stdout, Stderr io.Writer

	seed      uint64
	threads   int
	subgraphs int
	json      bool
}

func (c *DemoCommand) command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Train a WD-GNN, drop links, see what is lost",
		Long: `A pulse starts in one of five communities of a network and spreads. Five
detector nodes, which hear their neighbours only, learn to say where it
started. Then links fail: the trained network answers worse and worse.`,
		Example: `  wdgnn demo
  wdgnn demo --seed 7
  wdgnn demo --json | jq '.accuracy[] | select(.outage_prob == 0.3)'`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c.Stdout, c.Stderr = cmd.OutOrStdout(), cmd.ErrOrStderr()
			return c.Run(cmd.Context())
		},
	}
	cmd.Flags().Uint64Var(&c.seed, "seed", 17, "root of every random stream, the network included; networks differ in how hard they are")
	cmd.Flags().IntVar(&c.threads, "threads", 1, "threads to compute on, -1 for all; they do not change the result")
	cmd.Flags().IntVar(&c.subgraphs, "subgraphs", 20, "random subgraphs to average over")
	cmd.Flags().BoolVar(&c.json, "json", false, "print the result as one JSON object")
	return cmd
}

// Run runs the demo and prints its result.
func (c *DemoCommand) Run(ctx context.Context) error {
	if c.subgraphs < 1 {
		return usageError{"wdgnn demo", fmt.Errorf("--subgraphs is %d, want at least 1", c.subgraphs)}
	}
	start := time.Now()
	demo := experiment.Demo{
		Seed: c.seed, Threads: c.threads, Subgraphs: c.subgraphs,
		OnStart: func(s experiment.DemoSetup) {
			fmt.Fprintf(c.Stderr, "%d nodes, %d links, %d detectors; a WD-GNN of %d parameters, %d signals, %d epochs\n",
				s.Nodes, s.Edges, s.Detectors, s.Parameters, s.Signals, s.Epochs)
		},
		OnEpoch: func(e train.Epoch) {
			fmt.Fprintf(c.Stderr, "epoch %2d  loss %.4f  validation accuracy %5.1f %%  %s\n",
				e.Index, e.Loss, 100*(1-e.Score), time.Since(start).Round(10*time.Millisecond))
			if e.Restarts {
				fmt.Fprintln(c.Stderr, "every unit of the deep part is dead: starting anew from other values")
			}
		},
	}
	result, err := demo.Run(ctx)
	if err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	if c.json {
		enc := json.NewEncoder(c.Stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(result)
	}
	return c.print(result)
}

func (c *DemoCommand) print(r *experiment.DemoResult) error {
	var b strings.Builder
	fmt.Fprintln(&b, "\nlinks lost   right answers of the detectors, network frozen after training")
	for _, row := range r.Rows {
		const width = 50
		bar := strings.Repeat("█", int(row.Accuracy*width+0.5))
		fmt.Fprintf(&b, "%8.0f %%   %5.1f %%  %s", 100*row.OutageProb, 100*row.Accuracy, bar)
		if row.Subgraphs > 1 {
			fmt.Fprintf(&b, "%s ±%.1f over %d subgraphs", strings.Repeat(" ", width-strings.Count(bar, "█")), 100*row.Deviation, row.Subgraphs)
		}
		fmt.Fprintln(&b)
	}
	_, err := io.WriteString(c.Stdout, b.String())
	return err
}
