package rule_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/wdgnn/wdgnn/conformal"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/rule"
)

// town is a small network of sensors with a rhythm of so many steps, whose model as
// trained does not know it.
type town struct {
	t      testing.TB
	rng    *rand.Rand
	config rule.Config
	task   rule.SeasonTask
	sigma  []float64
	nodes  []*rule.SeasonNode
	inputs int
	w      mat.CSR
	sent   mat.Dense
}

// newTown returns one in which z has inputs columns, of which the first lags are
// readings.
func newTown(t testing.TB, nodes, season int, horizons []int, lags, inputs int, c rule.Config) *town {
	t.Helper()
	p := &town{t: t, rng: rand.New(rand.NewPCG(3, 4)), config: c, inputs: inputs}
	moment := &rule.SecondMoment{}
	z := mat.NewDense(500, inputs, nil)
	for i := range z.Rows {
		p.draw(z.Row(i))
	}
	moment.Add(z, inputs)
	p.task = rule.SeasonTask{Season: season, Horizons: horizons, Moment: moment}
	for k := range lags {
		p.task.Lagged = append(p.task.Lagged, k)
	}
	plan, err := rule.NewSeasonPlan(&p.config, p.task)
	if err != nil {
		t.Fatal(err)
	}
	for c := range horizons {
		p.sigma = append(p.sigma, 0.3+0.1*float64(c))
	}
	for range nodes {
		p.nodes = append(p.nodes, rule.NewSeasonNode(plan, p.sigma))
	}
	p.w = path(nodes)
	p.sent = mat.NewDense(nodes, 2*len(horizons), nil)
	return p
}

// path returns the Metropolis weights of a path.
func path(n int) mat.CSR {
	w := mat.CSR{Rows: n, Cols: n, RowPtr: []int{0}}
	for i := range n {
		own := float32(1)
		for _, j := range []int{i - 1, i + 1} {
			if j >= 0 && j < n {
				own -= 1 / float32(3)
			}
		}
		for j := max(i-1, 0); j <= min(i+1, n-1); j++ {
			v := float32(1) / 3
			if j == i {
				v = own
			}
			w.Col, w.Val = append(w.Col, int32(j)), append(w.Val, v)
		}
		w.RowPtr = append(w.RowPtr, len(w.Col))
	}
	return w
}

// draw fills a row of shifted inputs, each alike the one before.
func (p *town) draw(z []float32) {
	v := 0.0
	for e := range z {
		v = 0.9*v + 0.4*p.rng.NormFloat64()
		z[e] = float32(v)
	}
}

// truth returns what sensor i reads at step t: a rhythm, and noise.
func (p *town) truth(t, i int) float32 {
	return float32(math.Sin(2*math.Pi*float64(t)/float64(max(p.task.Season, 7))+float64(i)/4) + 0.2*p.rng.NormFloat64())
}

// mix lets all nodes mix what they send.
func (p *town) mix() {
	for i, n := range p.nodes {
		copy(p.sent.Row(i), n.Sent())
	}
	for i, n := range p.nodes {
		rows, weights := p.w.Row(i)
		self := 0
		for rows[self] != int32(i) {
			self++
		}
		n.Mix(weights, self, p.sent, rows)
	}
}

// step is a whole step of all nodes; truths may be NaN. It returns what they answer.
func (p *town) step(t int, truths []float32, base, z mat.Dense) mat.Dense {
	y := mat.NewDense(len(p.nodes), len(p.sigma), nil)
	for i, n := range p.nodes {
		n.Tell(uint64(t), truths[i])
	}
	p.mix()
	for i, n := range p.nodes {
		n.Give(y.Row(i), uint64(t), base.Row(i), z.Row(i))
	}
	return y
}

// drawn returns base outputs and shifted inputs of a step.
func (p *town) drawn() (base, z mat.Dense) {
	base, z = mat.NewDense(len(p.nodes), len(p.sigma), nil), mat.NewDense(len(p.nodes), p.inputs, nil)
	for i := range base.Rows {
		p.draw(z.Row(i))
		for c := range base.Row(i) {
			base.Row(i)[c] = 0.5*z.Row(i)[0] + 0.1*float32(p.rng.NormFloat64())
		}
	}
	return base, z
}

