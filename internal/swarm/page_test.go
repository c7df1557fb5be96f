package swarm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/internal/live"
	"github.com/wdgnn/wdgnn/transport"
)

// viewer watches a swarm and asks things of it.
type viewer struct {
	t   *testing.T
	hub *live.Hub
	sub *live.Subscription
}

// publish runs the field on a hub until the returned function is called.
func publish(t *testing.T, o Options) (*viewer, func() *Result) {
	t.Helper()
	f := newField(t, 7)
	o.Task = f.task(t, &settings[0])
	o.Task.whole = f.graph
	o.Run, o.Dir, o.Pace, o.Keep, o.Every = "shown", t.TempDir(), short, true, 50*time.Millisecond
	enough := make(chan struct{})
	o.OnStep = func(*Step) error {
		select {
		case <-enough:
			f.enough = true
		default:
		}
		return nil
	}
	hub, err := live.NewHub(Scene(&o))
	if err != nil {
		t.Fatal(err)
	}
	o.Hub = hub
	sub, err := hub.Subscribe(4)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), fieldTimeout)
	var result *Result
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		var err error
		if result, err = Up(ctx, o); err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		hub.Close()
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	return &viewer{t, hub, sub}, func() *Result {
		close(enough)
		<-ended
		return result
	}
}

// ask sends a command.
func (a *viewer) ask(name string, value float64, node int) {
	a.t.Helper()
	if err := a.hub.Command(live.Command{Name: name, Value: value, Node: node}); err != nil {
		a.t.Fatal(err)
	}
}

// words waits until somebody says them.
func (a *viewer) words(want string) {
	a.t.Helper()
	var seen []string
	a.until("words", want, &seen, func(text []byte) bool {
		var w live.Words
		if err := json.Unmarshal(text, &w); err != nil {
			a.t.Fatal(err)
		}
		seen = append(seen, w.Text)
		return w.Text == want
	})
}

// frame waits for a frame as it should be.
func (a *viewer) frame(want string, as func(*live.Frame) bool) {
	a.t.Helper()
	var f live.Frame
	a.until("frame", want, &f, func(text []byte) bool {
		f = live.Frame{}
		if err := json.Unmarshal(text, &f); err != nil {
			a.t.Fatal(err)
		}
		return as(&f)
	})
}

func (a *viewer) until(kind, want string, seen any, as func([]byte) bool) {
	a.t.Helper()
	ctx, cancel := context.WithTimeout(a.t.Context(), fieldTimeout/2)
	defer cancel()
	for {
		m, err := a.sub.Next(ctx)
		if err != nil {
			a.t.Fatalf("%v; got %+v, want %s", err, seen, want)
		}
		if m.Kind == kind && as(m.Text) {
			return
		}
	}
}

// Counters of a scene that tests look at.
const (
	hostsUp    = 0
	framesLost = 4
)

