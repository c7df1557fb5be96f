package swarm

import (
	"fmt"
	"math"
	"time"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/internal/live"
	"github.com/wdgnn/wdgnn/transport"
)

// control is what viewers have asked for, and what has become of the hosts
// meanwhile.
type control struct {
	paused bool
	steps  int       // to make although paused
	speed  float64   // steps per second at most, in lockstep
	next   time.Time // when the next step may begin

	loss   float64                      // share of frames that are to be lost
	sent   map[transport.HostID]float64 // what hosts know of it
	up     map[transport.HostID]bool    // who ran at the last poll
	polled time.Time
}

const (
	fastest  = 1000.0                 // a speed that is no limit
	pollGap  = 50 * time.Millisecond  // between two polls of the hosts
	idleTime = 100 * time.Millisecond // between two polls of anything while the world is paused
)

// controls are what viewers may do to a swarm.
func controls(o *Options) []live.Control {
	list := []live.Control{
		{Name: live.ControlPause, Label: "Pause", Kind: live.KindSwitch},
		{Name: live.ControlStep, Label: "Step", Kind: live.KindButton},
		{Name: live.ControlLoss, Label: "Messages lost", Kind: live.KindRange, High: max(0.6, o.Faults.Loss), Step: 0.05, Value: o.Faults.Loss},
		{Name: live.ControlKill, Label: "Kill", Kind: live.KindNode},
		{Name: live.ControlRestart, Label: "Start again", Kind: live.KindNode},
		{Name: live.ControlReset, Label: "Reset the taps", Kind: live.KindButton},
	}
	if o.Period == 0 {
		list = append(list, live.Control{
			Name: live.ControlSpeed, Label: "Speed", Kind: live.KindRange, Low: 1, High: fastest,
			Log: true, Unit: "steps/s at most", Value: fastest,
		})
	}
	return list
}

// settings returns the present values of the controls.
func (s *publisher) settings() live.Numbers {
	list := live.Numbers{}
	for _, c := range s.hub.Scene().Controls {
		v := math.NaN()
		switch c.Name {
		case live.ControlPause:
			v = 0
			if s.paused {
				v = 1
			}
		case live.ControlLoss:
			v = s.loss
		case live.ControlSpeed:
			v = s.speed
		}
		list = append(list, v)
	}
	return list
}

// delay returns after what time to ask again whether the next step may begin; 0
// means now.
func (s *publisher) delay() time.Duration {
	now := time.Now()
	switch {
	case s.paused && s.steps > 0:
		s.steps--
	case s.paused:
		return idleTime
	case s.speed < fastest && now.Before(s.next):
		return min(s.next.Sub(now), idleTime)
	}
	s.next = now.Add(time.Duration(float64(time.Second) / s.speed))
	return 0
}

// handle does what a viewer asked for.
func (s *publisher) handle(c live.Command, m *Step) {
	at := float64(m.Sample.Time)
	id := s.owner[agent.NodeID(c.Node)]
	switch c.Name {
	case live.ControlPause:
		s.paused, s.steps = c.Value != 0, 0
		if s.paused {
			s.hub.Say(at, "Paused.")
		} else {
			s.hub.Say(at, "Going on.")
		}
	case live.ControlStep:
		s.steps++
	case live.ControlSpeed:
		s.speed, s.next = c.Value, time.Time{}
	case live.ControlLoss:
		s.loss = c.Value
		s.hub.Say(at, "%.0f %% of the frames between hosts are lost from now on.", 100*s.loss)
	case live.ControlReset:
		for _, port := range s.run.launcher.ports() {
			_ = port.send(&host.Line{Reset: true}) // a host that is gone has no taps
		}
		s.hub.Say(at, "All taps are back to those trained offline.")
	case live.ControlKill:
		if err := s.run.launcher.kill(id); err != nil {
			s.hub.Say(at, "%s cannot be killed: %v", s.name(id), err)
		}
	case live.ControlRestart:
		if s.up[id] {
			s.hub.Say(at, "%s runs already", s.name(id))
		} else if err := s.run.restart(id); err != nil {
			s.hub.Say(at, "%s cannot be started: %v", s.name(id), err)
		}
	}
	s.polled = time.Time{}
}

// poll finds out which hosts run, says what has changed, whoever did it, and
// sends hosts how many frames to lose.
func (s *publisher) poll(m *Step) {
	if time.Since(s.polled) < pollGap {
		return
	}
	s.polled = time.Now()
	ports, at := s.run.launcher.ports(), float64(m.Sample.Time)
	for id := range s.run.divided {
		port, up := ports[id]
		switch {
		case up && !s.up[id]:
			s.hub.Say(at, "%s is back; its neighbours hear it again", s.name(id))
		case !up && s.up[id]:
			s.hub.Say(at, "%s is down; its neighbours carry on", s.name(id))
		}
		s.up[id] = up
		if !up {
			delete(s.sent, id)
		} else if s.sent[id] != s.loss {
			loss := s.loss
			if port.send(&host.Line{Loss: &loss}) == nil {
				s.sent[id] = loss
			}
		}
	}
}

// name returns what people call a host: the node that it runs, if it is one.
func (s *publisher) name(id transport.HostID) string {
	nodes := s.run.divided[id]
	if len(nodes) == 1 {
		return fmt.Sprintf("node %d", nodes[0])
	}
	return fmt.Sprintf("host %d, with nodes %s,", id, host.FormatNodes(nodes))
}
