package agents

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/internal/box"
	"github.com/wdgnn/wdgnn/internal/recipe"
	"github.com/wdgnn/wdgnn/internal/swarm"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/rule"
	"github.com/wdgnn/wdgnn/transport"
)

const (
	liarHosts = 5
	liarHost  = transport.HostID(2) // that lies
	liarDrop  = 0.3                 // share of links that were lost since training
	liarRate  = 400                 // steps per second that the world can show
	judged    = 600                 // steps whose answers are judged, of all runs alike
	foundOut  = 2 * honestTill      // steps after which a liar should have been found out

	liarDeadline = 250 * time.Millisecond
)

const liarAbout = "50 nodes localize sources on five processes, a model trained for them, 30 % of the links lost since; " +
	"one process lies from step 50 on, and the answers of the other four in the first 600 steps are judged; deadline 250 ms, " +
	"time counts from the first step on"

// Liars are measurements of what one host of five does to the others by lying. They
// take long, and are only made when they are asked for.
var Liars = []Measurement{{
	Name:   "liars",
	Title:  "one host of five tells blatant lies to the others, over both buses",
	About:  liarAbout + "; preset paper",
	Wanted: "2 points at most, against a host that says nothing, and 10 % of the rate, against one that does not lie",
	run: func(ctx context.Context, b *Bench) error {
		return b.localized(ctx, func(l *recipe.Localized) error {
			return errors.Join(b.lies(ctx, l, box.BusNATS, "paper", blatantLies), b.lies(ctx, l, box.BusTCP, "paper", blatantLies))
		})
	},
}, {
	Name:   "liars-plausible",
	Title:  "it tells lies that may be true, with each way to learn",
	About:  liarAbout + "; direct links",
	Wanted: "nothing: what is not defended is to be known",
	run: func(ctx context.Context, b *Bench) error {
		return b.localized(ctx, func(l *recipe.Localized) error {
			for _, preset := range []string{"paper", "own", "neighbours"} {
				if err := b.lies(ctx, l, box.BusTCP, preset, plausibleLies); err != nil {
					return err
				}
			}
			return nil
		})
	},
}}

// localized trains a model to lie about.
func (b *Bench) localized(ctx context.Context, do func(l *recipe.Localized) error) error {
	b.Say("a model learns to localize sources")
	l, err := recipe.Localize(ctx, recipe.Localization{Seed: 12, Epochs: 20, Shift: graph.ShiftSymmetric})
	if err != nil {
		return err
	}
	return do(l)
}

// lies measures lies beside the truth and silence.
func (b *Bench) lies(ctx context.Context, l *recipe.Localized, bus, preset string, list []lie) error {
	var honest, silent *Figure
	sent := preset == "paper" // parameters
	for k, a := range append([]lie{truth, silence}, list...) {
		if strings.HasSuffix(a.name, "parameters") && !sent {
			continue
		}
		blatant := k > 1 && slices.ContainsFunc(blatantLies, func(o lie) bool { return o.name == a.name })
		if blatant { // the machine may have become slower since: the truth once more, just before
			again, err := b.lied(ctx, l, bus, preset, truth)
			if err != nil {
				return err
			}
			honest = again
		}
		f, err := b.lied(ctx, l, bus, preset, a)
		if err != nil {
			return err
		}
		switch k {
		case 0:
			honest = f
		case 1:
			silent = f
		default:
			f.RightHonest, f.RightSilent = honest.Right, silent.Right
			f.RateHonest, f.RateSilent, f.SteadyHonest = honest.Rate, silent.Rate, honest.Steady
			if blatant {
				f.goal(Goal{Name: "right", Value: 100 * (silent.Right - f.Right), Unit: "points lost", Wanted: 2, Below: true})
				f.goal(Goal{Name: "rate", Value: 100 * f.Rate / honest.Rate, Unit: "% of the rate", Wanted: 90})
			}
		}
		b.Found(f)
	}
	return nil
}

