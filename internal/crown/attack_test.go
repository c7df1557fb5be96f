package crown

import (
	"math"
	"testing"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/internal/vector"
)

// What gradients find stays within the bounds too, and no class changes below its
// radius.
func TestCrownHoldsAgainstAttack(t *testing.T) {
	rng := newRand(32)
	flipped := 0
	for k := range instances() / 20 {
		d := randomDoubted(t, rng, 3+rng.IntN(8), 4)
		norm := Norm(rng.IntN(2))
		kase := d.crown(norm).Case(Signal(d.x))
		size := math.Pow(10, -2+2*rng.Float64())
		from := kase.outputs(d.node)
		class := argmax(from)
		moves, found := kase.Move(d.node, size, from), kase.Moved(d.node, size, from)
		for c, m := range moves {
			if found[c] > m {
				t.Fatalf("instance %d: output %d moves by %v, want at most %v", k, c, found[c], m)
			}
		}
		if len(moves) < 2 {
			continue
		}
		r, f := kase.Radius(d.node, class), kase.Found(d.node, class)
		if f < r {
			t.Fatalf("instance %d: %v noise of %v changes the class, which was certified up to %v", k, norm, f, r)
		}
		if !math.IsInf(f, 0) {
			flipped++
		}
	}
	if least := instances() / 400; flipped < least {
		t.Errorf("the attack changed %d classes, want %d at least", flipped, least)
	}
}

// Of a linear model, a wide part or layers without a nonlinearity, bounds are those
// of the norm of one vector, and a radius is the distance of the nearest class, to
// what float32 rounds and the grid of radii.
func TestCrownIsExactForLinearModels(t *testing.T) {
	rng := newRand(34)
	for k := range 100 {
		d := randomDoubted(t, rng, 3+rng.IntN(6), 4)
		if d.model.Outputs() < 2 {
			continue
		}
		net, s := NewNetwork(d.model), NewShift(d.shift)
		for l := range net.Deep {
			net.Deep[l].Activation, net.Deep[l].Bias = gnn.Identity, nil
		}
		x := Signal(d.x)
		rest := net.Forward(s, make([]float64, len(x)))
		jacobian := make([][]float64, len(x)) // by input, the outputs of the node
		for i := range x {
			unit := make([]float64, len(x))
			unit[i] = 1
			jacobian[i] = net.Forward(s, unit)[d.node*net.Outputs : (d.node+1)*net.Outputs]
			vector.Axpy(jacobian[i], -1, rest[d.node*net.Outputs:(d.node+1)*net.Outputs])
		}
		for _, norm := range []Norm{L2, LInf} {
			kase := NewCrown(net, s, []int{d.node}, Noise{Norm: norm}).Case(x)
			dual := func(q func(y []float64) float64) float64 {
				sum := 0.0
				for i := range x {
					if v := q(jacobian[i]); norm == L2 {
						sum += v * v
					} else {
						sum += math.Abs(v)
					}
				}
				if norm == L2 {
					sum = math.Sqrt(sum)
				}
				return sum
			}
			y := kase.outputs(d.node)
			class, nearest := argmax(y), math.Inf(1)
			for c := range y {
				want := 0.7 * dual(func(y []float64) float64 { return y[c] })
				if got := kase.Move(d.node, 0.7, y)[c]; got < want*(1-1e-9) || got > want+1e-3*(1+math.Abs(y[c])+want) {
					t.Fatalf("model %d, %v: output %d moves by %v at most, want %v", k, norm, c, got, want)
				}
				if c != class {
					nearest = min(nearest, (y[class]-y[c])/dual(func(y []float64) float64 { return y[class] - y[c] }))
				}
			}
			got, found := kase.Radius(d.node, class), kase.Found(d.node, class)
			if nearest < 1e-2 {
				continue // rounding is not small beside it
			}
			if got > nearest || got < nearest*0.95 || found < nearest*(1-1e-9) || found > nearest*1.05 {
				t.Errorf("model %d, %v: radius %v, noise found %v, want %v", k, norm, got, found, nearest)
			}
		}
	}
}

// Radii of two layers are within a factor of 2 of what the attack finds, in the
// median.
func TestCrownIsTight(t *testing.T) {
	rng := newRand(37)
	var ratios []float64
	for range 12 {
		m, err := gnn.NewRandom(gnn.Config{
			In: 1, Features: 16, Outputs: 5, Wide: &gnn.WideConfig{Order: 3},
			Deep: []gnn.LayerConfig{{Order: 3, Features: 16}, {Order: 3, Features: 16}},
		}, rng)
		if err != nil {
			t.Fatal(err)
		}
		d := &doubted{model: m, shift: sparse32(t, randomGraph(rng, 30, false), 30), x: mat32(randomSignal(rng, 30), 30), node: rng.IntN(30)}
		kase := d.crown(L2).Case(Signal(d.x))
		class := argmax(kase.outputs(d.node))
		if r, f := kase.Radius(d.node, class), kase.Found(d.node, class); r > 0 && !math.IsInf(f, 0) {
			ratios = append(ratios, f/r)
		}
	}
	if m := median(ratios); len(ratios) < 9 || m > 2 {
		t.Errorf("attack over radius %v in the median of %d, want at most 2", m, len(ratios))
	} else {
		t.Logf("attack over radius %.3f in the median", m)
	}
}