// Viewers of a swarm kill nodes, start them again, and lose messages; words
// and frames say what has become of it.
func TestViewersControl(t *testing.T) {
	for _, c := range []struct {
		hosts int
		name  string
		down  []int32
	}{{fieldNodes, "node 5", []int32{5}}, {fieldHosts, "host 0, with nodes 5-7,", []int32{5, 6, 7}}} {
		t.Run(fmt.Sprintf("%d hosts", c.hosts), func(t *testing.T) {
			a, end := publish(t, Options{Hosts: c.hosts, Bus: BusMem})
			a.frame("all up", func(f *live.Frame) bool { return len(f.Down) == 0 && f.Counters[hostsUp] == float64(c.hosts) })
			a.ask(live.ControlKill, 0, 5)
			a.words(c.name + " is down; its neighbours carry on")
			a.frame("nodes down", func(f *live.Frame) bool { slices.Sort(f.Down); return slices.Equal(f.Down, c.down) })
			a.ask(live.ControlRestart, 0, 5)
			a.words(c.name + " is back; its neighbours hear it again")
			a.frame("all up", func(f *live.Frame) bool { return len(f.Down) == 0 })

			a.ask(live.ControlLoss, 0.5, 0)
			a.words("50 % of the frames between hosts are lost from now on.")
			a.frame("lost frames", func(f *live.Frame) bool { return f.Counters[framesLost] > 0 && f.Settings[2] == 0.5 })
			a.ask(live.ControlLoss, 0, 0)
			a.frame("no lost frames", func(f *live.Frame) bool { return f.Counters[framesLost] == 0 && f.Settings[2] == 0 })

			a.ask(live.ControlSpeed, 5, 0)
			a.frame("messages", func(f *live.Frame) bool { return len(f.Pulses) == len(a.hub.Scene().Edges) })
			a.ask(live.ControlReset, 0, 0)
			a.words("All taps are back to those trained offline.")
			a.ask(live.ControlSpeed, 1000, 0)
			if r := end(); r.Counters.Host.Gaps == 0 || r.Counters.Host.StrayLines != 0 {
				t.Errorf("counters %+v, want gaps and no refused lines", r.Counters.Host)
			}
		})
	}
}

// What happens without anybody on the page having asked is said, too.
func TestKillsAreTold(t *testing.T) {
	a, end := publish(t, Options{
		Hosts: fieldNodes, Bus: BusMem, Faults: transport.Faults{Loss: 0.2},
		Kills: []Kill{{Host: 3, From: 100 * time.Millisecond, To: 600 * time.Millisecond}}, // it runs node 8
	})
	a.words("node 8 is down; its neighbours carry on")
	a.words("node 8 is back; its neighbours hear it again")
	a.frame("lost frames", func(f *live.Frame) bool { return f.Counters[framesLost] > 0 && f.Settings[2] == 0.2 })
	end()
}

// A world that was paused does not hurry to catch up with the clock.
func TestPauseStopsTheClock(t *testing.T) {
	a, end := publish(t, Options{Hosts: fieldHosts, Bus: BusMem, Period: 20 * time.Millisecond})
	a.frame("steps", func(f *live.Frame) bool { return f.Time > 5 })
	a.ask(live.ControlPause, 1, 0)
	a.words("Paused.")
	var at float64
	frames := 0
	a.frame("a pause", func(f *live.Frame) bool { // ten a second
		if f.Settings[0] == 1 {
			frames++
		}
		at = f.Time
		return frames == 10
	})
	a.ask(live.ControlPause, 0, 0)
	a.words("Going on.")
	began := time.Now()
	a.frame("steps", func(f *live.Frame) bool { return f.Time > at+20 })
	if spent := time.Since(began); spent < 300*time.Millisecond {
		t.Errorf("20 steps of 20 ms after a pause took %v", spent)
	}
	end()
}

// A host whose configuration has no faults refuses to be put on trial.
func TestNoTrialUnasked(t *testing.T) {
	for _, text := range []string{`{"time":0,"loss":0.5}`, `{"time":0,"reset":true}`} {
		l, err := host.ParseLine([]byte(text))
		if err != nil || (l.Loss == nil) == !l.Reset {
			t.Fatalf("%s: got %+v, %v", text, l, err)
		}
		w := &pasture{lines: make(chan *host.Line), acted: make(chan struct{}, 1)}
		p, _ := plan(t, &toy{nodes: 1, features: 2, classes: 3, seed: 5}, &settings[0])
		h, err := host.New(host.Config{Run: "alone", Nodes: []agent.NodeID{0}, Plan: p, Cost: host.CrossEntropy}, host.Env{World: w})
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- h.Run(t.Context()) }()
		w.lines <- l
		close(w.lines)
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		if got := h.Report().Stats.StrayLines; got != 1 {
			t.Errorf("%s: got %d lines refused, want 1", strings.TrimSpace(text), got)
		}
	}
}
