package agents

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/internal/swarm"
)

// mostRate bounds the steps per second that a world must be able to show.
const mostRate = 15000

// enough returns how many steps a world needs for a run of so many seconds at
// the given rate or a slower one.
func enough(seconds, rate float64) int { return int(1.2*(seconds+warmUp.Seconds()+1)*rate) + 100 }

// timed runs a swarm for about the given time and returns what was seen after
// it has warmed up.
func (b *Bench) timed(ctx context.Context, o swarm.Options, seconds float64) (*Figure, error) {
	dir, err := b.folder()
	if err != nil {
		return nil, err
	}
	o.Run, o.Dir = "bench", dir
	t := &timing{long: time.Duration(seconds * float64(time.Second))}
	o.OnStep, o.Watch = t.step, t.watch
	r, err := swarm.Up(ctx, o)
	if !errors.Is(err, errEnough) {
		if err == nil {
			err = fmt.Errorf("the world ended after %d steps, before the time was over", t.steps)
		}
		return nil, err
	}
	f := &Figure{
		Bus: r.Bus, Hosts: r.Hosts, Nodes: r.Nodes, Processes: distinct(r.Processes),
		Steps: t.steps, Seconds: t.last.Sub(t.from).Seconds(), Messages: r.MessagesPerStep, Frames: r.FramesPerStep, Bytes: r.BytesPerStep,
		Latency: r.Counters.Latency, Missing: t.missing,
	}
	f.Rate = float64(t.steps) / f.Seconds
	f.WorldCPU, f.HostCPU = (t.now.own-t.used.own)/float64(t.steps), (t.now.children-t.used.children)/float64(t.steps)
	f.ResidentBytes, f.LargestBytes = t.now.resident, t.now.largest
	late := swarm.Sums{Agents: agent.Stats{
		Expired: r.Counters.Agents.Expired - t.before.Agents.Expired, Received: r.Counters.Agents.Received - t.before.Agents.Received,
	}}
	f.LateShare = late.LateShare()
	return f, nil
}

// warmUp is how long a run warms up, and at least until every host has told
// how it was doing during the first half of it.
const warmUp = 2500 * time.Millisecond

// timing is what is seen of a run.
type timing struct {
	long      time.Duration
	first     time.Time // of the first step
	from      time.Time // of the first that counts
	last      time.Time
	steps     int
	missing   int
	used, now usage

	mu     sync.Mutex
	before swarm.Sums // counters when the run was warm
}

// step sees a step of the world.
func (t *timing) step(m *swarm.Step) error {
	at := time.Now()
	switch {
	case t.first.IsZero():
		t.first = at
	case t.from.IsZero():
		if at.Sub(t.first) >= warmUp {
			t.from, t.used = at, usageNow()
		}
	default:
		t.steps, t.last, t.missing = t.steps+1, at, t.missing+m.Missing
		if at.Sub(t.from) >= t.long {
			t.now = usageNow()
			return errEnough
		}
	}
	return nil
}

// watch sees the counters, from time to time.
func (t *timing) watch(v *swarm.View) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if v.Seconds < warmUp.Seconds() {
		t.before = v.Counters
	}
}

// distinct returns how many different numbers there are.
func distinct[K comparable](numbers map[K]int) int {
	seen := map[int]bool{}
	for _, n := range numbers {
		seen[n] = true
	}
	return len(seen)
}
