package agents

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/internal/box"
	"github.com/wdgnn/wdgnn/internal/swarm"
)

const flockAbout = "50 robots, delayed filters, learning on, 24×2 parameters in every message, by the clock: what is late is lost"

var flockTen = Measurement{
	Name:   "flocking-10",
	Title:  "50 robots in 10 processes at 100 Hz, and the highest rate",
	About:  flockAbout + "; 10 processes at 100 Hz, and the highest rate that holds",
	Wanted: "less than 1 % of the messages late",
	run:    func(ctx context.Context, b *Bench) error { return b.flock(ctx, "flocking-10", 10, 100) },
}

var flockFifty = Measurement{
	Name:   "flocking-50",
	Title:  "50 robots in 50 processes at 20 Hz, and the highest rate",
	About:  flockAbout + "; 50 processes at 20 Hz, and the highest rate that holds",
	Wanted: "less than 1 % of the messages late",
	run:    func(ctx context.Context, b *Bench) error { return b.flock(ctx, "flocking-50", 50, 20) },
}

// lateWanted is the share of late messages at which a rate holds no longer.
const lateWanted = 0.01

// flock flies at the given rate, and then looks for the highest that holds.
func (b *Bench) flock(ctx context.Context, name string, processes int, hertz float64) error {
	f, err := b.fly(ctx, processes, hertz, b.Seconds)
	if err != nil {
		return err
	}
	f.Measurement, f.Case = name, fmt.Sprintf("%d processes at %g Hz", processes, hertz)
	b.Found(f)
	best, err := b.highest(ctx, processes, hertz, f)
	if err != nil || best == nil {
		return err
	}
	last := *best
	last.Measurement, last.Case, last.Goals = name, fmt.Sprintf("%d processes, the highest rate that holds", processes), nil
	b.Found(&last)
	return nil
}

// met says whether all goals are.
func (f *Figure) met() bool {
	return !slices.ContainsFunc(f.Goals, func(g Goal) bool { return !g.Met() })
}

// searchSeconds is the length of the runs that look for the highest rate,
// searches how often the range is halved.
const (
	searchSeconds = 3
	searches      = 3
)

// highest doubles the rate until it does not hold, and then halves the range.
// It returns the flight at the highest rate that held, nil if none did.
func (b *Bench) highest(ctx context.Context, processes int, hertz float64, first *Figure) (best *Figure, err error) {
	low, high := 0.0, hertz
	if first.met() {
		low, high, best = hertz, 0, first
	}
	seconds := min(b.Seconds, searchSeconds)
	for left := searches; left > 0; {
		next := 2 * low
		if high > 0 {
			next = (low + high) / 2
			left--
		}
		f, err := b.fly(ctx, processes, next, seconds)
		if err != nil {
			return nil, err
		}
		if f.met() {
			low, best = next, f
		} else {
			high = next
		}
	}
	return best, nil
}

// fly flies for some seconds at the given rate.
func (b *Bench) fly(ctx context.Context, processes int, hertz, seconds float64) (*Figure, error) {
	b.Say(fmt.Sprintf("flocking, %d processes at %.0f Hz", processes, hertz))
	o := swarm.Options{Hosts: processes, Bus: box.BusNATS, Program: b.program(), Period: time.Duration(float64(time.Second) / hertz)}
	o.Pace = host.Pace{Mode: host.RealTime, Deadline: host.TickDeadline(o.Period)}
	task, err := b.flockTask(enough(seconds, hertz))
	if err != nil {
		return nil, err
	}
	o.Task = task
	f, err := b.timed(ctx, o, seconds)
	if err != nil {
		return nil, err
	}
	f.goal(Goal{Name: "late", Value: 100 * f.LateShare, Unit: "% of the messages", Wanted: 100 * lateWanted, Below: true})
	f.goal(Goal{Name: "clock", Value: f.Rate, Unit: "steps/s", Wanted: (1 - lateWanted) * hertz})
	f.goal(Goal{Name: "processes", Value: float64(f.Processes), Unit: "processes", Wanted: float64(processes)})
	return f, nil
}
