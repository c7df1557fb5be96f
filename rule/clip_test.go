package rule_test

import (
	"math"
	"slices"
	"testing"

	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/rule"
)

// Of what neighbours differ by, no more than the median is taken, or the farthest
// quarter not at all; what is taken off stays at home. Weights are equal here, so
// that the mixture is x_i plus the mean over all nodes of what is left.
func TestClippedMixing(t *testing.T) {
	f := must[*rule.Basis](t)(rule.NewBasis(rule.BasisConfig{Inputs: 2, Features: 2, Gain: 1, Start: []float32{1, 1, 1, 1}})) // of size 2
	for _, c := range []struct {
		name    string
		clip    rule.Clip
		self    int
		numbers []float32
		want    float32
		clipped int
	}{
		{"off", rule.ClipOff, 0, []float32{0, 4, 8, 100}, 28, 0},
		{"nobody differs", rule.ClipMedian, 0, []float32{3, 3, 3}, 3, 0},
		{"the farthest is as far as the middle", rule.ClipMedian, 0, []float32{0, 4, 8, 100}, 5, 1},
		{"also if it lies on the other side", rule.ClipMedian, 3, []float32{4, 8, -100, 0}, 1, 1},
		{"twice the median is nothing to report", rule.ClipMedian, 0, []float32{1, 2, 3, 4}, 2.25, 0},
		{"of two the nearer is the median", rule.ClipMedian, 1, []float32{5, 2, 1e6}, 4, 1},
		{"one neighbour has nobody beside it", rule.ClipMedian, 0, []float32{2, 1e3}, 501, 0},
		{"most are at the start: a hundredth of its size", rule.ClipMedian, 0, []float32{0, 0, 0, 100}, 0.01 / 4, 1},
		{"a quarter of three is one", rule.ClipTrimmed, 0, []float32{0, 4, 8, 100}, 3, 1},
		{"of five two", rule.ClipTrimmed, 0, []float32{0, 6, 100, 6, -60, 6}, 3, 2},
		{"the farther of two", rule.ClipTrimmed, 2, []float32{8, 5, 2}, 3, 0},
		{"the only neighbour is believed", rule.ClipTrimmed, 0, []float32{2, 1e3}, 501, 0},
	} {
		config := rule.Config{Mixing: 1, Clip: c.clip, Outlier: -1}
		h := hears(f, c.self, c.numbers...)
		h.Points = f.Points(nil, h.Vectors[0])
		n := restored(t, f, &config, 1, slices.Clone(h.Vectors[0].Row(c.self)))
		n.Observe(mat.Dense{}, mat.Dense{}, nil, nil)
		if err := n.Step(h); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		n.Commit()
		if want := slices.Repeat([]float32{c.want}, f.Len()); !near32(n.Params(), want) || n.Clipped() != c.clipped {
			t.Errorf("%s: got %v with %d clipped, want %v with %d", c.name, n.Params(), n.Clipped(), want, c.clipped)
		}
	}
}

// Distances between points are those in which a whitened step is taken: the root
// of the mean square by which outputs differ on the inputs of training, also where
// an input was always 0.
func TestPointsAreInTheMetricOfTheStep(t *testing.T) {
	rng := random.Stream(4, "points")
	z := mat.NewDense(40, 4, nil)
	for r := range z.Rows {
		for c := range 3 {
			z.Row(r)[c] = float32(rng.NormFloat64())
		}
		z.Row(r)[1] += 3 * z.Row(r)[0]
	}
	var moment rule.SecondMoment
	moment.Add(z, 4)
	readout := mat.NewDense(5, 3, nil)
	for k := range readout.Data {
		readout.Data[k] = float32(rng.NormFloat64())
	}
	w := must[*rule.Whitening](t)(rule.NewWhitening(&moment, false))
	f := must[*rule.Basis](t)(rule.NewBasis(rule.BasisConfig{Inputs: 4, Features: 5, Gain: 0.5, Readout: readout, Whitening: w}))
	x := mat.NewDense(2, f.Len(), nil)
	for k := range x.Data {
		x.Data[k] = float32(rng.NormFloat64())
	}
	points := f.Points(nil, x)
	got, want := 0.0, 0.0
	for k, v := range points[:len(points)/2] {
		d := v - points[len(points)/2+k]
		got += d * d
	}
	a, b, zero, scratch := make([]float32, 3), make([]float32, 3), make([]float32, 3), make([]float64, 3)
	for r := range z.Rows {
		f.Predict(a, zero, z.Row(r), x.Row(0), scratch)
		f.Predict(b, zero, z.Row(r), x.Row(1), scratch)
		for c := range a {
			d := float64(a[c]) - float64(b[c])
			want += d * d / float64(z.Rows)
		}
	}
	if math.Abs(got-want) > 1e-5*want {
		t.Errorf("squared distance %v, want %v", got, want)
	}
}

// Clipping allocates nothing once it has room.
func TestClipAllocatesNothing(t *testing.T) {
	f := must[*rule.Basis](t)(rule.NewBasis(rule.BasisConfig{Inputs: 2, Features: 2, Gain: 1}))
	config := rule.Config{Mixing: 1, Clip: rule.ClipMedian, StepSize: rule.StepSize{Value: 0.1}}
	n := rule.NewNode(rule.NodeConfig{Basis: f, Config: &config, Rows: 1})
	h := hears(f, 0, 0, 1, 2, 3, 4, 5)
	z, base := mat.NewDense(1, 2, []float32{1, 1}), mat.NewDense(1, 2, nil)
	j := &loss.CrossEntropy{Labels: []int32{1}}
	rows := []int32{0}
	points := f.Points(nil, h.Vectors[0])
	if got := testing.AllocsPerRun(20, func() {
		points = f.Points(points, h.Vectors[0])
		h.Points = points
		n.Observe(z, base, rows, j)
		if err := n.Step(h); err != nil {
			t.Fatal(err)
		}
		n.Commit()
	}); got != 0 {
		t.Errorf("%v allocations, want none", got)
	}
}
