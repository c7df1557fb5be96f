package rule_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/wdgnn/wdgnn/internal/twintest"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/rule"
)

// seasonTwin is a stream of the twin and what it made of it: T steps, N nodes, C
// horizons, p features.
type seasonTwin struct {
	Nodes    int            `json:"nodes"`
	Horizons []int          `json:"horizons"`
	Season   int            `json:"season"`
	Begin    uint64         `json:"begin"` // the first step
	Inputs   int            `json:"inputs"`
	Lagged   []int          `json:"lagged"`
	Learner  rule.Season    `json:"learner"`
	Mixing   [][]float32    `json:"mixing"`  // W, N×N
	Shifted  [][]string     `json:"shifted"` // z, T×N words; see letters
	Moment   [][]float64    `json:"moment"`
	Sigma    [][]float64    `json:"sigma"` // N×C
	Base     [][]string     `json:"base"`  // y†, T×N words
	Told     [][][3]float64 `json:"told"`  // by step: node, of which step, truth
	Heard    [][][]int      `json:"heard"` // T×N×N, 0 where a message was lost

	Answer  [][][]float64    `json:"answer"`
	Open    [][][]int        `json:"open"`
	Weight  [][][][2]float64 `json:"weight"` // G and b after mixing, every sixth step
	Table   [][][]float64    `json:"table"`  // at the end, as all below
	Seen    [][][]float64    `json:"seen"`
	Taps    [][][]float64    `json:"taps"`
	Spread  [][][]float64    `json:"spread"`
	Answers [][]float64      `json:"answers"`
	Trained [][]float64      `json:"trained"`
}

// Nodes that forecast and learn by the season agree with the twin: with several
// horizons, truths that never come and truths that come late, messages that are
// lost, and a bound that shuts and opens.
func TestTwinSeason(t *testing.T) {
	cases := twintest.Cases[twin](t)
	for _, name := range slices.Sorted(maps.Keys(cases)) {
		c := cases[name].Season
		if c == nil {
			continue
		}
		t.Run(name, func(t *testing.T) {
			nodes := c.learners(t)
			near := nearTwin(t, 1e-9)
			for step := range c.Base {
				c.step(t, nodes, step, near)
			}
			for i, n := range nodes {
				c.ended(fmt.Sprintf("node %d", i), i, n.Knows(), near)
			}
		})
	}
}

// learners returns the nodes of the case.
func (c *seasonTwin) learners(t *testing.T) (nodes []*rule.SeasonNode) {
	t.Helper()
	config := rule.Seasonal().Ungated()
	config.Season, config.Gate = &c.Learner, new(rule.Gate)
	task := rule.SeasonTask{
		Season: c.Season, Horizons: c.Horizons, Lagged: c.Lagged,
		Moment: &rule.SecondMoment{Inputs: c.Inputs, Mean: slices.Concat(c.Moment...)},
	}
	plan, err := rule.NewSeasonPlan(&config, task)
	if err != nil {
		t.Fatal(err)
	}
	for i := range c.Nodes {
		nodes = append(nodes, rule.NewSeasonNode(plan, c.Sigma[i]))
	}
	return nodes
}

// step is one step of all nodes.
func (c *seasonTwin) step(t *testing.T, nodes []*rule.SeasonNode, step int, near func(what string, got, want float64)) {
	t.Helper()
	now := c.Begin + uint64(step)
	for _, told := range c.Told[step] {
		nodes[int(told[0])].Tell(uint64(told[1]), float32(told[2]))
	}
	sent := mat.NewDense(len(nodes), 2*len(c.Horizons), nil)
	for i, n := range nodes {
		copy(sent.Row(i), n.Sent())
	}
	for i, n := range nodes {
		weights, rows, self := []float32(nil), []int32(nil), 0
		for j, w := range c.Mixing[i] {
			if w == 0 {
				continue
			}
			if j == i {
				self = len(weights)
			}
			row := int32(j)
			if c.Heard[step][i][j] == 0 {
				row = -1
			}
			weights, rows = append(weights, w), append(rows, row)
		}
		n.Mix(weights, self, sent, rows)
		y := make([]float32, len(c.Horizons))
		n.Give(y, now, letters(c.Base[step][i]), letters(c.Shifted[step][i]))
		knows := n.Knows()
		for h := range y {
			where := fmt.Sprintf("step %d, node %d, horizon %d", now, i, h)
			near(where+": answer", float64(y[h]), c.Answer[step][i][h])
			if step%6 == 5 {
				near(where+": G", knows[h].Weight[0], c.Weight[step/6][i][h][0])
				near(where+": b", knows[h].Weight[1], c.Weight[step/6][i][h][1])
			}
			if got, want := n.Does(h).Open, c.Open[step][i][h] != 0; got != want {
				t.Errorf("%s: answers with what it learned: got %v, want the twin's %v", where, got, want)
			}
		}
	}
}

// ended compares what a node remembers at the end.
func (c *seasonTwin) ended(where string, i int, m []rule.KnownHorizon, near func(what string, got, want float64)) {
	for h, got := range m {
		where := fmt.Sprintf("%s, horizon %d", where, h)
		near(where+": errors of answers", got.Answers, c.Answers[i][h])
		near(where+": errors of the model as trained", got.Trained, c.Trained[i][h])
		for _, part := range []struct {
			name      string
			got, want []float64
		}{
			{"table", got.Table, c.Table[i][h]},
			{"seen", got.Seen, c.Seen[i][h]},
			{"taps", got.Taps, c.Taps[i][h]},
			{"spread", got.Spread, c.Spread[i][h]},
		} {
			near(where+": length of "+part.name, float64(len(part.got)), float64(len(part.want)))
			for k := range part.want {
				near(fmt.Sprintf("%s: %s %d", where, part.name, k), part.got[k], part.want[k])
			}
		}
	}
}
