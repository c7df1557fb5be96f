package robust

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/crown"
)

// Bounds of shares and votes hold with a term missing as long as nobody looks for
// it. The tests of this file do.

// The bound of Hoeffding is the mean less √(ln(1/α)/2n), and not below 0.
func TestOnAverage(t *testing.T) {
	for _, c := range []struct {
		mean       float64
		n          int
		confidence float64
		want       float64
	}{
		{0.9, 100, 0.999, 0.9 - math.Sqrt(math.Log(1000)/200)},
		{0.9, 400, 0.9, 0.9 - math.Sqrt(math.Log(10)/800)},
		{0.01, 10, 0.999, 0},
		{1, 0, 0.999, 0},
	} {
		if got := onAverage(c.mean, c.n, c.confidence); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%+v: got %v", c, got)
		}
	}
}

// From counts to bounds: who holds alone, all at once and by vote is asked with
// confidences of their own, each just met and just missed.
//
// Reference: doc/certify.md "Random loss".
func TestSumOfDraws(t *testing.T) {
	const n, conf, answers, classes = 1000, 0.999, 8, 3
	just := func(confidence float64) int { // the least count that is above one half
		k := n / 2
		for AtLeast(k, n, confidence) <= 0.5 {
			k++
		}
		return k
	}
	alone, vote, all := just(conf), just(1-(1-conf)/classes), just(1-(1-conf)/answers)
	if !(alone < vote && vote < all) {
		t.Fatalf("counts of %d, %d and %d do not tell them apart", alone, vote, all)
	}
	q := draw(t, drawn{nodes: 4, edges: 4, samples: 2, wide: 1, classify: true}).question
	d := &dropping{passes: &passes{q: q, readers: q.Readers()}, start: make([]Answer, answers)}
	d.config = DropConfig{Of: Links, Probabilities: []float64{0.1}, Draws: 2 * n, Confidence: conf}
	d.shares = [][]float64{slices.Concat(slices.Repeat([]float64{0.75}, n), slices.Repeat([]float64{math.NaN()}, n))}
	c := d.newTally().at[0]
	keep := func(a, count, other int) { // class 0, which it is, count times, and another else
		c.changed[a] = n - count
		c.votes[a*classes] -= n - count
		c.votes[a*classes+other] += n - count
	}
	for a, kept := range []int{n, all, all - 1, vote, vote - 1, alone, alone - 1, n - vote} {
		keep(a, kept, 2)
		c.move[a] = float64(a)
	}
	got := d.sum(c, 0, n)
	if got.Held != 6 || got.Together != 2 || got.Voted != 5 {
		t.Errorf("%d hold, %d at once, %d by vote; want 6, 2, and 4 with another that changed its class", got.Held, got.Together, got.Voted)
	}
	if v := got.Each[7]; v.Vote != 2 || v.Said != vote || got.Each[5].Vote != 0 || got.Each[5].Said != alone || got.Each[5].Kept != alone {
		t.Errorf("votes: got %+v and %+v, want class 2 with %d and class 0 with %d", v, got.Each[5], vote, alone)
	}
	if math.Abs(got.Share-0.75) > 1e-12 || got.Low != onAverage(got.Share, n, conf) || got.Draws != n || got.Planned != 2*n {
		t.Errorf("on average %v, at least %v, of %d draws; want 0.75 of %d", got.Share, got.Low, got.Draws, n)
	}
	if want := 1 - math.Pow(1-conf, 1.0/n); math.Abs(got.Rare-want) > 1e-15 || got.Moves != 4 || got.Most != 7 {
		t.Errorf("beyond its move in %v of outages, moves %v and %v; want %v, 4 and 7", got.Rare, got.Moves, got.Most, want)
	}
	for a := range got.Each {
		if v := got.Each[a]; v.Low != AtLeast(v.Kept, n, conf) || v.Of != n {
			t.Errorf("answer %d: %+v, want at least %v", a, v, AtLeast(v.Kept, n, conf))
		}
	}
}