// seasonal is the preset with its bound.
func seasonal() rule.Config {
	c := rule.Seasonal().Ungated()
	c.Gate = &rule.Gate{}
	return c
}

// Where there is a rhythm that the model as trained does not know, its nodes learn
// it, each horizon with the delay that its truths have.
func TestSeasonLearnsARhythm(t *testing.T) {
	const season = 24
	p := newTown(t, 3, season, []int{1, 6}, 3, 6, seasonal())
	var made []mat.Dense
	var frozen, learned [2]float64
	for s := range 40 * season {
		truths := make([]float32, 3)
		for i := range truths {
			truths[i] = p.truth(s, i)
		}
		base, z := mat.NewDense(3, 2, nil), mat.NewDense(3, 6, nil)
		for i := range 3 {
			p.draw(z.Row(i))
		}
		made = append(made, p.step(s, truths, base, z))
		for c, h := range p.task.Horizons {
			for i := range 3 {
				if s-h >= 20*season {
					frozen[c] += math.Abs(float64(truths[i]))
					learned[c] += math.Abs(float64(truths[i] - made[s-h].At(i, c)))
				}
			}
		}
	}
	for c, h := range p.task.Horizons {
		if learned[c] > 0.6*frozen[c] {
			t.Errorf("horizon %d: errors of %.1f in sum, the model as trained %.1f; want 0.6 of it at most", h, learned[c], frozen[c])
		}
	}
	if !p.nodes[0].Does(0).Open {
		t.Error("what was learned is ahead, and not what is answered")
	}
}

// Stages can be left out: without a season and taps nothing is learned.
func TestSeasonStages(t *testing.T) {
	for _, c := range []struct {
		name   string
		season int
		taps   float64
		moves  bool
	}{{"both", 12, 0, true}, {"season alone", 12, -1, true}, {"taps alone", 0, 0, true}, {"none", 0, -1, false}} {
		config := seasonal()
		config.Season.Taps = c.taps
		p := newTown(t, 2, c.season, []int{2}, 3, 4, config)
		moved := 0.0
		for s := range 200 {
			base, z := p.drawn()
			y := p.step(s, []float32{p.truth(s, 0), p.truth(s, 1)}, base, z)
			moved = max(moved, math.Abs(float64(y.At(0, 0)-base.At(0, 0))))
		}
		if (moved > 0) != c.moves {
			t.Errorf("%s: answers are up to %v from those of the model as trained", c.name, moved)
		}
	}
}

// Truths count once, in any order, and up to so many steps after they were due.
func TestSeasonTruthsComeLateAndTwice(t *testing.T) {
	config := seasonal()
	config.Delay = 4
	config.Conformal = &conformal.Config{}
	give := func() *town {
		p := newTown(t, 1, 12, []int{1, 3}, 3, 4, config)
		for s := range 10 {
			base, z := p.drawn()
			p.nodes[0].Give(make([]float32, 2), uint64(s), base.Row(0), z.Row(0))
		}
		return p
	}
	n := give().nodes[0]
	for _, c := range []struct {
		name string
		time uint64
		v    float32
		want int
	}{
		{"nobody knows", 9, float32(math.NaN()), 0},
		{"no number", 9, float32(math.Inf(1)), 0},
		{"in time", 9, 0.5, 2},
		{"again", 9, 0.5, 0},
		{"late, after a later one", 8, 0.5, 2},
		{"4 steps late for the longest horizon", 5, 0.5, 2},
		{"too late for the longest horizon of all: its forecast is forgotten", 4, 0.5, 1},
		{"too late for all", 2, 0.5, 0},
		{"before the first step", 0, 0.5, 0},
	} {
		if got := n.Tell(c.time, c.v); len(got) != c.want {
			t.Errorf("%s: got %d forecasts judged, want %d", c.name, len(got), c.want)
		}
	}
	p := give()
	y := make([]float32, 2)
	base, z := p.drawn()
	p.nodes[0].Give(y, 10, base.Row(0), z.Row(0))
	want := rule.SeasonJudged{Horizon: 1, Answer: y[1], Base: base.At(0, 1), Bound: p.nodes[0].Bounds()[1]}
	if got := p.nodes[0].Tell(13, 2); len(got) != 1 || got[0] != want {
		t.Errorf("got %+v judged, want %+v", got, want)
	}
}
