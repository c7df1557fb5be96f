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

// reference is one node and horizon by the letter of rule.Season, with none of its
// means: forecasts are kept for ever, and own taps are solved for from all that was
// told, by elimination.
type reference struct {
	season, h    int
	sigma        float64
	root         [][]float64 // L
	g, b         float64
	c, n         []float64
	normal       [][]float64 // Taps I + Σ φφᵀ
	right        []float64   // Σ φ d
	theta        []float64
	a, f         float64
	f0, first    []float64 // by step
	phi          [][]float64
	base, answer []float64
}

func newReference(task rule.SeasonTask, h int, sigma float64) *reference {
	p := len(task.Lagged) + 1
	r := &reference{season: task.Season, h: h, sigma: sigma, c: make([]float64, task.Season), n: make([]float64, task.Season)}
	r.right, r.theta = make([]float64, p), make([]float64, p)
	moment := make([][]float64, p)
	columns := append(append([]int(nil), task.Lagged...), task.Moment.Inputs)
	for a, i := range columns {
		for _, j := range columns {
			moment[a] = append(moment[a], task.Moment.Mean[i*(task.Moment.Inputs+1)+j])
		}
		moment[a][a] *= 1 + 1e-4
		row := make([]float64, p)
		row[a] = 3000
		r.normal = append(r.normal, row)
	}
	r.root = lower(moment)
	return r
}

// lower returns L with a = L Lᵀ, column by column.
func lower(a [][]float64) [][]float64 {
	l := make([][]float64, len(a))
	for i := range l {
		l[i] = make([]float64, len(a))
	}
	for j := range a {
		for i := j; i < len(a); i++ {
			v := a[i][j]
			for k := range j {
				v -= l[i][k] * l[j][k]
			}
			if i == j {
				l[i][j] = math.Sqrt(v)
			} else {
				l[i][j] = v / l[j][j]
			}
		}
	}
	return l
}

// eliminate solves A x = b with the largest pivots first.
func eliminate(a [][]float64, b []float64) []float64 {
	n := len(b)
	m := make([][]float64, n)
	for i := range m {
		m[i] = append(append([]float64(nil), a[i]...), b[i])
	}
	for k := range n {
		best := k
		for i := k; i < n; i++ {
			if math.Abs(m[i][k]) > math.Abs(m[best][k]) {
				best = i
			}
		}
		m[k], m[best] = m[best], m[k]
		for i := k + 1; i < n; i++ {
			q := m[i][k] / m[k][k]
			for j := k; j <= n; j++ {
				m[i][j] -= q * m[k][j]
			}
		}
	}
	x := make([]float64, n)
	for i := n - 1; i >= 0; i-- {
		x[i] = m[i][n]
		for j := i + 1; j < n; j++ {
			x[i] -= m[i][j] * x[j]
		}
		x[i] /= m[i][i]
	}
	return x
}

func clip(v, most float64) float64 { return max(-most, min(v, most)) }

func product(a, b []float64) (sum float64) {
	for e := range a {
		sum += a[e] * b[e]
	}
	return sum
}

// tell learns from the truth of step t.
func (r *reference) tell(t int, truth float32) {
	q := t - r.h
	if q < 0 || truth != truth {
		return
	}
	x := float64(truth)
	r.a += min(math.Abs(x-r.answer[q]), 6*r.sigma)
	r.f += min(math.Abs(x-r.base[q]), 6*r.sigma)
	res := clip(x-r.base[q], 3*r.sigma)
	if r.season > 0 {
		r.g, r.b = 0.995*r.g+r.f0[q]*r.f0[q], 0.995*r.b+r.f0[q]*res
		k := q % r.season
		r.n[k]++
		r.c[k] += max(0.2, 1/r.n[k]) * (res - r.c[k])
	}
	now := product(r.phi[q], r.theta)
	told := now + clip(x-r.base[q]-r.first[q]-now, 3*r.sigma)
	for i, v := range r.phi[q] {
		r.right[i] += v * told
		for j, w := range r.phi[q] {
			r.normal[i][j] += v * w
		}
	}
	r.theta = eliminate(r.normal, r.right)
}

