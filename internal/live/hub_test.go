package live

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// next returns the next message, which must be there.
func next(t testing.TB, s *Subscription) Message {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	m, err := s.Next(ctx)
	if err != nil {
		t.Fatalf("next: %v", err)
	}
	return m
}

func subscribe(t testing.TB, h *Hub, buffer int) *Subscription {
	t.Helper()
	s, err := h.Subscribe(buffer)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// A newcomer gets the scene, the past of the curves, the latest words and the
// latest frame, which is whole even if it was published in parts.
func TestNewcomer(t *testing.T) {
	h := ringHub(t, 6)
	for at := range 5 {
		if err := h.Publish(ringFrame(6, float64(at))); err != nil {
			t.Fatal(err)
		}
	}
	h.Say(4, "node %d is down; its neighbours carry on", 2)
	if err := h.Publish(&Frame{Time: 5, Down: []int32{2}}); err != nil {
		t.Fatal(err)
	}
	s := subscribe(t, h, 2)
	var kinds []string
	var frame Frame
	for range 4 {
		m := next(t, s)
		kinds = append(kinds, m.Kind)
		switch m.Kind {
		case kindScene:
			if scene := decode[Scene](t, m.Text); len(scene.Positions) != 12 || scene.Layout != LayoutFixed {
				t.Errorf("scene: %d coordinates, layout %q; want 12, %q", len(scene.Positions), scene.Layout, LayoutFixed)
			}
		case kindHistory:
			if past := decode[History](t, m.Text); !slices.Equal(past.Times, Numbers{0, 1, 2, 3, 4, 5}) || past.Curves[1][4] != 4 {
				t.Errorf("history: %+v", past)
			}
		case kindWords:
			if w := decode[Words](t, m.Text); w.Text != "node 2 is down; its neighbours carry on" {
				t.Errorf("words: %q", w.Text)
			}
		case kindFrame:
			frame = decode[Frame](t, m.Text)
		}
	}
	if want := []string{kindScene, kindHistory, kindWords, kindFrame}; !slices.Equal(kinds, want) {
		t.Errorf("got %q, want %q", kinds, want)
	}
	if frame.Time != 5 || !slices.Equal(frame.Down, []int32{2}) || len(frame.Values) != 1 || frame.Values[0][5] != 5 {
		t.Errorf("frame: %+v", frame)
	}
}

// A reader that does not read costs the producer nothing and memory a constant.
// It loses the oldest frames, keeps words, and knows how many it lost.
func TestSlowReader(t *testing.T) {
	h := ringHub(t, 4)
	s := subscribe(t, h, 3)
	for at := range 1000 {
		if err := h.Publish(ringFrame(4, float64(at))); err != nil {
			t.Fatal(err)
		}
	}
	h.Say(1000, "the end")
	if len(s.queue) > 3+2 {
		t.Fatalf("%d messages wait, want the scene, 3 frames and the words", len(s.queue))
	}
	if s.Lost() != 997 || h.Stats().Lost != 997 {
		t.Errorf("lost %d, by all %d; want 997", s.Lost(), h.Stats().Lost)
	}
	var times []float64
	for range 5 {
		if m := next(t, s); m.Kind == kindFrame {
			times = append(times, decode[Frame](t, m.Text).Time)
		}
	}
	if want := []float64{997, 998, 999}; !slices.Equal(times, want) {
		t.Errorf("frames at %v, want %v", times, want)
	}
	for range 3 * maxQueue {
		h.Say(0, "again")
	}
	if len(s.queue) > 3+maxQueue {
		t.Errorf("%d messages wait, want at most %d", len(s.queue), 3+maxQueue)
	}
}

// Frames are worth making thirty times a second while somebody watches, and five
// times otherwise, so that whoever comes late sees how it went.
func TestDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, err := NewHub(ringScene(4))
		if err != nil {
			t.Fatal(err)
		}
		count := func() (frames int) {
			for range 1000 { // a second
				if h.Due() {
					frames++
					if err := h.Publish(ringFrame(4, 0)); err != nil {
						t.Fatal(err)
					}
				}
				time.Sleep(time.Millisecond)
			}
			return frames
		}
		if got := count(); got != 5 {
			t.Errorf("%d frames a second while nobody watches, want 5", got)
		}
		s, err := h.Subscribe(1)
		if err != nil {
			t.Fatal(err)
		}
		if got := count(); got < 28 || got > 30 {
			t.Errorf("%d frames a second, want about 30", got)
		}
		s.Close()
		if got := count(); got != 5 {
			t.Errorf("%d frames a second after the reader left, want 5", got)
		}
	})
}

