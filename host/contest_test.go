package host

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"math"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/rule"
)

// A contest compares the last hundred steps in which something was told, each
// the mean over nodes, and what is no number does not spoil the report's JSON.
func TestContest(t *testing.T) {
	var c contest
	if c.comparison() != nil {
		t.Error("a comparison of nothing")
	}
	for step := range uint64(300) {
		cost := 5.0 // long ago
		if step >= 200 {
			cost = 1
		}
		c.add(step, 2*cost, cost)
		c.add(step, 4*cost, 3*cost)
	}
	got, want := *c.comparison(), rule.Comparison{Steps: 100, Learned: 3, Frozen: 2, Usual: (200*10 + 100*2) / 300.0}
	if got.Steps != want.Steps ||
		math.Abs(got.Learned-want.Learned)+math.Abs(got.Frozen-want.Frozen)+math.Abs(got.Usual-want.Usual) > 1e-9 {
		t.Errorf("got %+v, want %+v", got, want)
	}
	c.add(300, math.Inf(1), 1)
	c.add(301, math.NaN(), 1)
	text, err := json.Marshal(c.comparison())
	if err != nil || !c.comparison().Harmful() {
		t.Errorf("got %s, %v", text, err)
	}
}

// The log says when harm begins and when it ends, and not more often than all
// that is compared is new; and once more if a run ends so.
func TestJudge(t *testing.T) {
	var log bytes.Buffer
	learn := rule.Paper(false).Ungated()
	h := &Machine{cfg: Config{Plan: &agent.Plan{PlanConfig: agent.PlanConfig{Rule: &learn}}}}
	text := slog.New(slog.NewTextHandler(&log, nil))
	judge := func(r *Report) {
		h.actions.clear()
		h.judge(r)
		for _, e := range h.actions.Log {
			text.Log(t.Context(), e.Level, e.Text, e.Args...)
		}
	}
	steps := func(n int, learned float64) {
		for range n {
			h.contest.add(h.time, learned, 1)
			judge(&Report{Learning: h.contest.comparison()})
			h.time++
		}
	}
	count := func(what string, want int) {
		t.Helper()
		if got := strings.Count(log.String(), what); got != want {
			t.Errorf("step %d: %d lines with %q, want %d:\n%s", h.time, got, what, want, log.String())
		}
	}
	const harm, over = "does harm: the answers", "does no harm any more: the answers"
	steps(9, 9)
	count(harm, 0) // too few to say
	steps(500, 9)
	count(harm, 1)
	count("learn.step_size: {value: 0.3}, or learn.preset: own", 1)
	steps(500, 1)
	count(over, 1)
	for range 200 { // on the edge
		steps(1, 100)
		steps(30, 1)
	}
	if n := strings.Count(log.String(), "harm"); n > 2+2*200*31/contestSteps {
		t.Errorf("%d lines on the edge", n)
	}
	log.Reset()
	steps(300, 9)
	judge(&Report{Learning: h.contest.comparison(), Final: true})
	if !strings.Contains(log.String(), "level=WARN") || strings.Count(log.String(), harm) < 1 {
		t.Errorf("the end is silent:\n%s", log.String())
	}
	log.Reset()
	judge(&Report{Final: true}) // nothing was told
	count("harm", 0)
}
