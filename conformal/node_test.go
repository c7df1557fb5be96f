package conformal

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

// A world plays truths to answers; it may look at what is answered.
type world func(t int, rng *rand.Rand, b Bound) (y, truth float32)

// worlds of one number each; most are not what scores of the past would say.
var worlds = []struct {
	name string
	play world
}{
	{"always alike", func(_ int, rng *rand.Rand, _ Bound) (float32, float32) { return 0, float32(rng.NormFloat64()) }},
	{"ten times as wild after 300", func(t int, rng *rand.Rand, _ Bound) (float32, float32) {
		v := rng.NormFloat64()
		if t > 300 {
			v *= 10
		}
		return 1, float32(v)
	}},
	{"wilder and wilder", func(t int, rng *rand.Rand, _ Bound) (float32, float32) {
		return 0, float32(float64(t) * rng.NormFloat64())
	}},
	{"off to one side", func(t int, rng *rand.Rand, _ Bound) (float32, float32) {
		return float32(t), float32(3*rng.ExpFloat64() + 2*float64(t))
	}},
	{"an enemy", func(_ int, _ *rand.Rand, b Bound) (float32, float32) {
		_, high := b.Interval(0)
		if b.Unknown() {
			return 0, 0
		}
		return 0, math.Nextafter32(high, float32(math.Inf(1)))
	}},
	{"one value", func(int, *rand.Rand, Bound) (float32, float32) { return 0.1, 99.3 }},
	{"rarely known", func(t int, rng *rand.Rand, _ Bound) (float32, float32) {
		if t%5 > 0 {
			return 0, float32(math.NaN())
		}
		return 0, float32(rng.NormFloat64())
	}},
}

// No world makes more answers miss than the package comment promises, judged at
// once or late.
func TestMissesAreBounded(t *testing.T) {
	for _, w := range worlds {
		for _, coverage := range []float64{0.5, 0.8, 0.9, 0.99} {
			for _, late := range []int{0, 7} {
				t.Run(fmt.Sprintf("%s/%v/%d", w.name, coverage, late), func(t *testing.T) {
					m := play(New(Config{Coverage: coverage}, 1), w.play, late, 2000)
					alpha := 1 - coverage
					got := float64(m.Judged - m.Held)
					rate := alpha / 5
					most := alpha*float64(m.Judged) + (1.5*alpha+rate*float64(1+late))/rate
					if got > most {
						t.Errorf("misses: got %v of %d, want at most %v", got, m.Judged, most)
					}
				})
			}
		}
	}
}

// play plays so many steps and returns the meter.
func play(n *Node, w world, late, steps int) Meter {
	rng := rand.New(rand.NewPCG(1, 2))
	type answer struct {
		y, truth float32
		b        Bound
	}
	var waiting []answer
	for t := range steps {
		b := n.Bounds()[0]
		y, truth := w(t, rng, b)
		waiting = append(waiting, answer{y, truth, b})
		if len(waiting) > late {
			a := waiting[0]
			waiting = waiting[1:]
			n.Judge([]float32{a.y}, []Bound{a.b}, []float32{a.truth})
		}
	}
	return n.Meter()
}

// Where the world stays as it is, coverage is what was asked for, neither more nor
// less.
func TestCoverageOfAWorldThatStays(t *testing.T) {
	for _, coverage := range []float64{0.5, 0.8, 0.9, 0.95} {
		m := play(New(Config{Coverage: coverage}, 1), worlds[0].play, 0, 4000)
		if got := m.Coverage(); math.Abs(got-coverage) > 0.012 {
			t.Errorf("coverage: got %.3f, want %v", got, coverage)
		}
	}
}

// Classes as well; and the set is never empty, whatever the level.
func TestClasses(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	n := New(Config{Classes: true}, 5)
	y := make([]float32, 5)
	for t0 := range 4000 {
		noise := 1.2
		if t0 > 2000 {
			noise = 2 // the answers get worse
		}
		label := rng.IntN(5)
		for c := range y {
			y[c] = float32(noise * rng.NormFloat64())
		}
		y[label] += 2
		b := n.Bounds()[0]
		set := b.Set(nil, y)
		if !slices.Contains(set, best(y)) || !slices.IsSorted(set) {
			t.Fatalf("step %d: got the set %v of %v, want the best class in it and ascending order", t0, set, y)
		}
		if unknown := t0 < 9; b.Unknown() != unknown || unknown && len(set) != 5 {
			t.Fatalf("step %d: got unknown %t and %d classes, want %t, and all if so", t0, b.Unknown(), len(set), unknown)
		}
		n.Judge(y, n.Bounds(), []float32{float32(label)})
	}
	m := n.Meter()
	if got := m.Coverage(); math.Abs(got-0.9) > 0.012 {
		t.Errorf("coverage: got %.3f, want 0.9", got)
	}
	if got := m.MeanSize(); got < 1 || got > 3.5 {
		t.Errorf("mean size: got %.2f classes, want 1 to 3.5 of 5", got)
	}
}

