package live

import (
	"path/filepath"
	"reflect"
	"testing"
)

// ringStory is a story on ringScene(5).
func ringStory() *Story {
	trial := &Trial{Source: 1, Hops: []Floats{{0, 1, 0, 0, 0}}, Answers: [][]int32{{-1, 0, -1, -1, -1}, {-1, 1, -1, -1, -1}}, Shown: 1}
	m := Moment{Time: 3, Shares: Numbers{50, 100}, Out: []int32{2}, Trial: trial}
	update := Update{
		Moment: m, Heard: []Heard{{From: 2, Value: 0.5}}, Belief: []Floats{{0.25, 0.75}, {1, 0}}, Error: Numbers{1.5, 0},
		Taps: Floats{1, 2, 3, 4},
	}
	return &Story{Before: &m, After: &m, Opened: &Opened{Node: 1, Columns: 2, Trained: Floats{0, 0, 0, 0}, Updates: []Update{update}}}
}

// A story is told to newcomers and kept in a recording, the last one whole.
func TestStory(t *testing.T) {
	h := ringHub(t, 5)
	dir := filepath.Join(t.TempDir(), "run")
	r, err := Record(h, dir, RecordConfig{})
	if err != nil {
		t.Fatal(err)
	}
	begun := ringStory()
	begun.After, begun.Opened = nil, nil
	for _, s := range []*Story{begun, ringStory()} {
		if err := h.Tell(s); err != nil {
			t.Fatal(err)
		}
	}
	sub, err := h.Subscribe(1)
	if err != nil {
		t.Fatal(err)
	}
	for kind := ""; kind != kindStory; {
		m, err := sub.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if kind = m.Kind; kind == kindStory && !reflect.DeepEqual(decode[*Story](t, m.Text), ringStory()) {
			t.Errorf("a newcomer is told %s", m.Text)
		}
	}
	h.Close()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if got := open(t, dir).Story; !reflect.DeepEqual(got, ringStory()) {
		t.Errorf("the recording has %+v, want %+v", got, ringStory())
	}
}

// A story that does not fit the scene is refused.
func TestStoryRefused(t *testing.T) {
	h := ringHub(t, 5)
	for name, spoil := range map[string]func(*Story){
		"a source that is no node":   func(s *Story) { s.Before.Trial.Source = 5 },
		"a hop of few nodes":         func(s *Story) { s.Before.Trial.Hops = []Floats{{1}} },
		"answers of one learner":     func(s *Story) { s.After.Trial.Answers = s.After.Trial.Answers[:1] },
		"a learner that is not":      func(s *Story) { s.After.Trial.Shown = 2 },
		"answers of few nodes":       func(s *Story) { s.After.Trial.Answers[1] = []int32{1} },
		"a moment without a signal":  func(s *Story) { s.Before.Trial = nil },
		"a link that is not":         func(s *Story) { s.Before.Out = []int32{5} },
		"a node that is not":         func(s *Story) { s.Opened.Node = -1 },
		"taps of another size":       func(s *Story) { s.Opened.Updates[0].Taps = Floats{1, 2} },
		"a neighbour that is not":    func(s *Story) { s.Opened.Updates[0].Heard[0].From = 9 },
		"an update without a signal": func(s *Story) { s.Opened.Updates[0].Trial = nil },
	} {
		s := ringStory()
		spoil(s)
		if h.Tell(s) == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
