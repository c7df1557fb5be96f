package demo

import (
	"context"
	"fmt"
	"time"

	"github.com/wdgnn/wdgnn/internal/live"
	"github.com/wdgnn/wdgnn/internal/recipe"
	"github.com/wdgnn/wdgnn/train"
)

// Live is a Demo that goes on until it is told to end, for people who
// watch: learners side by side answer one signal after the other, links fail
// and nodes go down as those who watch ask for.
//
// By itself it trains, answers for a while with all links, and then loses half
// of them.
type Live struct {
	world    *world
	learners []*racer
	shown    int              // the learner that stands beside the frozen model
	shared   recipe.Observers // of all learners
	hub      *live.Hub
	epochs   int

	knobs    knobs
	time     int     // signals so far
	begun    int     // when everything began, the last time
	speed    float64 // signals per second
	paused   bool
	steps    int  // to take while paused
	touched  bool // somebody chose a drop probability
	compared bool // it was said how learning does, since links last changed
	changed  int  // when they did
	rate     rate
	story    teller
}

const (
	firstSpeed    = 20  // signals per second at the beginning
	intactSignals = 150 // signals before links are lost
	firstLoss     = 0.5 // the share of links that are
	batch         = 256 // signals drawn at a time
)

// Live prepares the demo for those who watch. It ends with Run.
func (d Demo) Live() (*Live, error) {
	s := d.settings()
	z, err := recipe.NewSource(s, 0, 0)
	if err != nil {
		return nil, err
	}
	if d.Model != nil {
		if err := z.Take(d.Model); err != nil {
			return nil, err
		}
	}
	w, err := newWorld(z)
	if err != nil {
		return nil, err
	}
	l := &Live{world: w, shared: recipe.Observers{}, speed: firstSpeed, epochs: s.Epochs, shown: firstShown, knobs: knobs{told: 1}}
	l.learners = l.entrants()
	l.hub, err = live.NewHub(l.scene())
	return l, err
}

// Hub is where the demo shows itself.
func (l *Live) Hub() *live.Hub { return l.hub }

// Run trains and then answers signals until ctx ends, which is no error. watch,
// if not nil, is told of every epoch of training.
func (l *Live) Run(ctx context.Context, watch func(train.Epoch)) error {
	defer l.hub.Close()
	if err := l.hub.Publish(l.frame()); err != nil {
		return err
	}
	if err := l.train(ctx, watch); err != nil {
		return ended(ctx, err)
	}
	l.hub.Say(0, "Trained. Signals come in; each detector is told the answer after it gave its own.")
	l.hub.Say(0, "%s", Many())
	next := time.Now()
	for {
		if err := l.wait(ctx, next); err != nil {
			return ended(ctx, err)
		}
		next = later(next, l.speed)
		if !l.touched && l.time-l.begun == intactSignals {
			l.drop(firstLoss)
		}
		if err := l.step(); err != nil {
			return err
		}
		if l.hub.Due() || l.paused {
			if err := l.hub.Publish(l.frame()); err != nil {
				return err
			}
		}
	}
}

// ended returns err unless ctx ended.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// later returns the time of the next signal. Time that was lost is not made up
// for.
func later(last time.Time, speed float64) time.Time {
	next := last.Add(time.Duration(float64(time.Second) / speed))
	if now := time.Now(); next.Before(now) {
		return now
	}
	return next
}

// train fits the model, unless it is there already, and makes the learners.
func (l *Live) train(ctx context.Context, watch func(train.Epoch)) error {
	z := l.world.Source
	if z.Models[recipe.WideDeep] == nil {
		if err := l.fit(ctx, watch); err != nil {
			return err
		}
	}
	return l.enter()
}

// firstShown is the learner on show at the beginning: the default, neighbours.
const firstShown = 2

// entrants returns those that run side by side: the terminal's, and own.
func (l *Live) entrants() (list []*racer) {
	for _, spec := range contestants {
		list = append(list, &racer{name: spec.Name, spec: spec.Spec})
	}
	return append(list, &racer{name: "own", spec: own})
}

// enter makes the learners.
func (l *Live) enter() error {
	for _, k := range l.learners {
		if err := k.begin(l.world.Source, l.shared); err != nil {
			return err
		}
	}
	return nil
}

func (l *Live) fit(ctx context.Context, watch func(train.Epoch)) error {
	l.hub.Say(0, "A WD-GNN learns to tell where a pulse started, with all links.")
	begun := time.Now()
	_, err := l.world.Fit(ctx, recipe.WideDeep, func(e train.Epoch) {
		if watch != nil {
			watch(e)
		}
		if l.hub.Due() && e.Index < l.epochs { // once more after a restart
			f := l.frame()
			left := time.Since(begun).Seconds() / float64(e.Index) * float64(l.epochs-e.Index)
			f.Progress = &live.Progress{Done: float64(e.Index), Of: float64(l.epochs), Left: left, What: "epoch"}
			if err := l.hub.Publish(f); err != nil {
				l.hub.Say(0, "%v", err)
			}
		}
		if e.Index%10 == 0 {
			l.hub.Say(0, "Training, epoch %d of %d: %.1f %% of the validation signals are told right.", e.Index, l.epochs, 100*(1-e.Score))
		}
	})
	return err
}