// A model that is always right gets sets of one class, and does not lose its
// wariness: when it goes wrong, few steps pass until sets grow.
func TestNeverWrongThenWrong(t *testing.T) {
	n := New(Config{Classes: true}, 3)
	right, wrong := []float32{5, 0, 0}, []float32{5, 4, 0}
	for range 1000 {
		n.Judge(right, n.Bounds(), []float32{0})
	}
	if got := len(n.Bounds()[0].Set(nil, wrong)); got != 1 {
		t.Fatalf("classes after 1000 right answers: got %d, want 1", got)
	}
	missed := 0
	for ; len(n.Bounds()[0].Set(nil, wrong)) == 1; missed++ {
		n.Judge(wrong, n.Bounds(), []float32{1})
	}
	if missed > 8 {
		t.Errorf("misses until sets grow: got %d, want at most 8", missed)
	}
}

// What is not finite is answered with everything and not learned from.
func TestNotFinite(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	numbers := New(Config{}, 2)
	for t0 := range 50 {
		numbers.Judge([]float32{0, 0}, numbers.Bounds(), []float32{float32(t0), -float32(t0)})
	}
	before := state(numbers)
	numbers.Judge([]float32{nan, 1}, numbers.Bounds(), []float32{1, nan})
	numbers.Judge([]float32{inf, 1}, numbers.Bounds(), []float32{1, -inf})
	if after := state(numbers); !reflect.DeepEqual(after, before) {
		t.Errorf("memory: got %v, want %v", after, before)
	}
	for _, y := range []float32{inf, -inf, nan} {
		if low, high := numbers.Bounds()[0].Interval(y); low != -inf || high != inf {
			t.Errorf("interval of %v: got %v to %v, want everything", y, low, high)
		}
	}
	classes := New(Config{Classes: true}, 3)
	for range 50 {
		classes.Judge([]float32{1, 0, 0}, classes.Bounds(), []float32{0})
	}
	for _, y := range [][]float32{{nan, 0, 0}, {0, inf, 0}, {0, 0, -inf}} {
		if got := classes.Bounds()[0].Set(nil, y); len(got) != 3 {
			t.Errorf("set of %v: got %v, want all classes", y, got)
		}
		classes.Judge(y, classes.Bounds(), []float32{0})
	}
	for _, label := range []float32{-1, 3, nan, inf} {
		classes.Judge([]float32{1, 0, 0}, classes.Bounds(), []float32{label})
	}
	if m := classes.Meter(); m.Judged != 50 {
		t.Errorf("judged: got %d, want 50", m.Judged)
	}
	huge := New(Config{}, 1)
	for range 50 {
		huge.Judge([]float32{-math.MaxFloat32}, huge.Bounds(), []float32{math.MaxFloat32})
	}
	if m := huge.Meter(); m.Held != 50 {
		t.Errorf("held of one huge residual again and again: got %d, want 50", m.Held)
	}
}

// Equal scores are no misses, of whatever size the numbers are: intervals are
// rounded outwards.
func TestTies(t *testing.T) {
	for _, v := range [][2]float32{{0.1, 0.3}, {1e-30, 1e30}, {1e5, 0.01}, {-7.77, -7.77}, {1, 1 + 0x1p-23}, {3e38, -3e38}} {
		n := New(Config{}, 1)
		for range 200 {
			n.Judge(v[:1], n.Bounds(), v[1:])
		}
		if m := n.Meter(); m.Held != m.Judged {
			t.Errorf("answer %v, truth %v: got %d of %d held, want all", v[0], v[1], m.Held, m.Judged)
		}
	}
	n := New(Config{Classes: true}, 4)
	for range 200 {
		n.Judge([]float32{1, 1, 1, 1}, n.Bounds(), []float32{3})
	}
	if m := n.Meter(); m.Held != 200 || m.MeanSize() != 4 {
		t.Errorf("classes that score alike: got %d of 200 held, %v in a set, want all and 4", m.Held, m.MeanSize())
	}
	only := New(Config{Classes: true}, 1)
	only.Judge([]float32{7}, only.Bounds(), []float32{0})
	if m := only.Meter(); m.Held != 1 {
		t.Errorf("the only class: got %d held, want 1", m.Held)
	}
}

// How many scores it takes until something is known, and which of them bounds.
func TestRank(t *testing.T) {
	for _, c := range []struct {
		config Config
		level  float64
		n      int
		want   int
	}{
		{Config{Classes: true}, 0.1, 8, 9}, // more than 8: nothing is known
		{Config{Classes: true}, 0.1, 9, 9},
		{Config{Classes: true}, 0.1, 100, 91},
		{Config{Classes: true}, 0.5, 100, 51},
		{Config{}, 0.1, 18, 19},
		{Config{}, 0.1, 19, 19},
		{Config{}, 0.1, 100, 96},
		{Config{}, 0.999, 1, 2},
		{Config{Classes: true}, 0.999, 3, 1},
	} {
		if got := c.config.rank(c.n, c.level); got != c.want {
			t.Errorf("classes %t, level %v, %d scores: got %d, want %d", c.config.Classes, c.level, c.n, got, c.want)
		}
	}
}

