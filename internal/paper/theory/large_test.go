package theory

import (
	"math"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/crown"
	"github.com/wdgnn/wdgnn/random"
)

// Beyond MostDense nodes nothing needs more than extreme eigenvalues: C_L is over
// [-λmax, λmax], the certificate holds, and what is missing is said.
//
// Reference: Theorem 1.
func TestLargeGraphUsesExtremeEigenvalues(t *testing.T) {
	const n = MostDense + 1
	ring := graph.Ring(n)
	torn, err := graph.NewOutage(ring, random.Stream(1, "links")).At(0.1)
	if err != nil {
		t.Fatal(err)
	}
	s, sHat := ring.Adjacency(), torn.Adjacency()
	p, err := NewPair(crown.NewShift(s), crown.NewShift(sHat))
	if err != nil {
		t.Fatal(err)
	}
	if p.Values != nil || p.Relative.Computed || p.Over.High < 2*(1-1e-6) || p.Over.High > 2.1 || p.Over.Low != -p.Over.High {
		t.Errorf("got an interval of %v and %d eigenvalues, want ±λmax = ±2 and none", p.Over, len(p.Values))
	}
	f := crown.Filter{Name: "wide", In: 1, Out: 1, Taps: [][]float64{{0.3}, {-0.2}, {0.1}}}
	st := NewStability(&crown.Network{In: 1, Features: 1, Outputs: 1, Wide: &f, GainWide: 1}, p)
	want, _ := Responses(&f)[0].IntegralLipschitz(Interval{-2, 2})
	if st.IntegralLipschitz < want*(1-1e-6) || st.IntegralLipschitz > 1.2*want {
		t.Errorf("C_L: got %v, want %v over [-2, 2]", st.IntegralLipschitz, want)
	}
	m := st.Measure(p, randomSignal(newRand(97), n))
	if !(m.Change > 0 && m.Change <= m.Known && m.Known <= m.Any) || !math.IsNaN(st.Paper(1)) || !math.IsNaN(st.Extended(1)) {
		t.Errorf("got a change of %v, certificates %v and %v, Theorem 1 %v; want them ordered, and no claim",
			m.Change, m.Known, m.Any, st.Paper(1))
	}
	missing := strings.Join(st.Missing(), "; ")
	for _, text := range []string{"ε, δ and the bounds of Theorem 1", "[-λmax, λmax]", "eq. (12)"} {
		if !strings.Contains(missing, text) {
			t.Errorf("missing numbers: got %q, want it to name %q", missing, text)
		}
	}
}
