package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/internal/live"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/train"
)

// watching runs a small demo and returns what a reader sees of it.
func watching(t *testing.T) (*live.Hub, func(want string, fits func(*live.Frame, []string) bool)) {
	t.Helper()
	l, err := Demo{Seed: 1, Signals: 300, Epochs: 3}.Live()
	if err != nil {
		t.Fatal(err)
	}
	sub, err := l.Hub().Subscribe(4)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	epochs := 0
	go func() { ended <- l.Run(ctx, func(train.Epoch) { epochs++ }) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if epochs != 3 {
			t.Errorf("%d epochs, want 3", epochs)
		}
	})
	var words []string
	return l.Hub(), func(want string, fits func(*live.Frame, []string) bool) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		var f live.Frame
		for !fits(&f, words) {
			m, err := sub.Next(ctx)
			if err != nil {
				t.Fatalf("%s: %v; words %q", want, err, words)
			}
			var w live.Words
			switch m.Kind {
			case "frame":
				f = live.Frame{}
				err = json.Unmarshal(m.Text, &f)
			case "words":
				err = json.Unmarshal(m.Text, &w)
				words = append(words, w.Text)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}

// The demo on a page answers signals, and does what is asked of it.
func TestDemoLive(t *testing.T) {
	hub, until := watching(t)
	ask := func(name string, value float64, node int) {
		t.Helper()
		if err := hub.Command(live.Command{Name: name, Value: value, Node: node}); err != nil {
			t.Fatal(err)
		}
	}
	setting := func(f *live.Frame, name string) float64 {
		if f.Settings == nil {
			return nan
		}
		return f.Settings[slices.IndexFunc(hub.Scene().Controls, func(c live.Control) bool { return c.Name == name })]
	}
	said := func(words []string, text string) bool { return strings.Contains(strings.Join(words, "\n"), text) }
	ask(live.ControlSpeed, 500, 0)
	until("signals", func(f *live.Frame, _ []string) bool { return f.Time > 5 && f.Curves[0] > 0 })
	ask(live.ControlDrop, 0.5, 0)
	until("links lost", func(f *live.Frame, words []string) bool {
		return len(f.Out) > 100 && f.Counters[2] == float64(len(f.Out)) && setting(f, live.ControlDrop) == 0.5 && said(words, "links are lost")
	})
	ask(live.ControlKill, 0, 7)
	until("a node down", func(f *live.Frame, words []string) bool {
		return len(f.Down) == 1 && f.Down[0] == 7 && said(words, "node 7 is down; its neighbours carry on")
	})
	ask(live.ControlRestart, 0, 7)
	until("the node back", func(f *live.Frame, words []string) bool {
		return f.Down != nil && len(f.Down) == 0 && said(words, "node 7 is back")
	})
	ask(live.ControlPause, 1, 0)
	until("a pause", func(f *live.Frame, _ []string) bool { return f.Settings != nil && f.Settings[0] == 1 })
	var at float64
	ask(live.ControlStep, 0, 0)
	until("a step", func(f *live.Frame, _ []string) bool { at = f.Time; return f.Settings != nil })
	ask(live.ControlStep, 0, 0)
	until("another", func(f *live.Frame, _ []string) bool { return f.Time > at && f.Settings[0] == 1 })
	ask(knobLearner, 3, 0)
	until("another learner", func(f *live.Frame, _ []string) bool {
		return setting(f, knobLearner) == 3 && f.Taps != nil && f.Taps.Learner == 3
	})
	ask(live.ControlReset, 0, 0)
	until("a reset", func(f *live.Frame, words []string) bool {
		return said(words, "Back to the beginning") && f.Curves != nil
	})
	ask(live.ControlPause, 0, 0)
	until("more signals", func(f *live.Frame, _ []string) bool { return f.Time > at+20 })
}

// A demo with a model that was trained before, and went through a file, shows what
// one that trains shows, to the last digit.
func TestDemoLiveModel(t *testing.T) {
	trained, err := Demo{Seed: 1, Signals: 300, Epochs: 3}.Train(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := modelfile.Encode(&file, trained); err != nil {
		t.Fatal(err)
	}
	model, err := modelfile.Decode(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		t.Fatal(err)
	}
	shown := func(d Demo, watch func(train.Epoch)) []byte {
		l, err := d.Live()
		if err != nil {
			t.Fatal(err)
		}
		if err := l.train(t.Context(), watch); err != nil {
			t.Fatal(err)
		}
		for range 120 {
			if err := l.step(); err != nil {
				t.Fatal(err)
			}
			if l.time == 20 {
				l.drop(0.3)
			}
		}
		l.rate = rate{} // the only number that depends on the clock
		text, err := json.Marshal(l.frame())
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	want := shown(Demo{Seed: 1, Signals: 300, Epochs: 3}, nil)
	got := shown(Demo{Seed: 1, Model: model}, func(train.Epoch) { t.Error("a demo with a model trains") })
	if !bytes.Equal(got, want) {
		t.Errorf("with the model got\n%s\nwant\n%s", got, want)
	}
	if _, err := (Demo{Seed: 2, Model: model}).Live(); err == nil || !strings.Contains(err.Error(), "seed 1, want 2") {
		t.Errorf("a model of another network: error %v, want one that names the seeds", err)
	}
}

// A reader costs the learners little: compare the two.
func BenchmarkDemoLive(b *testing.B) {
	for _, c := range []struct {
		name string
		read bool
	}{{"alone", false}, {"read", true}} {
		b.Run(c.name, func(b *testing.B) {
			l, err := Demo{Seed: 1, Signals: 300, Epochs: 1}.Live()
			if err != nil {
				b.Fatal(err)
			}
			if err := l.train(b.Context(), nil); err != nil {
				b.Fatal(err)
			}
			if c.read {
				sub, err := l.Hub().Subscribe(2)
				if err != nil {
					b.Fatal(err)
				}
				go func() {
					for {
						if _, err := sub.Next(context.Background()); err != nil {
							return
						}
					}
				}()
			}
			defer l.Hub().Close()
			for b.Loop() {
				if err := l.step(); err != nil {
					b.Fatal(err)
				}
				if l.Hub().Due() {
					if err := l.Hub().Publish(l.frame()); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
