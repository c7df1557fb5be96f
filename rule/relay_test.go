package rule_test

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/wdgnn/wdgnn/rule"
)

// An answer goes a hop per step: what a node was told in step 0 it says in step
// 1, and those who hear it there say it in step 2, to who is two hops away.
func TestRelayGoesAHopPerStep(t *testing.T) {
	c := &rule.Config{Relay: 2}
	line := []*rule.Relay{rule.NewRelay(0, c), rule.NewRelay(1, c), rule.NewRelay(2, c), rule.NewRelay(3, c)}
	var got []string
	for step := range uint64(5) {
		said := make([][]rule.Relayed, len(line))
		for i, r := range line {
			said[i] = r.Pass(nil)
			r.Open(step)
		}
		for i, r := range line {
			for _, j := range []int{i - 1, i + 1} {
				if j >= 0 && j < len(line) {
					for _, m := range said[j] {
						r.Hear(m)
					}
				}
			}
			if i == 0 && step == 0 {
				r.Own(0, []float32{7})
			}
			for _, m := range r.Due(nil) {
				got = append(got, fmt.Sprintf("step %d: node %d hears %v of %d about %d", step, i, m.Target, m.Teller, m.Time))
			}
		}
	}
	want := []string{"step 1: node 1 hears [7] of 0 about 0", "step 2: node 2 hears [7] of 0 about 0"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if s := line[0].Stats(); s.Doubled != 1 || s.Contradicted != 0 { // node 1 says it back
		t.Errorf("node 0 counted %+v, want one that it had said itself", s)
	}
}

// Of one step a node believes its own answer, then that of the nearest teller, then
// of the teller with the lowest number, in whatever order they come; what says
// something else is counted and not passed on.
func TestRelayContradictions(t *testing.T) {
	near, low, high := said(3, 1, 5), said(2, 2, 6), said(4, 2, 6)
	for _, c := range []struct {
		name  string
		own   []float32
		heard []rule.Relayed
		want  string // what is passed on
		stats rule.RelayStats
	}{
		{"nobody says anything", nil, nil, "[]", rule.RelayStats{}},
		{"the nearest", nil, []rule.Relayed{low, near, high}, "[{1 3 2 [5]}]", rule.RelayStats{Believed: 1, Contradicted: 2, Passed: 1}},
		{"the lowest", nil, []rule.Relayed{high, low}, "[{1 2 3 [6]}]", rule.RelayStats{Believed: 1, Doubled: 1, Passed: 1}},
		{"one's own", []float32{4}, []rule.Relayed{near}, "[{1 9 1 [4]}]", rule.RelayStats{Contradicted: 1, Passed: 1}},
		{"the same from all", []float32{5}, []rule.Relayed{near}, "[{1 9 1 [5]}]", rule.RelayStats{Passed: 1}},
		{"of another step", nil, []rule.Relayed{{Time: 8, Teller: 1, Hop: 1, Target: []float32{1}}}, "[]", rule.RelayStats{Outdated: 1}},
	} {
		r := rule.NewRelay(9, &rule.Config{Relay: 3})
		r.Open(1)
		for _, m := range c.heard {
			r.Hear(m)
		}
		if c.own != nil {
			r.Own(1, c.own)
		}
		due := r.Due(nil)
		if got := fmt.Sprint(r.Pass(nil)); got != c.want || r.Stats() != c.stats {
			t.Errorf("%s: passes %s on and counted %+v, want %s and %+v", c.name, got, r.Stats(), c.want, c.stats)
		}
		if (len(due) == 1) != (c.stats.Believed == 1) || len(r.Due(nil)) != 0 || len(r.Pass(nil)) != 0 {
			t.Errorf("%s: %d to learn from, and more later; want each once", c.name, len(due))
		}
	}
}

func said(teller uint32, hop int, class float32) rule.Relayed {
	return rule.Relayed{Time: 1, Teller: teller, Hop: hop, Target: []float32{class}}
}

// What was learned is not unlearned, and what is far away is not passed on.
func TestRelayEnds(t *testing.T) {
	r := rule.NewRelay(9, &rule.Config{Relay: 2})
	r.Open(1)
	r.Hear(said(3, 2, 5))
	r.Due(nil)
	r.Hear(said(1, 1, 6))
	r.Own(1, []float32{6})
	if due, pass := r.Due(nil), r.Pass(nil); len(due) != 0 || len(pass) != 0 || r.Stats().Contradicted != 2 {
		t.Errorf("%d to learn and %d to pass on, %+v; want none, and two contradictions", len(due), len(pass), r.Stats())
	}
}

// A Relay goes on where another left off.
func TestRelayMemory(t *testing.T) {
	c := &rule.Config{Relay: 2}
	r := rule.NewRelay(9, c)
	for step := range uint64(4) {
		r.Open(step)
		if step == 2 {
			r.Own(2, []float32{1})
		}
	}
	r.Hear(rule.Relayed{Time: 3, Teller: 4, Hop: 1, Target: []float32{2}})
	was := r.Memory()
	copied := rule.NewRelay(9, c)
	if err := copied.Restore(was); err != nil {
		t.Fatal(err)
	}
	for _, one := range []*rule.Relay{r, copied} {
		if due, pass := fmt.Sprint(one.Due(nil)), fmt.Sprint(one.Pass(nil)); due != "[{3 4 1 [2]}]" || pass != "[{2 9 1 [1]} {3 4 2 [2]}]" {
			t.Errorf("learns %s and passes %s on", due, pass)
		}
	}
	if len(was.Steps) != 3 || was.Steps[0].Time != 1 {
		t.Errorf("remembers %+v, want steps 1 to 3", was)
	}
	was.Steps[1].Time = 9
	if err := copied.Restore(was); err == nil {
		t.Error("steps out of order are restored, want an error")
	}
	if err := rule.NewRelay(9, &rule.Config{Relay: 1}).Restore(r.Memory()); err == nil {
		t.Error("three steps are restored for two, want an error")
	}
	for _, m := range []rule.Relayed{{Hop: 0}, {Hop: 3}, {Hop: 1, Target: []float32{1 / float32(len(was.Steps)-3)}}} {
		if err := r.Check(m); err == nil {
			t.Errorf("%+v fits, want an error", m)
		}
	}
}