// Of a process that is fast every step is in the curves, also those of which no
// frame was shown, and a reader that saw few of them has all in the end.
func TestOffer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, err := NewHub(ringScene(4))
		if err != nil {
			t.Fatal(err)
		}
		s, err := h.Subscribe(1)
		if err != nil {
			t.Fatal(err)
		}
		for k := range 1000 {
			if err := h.Offer(ringFrame(4, float64(k))); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Millisecond / 10)
		}
		if got := h.Stats().Frames; got > 4 {
			t.Errorf("%d frames were shown in a tenth of a second, want at most 4", got)
		}
		h.Close()
		var last History
		for {
			m, err := s.Next(t.Context())
			if err != nil {
				break
			}
			if m.Kind == kindHistory {
				last = decode[History](t, m.Text)
			}
		}
		if got := len(last.Times); got != 1000 {
			t.Errorf("%d points in the end, want 1000", got)
		}
	})
}

func TestClose(t *testing.T) {
	h := ringHub(t, 4)
	if err := h.Publish(ringFrame(4, 1)); err != nil {
		t.Fatal(err)
	}
	s := subscribe(t, h, 1)
	var wait sync.WaitGroup
	wait.Go(func() {
		for {
			if _, err := s.Next(context.Background()); err != nil {
				if !errors.Is(err, ErrClosed) {
					t.Errorf("got %v, want ErrClosed", err)
				}
				return
			}
		}
	})
	h.Close()
	wait.Wait()
	late, kinds := subscribe(t, h, 1), ""
	for {
		m, err := late.Next(t.Context())
		if errors.Is(err, ErrClosed) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		kinds += m.Kind + " "
	}
	if want := "scene history frame "; kinds != want {
		t.Errorf("who comes after the end gets %q, want %q", kinds, want)
	}
	if err := h.Publish(ringFrame(4, 0)); err != nil {
		t.Errorf("publish after close: %v, want nothing to happen", err)
	}
}

func TestTooManyReaders(t *testing.T) {
	h := ringHub(t, 4)
	for range maxReader {
		subscribe(t, h, 1)
	}
	if _, err := h.Subscribe(1); !errors.Is(err, errFull) {
		t.Errorf("got %v, want errFull", err)
	}
}

// Many goroutines at once, for the race detector.
func TestConcurrent(t *testing.T) {
	h := ringHub(t, 8)
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			s, err := h.Subscribe(2)
			if err != nil {
				t.Error(err)
				return
			}
			defer s.Close()
			for range 20 {
				if _, err := s.Next(context.Background()); err != nil {
					return
				}
			}
		})
		wait.Go(func() {
			for at := range 200 {
				if err := h.Publish(ringFrame(8, float64(at))); err != nil {
					t.Error(err)
				}
				h.Say(0, "hello")
				_ = h.Due()
			}
		})
	}
	wait.Wait()
}

// A frame fits the scene that it is shown in, also if another one comes while it is looked at.
func TestPublishWhileTheSceneChanges(t *testing.T) {
	h, many := ringHub(t, 6), make([]int32, 1<<20) // which takes a while to look at
	for range 100 {
		if err := h.Show(ringScene(6)); err != nil {
			t.Fatal(err)
		}
		var wait sync.WaitGroup
		began := make(chan struct{})
		wait.Go(func() {
			f := ringFrame(6, 1)
			f.Down = many
			close(began)
			_ = h.Publish(f) // refused where the other scene was first
		})
		<-began
		if err := h.Show(ringScene(3)); err != nil {
			t.Fatal(err)
		}
		wait.Wait()
		if h.frame != nil {
			t.Fatalf("a frame of %d nodes is shown in a scene of %d", len(h.frame.value.(*Frame).Values[0]), len(h.scene.Nodes))
		}
	}
}

// What does not fit is refused, whole.
func TestCheck(t *testing.T) {
	h := ringHub(t, 4)
	for name, f := range map[string]*Frame{
		"time":       {Time: math.NaN()},
		"quantities": {Values: []Floats{nil, nil}},
		"nodes":      {Values: []Floats{{1, 2}}},
		"curves":     {Curves: Numbers{1}},
		"counters":   {Counters: Numbers{1, 2}},
		"settings":   {Settings: Numbers{1}},
		"down":       {Down: []int32{4}},
		"out":        {Out: []int32{-1}},
		"pulses":     {Pulses: []int32{99}},
		"positions":  {Positions: Floats{1}},
		"links":      {Links: [][2]int32{{0, 7}}},
	} {
		if err := h.Publish(f); err == nil {
			t.Errorf("%s: no error for %+v", name, f)
		}
	}
	if got := h.Stats().Frames; got != 0 {
		t.Errorf("%d frames shown, want 0", got)
	}
	for name, s := range map[string]Scene{
		"layout":    {Layout: "spiral"},
		"positions": {Layout: LayoutFixed, Nodes: []string{"a"}},
		"edge":      {Layout: LayoutNone, Nodes: []string{"a"}, Edges: [][2]int32{{0, 1}}},
		"mark":      {Layout: LayoutNone, Marks: []Mark{{1, "source"}}},
		"groups":    {Layout: LayoutNone, Groups: []int{1}},
		"text":      {Layout: LayoutNone, Title: strings.Repeat("a", maxText+1)},
		"utf8":      {Layout: LayoutNone, Nodes: []string{"\xff"}},
		"control":   {Layout: LayoutNone, Controls: []Control{{Name: "x", Kind: "lever"}}},
		"range":     {Layout: LayoutNone, Controls: []Control{{Name: "x", Kind: KindRange, Low: 1, High: 1}}},
		"learner":   {Layout: LayoutNone, Curves: []Curve{{Learner: 0}}},
	} {
		if _, err := NewHub(s); err == nil {
			t.Errorf("%s: no error for %+v", name, s)
		}
	}
}

