package runview

import (
	"context"
	"time"

	"github.com/wdgnn/wdgnn/internal/live"
)

// Fastest is the speed at which a run does not wait, in steps a second.
const Fastest = 1000

// Pace lets those who watch pause a run, take it step by step and slow it down.
type Pace struct {
	hub    *live.Hub
	speed  float64 // steps a second
	paused bool
	steps  int // to take while paused
	next   time.Time
}

// NewPace returns the pace of a run that makes so many steps a second.
func NewPace(hub *live.Hub, speed float64) *Pace {
	return &Pace{hub: hub, speed: min(max(speed, 1), Fastest), next: time.Now()}
}

func paceControls() []live.Control {
	return []live.Control{
		{Name: live.ControlPause, Label: "Pause", Kind: live.KindSwitch},
		{Name: live.ControlStep, Label: "Step", Kind: live.KindButton},
		{Name: live.ControlSpeed, Label: "Speed", Kind: live.KindRange, Low: 1, High: Fastest, Log: true, Unit: "steps/s", Value: Fastest},
	}
}

// Settings returns the present values of the controls.
func (p *Pace) Settings() live.Numbers {
	paused := 0.0
	if p.paused {
		paused = 1
	}
	return live.Numbers{paused, 0, p.speed}
}

// Wait returns when the next step is to be made, or ctx ends. Whatever is asked for
// meanwhile is done, and shown by publish.
func (p *Pace) Wait(ctx context.Context, publish func() error) error {
	for {
		select { // before a step is counted
		case c := <-p.hub.Commands():
			p.handle(c)
			if err := publish(); err != nil {
				return err
			}
			continue
		default:
		}
		wait := p.wait()
		if wait <= 0 {
			return nil
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil // the run notices by itself
		case c := <-p.hub.Commands():
			p.handle(c)
			if err := publish(); err != nil {
				return err
			}
		case <-timer.C:
		}
		timer.Stop()
	}
}

// wait returns how long to wait, and counts the step if that is over.
func (p *Pace) wait() time.Duration {
	switch now := time.Now(); {
	case p.paused && p.steps == 0:
		return time.Hour
	case p.paused:
		p.steps--
		return 0
	case p.speed >= Fastest:
		p.next = now
		return 0
	case now.Before(p.next):
		return p.next.Sub(now)
	default:
		p.next = later(p.next, now, p.speed)
		return 0
	}
}

// later returns the time of the next step. Time that was lost is not made up for.
func later(last, now time.Time, speed float64) time.Time {
	next := last.Add(time.Duration(float64(time.Second) / speed))
	if next.Before(now) {
		return now
	}
	return next
}

func (p *Pace) handle(c live.Command) {
	switch c.Name {
	case live.ControlPause:
		p.paused, p.steps, p.next = c.Value == 1, 0, time.Now()
	case live.ControlStep:
		p.paused = true
		p.steps++
	case live.ControlSpeed:
		p.speed, p.next = c.Value, time.Now()
	}
}