// Of two that do the same the one with fewer lost counts, then the first.
func TestTiesOfLosses(t *testing.T) {
	nothing := least{margin: 1}
	for name, c := range map[string]struct {
		a, b     least
		classify bool
		want     bool
	}{
		"a smaller margin":          {least{margin: 0.5, lost: 1}, least{margin: 0.4, lost: 2, by: 9}, true, true},
		"a larger margin":           {least{margin: 0.4, lost: 2}, least{margin: 0.5, lost: 1}, true, false},
		"a flip":                    {least{margin: -0.5, lost: 1}, least{flipped: true, margin: 0.1, lost: 2}, true, true},
		"no flip":                   {least{flipped: true, lost: 2}, least{margin: -1, lost: 1}, true, false},
		"fewer lost":                {least{lost: 2, by: 1}, least{lost: 1, by: 5}, true, true},
		"more lost":                 {least{lost: 1, by: 5}, least{lost: 2, by: 1}, true, false},
		"the first":                 {least{lost: 1, by: 5}, least{lost: 1, by: 4}, true, true},
		"a later one":               {least{lost: 1, by: 4}, least{lost: 1, by: 5}, true, false},
		"itself":                    {least{lost: 1, by: 4}, least{lost: 1, by: 4}, true, false},
		"no more than nothing does": {nothing, least{margin: 1, lost: 1}, true, false},
		"values move farther":       {least{move: 1, lost: 1}, least{move: 2, lost: 2}, false, true},
		"values move less":          {least{move: 2, lost: 2}, least{move: 1, lost: 1}, false, false},
	} {
		if got := c.b.beats(c.a, c.classify); got != c.want {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
	a := least{margin: 0.5, move: 3, lost: 1, by: 2}
	a.take(least{margin: 0.4, move: 1, lost: 2, by: 7}, true)
	if a != (least{margin: 0.4, move: 3, lost: 2, by: 7}) {
		t.Errorf("got %+v, want the smaller margin with the farther move", a)
	}
}

// Noise in the user's units is divided by what inputs were multiplied with; what is no
// sensor has none.
func TestNoiseInUnits(t *testing.T) {
	q := draw(t, drawn{nodes: 3, edges: 2, samples: 1, steps: 2, wide: 1}).question
	if got := q.noiseWeights(); got != nil {
		t.Errorf("without scales: got %v, want none", got)
	}
	q.InputScale = []float64{2, 0.5, 0}
	weights := q.noiseWeights()
	if want := []float64{0.5, 2, 0, 0.5, 2, 0}; !slices.Equal(weights, want) {
		t.Errorf("got %v, want %v at both steps", weights, want)
	}
	copy(q.Signals.Data, []float32{1, 6, 30, 3, 4, 50})
	if got, want := q.usual(weights), math.Sqrt((4+9+36+4)/4.0); math.Abs(got-want) > 1e-9 {
		t.Errorf("usual: got %v, want %v", got, want)
	}
}

// An answer holds up to its radius, is broken from what was found on, and between the
// two is neither; values hold while they stay within what is allowed.
func TestHeldAndBroken(t *testing.T) {
	q := draw(t, noiseCases["two layers"]).question
	ask := func(size float64) *Noise {
		got, err := q.Noise(context.Background(), NoiseConfig{Size: size, Most: 3})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	first := ask(1e-3)
	between := 0
	for k, v := range first.Answers {
		if v.Found == 0 || v.Radius == 0 {
			continue
		}
		if v.Radius < 0.9*v.Found {
			between++
		}
		for share, want := range map[float64][2]bool{v.Radius / v.Found: {true, false}, 1.001: {false, true}, 0.999: {false, false}} {
			if share == 0.999 && v.Radius >= 0.95*v.Found {
				continue
			}
			now := ask(share * v.Found).Answers[k]
			if now.Held != want[0] && share != 0.999 || now.Broken != want[1] || now.Held && now.Broken {
				t.Errorf("answer %d, radius %v, found %v: with noise of %v held %v, broken %v; want %v", k, v.Radius, v.Found,
					share*v.Found, now.Held, now.Broken, want)
			}
		}
	}
	if between == 0 {
		t.Error("radii are what was found: the test asks for nothing")
	}
	q = draw(t, noiseCases["several parts"]).question
	q.Within = ask(0.2).Answers[0].Move * 0.75
	for _, v := range ask(0.2).Answers {
		if v.Held != (v.Move <= q.Within) || v.Broken != (v.Moved > q.Within) {
			t.Errorf("moves by %v at most, %v found, %v allowed: held %v, broken %v", v.Move, v.Moved, q.Within, v.Held, v.Broken)
		}
	}
}

// Noise that an answer withstands is held against the size that was asked for as well,
// which need not be one of the radii that are tried.
func TestHeldBetweenRadii(t *testing.T) {
	q := draw(t, noiseCases["two layers"]).question
	net, shift, err := q.exact()
	if err != nil {
		t.Fatal(err)
	}
	answers, err := q.Answers()
	if err != nil {
		t.Fatal(err)
	}
	row, beyond := int(q.Readers()[0]), 0
	for k := range q.Samples {
		kase := crown.NewCrown(net, shift, []int{row}, crown.Noise{}).Case(q.signal(k))
		a := &answers[k*len(answers)/q.Samples]
		for part := 1; part < 8; part++ {
			size := kase.Radius(row, a.Class) * math.Exp2(float64(part)/(8*32))
			if want := kase.Margin(row, a.Class, size) > 0; want {
				beyond++
				if v := q.withstand(kase, a, row, size, false); !v.Held || v.Radius != size {
					t.Errorf("sample %d: noise of %v: held %v up to %v, want all of it", k, size, v.Held, v.Radius)
				}
			}
		}
	}
	if beyond == 0 {
		t.Error("no answer withstands more than its radius: the test asks for nothing")
	}
}

// A liar's say in the sums of a neighbour: by its own degree, which it may make as small
// as the weight a of the link, a/√(d_j d) is up to √(a/d_j); by the neighbour's
// alone it has none.
//
// Reference: doc/theory.md "Liars".
func TestWeightsOfLiars(t *testing.T) {
	g, err := graph.FromEdges(4, []graph.Edge{
		{From: 0, To: 1, Weight: 2}, {From: 1, To: 2, Weight: 6}, {From: 1, To: 3, Weight: 10},
	}, false)
	if err != nil {
		t.Fatal(err)
	}
	for operator, sign := range map[graph.Shift]float64{graph.ShiftSymmetric: 1, graph.ShiftNormalizedLaplacian: -1} {
		q := &Question{Operator: operator, Graphs: []*graph.Graph{g}}
		weights, err := q.liarWeights()
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct{ liar, to, a, degree, said float64 }{
			{1, 0, 2, 2, 18}, {0, 1, 2, 18, 2}, {2, 1, 6, 18, 6}, {3, 1, 10, 18, 10},
		} {
			honest := sign * c.a / math.Sqrt(c.degree*c.said)
			if got, want := weights(int(c.liar))(int(c.to), honest), sign*math.Sqrt(c.a/c.degree); math.Abs(got-want) > 1e-6 {
				t.Errorf("%v: node %v lies to %v: got a weight of %v, honest %v, want %v", operator, c.liar, c.to, got, honest, want)
			}
		}
	}
	q := &Question{Operator: graph.ShiftRowStochastic, Graphs: []*graph.Graph{g}}
	if weights, err := q.liarWeights(); err != nil || weights(1) != nil {
		t.Errorf("means of neighbours: got another weight, %v; want that of the shift", err)
	}
}

// While not every node was let lie, no answer is said to hold against any.
func TestLiarsInterrupted(t *testing.T) {
	q := draw(t, liarCases["mean"]).question
	rows := slices.Repeat([]float64{1e-9}, exchanges(q))
	for _, most := range []int{1, 4, q.Nodes()} {
		ctx, cancel := context.WithCancel(context.Background())
		got, err := q.Liars(ctx, LiarConfig{Rows: rows, Watch: func(done, _ int) {
			if done == most && most < q.Nodes() {
				cancel()
			}
		}})
		cancel()
		if err != nil {
			t.Fatal(err)
		}
		if all := most == q.Nodes(); len(got.Liars) != most || (got.Held > 0) != all || (got.Shares != nil) != all {
			t.Errorf("%d liars, want %d of %d: %d answers hold, %d shares; want some if these are all",
				len(got.Liars), most, q.Nodes(), got.Held, len(got.Shares))
		}
	}
}

// Samples and answers that stand for all are evenly spread.
func TestSpread(t *testing.T) {
	for _, c := range []struct {
		n, most int
		want    []int
	}{{10, 4, []int{0, 2, 5, 7}}, {3, 0, []int{0, 1, 2}}, {2, 5, []int{0, 1}}, {7, 1, []int{0}}, {0, 3, []int{}}} {
		if got := spread(c.n, c.most); !slices.Equal(got, c.want) {
			t.Errorf("%d of %d: got %v, want %v", c.most, c.n, got, c.want)
		}
	}
}

// Where a spectral shift hears nobody, because links lead round in no circle, nothing is
// said to hold against their loss.
func TestNobodyIsHeard(t *testing.T) {
	q := draw(t, drawn{nodes: 3, edges: 1, samples: 1, wide: 1, shift: graph.ShiftSpectral, directed: true}).question
	if err := q.Validate(); err == nil || !strings.Contains(err.Error(), "no circle") {
		t.Errorf("a chain: got %v, want that no node hears another", err)
	}
	g, err := graph.FromEdges(3, []graph.Edge{{From: 0, To: 1, Weight: 1}, {From: 1, To: 0, Weight: 1}}, true)
	if err != nil {
		t.Fatal(err)
	}
	q.Graphs[0] = g
	if err := q.Validate(); err != nil {
		t.Errorf("a circle: got %v", err)
	}
}
