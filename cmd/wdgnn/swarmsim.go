package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wdgnn/wdgnn/internal/grid"
	"github.com/wdgnn/wdgnn/internal/sim"
)

// SwarmSimCommand plays swarms in virtual time.
type SwarmSimCommand struct {
	Stdout, Stderr io.Writer

	seeds  string
	seed   uint64
	trace  bool
	shrink bool
	quiet  bool
	json   bool
}

func (c *SwarmSimCommand) command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sim",
		Short: "Play swarms in virtual time, and look for promises that are broken",
		Long: `Every seed is a swarm of 4 to 8 boxes in virtual time, as they are deployed, and
what goes wrong around it: lost, late, doubled and damaged frames, partitions, a
server that restarts, boxes that die, stand still or are slow, clocks that drift
and jump, full disks, worlds that say nothing, neighbours that lie. One seed is
one history. Looked at is, among others, that

  nodes end with the bits of one process if nothing was lost,
  24 deadlines after the last fault, however many steps they were apart,
  neighbours are on the same step or in two that follow each other,
  parameters stay bounded and no step waits beyond its deadline,
  hosts that lie are put in quarantine and let back in, and no honest ones,
  a checkpoint never goes back and every line is answered or accounted for,
  a model that is deployed is taken by all boxes at one step, or by none.

A promise that was broken is an error, with the seed to look at it again.`,
		Example: `  wdgnn swarm sim --seeds 1-20000
  wdgnn swarm sim --seed 112 --shrink           which faults matter
  wdgnn swarm sim --seed 112 --trace | less     everything that happened`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c.Stdout, c.Stderr = cmd.OutOrStdout(), cmd.ErrOrStderr()
			if one := cmd.Flags().Changed("seed"); one == cmd.Flags().Changed("seeds") && one || !one && (c.trace || c.shrink) {
				return usageError{cmd.CommandPath(), errors.New("--seeds plays many; --trace and --shrink look at one --seed")}
			} else if one {
				return during("swarm sim", c.one())
			}
			return during("swarm sim", c.many(cmd.Context()))
		},
	}
	f := cmd.Flags()
	f.StringVar(&c.seeds, "seeds", "1-2000", "seeds to play, FIRST-LAST")
	f.Uint64Var(&c.seed, "seed", 0, "one seed to look at")
	f.BoolVar(&c.trace, "trace", false, "print everything that happens")
	f.BoolVar(&c.shrink, "shrink", false, "leave out faults that do not matter")
	f.BoolVarP(&c.quiet, "quiet", "q", false, "show no progress")
	f.BoolVar(&c.json, "json", false, "print the result as one JSON object")
	return cmd
}

// one plays one seed.
func (c *SwarmSimCommand) one() error {
	t, err := sim.Draw(c.seed)
	if err != nil {
		return err
	}
	if c.shrink {
		if t, err = t.Shrink(); err != nil {
			return err
		}
	}
	trace := io.Discard
	if c.trace {
		trace = c.Stdout
	}
	if !c.json {
		fmt.Fprint(c.Stdout, t)
	}
	o, err := t.Run(trace)
	if err != nil {
		return err
	}
	if c.json {
		if err := writeJSON(c.Stdout, o); err != nil {
			return err
		}
	} else {
		fmt.Fprintf(c.Stdout, "%s of all hosts and %s in %v\n",
			grid.Count(o.Steps, "step"), grid.Count(o.Frames, "frame"), o.Time.Round(time.Millisecond))
	}
	if len(o.Broken) > 0 {
		return fmt.Errorf("seed %d breaks a promise:\n  %s", c.seed, strings.Join(o.Broken, "\n  "))
	}
	return nil
}

// many plays many seeds.
func (c *SwarmSimCommand) many(ctx context.Context) error {
	from, to, err := parseSeeds(c.seeds)
	if err != nil {
		return usageError{"wdgnn swarm sim", err}
	}
	debug.SetGCPercent(400) // histories are short, and memory is not what they lack
	began := time.Now()
	p := newProgress(c.Stderr, int(min(to-from+1, math.MaxInt32)), "")
	s, err := sim.Sweep(ctx, from, to, func(s sim.Summary) {
		if !c.quiet && p.due() {
			spent := time.Since(began)
			left := time.Duration(float64(spent) / float64(s.Trials) * float64(to-from+1-s.Trials))
			p.draw(p.parts(fmt.Sprintf("%d of %s", s.Trials, grid.Count(to-from+1, "seed")), fmt.Sprintf("%s left", brief(left)),
				fmt.Sprintf("%d break a promise", len(s.Broken))))
		}
	})
	p.end()
	if err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	stopped := err
	if c.json {
		if err := writeJSON(c.Stdout, s); err != nil {
			return err
		}
	} else if err := c.print(s, time.Since(began)); err != nil {
		return err
	}
	if len(s.Broken) > 0 {
		return helpful{
			fmt.Errorf("%d of %d seeds break a promise; seed %d: %s", len(s.Broken), s.Trials, s.Broken[0].Seed, s.Broken[0].Broken[0]),
			fmt.Sprintf("wdgnn swarm sim --seed %d --shrink", s.Broken[0].Seed),
		}
	}
	return stopped
}

// print says what was played.
func (c *SwarmSimCommand) print(s sim.Summary, took time.Duration) error {
	out := lines{w: c.Stdout}
	out.printf("%s in %s: %.0f per second\n", grid.Count(s.Trials, "seed"), brief(took), float64(s.Trials)/took.Seconds())
	out.printf("played        %.1f hours of swarms, %d steps of their hosts, %d frames\n", s.Time.Hours(), s.Steps, s.Frames)
	out.printf("together      again in %d after the last fault; in the others the worlds ended before\n", s.Settled)
	out.printf("nothing lost  in %d, to the bits of one process\n", s.Exact)
	out.printf("quarantine    %s, of hosts that lied\n", grid.Count(s.Shut, "time"))
	var kinds []string
	for _, k := range slices.Sorted(maps.Keys(s.Faults)) {
		kinds = append(kinds, fmt.Sprintf("%s %d", k, s.Faults[k]))
	}
	out.printf("faults        %s\n", strings.Join(kinds, ", "))
	out.printf("broken        %d\n", len(s.Broken))
	for _, f := range s.Broken {
		out.printf("  seed %d: %s\n", f.Seed, f.Broken[0])
	}
	return out.err
}

// parseSeeds reads FIRST-LAST, or the one seed.
func parseSeeds(text string) (from, to uint64, err error) {
	first, last, ok := strings.Cut(text, "-")
	if !ok {
		last = first
	}
	from, err = strconv.ParseUint(first, 10, 63)
	if err == nil {
		to, err = strconv.ParseUint(last, 10, 63)
	}
	if err != nil || to < from {
		return 0, 0, fmt.Errorf("--seeds is %q, want FIRST-LAST such as 1-20000", text)
	}
	return from, to, nil
}