// answers returns the answer of step t, and keeps what it was made with.
func (r *reference) answers(t int, base float32, z []float32, lags int) float64 {
	s, m := 0.0, int(max(1, math.Round(float64(r.season)/48)))
	for k := t - m; k <= t+m && r.season > 0; k++ {
		s += r.c[(k+r.season*m)%r.season] / float64(2*m+1)
	}
	f := s / (0.3 * r.sigma)
	first := f * r.b / (r.g + 30)
	phi := make([]float64, lags+1)
	for i := range phi {
		v := 1.0
		if i < lags {
			v = float64(z[i])
		}
		for j := range i {
			v -= r.root[i][j] * phi[j]
		}
		phi[i] = v / r.root[i][i]
	}
	y := float64(base) + first + product(phi, r.theta)
	if r.a > 1.02*r.f+10*r.sigma {
		y = float64(base)
	}
	r.f0, r.first, r.phi = append(r.f0, f), append(r.first, first), append(r.phi, phi)
	r.base, r.answer = append(r.base, float64(base)), append(r.answer, float64(float32(y)))
	return y
}

// A network learns what the equations of rule.Season say: written straight down,
// with the ridge regression solved anew at every step, they give the same numbers.
func TestSeasonByTheEquations(t *testing.T) {
	const nodes, season, lags, inputs, steps = 3, 24, 5, 8, 600
	p := newTown(t, nodes, season, []int{1, 3}, lags, inputs, seasonal())
	var twins [nodes][2]*reference
	for i := range twins {
		for c, h := range p.task.Horizons {
			twins[i][c] = newReference(p.task, h, p.sigma[c])
		}
	}
	worst := 0.0
	near := func(what string, got, want float64) {
		worst = max(worst, math.Abs(got-want)/max(1e-3, math.Abs(want)))
		if worst > 1e-9 {
			t.Fatalf("%s: got %v, want %v", what, got, want)
		}
	}
	for s := range steps {
		truths := make([]float32, nodes)
		for i := range truths {
			truths[i] = p.truth(s, i)
			switch {
			case p.rng.IntN(10) == 0:
				truths[i] = float32(math.NaN())
			case p.rng.IntN(50) == 0:
				truths[i] = 30
			}
		}
		base, z := p.drawn()
		y := p.step(s, truths, base, z)
		for i := range twins {
			for _, r := range twins[i] {
				r.tell(s, truths[i])
			}
		}
		for c := range p.task.Horizons { // mixed as float32, which is what travels
			var g, b [nodes]float64
			for i := range nodes {
				col, val := p.w.Row(i)
				for e, j := range col {
					g[i] += float64(val[e]) * float64(float32(twins[j][c].g))
					b[i] += float64(val[e]) * float64(float32(twins[j][c].b))
				}
			}
			for i := range nodes {
				twins[i][c].g, twins[i][c].b = g[i], b[i]
			}
		}
		for i := range twins {
			m := p.nodes[i].Knows()
			for c, r := range twins[i] {
				if want := r.answers(s, base.At(i, c), z.Row(i), lags); math.Abs(float64(y.At(i, c))-want) > 1e-6*max(1, math.Abs(want)) {
					t.Fatalf("step %d, node %d, horizon %d: answered %v, want %v", s, i, c, y.At(i, c), want)
				}
				h := m[c]
				near("G", h.Weight[0], r.g)
				near("b", h.Weight[1], r.b)
				near("A", h.Answers, r.a)
				near("F", h.Trained, r.f)
				for e := range r.theta {
					near("θ", h.Taps[e], r.theta[e])
				}
				for k := range r.c {
					near("c", h.Table[k], r.c[k])
				}
			}
		}
	}
	t.Logf("largest difference %.1e", worst)
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
