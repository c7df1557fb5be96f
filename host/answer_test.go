package host_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/wdgnn/wdgnn/host"
)

// An answer reads to the letter as package json would write it: numbers of all
// sizes, times, names, sets, intervals, nothing at all, and what cannot be written.
func TestAnswerText(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	answers := []*host.Answer{
		{},
		{Host: 3, Time: 1 << 60, Outputs: []host.Output{}, Error: "<no> \"row\"\n"},
		{Time: 2, Outputs: []host.Output{}, At: "2026-03-29T23:45:00Z", For: []string{"2026-03-29T23:50:00Z", "2026-03-30T00:45:00Z"}},
		{Error: "late", At: "2026-03-29T23:45:00Z"},
		{Outputs: []host.Output{{Node: 7}, {Node: 8, Value: []float32{}}, {Sensor: "a&b", Value: []float32{1}}}},
		{Outputs: []host.Output{{Value: []float32{1}, Set: []int{0, 2}}, {Value: []float32{1}, Intervals: []host.Interval{{Low: 1, High: 2}}}}},
		{Outputs: []host.Output{{Value: []float32{float32(math.Inf(1))}}}},
		{Outputs: []host.Output{{Value: []float32{0, float32(math.Copysign(0, -1)), 1e-6, 9.9e-7, 1e21, 9e20, 1e-9, -1e-12, 1e-40, 3e38, 0.1}}}},
	}
	random := &host.Answer{Host: 1}
	for range 2000 {
		v := math.Float32frombits(rng.Uint32())
		if v-v == 0 {
			random.Outputs = append(random.Outputs, host.Output{Value: []float32{v, rng.Float32()}})
		}
	}
	for _, a := range append(answers, random) {
		want, wrong := json.Marshal(a)
		got, err := a.AppendText(nil)
		if string(got) != string(want) || (err == nil) != (wrong == nil) {
			t.Errorf("got %.200s, %v, want %.200s, %v", got, err, want, wrong)
		}
	}
}

// A host that is told to end while a step waits for neighbours leaves a line without
// an answer: the last report counts it, and no report before.
func TestLastReportCountsTheStepUnderWay(t *testing.T) {
	l := newListener(t)
	if a := l.step(&host.Line{Time: 0, Nodes: []host.NodeLine{{Node: 0, Row: []float32{2}}}}); a.Answer != nil {
		t.Fatal("an answer before the neighbour's row, want to wait for it")
	}
	if r := l.report(); r.Stats.Unanswered != 0 || !r.Waits {
		t.Errorf("while it runs: got %d unanswered, it waits: %t; want 0, true", r.Stats.Unanswered, r.Waits)
	}
	if r := l.step(host.Look{Final: true}).Report; r.Stats.Unanswered != 1 {
		t.Errorf("at the end: got %d unanswered, want 1", r.Stats.Unanswered)
	}
}
