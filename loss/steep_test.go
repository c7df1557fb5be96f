package loss

import (
	"math"
	"testing"

	"github.com/wdgnn/wdgnn/random"
)

// An answer near another costs at most as much more as steepness and curvature
// say: the terms of the bound that gates keep, doc/theory.md.
func TestExcess(t *testing.T) {
	const outputs = 3
	for _, name := range Names(false) {
		j := Named(name).(Targeted)
		steep, bounded := j.(Steep)
		kappa := j.Curvature(outputs)
		for k := range 20000 {
			rng := random.Stream(5, "excess "+name, k)
			y, d, near := make([]float32, outputs), make([]float64, outputs), make([]float32, outputs)
			target, scale, far := make([]float32, j.TargetLen(outputs)), math.Pow(10, 4*rng.Float64()-2), math.Pow(10, 4*rng.Float64()-2)
			for c := range y {
				y[c] = float32(scale * rng.NormFloat64())
				near[c] = float32(float64(y[c]) + far*(2*rng.Float64()-1))
				d[c] = float64(near[c]) - float64(y[c])
			}
			for c := range target {
				switch name {
				case "cross-entropy":
					target[c] = float32(rng.IntN(outputs))
				case "hinge":
					target[c] = float32(2*rng.IntN(2) - 1)
				default:
					target[c] = float32(scale * rng.NormFloat64())
				}
			}
			most, square := 0.0, 0.0
			for _, v := range d {
				most, square = max(most, math.Abs(v)), square+v*v
			}
			before, after := j.EvalTarget(nil, y, target), j.EvalTarget(nil, near, target)
			tolerance := 1e-5 * (1 + math.Abs(before) + math.Abs(after))
			if bounded {
				if limit := steep.Steepness(outputs) * most; math.Abs(after-before) > limit+tolerance {
					t.Fatalf("%s: %v away costs %v more, want at most %v", name, most, after-before, limit)
				}
			}
			for _, delta := range []float64{0.02, 0.05, 1} {
				if limit := kappa / 2 * (1 + 1/delta) * square; after-(1+delta)*before > limit+tolerance {
					t.Fatalf("%s, δ = %v: %v away costs %v above (1+δ) of %v, want at most %v", name, delta, most, after-(1+delta)*before, before, limit)
				}
			}
		}
	}
}