func TestCommand(t *testing.T) {
	h := ringHub(t, 4)
	for _, c := range []struct {
		command Command
		want    error
	}{
		{Command{Name: ControlPause, Value: 1}, nil},
		{Command{Name: ControlPause, Value: 0.5}, errRefused},
		{Command{Name: ControlDrop, Value: 0.3}, nil},
		{Command{Name: ControlDrop, Value: 0.6}, errRefused},
		{Command{Name: ControlDrop, Value: math.NaN()}, errRefused},
		{Command{Name: ControlKill, Node: 3}, nil},
		{Command{Name: ControlKill, Node: 4}, errRefused},
		{Command{Name: ControlKill, Node: -1}, errRefused},
		{Command{Name: ControlReset}, nil},
		{Command{Name: "explode"}, errRefused},
	} {
		if err := h.Command(c.command); !errors.Is(err, c.want) {
			t.Errorf("%+v: got %v, want %v", c.command, err, c.want)
			continue
		} else if err != nil {
			continue
		}
		if got := <-h.Commands(); got != c.command {
			t.Errorf("got %+v, want %+v", got, c.command)
		}
	}
	for range waiting {
		if err := h.Command(Command{Name: ControlReset}); err != nil {
			t.Fatal(err)
		}
	}
	if err := h.Command(Command{Name: ControlReset}); !errors.Is(err, ErrBusy) {
		t.Errorf("got %v, want ErrBusy", err)
	}
}

func TestNumbersJSON(t *testing.T) {
	text, err := Floats{1, float32(math.NaN()), 0.1, float32(math.Inf(-1))}.MarshalJSON()
	if err != nil || string(text) != "[1,null,0.1,null]" {
		t.Errorf("got %s, %v", text, err)
	}
	var back Numbers
	if err := back.UnmarshalJSON([]byte("[1, null, 2.5e3]")); err != nil || back[0] != 1 || !math.IsNaN(back[1]) || back[2] != 2500 {
		t.Errorf("got %v, %v", back, err)
	}
}

// Long words are cut between characters.
func TestLongWords(t *testing.T) {
	h := ringHub(t, 4)
	h.Say(0, "%s", strings.Repeat("ä", maxText))
	s := subscribe(t, h, 1)
	next(t, s)
	w := decode[Words](t, next(t, s).Text)
	if len(w.Text) > maxText+4 || strings.ContainsRune(w.Text, '\uFFFD') {
		t.Errorf("%d bytes: %q", len(w.Text), w.Text)
	}
}

// The past is thinned out, from the first point to about the last.
func TestHistory(t *testing.T) {
	var h history
	for at := range 10_000 {
		h.add(&Frame{Time: float64(at), Curves: Numbers{float64(at)}})
	}
	past := h.copy()
	times := past.Times
	if n := len(times); n > maxHistory || n < maxHistory/2 || times[0] != 0 || times[n-1] < 9990 || past.Curves[0][n/2] != times[n/2] {
		t.Errorf("%d points from %v to %v", n, past.Times[0], past.Times[n-1])
	}
}

// Publishing costs little however many frames nobody reads.
func BenchmarkPublish(b *testing.B) {
	h := ringHub(b, 2000)
	subscribe(b, h, 2)
	f := ringFrame(2000, 0)
	b.ReportAllocs()
	for b.Loop() {
		copied := *f
		if err := h.Publish(&copied); err != nil {
			b.Fatal(err)
		}
	}
}

// Whoever comes after everything began anew sees curves from there on.
func TestHubAnew(t *testing.T) {
	h, err := NewHub(Scene{Layout: LayoutNone, Curves: []Curve{{Name: "right", Chart: "right", Learner: -1}}})
	if err != nil {
		t.Fatal(err)
	}
	for at := range 6 {
		if at == 4 {
			h.Anew(4, "reset", "back to the beginning")
		}
		if err := h.Publish(&Frame{Time: float64(at), Curves: Numbers{float64(at)}}); err != nil {
			t.Fatal(err)
		}
	}
	s, err := h.Subscribe(1)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	next(t, s) // the scene
	if past := decode[History](t, next(t, s).Text); !slices.Equal(past.Times, Numbers{4, 5}) {
		t.Errorf("curves at %v, want 4 and 5", past.Times)
	}
	if w := decode[Words](t, next(t, s).Text); !w.Anew || w.Mark != "reset" {
		t.Errorf("got %+v, want that everything began anew", w)
	}
}
