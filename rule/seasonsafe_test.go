package rule_test

import (
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	dense "gonum.org/v1/gonum/mat"

	"github.com/wdgnn/wdgnn/conformal"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/rule"
)

// finite fails unless everything that a node remembers is a number, and P that of
// something that can vary.
func finite(t *testing.T, n *rule.SeasonNode) {
	t.Helper()
	if err := n.Fits(n.State()); err != nil {
		t.Fatal(err)
	}
}

// Whatever truths, inputs, usual errors and neighbours say, a node stays finite, and
// its answers are numbers.
func TestSeasonCannotDiverge(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for name, c := range map[string]struct {
		sigma []float64
		truth func(s int) float32
		input float32 // in the place of every input
		say   []float32
	}{
		"huge truths":         {truth: func(s int) float32 { return 1e30 }},
		"largest truths":      {truth: func(s int) float32 { return math.MaxFloat32 * float32(1-2*(s%2)) }},
		"no numbers":          {truth: func(s int) float32 { return []float32{nan, inf, -inf, 1}[s%4] }},
		"no usual error":      {sigma: []float64{0, math.NaN()}, truth: func(s int) float32 { return float32(s % 3) }},
		"endless usual error": {sigma: []float64{math.Inf(1), 1e300}, truth: func(s int) float32 { return 1e20 }},
		"constant inputs":     {input: 1, truth: func(s int) float32 { return 2 }},
		"huge inputs":         {input: 1e30, truth: func(s int) float32 { return float32(s%5) - 2 }},
		"largest inputs":      {input: math.MaxFloat32, truth: func(s int) float32 { return float32(s%5) - 2 }},
		"inputs of no number": {input: nan, truth: func(s int) float32 { return float32(s%5) - 2 }},
		"neighbours' nonsense": {
			truth: func(s int) float32 { return float32(s % 7) }, say: []float32{nan, 1, -1, 0, inf, inf, 1e30, 1e30},
		},
	} {
		t.Run(name, func(t *testing.T) {
			config := seasonal()
			config.Gate, config.Conformal = nil, &conformal.Config{}
			p := newTown(t, 1, 7, []int{1, 4}, 5, 8, config)
			if c.sigma != nil {
				plan, err := rule.NewSeasonPlan(&config, p.task)
				if err != nil {
					t.Fatal(err)
				}
				p.nodes[0] = rule.NewSeasonNode(plan, c.sigma)
			}
			n, y := p.nodes[0], make([]float32, 2)
			for s := range 3000 {
				n.Tell(uint64(s), c.truth(s))
				if c.say != nil {
					vectors := mat.NewDense(len(c.say)/2, 4, nil)
					rows, weights := []int32{-1}, []float32{0.2}
					for k := range vectors.Rows {
						copy(vectors.Row(k), []float32{c.say[2*k], c.say[2*k+1], c.say[2*k], c.say[2*k+1]})
						rows, weights = append(rows, int32(k)), append(weights, 0.2)
					}
					n.Mix(weights, 0, vectors, rows)
				}
				base, z := p.drawn()
				for e := range z.Data {
					if c.input != 0 {
						z.Data[e] = c.input
					}
				}
				n.Give(y, uint64(s), base.Row(0), z.Row(0))
				if !mat.Finite(y...) {
					t.Fatalf("step %d: answered %v", s, y)
				}
			}
			finite(t, n)
		})
	}
}