// Scores of earlier answers give bounds at once, the same as a node that begins
// with them.
func TestBegin(t *testing.T) {
	scores := []float64{math.NaN(), 3, 1, 2, math.Inf(1)}
	for k := range 30 {
		scores = append(scores, float64(k%7)-3)
	}
	c := Config{Coverage: 0.8}
	n := New(c, 2)
	n.Begin(1, scores)
	if got, want := n.Bounds()[1], c.Bound(scores); got != want {
		t.Errorf("bound: got %v, want %v", got, want)
	}
	if !n.Bounds()[0].Unknown() {
		t.Errorf("bound of the output without scores: got %v, want none", n.Bounds()[0])
	}
	if !c.Bound(scores[:5]).Unknown() {
		t.Errorf("bound of three scores: got %v, want none", c.Bound(scores[:5]))
	}
}

func TestValidate(t *testing.T) {
	for _, c := range []Config{
		{Coverage: 1},
		{Coverage: -0.1},
		{Coverage: math.NaN()},
		{Coverage: 0.99999},
		{Window: -1},
		{Window: 1 << 20},
		{Window: 18},
		{Rate: 1},
		{Rate: math.NaN()},
		{Coverage: 0.99, Window: 100},
	} {
		if c.Validate() == nil {
			t.Errorf("%+v: got no complaint, want one", c)
		}
	}
	for _, c := range []Config{{}, {Coverage: 0.5, Window: 10, Rate: 0.1, Classes: true}, {Coverage: 0.9999}, {Coverage: 0.99, Window: 199}} {
		if err := c.Validate(); err != nil {
			t.Errorf("%+v: got %v, want no complaint", c, err)
		}
	}
}

func TestNoAllocations(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, classes := range []bool{false, true} {
		n := New(Config{Classes: classes}, 4)
		y, truth, set := make([]float32, 4), make([]float32, n.config.Windows(4)), make([]int, 0, 4)
		given := make([]Bound, len(truth))
		got := testing.AllocsPerRun(300, func() {
			for c := range y {
				y[c] = float32(rng.NormFloat64())
			}
			truth[0] = float32(rng.IntN(4))
			copy(given, n.Bounds())
			set = given[0].Set(set[:0], y)
			n.Judge(y, given, truth)
		})
		if got != 0 {
			t.Errorf("classes %t: got %v allocations per step, want 0", classes, got)
		}
	}
}

// The same answers give the same bits on every architecture.
func TestSameBitsEverywhere(t *testing.T) {
	for _, c := range []struct {
		config Config
		want   uint32
	}{{Config{}, 0x55f8c8f4}, {Config{Classes: true}, 0xc056fa15}} {
		n := learned(c.config, 500)
		sum := crc32.NewIEEE()
		for k, scores := range Scores(state(n), len(n.windows)) {
			w := &n.windows[k]
			for _, v := range append(slices.Clone(scores), w.level, w.meter.Size, float64(w.meter.Held)) {
				binary.Write(sum, binary.LittleEndian, v)
			}
		}
		if got := sum.Sum32(); got != c.want {
			t.Errorf("%+v: got bits %#x, want %#x", c.config, got, c.want)
		}
	}
}

func BenchmarkJudge(b *testing.B) {
	rng := rand.New(rand.NewPCG(9, 10))
	n := New(Config{Classes: true}, 5)
	y, truth := make([]float32, 5), make([]float32, 1)
	for b.Loop() {
		for c := range y {
			y[c] = rng.Float32()
		}
		truth[0] = float32(rng.IntN(5))
		n.Judge(y, n.Bounds(), truth)
	}
}

// A meter that began anew after an earlier one counted all of it since then.
func TestMeterSince(t *testing.T) {
	earlier := Meter{Judged: 10, Held: 9, Sized: 8, Size: 16}
	for now, want := range map[Meter]Meter{
		{Judged: 12, Held: 11, Sized: 10, Size: 20}: {Judged: 2, Held: 2, Sized: 2, Size: 4},
		{Judged: 3, Held: 2, Sized: 1, Size: 2}:     {Judged: 3, Held: 2, Sized: 1, Size: 2},
		{Judged: 11, Held: 5, Sized: 9, Size: 20}:   {Judged: 11, Held: 5, Sized: 9, Size: 20},
	} {
		if got := now.Since(earlier); got != want {
			t.Errorf("%+v since %+v: got %+v, want %+v", now, earlier, got, want)
		}
	}
}
