package rule

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/wdgnn/wdgnn/loss"
	dense "github.com/wdgnn/wdgnn/mat"
)

// hearingOf returns a hearing of two features, so many hops and neighbours, with
// the moment of correlated values, and one of their rows.
func hearingOf(hops, neighbors int) (*Hearing, []float32) {
	rng := rand.New(rand.NewPCG(uint64(hops), uint64(neighbors)))
	h := &Hearing{Inputs: 6, Features: 2, Hops: hops}
	for j := range neighbors {
		h.Neighbors = append(h.Neighbors, 3*j+1)
	}
	rows := dense.NewDense(200, h.Len(), nil)
	for r := range rows.Rows {
		common := rng.NormFloat64()
		for c := range rows.Cols {
			rows.Set(r, c, float32(common+0.3*rng.NormFloat64()+0.1*float64(c)))
		}
	}
	m := new(SecondMoment)
	m.Add(rows, h.Len())
	h.Moment = m.Mean
	return h, slices.Clone(rows.Row(0))
}

// listenerOf returns what turns rows of h into features.
func listenerOf(t *testing.T, h *Hearing) *listener {
	t.Helper()
	a, err := newEar(h)
	if err != nil {
		t.Fatal(err)
	}
	return (&frame{}).hearing(a).ear
}

// White features have the second moment I in training, less what the ridge takes.
func TestHearingWhitens(t *testing.T) {
	h, _ := hearingOf(2, 4)
	a := listenerOf(t, h)
	p := h.Size()
	left, sigma := mat.NewDense(p, p, a.white), mat.NewDense(p, p, h.Moment)
	var square mat.Dense
	square.Product(left, sigma, left.T())
	for k := range p {
		if v := square.At(k, k); v < 0.5 || v > 1 {
			t.Errorf("mean square of feature %d: got %v, want just below 1", k, v)
		}
	}
}

// A set of missing values that was met lately costs no factorisation, and no
// memory however often it changes.
func TestHearingPatterns(t *testing.T) {
	h, row := hearingOf(2, 5)
	a, got := listenerOf(t, h), make([]float64, h.Size())
	rows := make([][]float32, patterns+2)
	for k := range rows {
		rows[k] = slices.Clone(row)
		rows[k][h.Inputs+k] = float32(math.NaN())
	}
	a.features(got, rows[0], 1)
	made := &a.maps[0].w[0]
	a.features(got, rows[1], 1)
	if a.features(got, rows[0], 1); &a.maps[0].w[0] != made || len(a.maps) != 2 {
		t.Errorf("the map of a set that was met before: got a new one of %d, want the same of 2", len(a.maps))
	}
	turn := 0
	if n := testing.AllocsPerRun(50, func() { a.features(got, rows[turn%len(rows)], 1); turn++ }); n != 0 || len(a.maps) != patterns {
		t.Errorf("got %v allocations and %d maps, want 0 and %d", n, len(a.maps), patterns)
	}
}

// Without a moment values have one scale, and a lost one is what the node itself
// has at that hop.
func TestHearingCommonScale(t *testing.T) {
	h := &Hearing{Inputs: 6, Features: 2, Hops: 2, Neighbors: []int{3, 5}, Scale: 2}
	a, got := listenerOf(t, h), make([]float64, h.Size())
	z := []float32{1, 2, 3, 4, 5, 6}
	row := make([]float32, h.Len())
	h.Row(row, z, func(e, k int) []float32 {
		if e == 0 && k == 2 {
			return []float32{20, 22}
		}
		return nil
	})
	want := []float64{0.5, 1, 1.5, 2, 2.5, 3, 1.5, 2, 10, 11, 1.5, 2, 2.5, 3, 1}
	if a.features(got, row, a.scaleOf(row)); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	a.Scale = 0.5
	given := a.scaleOf(row)
	a.Scale = 0 // a tenth of the root of the mean square of the first inputs, or of all nodes'
	seen, nothing := a.scaleOf([]float32{5, 5, -5, 5, -5, 5, 99}), a.scaleOf(make([]float32, 6))
	m := SecondMoment{Inputs: 2, Mean: []float64{150, 7, 7, 7, 50, 7, 7, 7, 1}}
	if common := m.CommonScale(); given != 0.5 || seen != 0.5 || nothing != 1 || common != 1 {
		t.Errorf("scales: got %v, %v, %v and %v, want 0.5, 0.5, 1 and 1", given, seen, nothing, common)
	}
}