// Neighbours that send what nobody can have learned count as silent: the node goes
// on as if it heard itself in their place.
func TestSeasonNonsenseIsSilence(t *testing.T) {
	heard, alone := newTown(t, 1, 7, []int{2}, 3, 4, seasonal()), newTown(t, 1, 7, []int{2}, 3, 4, seasonal())
	nan := float32(math.NaN())
	mostG := 100 / (1 - 0.995)
	mostB := 100 * 3 * heard.sigma[0] * math.Sqrt(mostG/100) // with a G of 1
	say := mat.NewDense(5, 2, []float32{nan, 0, 1, nan, -1, 0, float32(mostG * 1.00001), 0, 1, float32(mostB * 1.00001)})
	for s := range 100 {
		truth := heard.truth(s, 0)
		base, z := heard.drawn()
		var y [2][]float32
		for k, p := range []*town{heard, alone} {
			p.nodes[0].Tell(uint64(s), truth)
			if k == 0 {
				p.nodes[0].Mix([]float32{0.125, 0.125, 0.25, 0.125, 0.125, 0.125, 0.125}, 2, say, []int32{0, 1, 0, 2, 3, 4, -1})
			}
			y[k] = make([]float32, 1)
			p.nodes[0].Give(y[k], uint64(s), base.Row(0), z.Row(0))
		}
		if y[0][0] != y[1][0] {
			t.Fatalf("step %d: answered %v, want %v", s, y[0][0], y[1][0])
		}
	}
	n := alone.nodes[0] // that hears the most that can have been learned, and keeps what it can have learned itself
	for k, c := range []struct{ weight, g, b, wantG, wantB float64 }{
		{1, mostG, 0, mostG, 0},
		{1, 1, mostB, 1, mostB},
		{1.5, mostG, 1e5, mostG, 10 * 3 * heard.sigma[0] * mostG / 100},
		{1, mostG, -1e5, mostG, -10 * 3 * heard.sigma[0] * mostG / 100},
	} {
		n.Mix([]float32{0, float32(c.weight)}, 0, mat.NewDense(1, 2, []float32{float32(c.g), float32(c.b)}), []int32{-1, 0})
		n.Give(make([]float32, 1), uint64(100+k), []float32{0}, make([]float32, 4))
		if got := n.Knows()[0].Weight; math.Abs(got[0]-c.wantG) > 1e-6*c.wantG || math.Abs(got[1]-c.wantB) > 1e-6*math.Abs(c.wantB) {
			t.Errorf("%+v: got %v", c, got)
		}
	}
}

// What answers cost stays within what was promised, in a world that wants learning
// to fail: truths are on the other side of y† than what was learned.
func TestSeasonBound(t *testing.T) {
	const h, sigma = 4, 0.3
	config := seasonal() // hardly pulled to what was trained
	config.Season.Ridge, config.Season.Taps = 0.01, 0.01
	p := newTown(t, 1, 6, []int{h}, 3, 4, config)
	n := p.nodes[0]
	answers, trained, closed := 0.0, 0.0, 0
	var given, base []float32
	for s := range 5000 {
		b, z := p.drawn()
		if s >= h {
			q := s - h
			truth := base[q] + 0.25
			if given[q] > base[q] {
				truth = base[q] - 0.25
			}
			n.Tell(uint64(s), truth)
			answers += min(math.Abs(float64(truth)-float64(given[q])), 6*sigma)
			trained += min(math.Abs(float64(truth)-float64(base[q])), 6*sigma)
		}
		y, said := make([]float32, 1), make([]float32, 1)
		n.Predict(said, uint64(s), b.Row(0), z.Row(0))
		if n.Give(y, uint64(s), b.Row(0), z.Row(0)); y[0] != said[0] {
			t.Fatalf("step %d: gave %v, want %v, which it said it would", s, y[0], said[0])
		}
		given, base = append(given, y[0]), append(base, b.At(0, 0))
		if most := 1.02*trained + 10*sigma + h*6*sigma; answers > most {
			t.Fatalf("step %d: answers cost %v, those of the model as trained %v: promised was %v", s, answers, trained, most)
		}
		if !n.Does(0).Open {
			if closed++; closed == 1 {
				config.Gate = nil
				free := newTown(t, 1, 6, []int{h}, 3, 4, config).nodes[0]
				if err := free.Restore(n.State()); err != nil || !free.Does(0).Open {
					t.Errorf("without a bound it answers as trained, error %v", err)
				}
			}
		}
	}
	if t.Logf("closed for %d of 5000 steps; answers cost %.1f, trained %.1f", closed, answers, trained); closed == 0 {
		t.Error("the world never made learning fail: nothing was tested")
	}
	if st := n.Does(0); math.Abs(st.Answers-answers) > 1e-6 || math.Abs(st.Trained-trained) > 1e-6 {
		t.Errorf("counted %v and %v, want %v and %v", st.Answers, st.Trained, answers, trained)
	}
	if m := n.Plan().Average([]rule.State{n.State()}, []float64{1}); n.Fits(m) != nil {
		t.Error("the mean of one without intervals does not fit")
	}
	if n.Uncounted(); n.Does(0).Answers != 0 || !n.Does(0).Open {
		t.Errorf("what begins a stream has erred: %+v", n.Does(0))
	}
}