// rest is how long a Live waits at least before a signal. A browser hands commands
// over only while nothing runs, and may be too slow for the speed asked for.
const rest = time.Millisecond

// wait carries commands out until it is time for the next signal.
func (l *Live) wait(ctx context.Context, next time.Time) error {
	timer := time.NewTimer(max(time.Until(next), rest))
	defer timer.Stop()
	for {
		var due <-chan time.Time
		if !l.paused {
			due = timer.C
		}
		if l.paused && l.steps > 0 {
			l.steps--
			return ctx.Err()
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-due:
			return nil
		case c := <-l.hub.Commands():
			l.obey(c)
			if sooner := later(time.Now(), l.speed); sooner.Before(next) {
				next = sooner
			}
			timer.Reset(time.Until(next))
		}
	}
}

// obey carries a command out and shows that it did.
func (l *Live) obey(c live.Command) {
	at := float64(l.time)
	switch c.Name {
	case live.ControlPause:
		if l.paused = c.Value == 1; l.paused {
			l.hub.Say(at, "Paused.")
		} else {
			l.hub.Say(at, "Going on.")
		}
	case live.ControlStep:
		l.paused, l.steps = true, l.steps+1
	case live.ControlSpeed:
		l.speed = c.Value
	case live.ControlDrop:
		l.touched = true
		l.drop(c.Value)
	case live.ControlKill, live.ControlRestart:
		l.power(c.Node, c.Name == live.ControlRestart)
	default:
		if err := l.turn(c); err != nil {
			l.hub.Say(at, "%s stays as it is: %v", c.Name, err)
		}
	}
	if err := l.hub.Publish(l.frame()); err != nil {
		l.hub.Say(at, "%v", err)
	}
}

// drop loses each link with probability p.
func (l *Live) drop(p float64) {
	if err := l.world.set(p, l.world.down); err != nil {
		l.hub.Say(float64(l.time), "The links stay as they are: %v", err)
		return
	}
	l.changed, l.compared = l.time, false
	if len(l.world.out) == 0 {
		l.hub.Mark(float64(l.time), "all links work", "All %d links work.", l.world.all.Edges())
		return
	}
	l.hub.Mark(float64(l.time), fmt.Sprintf("%d links lost", len(l.world.out)),
		"%d of %d links are lost. The frozen model does not know; the others learn.", len(l.world.out), l.world.all.Edges())
}

// power stops a node or starts it again.
func (l *Live) power(node int, up bool) {
	at, down := float64(l.time), l.world.without(node)
	if !up {
		down = append(down, node)
	}
	if len(down) == len(l.world.down) {
		return
	}
	if err := l.world.set(l.world.p, down); err != nil {
		l.hub.Say(at, "Node %d stays as it is: %v", node, err)
		return
	}
	if up {
		l.hub.Mark(at, fmt.Sprintf("node %d back", node), "node %d is back with the taps it had; its neighbours hear it again", node)
	} else {
		l.hub.Mark(at, fmt.Sprintf("node %d down", node), "node %d is down; its neighbours carry on", node)
	}
}

// step answers one signal with every learner.
func (l *Live) step() error {
	sample, truth := l.world.next(l.time - l.begun)
	sample.Signal = l.spoil(sample.Signal)
	l.world.now = sample.Signal
	if err := l.shared.Observe(sample); err != nil {
		return err
	}
	taps := l.story.look(l)
	heard := hear(truth, l.knobs.told, l.world.answers)
	for _, k := range l.learners {
		if err := k.step(truth, heard); err != nil {
			return fmt.Errorf("%s: %w", k.name, err)
		}
		if l.knobs.lie == tapsLie && k.mixes() {
			if err := k.fool(l.world.liar); err != nil {
				return err
			}
		}
		if k.diverged {
			k.reset()
			l.hub.Say(float64(l.time), "%s went out of range; its taps are back to those trained offline.", k.name)
		}
	}
	l.time++
	l.rate.count(time.Now())
	l.compare()
	return l.tell(taps)
}

// compare says once after every change of links how the learner on show does beside frozen.
func (l *Live) compare() {
	if l.compared || l.time-l.changed < 2*lately || len(l.world.out) == 0 {
		return
	}
	l.compared = true
	frozen, shown := l.learners[0], l.learners[l.shown]
	l.hub.Say(float64(l.time), "With these links %s answers %.0f %% right, %s %.0f %%.",
		shown.name, shown.accuracy(), frozen.name, frozen.accuracy())
}
