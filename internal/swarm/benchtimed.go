package swarm

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// mostRate bounds the steps per second that a world must be able to show.
const mostRate = 3000

// timed runs a swarm for about the given time and returns what was seen. The
// first tenth warms up and does not count for rate and processor time.
func (b *Bench) timed(ctx context.Context, o Options, seconds float64) (*Figure, error) {
	dir, err := b.folder()
	if err != nil {
		return nil, err
	}
	o.Run, o.Dir = "bench", dir
	whole := time.Duration(seconds * float64(time.Second))
	var first, from, last time.Time
	var used, now usage
	steps := 0
	o.OnStep = func(*Moment) error {
		at := time.Now()
		switch {
		case first.IsZero():
			first = at
		case from.IsZero():
			if at.Sub(first) >= whole/10 {
				from, used = at, usageNow()
			}
		default:
			steps, last = steps+1, at
			if at.Sub(from) >= whole {
				now = usageNow()
				return errEnough
			}
		}
		return nil
	}
	r, err := Up(ctx, o)
	if !errors.Is(err, errEnough) {
		if err == nil {
			err = fmt.Errorf("the world ended after %d steps, before the time was over", steps)
		}
		return nil, err
	}
	f := &Figure{
		Bus: r.Bus, Hosts: r.Hosts, Nodes: r.Nodes, Processes: distinct(r.Processes),
		Steps: steps, Seconds: last.Sub(from).Seconds(), Messages: r.MessagesPerStep, Frames: r.FramesPerStep, Bytes: r.BytesPerStep,
		Latency: r.Counters.Latency, LateShare: r.LateShare, Missing: r.Missing,
	}
	f.Rate = float64(steps) / f.Seconds
	f.WorldCPU, f.HostCPU = (now.own-used.own)/float64(steps), (now.children-used.children)/float64(steps)
	return f, nil
}

// distinct returns how many different numbers there are.
func distinct[K comparable](numbers map[K]int) int {
	seen := map[int]bool{}
	for _, n := range numbers {
		seen[n] = true
	}
	return len(seen)
}