// A node goes on for a year: own taps are still those of the ridge regression on all
// that it was told.
func TestSeasonLastsForAYear(t *testing.T) {
	steps := 100_000
	if testing.Short() {
		steps = 10_000
	}
	const lags = 12
	config := seasonal()
	config.Gate = nil
	p := newTown(t, 1, 0, []int{1}, lags, lags, config)
	n := p.nodes[0]
	all, told, before := dense.NewSymDense(lags+1, nil), dense.NewVecDense(lags+1, nil), dense.NewVecDense(lags+1, nil)
	for s := range steps {
		truth := 0.2 * p.truth(s, 0)
		base, z := p.drawn()
		base.Data[0] = 0
		n.Tell(uint64(s), truth)
		n.Give(make([]float32, 1), uint64(s), base.Row(0), z.Row(0))
		all.SymRankOne(all, 1, before) // no innovation is clipped: the sums are all there is to know
		told.AddScaledVec(told, float64(truth), before)
		for k, v := range z.Row(0) {
			before.SetVec(k, float64(v))
		}
		before.SetVec(lags, 1)
	}
	finite(t, n)
	sigma := dense.NewSymDense(lags+1, slices.Clone(p.task.Moment.Mean))
	for k := range lags + 1 {
		sigma.SetSym(k, k, 1.0001*sigma.At(k, k))
	}
	var root dense.Cholesky
	if !root.Factorize(sigma) {
		t.Fatal("not positive definite")
	}
	sigma.ScaleSym(3000, sigma)
	all.AddSym(all, sigma)
	var want dense.VecDense
	if err := want.SolveVec(all, told); err != nil {
		t.Fatal(err)
	}
	want.MulVec(root.RawU(), &want) // in white features
	worst := 0.0
	for e, v := range n.Taps(0) {
		worst = max(worst, math.Abs(v-want.AtVec(e)))
	}
	if t.Logf("after %d steps own taps differ by %.1e", steps, worst); worst > 1e-9 {
		t.Errorf("own taps differ by %.1e from the regression, want 1e-9 at most", worst)
	}
}

// remembering returns a node that learned for some steps, with intervals.
func remembering(t testing.TB, steps int) *town {
	config := seasonal()
	config.Conformal = &conformal.Config{Coverage: 0.8}
	p := newTown(t, 3, 9, []int{1, 3, 5}, 4, 7, config)
	for s := range steps {
		p.steps(s)
	}
	return p
}

// steps is a step of truths that are sometimes not known.
func (p *town) steps(s int) mat.Dense {
	truths := make([]float32, len(p.nodes))
	for i := range truths {
		if truths[i] = p.truth(s, i); (s+i)%6 == 0 {
			truths[i] = float32(math.NaN())
		}
	}
	base, z := p.drawn()
	return p.step(s, truths, base, z)
}