// lied runs a swarm in which one host lies.
func (b *Bench) lied(ctx context.Context, l *recipe.Localized, bus, preset string, a lie) (*Figure, error) {
	b.Say(fmt.Sprintf("%s, %s: %s", bus, preset, a.words))
	s := rule.Settings{Preset: preset}
	r, err := s.For(online.Facts(l.Model.Network, l.Model.Meta.Task, l.Moment, l.World.Detectors)).Config(false, nil)
	if err != nil {
		return nil, err
	}
	task, err := swarm.NewSourceTask(l, r, max(enough(b.Seconds, liarRate), 10*judged), 0, liarDrop)
	if err != nil {
		return nil, err
	}
	dir, err := b.folder()
	if err != nil {
		return nil, err
	}
	o := swarm.Options{Task: task, Hosts: liarHosts, Bus: bus, Program: b.program(), Lines: true, Run: "liars", Dir: dir}
	o.Pace = host.Pace{Deadline: liarDeadline, First: 5 * time.Second} // it begins to lie when all are up
	o.Programs = map[transport.HostID][]string{liarHost: append(slices.Clone(b.Self), "swarm", "liar", a.name)}
	j := &judge{long: time.Duration(b.Seconds * float64(time.Second)), liar: map[int]bool{}}
	for _, node := range swarm.Partition(task.Graph, liarHosts)[liarHost] {
		j.liar[int(node)] = true
	}
	o.OnStep = j.step
	result, err := swarm.Up(ctx, o)
	if !errors.Is(err, errEnough) {
		if err == nil {
			err = fmt.Errorf("the world ended after %d steps, before the time was over", j.steps)
		}
		return nil, err
	}
	return j.figure(result, bus, preset, a), nil
}

// judge looks at the answers of those who do not lie.
type judge struct {
	long          time.Duration
	liar          map[int]bool // its nodes
	first, last   time.Time
	steps         int
	asked, right  int
	missing, sent int // answers of honest nodes that did not come, and those that were asked for

	found  time.Time     // when the liar should have been found out
	waited time.Duration // in steps that took half a deadline or more
}

// step sees a step of the world. The time counts from the first step on: what it takes
// to find a liar out is a part of what it costs.
func (j *judge) step(m *swarm.Step) error {
	now := time.Now()
	if took := now.Sub(j.last); j.steps == 0 {
		j.first = now
	} else if took >= liarDeadline/2 {
		j.waited += took
	}
	j.last = now
	if j.steps++; j.steps == foundOut {
		j.found = now
	}
	for i, fresh := range m.Fresh {
		if !j.liar[i] {
			if j.sent++; !fresh {
				j.missing++
			}
		}
	}
	if c, ok := m.Cost.(loss.CrossEntropy); ok && j.steps <= judged {
		for i, label := range c.Labels {
			if label == loss.NoLabel || j.liar[i] {
				continue
			}
			if j.asked++; m.Fresh[i] && mat.Argmax(m.Outputs.Row(i)) == int(label) {
				j.right++
			}
		}
	}
	if j.last.Sub(j.first) >= j.long && j.steps >= judged {
		return errEnough
	}
	return nil
}

func (j *judge) figure(r *swarm.Result, bus, preset string, a lie) *Figure {
	f := &Figure{
		Measurement: "liars", Case: fmt.Sprintf("%s, %s: %s", bus, preset, a.words), Bus: bus, Preset: preset, Lie: a.name,
		Hosts: liarHosts, Processes: distinct(r.Processes), Nodes: r.Nodes, Steps: j.steps, Seconds: j.last.Sub(j.first).Seconds(),
		Messages: r.MessagesPerStep, Frames: r.FramesPerStep, Bytes: r.BytesPerStep, Latency: r.Counters.Latency, Missing: j.missing,
		Quarantined: r.Counters.Host.Quarantined,
	}
	f.Rate = float64(j.steps-1) / f.Seconds
	f.Steady, f.Waited = float64(j.steps-foundOut)/j.last.Sub(j.found).Seconds(), j.waited.Seconds()
	f.Right = float64(j.right) / float64(max(j.asked, 1))
	late := swarm.Sums{Agents: agent.Stats{Expired: r.Counters.Agents.Expired, Received: r.Counters.Agents.Received}}
	f.LateShare = late.LateShare()
	return f
}
