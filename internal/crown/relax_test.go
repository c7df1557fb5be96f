package crown

import (
	"math"
	"testing"

	"github.com/wdgnn/wdgnn/gnn"
)

// The lines of every nonlinearity hold it between them, and touch it or come near.
func TestRelaxationsHold(t *testing.T) {
	rng := newRand(35)
	for range 20_000 {
		a := gnn.Activation(rng.IntN(4))
		l := 6 * rng.NormFloat64() * math.Pow(10, -4*rng.Float64())
		u := l + math.Pow(10, 2-8*rng.Float64())
		ln := relax(a, l, u)
		low, high := math.Inf(1), math.Inf(1)
		for k := range 101 {
			h := l + (u-l)*float64(k)/100
			v := []float64{h}
			activate(a, v)
			below, above := v[0]-(ln.lowSlope*h+ln.low), ln.highSlope*h+ln.high-v[0]
			if below < -1e-12*(1+math.Abs(h)) || above < -1e-12*(1+math.Abs(h)) {
				t.Fatalf("%v on [%v, %v]: lines %+v miss σ(%v) = %v by %v and %v", a, l, u, ln, h, v[0], below, above)
			}
			low, high = min(low, below), min(high, above)
		}
		if room := 0.02 * min(u-l, 1); low > room+1e-9 || high > room+1e-9 {
			t.Fatalf("%v on [%v, %v]: lines %+v stay %v and %v away", a, l, u, ln, low, high)
		}
	}
}