// A node restored from its state goes on with the same bits, and a state that does not
// fit changes nothing.
func TestSeasonState(t *testing.T) {
	const first, more = 150, 60
	want := remembering(t, first)
	whole, half := remembering(t, first), newTown(t, 3, 9, []int{1, 3, 5}, 4, 7, want.config)
	half.rng = whole.rng
	for i, n := range whole.nodes {
		text := must[[]byte](t)(json.Marshal(n.State()))
		var m rule.State
		if err := json.Unmarshal(text, &m); err != nil {
			t.Fatal(err)
		}
		if err := half.nodes[i].Restore(m); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(half.nodes[i].State(), n.State()) {
			t.Fatalf("node %d remembers something else", i)
		}
	}
	var said [2][3]float32 // before they hear anybody
	whole.nodes[0].Predict(said[0][:], first, said[0][:], make([]float32, 7))
	half.nodes[0].Predict(said[1][:], first, said[1][:], make([]float32, 7))
	for c, v := range said[0] {
		if math.Abs(float64(v-said[1][c])) > 1e-6 {
			t.Errorf("restored it says %v, want %v", said[1], said[0])
		}
	}
	other := remembering(t, first)
	for s := first; s < first+more; s++ {
		got, want := half.steps(s), other.steps(s)
		if !reflect.DeepEqual(got.Data, want.Data) {
			t.Fatalf("step %d: got %v, want %v", s, got.Data, want.Data)
		}
	}
	n := want.nodes[0]
	good := n.State()
	horizon := 2 + 9 + 9 + 5 + 15
	gates := 5 + 3*horizon
	waiting := len(good) - int(good[4])
	for name, spoil := range map[string]func(s rule.State) rule.State{
		"form":     func(s rule.State) rule.State { s[0] = 2; return s },
		"learner":  func(s rule.State) rule.State { s[1]--; return append(s[:5:5], s[6:]...) },
		"G":        func(s rule.State) rule.State { s[5+horizon] = -1; return s },
		"NaN":      func(s rule.State) rule.State { s[5+horizon+1] = math.NaN(); return s },
		"seen":     func(s rule.State) rule.State { s[5+2+9] = -1; return s },
		"cut":      func(s rule.State) rule.State { s[1] -= 15; return slices.Delete(s, gates-15, gates) },
		"spread":   func(s rule.State) rule.State { s[5+2+9+9+5] = -1; return s },
		"gates":    func(s rule.State) rule.State { s[2]--; return append(s[:gates:gates], s[gates+1:]...) },
		"scores":   func(s rule.State) rule.State { s[3]--; return append(s[:waiting-1:waiting-1], s[waiting:]...) },
		"order":    func(s rule.State) rule.State { s[waiting] = 1e6; return s },
		"features": func(s rule.State) rule.State { s[len(s)-1] = math.Inf(1); return s },
		"waiting":  func(s rule.State) rule.State { s[4]--; return s[:len(s)-1] },
	} {
		if n.Restore(spoil(slices.Clone(good))) == nil {
			t.Errorf("%s: a state that does not fit was restored", name)
		}
		if !slices.Equal(n.State(), good) {
			t.Fatalf("%s: changed the node", name)
		}
	}
	for k := 1; k < len(good); k += 7 {
		if n.Fits(good[:k]) == nil {
			t.Fatalf("the first %d of %d numbers are read", k, len(good))
		}
	}
	unusual := slices.Clone(good)
	unusual[gates+6] = 99 // what usual errors are a node knows itself
	if err := n.Restore(unusual); err != nil || !slices.Equal(n.State(), good) {
		t.Errorf("with other usual errors it remembers something else, or %v", err)
	}
	if err := n.Restore(nil); err != nil || !slices.Equal(n.State(), remembering(t, 0).nodes[0].State()) {
		t.Errorf("a node that was given no state remembers something, error %v", err)
	}
}

// Whatever a file says, reading it ends, and what is read is what was written.
func FuzzSeasonState(f *testing.F) {
	n := remembering(f, 12).nodes[0]
	for _, s := range []rule.State{n.State(), {1, 1 << 50, 0, 0, 1, 1, 0, 0, 0, 0, 0, 5}, {1, 1, 0, 1 << 40, 0, 0, 0}} {
		f.Add(must[[]byte](f)(s.MarshalText()))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var s rule.State
		if s.UnmarshalText(text) != nil || n.Restore(s) != nil {
			return
		}
		again := n.State()
		if err := n.Restore(again); err != nil || !slices.Equal(again, n.State()) {
			t.Errorf("read again: %v and %v, want %v", n.State(), err, again)
		}
	})
}

