package live

import (
	"encoding/json"
	"fmt"
	"testing"
)

// ringScene is a ring of n nodes with a little of everything.
func ringScene(n int) Scene {
	s := Scene{
		Title: "Ring", Task: "test", Time: "s", Layout: LayoutForce,
		Learners:   []string{"frozen", "online"},
		Marks:      []Mark{{0, "source"}, {1, "detector"}},
		Quantities: []Quantity{{Name: "local loss", Learner: 1, High: 1}},
		Curves:     []Curve{{Name: "frozen", Chart: "accuracy", Learner: 0}, {Name: "online", Chart: "accuracy", Learner: 1}},
		Counters:   []Counter{{Name: "messages"}},
		Controls: []Control{
			{Name: ControlPause, Kind: KindSwitch},
			{Name: ControlDrop, Kind: KindRange, High: 0.5},
			{Name: ControlKill, Kind: KindNode},
			{Name: ControlReset, Kind: KindButton},
		},
	}
	for i := range n {
		s.Nodes = append(s.Nodes, fmt.Sprintf("node %d", i))
		s.Edges = append(s.Edges, [2]int32{int32(i), int32((i + 1) % n)})
	}
	return s
}

func ringHub(t testing.TB, n int) *Hub {
	t.Helper()
	h, err := NewHub(ringScene(n))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Close)
	return h
}

// ringFrame is a moment of ringScene.
func ringFrame(n int, at float64) *Frame {
	f := &Frame{
		Time: at, Values: []Floats{make(Floats, n)}, Down: []int32{}, Out: []int32{},
		Curves: Numbers{at / 2, at}, Counters: Numbers{3 * at},
	}
	for i := range n {
		f.Values[0][i] = float32(i)
	}
	return f
}

// decode reads a message's JSON.
func decode[T any](t testing.TB, text []byte) T {
	t.Helper()
	var v T
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatalf("%v: %.200s", err, text)
	}
	return v
}
