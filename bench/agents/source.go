package agents

import (
	"context"
	"fmt"

	"github.com/wdgnn/wdgnn/internal/box"
	"github.com/wdgnn/wdgnn/internal/swarm"
)

const sourceAbout = "50 agents localize sources, two layers of order 5, 32 features, learning by eq. (9); ten exchanges per step"

var sourceMem = Measurement{
	Name:   "sourceloc-mem",
	Title:  "source localization, 50 agents in one process",
	About:  sourceAbout + "; all in one process, with 1, 5 and 50 hosts",
	Wanted: "300 steps/s",
	run: func(ctx context.Context, b *Bench) error {
		for _, hosts := range []int{1, 5, 50} {
			f, err := b.source(ctx, swarm.Options{Hosts: hosts, Bus: swarm.BusMem})
			if err != nil {
				return err
			}
			f.Measurement, f.Case = "sourceloc-mem", plural(hosts, "host")+" in one process"
			f.goal(Goal{Name: "rate", Value: f.Rate, Unit: "steps/s", Wanted: 300})
			b.Found(f)
		}
		return nil
	},
}

var sourceFew = Measurement{
	Name:   "sourceloc-5",
	Title:  "the same agents in 5 processes over NATS",
	About:  sourceAbout + "; 5 processes of 10 nodes over NATS",
	Wanted: "60 steps/s",
	run: func(ctx context.Context, b *Bench) error {
		f, err := b.source(ctx, swarm.Options{Hosts: 5, Bus: box.BusNATS, Program: b.program()})
		if err != nil {
			return err
		}
		f.Measurement, f.Case = "sourceloc-5", "5 processes of 10 nodes"
		f.goal(Goal{Name: "rate", Value: f.Rate, Unit: "steps/s", Wanted: 60})
		b.Found(f)
		return nil
	},
}

var sourceMany = Measurement{
	Name:  "sourceloc-50",
	Title: "in 50 processes, beside processes that only pass frames",
	About: sourceAbout + "; 50 processes over NATS, beside 50 processes that pass frames of the same sizes " +
		"to the same hearers over the same bus, wait for their neighbours in each of the ten rounds, and do nothing else",
	Wanted: "60 % of the rate of bare processes, before and after",
	run: func(ctx context.Context, b *Bench) error {
		const hosts = 50
		task, err := b.sourceTask(1)
		if err != nil {
			return err
		}
		before, err := b.probe(ctx, task, hosts, b.Seconds/2)
		if err != nil {
			return err
		}
		f, err := b.source(ctx, swarm.Options{Hosts: hosts, Bus: box.BusNATS, Program: b.program()})
		if err != nil {
			return err
		}
		after, err := b.probe(ctx, task, hosts, b.Seconds/2)
		if err != nil {
			return err
		}
		f.Measurement, f.Case, f.ProbeRate = "sourceloc-50", "50 processes", (before+after)/2
		f.goal(Goal{Name: "rate", Value: 100 * f.Rate / f.ProbeRate, Unit: "% of the probe's", Wanted: 60})
		f.goal(Goal{Name: "processes", Value: float64(f.Processes), Unit: "processes", Wanted: hosts})
		b.Found(f)
		return nil
	},
}

// source times source localization.
func (b *Bench) source(ctx context.Context, o swarm.Options) (f *Figure, err error) {
	what := plural(o.Hosts, "host")
	if o.Program != nil {
		what = fmt.Sprintf("%d processes", o.Hosts)
	}
	b.Say(fmt.Sprintf("source localization, %s, %s", what, o.Bus))
	if o.Task, err = b.sourceTask(enough(b.Seconds, mostRate)); err != nil {
		return nil, err
	}
	return b.timed(ctx, o, b.Seconds)
}

// program returns what runs an agent.
func (b *Bench) program() []string { return append(append([]string{}, b.Self...), "agent") }

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