// What begins a stream has learned, and counted nothing; a newcomer begins with the
// mean of its neighbours.
func TestSeasonNewcomer(t *testing.T) {
	p := remembering(t, 200)
	a, b := p.nodes[0], p.nodes[1]
	m := a.Plan().Average([]rule.State{a.State(), b.State()}, []float64{1, 3})
	n := p.nodes[2]
	if err := n.Restore(m); err != nil {
		t.Fatal(err)
	}
	for c, h := range n.Knows() {
		x, y := a.Knows()[c], b.Knows()[c]
		for k, lists := range [][3][]float64{
			{h.Taps, x.Taps, y.Taps},
			{h.Spread, x.Spread, y.Spread},
			{h.Weight[:], x.Weight[:], y.Weight[:]},
			{h.Table, x.Table, y.Table},
			{h.Seen, x.Seen, y.Seen},
		} {
			for e, v := range lists[0] {
				want := (lists[1][e] + 3*lists[2][e]) / 4
				if k == 4 {
					want = math.Floor(want) // times
				}
				if math.Abs(v-want) > 1e-9 {
					t.Errorf("list %d: number %d is %v, want %v", k, e, v, want)
				}
			}
		}
		if h.Answers != 0 || h.Trained != 0 {
			t.Errorf("a newcomer has erred by %v and %v", h.Answers, h.Trained)
		}
	}
	short := m[:len(m)-1]
	five, weights := []rule.State{nil, a.State(), short, b.State(), b.State()}, []float64{9, 1, 0.5, 3, 0}
	if got := n.Plan().Average(five, weights); !slices.Equal(got, m) {
		t.Error("neighbours that remember nothing, something else, or do not count change what a newcomer begins with")
	}
	if got := n.Plan().Average([]rule.State{nil, a.State()}, []float64{1, 0}); got != nil {
		t.Errorf("without neighbours that learned it begins with %v, want nothing", got)
	}
	if m[4] != 0 || n.Meter() != (conformal.Meter{}) || len(m.Scores(3)[0]) == 0 {
		t.Errorf("a newcomer has %v numbers of forecasts, and intervals %+v", m[4], n.Meter())
	}
	before, did := b.State(), b.Does(0)
	b.Uncounted()
	if b.State()[4] != before[4] || before[4] == 0 || b.Does(0).Answers != 0 || did.Answers == 0 || b.Meter() != (conformal.Meter{}) {
		t.Errorf("what begins a stream erred by %v, before %v", b.Does(0).Answers, did.Answers)
	}
}

// Intervals hold the truth as often as was asked for.
func TestSeasonIntervals(t *testing.T) {
	p := remembering(t, 3000)
	for i, n := range p.nodes {
		m := n.Meter()
		if got := m.Coverage(); got < 0.78 || got > 0.84 {
			t.Errorf("node %d: intervals held the truth in %.3f of %d answers, want 0.8", i, got, m.Judged)
		}
	}
}

// A step allocates nothing.
func TestSeasonAllocatesNothing(t *testing.T) {
	p := remembering(t, 50)
	base, z := p.drawn()
	y, n, s := make([]float32, 3), p.nodes[0], uint64(50)
	row := []int32{0, 1, -1}
	got := testing.AllocsPerRun(200, func() {
		n.Tell(s, float32(s%5))
		n.Mix([]float32{0.5, 0.25, 0.25}, 0, p.sent, row)
		n.Predict(y, s, base.Row(0), z.Row(0))
		n.Give(y, s, base.Row(0), z.Row(0))
		s++
	})
	if got != 0 {
		t.Errorf("got %v allocations per step, want 0", got)
	}
}

// The same truths give the same bits on every architecture.
func TestSeasonSameBitsEverywhere(t *testing.T) {
	p := remembering(t, 0)
	sum := crc32.NewIEEE()
	state := uint32(1)
	next := func() float32 { // no logarithms and sines, which differ
		state = state*1664525 + 1013904223
		return float32(int32(state)) / (1 << 30)
	}
	moment := &rule.SecondMoment{}
	z := mat.NewDense(300, p.inputs, nil)
	for e := range z.Data {
		z.Data[e] = next()
	}
	moment.Add(z, p.inputs)
	p.task.Moment = moment
	plan, err := rule.NewSeasonPlan(&p.config, p.task)
	if err != nil {
		t.Fatal(err)
	}
	for i := range p.nodes {
		p.nodes[i] = rule.NewSeasonNode(plan, p.sigma)
	}
	base, rows := mat.NewDense(3, 3, nil), mat.NewDense(3, p.inputs, nil)
	for s := range 400 {
		for e := range base.Data {
			base.Data[e] = 0.2 * next()
		}
		for e := range rows.Data {
			rows.Data[e] = next()
		}
		y := p.step(s, []float32{next(), float32(s%9) / 9, 0.5 * next()}, base, rows)
		binary.Write(sum, binary.LittleEndian, y.Data)
	}
	for _, n := range p.nodes {
		binary.Write(sum, binary.LittleEndian, []float64(n.State()))
	}
	if got, want := sum.Sum32(), uint32(0x4defcbf6); got != want {
		t.Errorf("got bits %#x, want %#x", got, want)
	}
}