// One matrix for all outputs learns of a label the trace of its information, and of another
// answer a bound of the largest eigenvalue.
func TestStrength(t *testing.T) {
	for _, c := range []struct {
		information []float64
		labels      bool
		want        float64
	}{
		{[]float64{3, -2, -2, 4}, true, 7},
		{[]float64{3, -2, -2, 4}, false, 6},
		{[]float64{-1, 0, 0, 0.5}, true, 0},
		{[]float64{0, 0, 0, 0}, false, 0},
	} {
		s := &laplace{frame: &frame{r: 2}, he: c.information}
		if got := s.strength(&judge{classes: c.labels}); got != c.want {
			t.Errorf("%+v: got %v", c, got)
		}
	}
}

// A hearing from outside is looked at.
func TestHearingValidate(t *testing.T) {
	good := func() *Hearing { h, _ := hearingOf(2, 3); return h }
	if err := good().Validate(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		spoil func(*Hearing)
		want  string
	}{
		{func(h *Hearing) { h.Inputs = 0 }, "0 inputs"},
		{func(h *Hearing) { h.Inputs = 4 }, "4 inputs of 2 features and 2 hops"},
		{func(h *Hearing) { h.Hops = 3 }, "3 hops"},
		{func(h *Hearing) { h.Scale = math.Inf(1) }, "scale"},
		{func(h *Hearing) { h.Neighbors[0] = 100 }, "ascending"},
		{func(h *Hearing) { h.Neighbors[0] = -1 }, "ascending"},
		{func(h *Hearing) { h.Neighbors = append(h.Neighbors, 99) }, "want"},
		{func(h *Hearing) { h.Moment[1]++ }, "symmetric"},
		{func(h *Hearing) { h.Moment[0] = math.NaN() }, "finite"},
		{func(h *Hearing) {
			for j := range 20 {
				h.Neighbors = append(h.Neighbors, 100+j)
			}
		}, "99 features, want at most 64; try newton"},
	} {
		h := good()
		c.spoil(h)
		if err := h.Validate(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
	h := good()
	h.Moment = make([]float64, len(h.Moment))
	h.Moment[1], h.Moment[h.Size()] = 1, 1
	if _, err := newEar(h); err == nil || !strings.Contains(err.Error(), "negative eigenvalue") {
		t.Errorf("no moment of anything: got %v, want a word of its eigenvalue", err)
	}
}

// Two hops, where they are sent.
func TestHeardHops(t *testing.T) {
	for order, want := range []int{0, 0, 1, 2, 2, 2} {
		if got := HeardHops(order); got != want {
			t.Errorf("order %d: got %d hops, want %d", order, got, want)
		}
	}
}

// heardNode returns a node with so many neighbours, one feature, five classes and
// a moment of its own, and rows for it to learn from.
func heardNode(tb testing.TB, neighbors int) (n *Node, rows []dense.Dense) {
	tb.Helper()
	rng := rand.New(rand.NewPCG(3, 4))
	h := &Hearing{Inputs: 6, Features: 1, Hops: 2}
	for j := range neighbors {
		h.Neighbors = append(h.Neighbors, j+1)
	}
	all, m := dense.NewDense(500, h.Len(), nil), new(SecondMoment)
	for r := range all.Rows {
		common := rng.NormFloat64()
		for c := range all.Cols {
			all.Set(r, c, float32(common+rng.NormFloat64()))
		}
		rows = append(rows, all.View(r, 0, 1, all.Cols))
	}
	m.Add(all, h.Len())
	h.Moment = m.Mean
	f, err := NewBasis(BasisConfig{
		Inputs: 6, Features: 5, Gain: 1, Newton: true,
		Moment:  &SecondMoment{Inputs: 6, Mean: make([]float64, 49), Heard: map[int]*Hearing{0: h}},
		Hearing: &Hearing{Inputs: 6, Features: 1, Hops: 2},
	})
	if err != nil {
		tb.Fatal(err)
	}
	c := &Config{Retrain: RetrainHeard, Newton: &Newton{Doubt: 0.1, Fresh: 100}}
	if err := c.Validate(); err != nil {
		tb.Fatal(err)
	}
	return NewNode(NodeConfig{Basis: f, Config: c, Rows: 1}), rows
}

// teacher shows rows to a node, whose labels follow from them.
type teacher struct {
	y     []float32
	base  dense.Dense
	cost  *loss.CrossEntropy
	rows  []int32
	alone *Heard
}

func newTeacher() *teacher {
	return &teacher{
		y: make([]float32, 5), base: dense.NewDense(1, 5, nil), cost: &loss.CrossEntropy{Labels: make([]int32, 1)},
		rows: make([]int32, 1), alone: &Heard{Weights: []float32{1}, Rows: []int32{0}},
	}
}

// show lets the node predict and learn.
func (w *teacher) show(n *Node, row dense.Dense) error {
	z, label := row.Row(0), &w.cost.Labels[0]
	n.Predict(w.y, w.base.Row(0), z)
	*label = 0
	for c := range 5 {
		if z[c] > z[*label] {
			*label = int32(c)
		}
	}
	n.Observe(row, w.base, w.rows, w.cost)
	err := n.Step(w.alone)
	n.Commit()
	return err
}

// A step takes no memory, also where sets of missing values come and go.
func TestHeardStepAllocatesNothing(t *testing.T) {
	n, rows := heardNode(t, 5)
	w := newTeacher()
	for k, row := range rows {
		if k%3 > 0 {
			row.Row(0)[7+k%7] = float32(math.NaN())
		}
	}
	k := 0
	step := func() {
		if err := w.show(n, rows[k%len(rows)]); err != nil {
			t.Fatal(err)
		}
		k++
	}
	for range 150 {
		step()
	}
	if tau, side := n.newton.now.tau, side(n.newton.now.main.cov); tau != 3 || side != n.newton.frame.p {
		t.Errorf("P has %d rows, a prior of %v, want one of %d features, and 3", side, tau, n.newton.frame.p)
	}
	if got := testing.AllocsPerRun(300, step); got != 0 {
		t.Errorf("got %v allocations per step, want 0", got)
	}
}

// A node that gives answers and is told late what they cost, several at once, is one that
// learns beside Answers that give and judge: also where updates are refused, and through its
// state, whatever was not heard.
func TestNodeGivesAndIsTold(t *testing.T) {
	heard, rows := heardNode(t, 5)
	plain, err := NewBasis(BasisConfig{Inputs: 6, Features: 5, Gain: 1, Newton: true})
	if err != nil {
		t.Fatal(err)
	}
	for name, how := range map[string]Config{
		"gradients": {StepSize: StepSize{Value: 0.1}}, "newton": {Newton: &Newton{}}, "heard": *heard.config,
	} {
		f, width := plain, 6
		how.Delay, how.Gate = 2, &Gate{Patience: 25}
		if name == "newton" {
			how.Gate = nil
		}
		if name == "heard" {
			f, width = heard.basis, rows[0].Cols
		}
		begin := func(answers bool) *Node {
			return NewNode(NodeConfig{Basis: f, Config: &how, Rows: 2, Answers: answers})
		}
		n, twin, a, anews := begin(true), begin(false), NewAnswers(f, &how, nil), 0
		base, adapted, want, labels := make([]float32, 5), make([]float32, 5), make([]float32, 5), make([]int32, 300)
		for s := range uint64(300) {
			z := rows[s].Row(0)[:width]
			if width > 6 && s%3 > 0 {
				z[6+s%7] = float32(math.NaN())
			}
			if base[s%5] = z[0]; s/100 != 1 {
				labels[s] = int32(dense.Argmax(z[:5]))
			}
			said, y := make([]float32, 5), make([]float32, 5)
			if s%3 == 0 {
				n.Answer(said, s, base, z)
			}
			twin.Predict(adapted, base, z)
			a.Give(s, want, adapted, base, z)
			if s%2 == 0 && how.Gate != nil {
				y = nil
			}
			if n.Give(y, s, base, z); s%3 == 0 && !slices.Equal(said, want) || y != nil && !slices.Equal(y, want) || n.Relink([]int32{int32(s)}) {
				t.Fatalf("%s, step %d: said %v and gave %v, want %v", name, s, said, y, want)
			}
			var zs, bases []float32
			var which []int32
			for _, at := range []uint64{s - 2, s - 1, s - 1} {
				j := loss.CrossEntropy{Labels: labels[at%300:][:1]}
				if s%2 == 0 {
					continue
				}
				g, ok := a.Judge(at, j, 0)
				if got := n.Tell(at, j, 0); got != ok {
					t.Fatalf("%s, step %d: the answer of step %d was told %v, want %v", name, s, int64(at), got, ok)
				}
				if ok {
					zs, bases, which = append(zs, g.Inputs...), append(bases, g.Base...), append(which, int32(at))
				}
			}
			if k := len(which); k > 0 {
				twin.Observe(dense.NewDense(k, width, zs), dense.NewDense(k, 5, bases), which, loss.CrossEntropy{Labels: labels})
			}
			for _, one := range []*Node{n, twin} {
				if s%23 == 9 || s%23 == 13 { // what was told is dropped
					continue
				}
				own := dense.NewDense(1, f.Len(), one.Params())
				if err := one.Step(&Heard{Weights: []float32{1}, Rows: []int32{0}, Vectors: []dense.Dense{own}}); err != nil {
					t.Fatal(err)
				}
			}
			anew := false
			switch s % 23 {
			case 9:
				n.Cancel()
				twin.Cancel()
			case 12, 13:
				anew = n.Refuse()
				twin.Cancel()
				a.Refuse()
			default:
				anew = n.Commit()
				twin.Commit()
			}
			if want := a.Losing(); anew != want {
				t.Fatalf("%s, step %d: begins again %v, want %v", name, s, anew, want)
			} else if want {
				twin.Reset()
				a.Anew()
				anews++
			}
			parts := a.parts(s + 1)
			parts[learnerPart] = twin.State(s + 1).part(learnerPart)
			if got := n.State(s + 1); !slices.Equal(got, newState(parts)) {
				t.Fatalf("%s, step %d: remembers\n%v, want\n%v", name, s, got, newState(parts))
			}
			if s%20 == 10 {
				state := n.State(s + 1)
				n = begin(true)
				bad := slices.Clone(state)
				if bad[5+int(bad[1])+5] = -1; how.Gate != nil && n.Restore(bad, s+1) == nil {
					t.Errorf("%s: a gate that cannot be was restored", name)
				}
				if err := n.Restore(state, s+1); err != nil {
					t.Fatal(err)
				}
			}
		}
		if (anews > 0) != (how.Gate != nil) || !twin.Learned() || twin.Answers() != nil || a.Gate().Anew != uint64(anews) {
			t.Errorf("%s: began again %d times, want some, and only with a gate", name, anews)
		}
		if sent, kept := how.Vectors(); sent+kept != 1 || (sent == 0) != (how.Newton != nil) {
			t.Errorf("%s: sends %d vectors of %d", name, sent, kept)
		}
	}
	prompt, y := NewNode(NodeConfig{Basis: plain, Config: &Config{}, Rows: 1}), make([]float32, 5)
	if prompt.Answer(y, 0, []float32{1, 2, 3, 4, 5}, make([]float32, 6)); !slices.Equal(y, []float32{1, 2, 3, 4, 5}) {
		t.Errorf("a node that has learned nothing answers %v", y)
	}
	if prompt.Tell(0, loss.CrossEntropy{Labels: []int32{0}}, 0) || prompt.Refused() != 0 {
		t.Error("a node that gave no answers was told what one cost")
	}
}

// What weights of neighbours mean depends on who they are: nothing of it is carried to a node
// that hears others, or nobody.
func TestCarryHears(t *testing.T) {
	was, rows := heardNode(t, 5)
	w := newTeacher()
	for _, row := range rows[:30] {
		if err := w.show(was, row); err != nil {
			t.Fatal(err)
		}
	}
	same, _ := heardNode(t, 5)
	others, _ := heardNode(t, 4)
	f, err := NewBasis(BasisConfig{Inputs: 6, Features: 5, Gain: 1, Newton: true})
	if err != nil {
		t.Fatal(err)
	}
	nobody := NewNode(NodeConfig{Basis: f, Config: was.config, Rows: 1})
	for name, c := range map[string]struct{ from, to *Node }{
		"same": {was, same}, "others": {was, others}, "nobody": {was, nobody}, "somebody": {nobody, same},
	} {
		s, ok := c.to.Carry(c.from, 0)
		if want := name == "same"; ok != want || ok && !slices.Equal(s, was.State(0)) {
			t.Errorf("%s: carried %v, want %v, or it is something else", name, ok, want)
		}
	}
}

// BenchmarkHeard is a step of a node with 15 neighbours, which is 37 features, two
// learners side by side, five classes: prediction and update.
func BenchmarkHeard(b *testing.B) {
	for _, c := range []struct {
		name string
		lost int
	}{{"all heard", 0}, {"4 lost", 4}} {
		b.Run(c.name, func(b *testing.B) {
			n, rows := heardNode(b, 15)
			for _, row := range rows {
				for e := range c.lost * 2 {
					row.Row(0)[10+3*e] = float32(math.NaN())
				}
			}
			w := newTeacher()
			for k := range 150 {
				if err := w.show(n, rows[k]); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportAllocs()
			for k := 0; b.Loop(); k++ {
				if err := w.show(n, rows[k%len(rows)]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