// Configurations that make no sense are refused, each complaint with its key.
func TestSeasonComplains(t *testing.T) {
	moment := &rule.SecondMoment{Inputs: 1, Mean: []float64{1, 0, 0, 1}}
	good := rule.SeasonTask{Season: 4, Horizons: []int{1}, Lagged: []int{0}, Moment: moment}
	for want, spoil := range map[string]func(c *rule.Config, task *rule.SeasonTask){
		"season.forget is 2":         func(c *rule.Config, _ *rule.SeasonTask) { c.Season.Forget = 2 },
		"season.rate is -1":          func(c *rule.Config, _ *rule.SeasonTask) { c.Season.Rate = -1 },
		"season.ridge is -3":         func(c *rule.Config, _ *rule.SeasonTask) { c.Season.Ridge = -3 },
		"season.taps is NaN":         func(c *rule.Config, _ *rule.SeasonTask) { c.Season.Taps = math.NaN() },
		"season.margin is -1":        func(c *rule.Config, _ *rule.SeasonTask) { c.Season.Margin = -1 },
		"season.slack is +Inf":       func(c *rule.Config, _ *rule.SeasonTask) { c.Season.Slack = math.Inf(1) },
		"season goes without newton": func(c *rule.Config, _ *rule.SeasonTask) { c.Ridge = 9 },
		"gate has numbers of other":  func(c *rule.Config, _ *rule.SeasonTask) { c.Gate.Margin = 0.5 },
		"no season: the preset":      func(c *rule.Config, _ *rule.SeasonTask) { *c = rule.Own().Ungated() },
		"season: -1 steps":           func(_ *rule.Config, task *rule.SeasonTask) { task.Season = -1 },
		"no horizon":                 func(_ *rule.Config, task *rule.SeasonTask) { task.Horizons = nil },
		"a horizon of 0 steps":       func(_ *rule.Config, task *rule.SeasonTask) { task.Horizons = []int{0} },
		"column 0 of the shifted":    func(_ *rule.Config, task *rule.SeasonTask) { task.Lagged = []int{0, 0} },
		"column 7 of shifted inputs": func(_ *rule.Config, task *rule.SeasonTask) { task.Lagged = []int{7} },
		"need the second moment":     func(_ *rule.Config, task *rule.SeasonTask) { task.Moment = nil },
		"it has a negative eigenvalue": func(_ *rule.Config, task *rule.SeasonTask) {
			task.Moment = &rule.SecondMoment{Inputs: 1, Mean: []float64{1, 5, 5, 1}}
		},
		"a second moment of 2 inputs w": func(_ *rule.Config, task *rule.SeasonTask) { task.Moment = &rule.SecondMoment{Inputs: 2} },
	} {
		c, task := seasonal(), good
		spoil(&c, &task)
		if _, err := rule.NewSeasonPlan(&c, task); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// BenchmarkSeason is a learning step of one node with 3 horizons and 36 lags: told,
// mixed with 6 neighbours, and answered.
func BenchmarkSeason(b *testing.B) {
	config := seasonal()
	config.Conformal = &conformal.Config{}
	p := newTown(b, 1, 288, []int{3, 6, 12}, 36, 45, config)
	n, y, s := p.nodes[0], make([]float32, 3), uint64(0)
	vectors := mat.NewDense(7, 6, nil)
	weights, rows := []float32{0.4, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1}, []int32{0, 1, 2, 3, 4, 5, 6}
	base, z := p.drawn()
	b.ReportAllocs()
	for b.Loop() {
		n.Tell(s, float32(s%17)/17)
		n.Mix(weights, 0, vectors, rows)
		n.Give(y, s, base.Row(0), z.Row(0))
		s++
	}
}
