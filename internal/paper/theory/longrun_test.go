package theory

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/wdgnn/wdgnn/internal/vector"
)

// hardProblem draws a cost as runs have them: inputs in float32, at times so nearly
// collinear that a direction is cut, and targets far away.
func hardProblem(rng *rand.Rand, kind Kind, inputs, outputs int) *Problem {
	p := randomProblem(rng, kind, inputs, outputs, inputs+1+rng.IntN(4))
	ripple, far := 1.0, 1.0
	if rng.IntN(2) == 0 {
		ripple = 2e-6
	}
	if rng.IntN(2) == 0 {
		far = 100
	}
	for i := range p.Rows {
		r := &p.Rows[i]
		for k := range r.Input {
			r.Input[k] = float64(float32(1 + ripple*r.Input[k]))
		}
		vector.Scale(r.Target, far)
	}
	return p
}

// rounded rounds to float32 what a step leaves.
func rounded(w []float64) {
	for k, v := range w {
		w[k] = float64(float32(v))
	}
}

// longInstances is how many long runs a bound must survive.
func longInstances() int { return instances() / 5 }

// Runs of a hundred steps and more, with columns that are nearly collinear, in
// float64 and in float32: no error is above either bound by more than float64
// rounds.
//
// Reference: Theorem 2.
func TestTrackingBoundHoldsForLongRuns(t *testing.T) {
	t.Parallel()
	rng := newRand(140)
	cut, arrived := 0, 0
	for k := range longInstances() {
		kind := Kind(k % 2)
		inputs, outputs, steps := 1+rng.IntN(3), 1+rng.IntN(2), 100+rng.IntN(200)
		if kind == CrossEntropy {
			outputs = 2
		}
		p := hardProblem(rng, kind, inputs, outputs)
		if kind == CrossEntropy || rng.IntN(2) == 0 {
			p.Ridge = rng.Float64()
		}
		c, err := p.Curvature()
		if err != nil {
			t.Fatal(err)
		}
		if c.Rank < c.Dim {
			cut++
		}
		gamma := (0.05 + 1.9*rng.Float64()) / c.Smooth
		w := make([]float64, p.Len())
		if k%4 < 2 { // some begin at the optimum, as far as it is one
			o, err := p.Optimum(w)
			if err != nil {
				t.Fatal(err)
			}
			w = o.W
		}
		var costs []*Problem
		var path [][]float64
		for range steps {
			costs, path = append(costs, p), append(path, w)
			if w = p.Step(w, gamma); k%3 == 0 {
				rounded(w)
			}
		}
		track, err := Track(context.Background(), costs, nil, path, gamma)
		if err != nil {
			t.Fatal(err)
		}
		size := vector.Norm(track.Optima[0].W)
		for i, e := range track.Measured {
			if above(e, track.PerStep[i]+1e-13*size) || above(e, track.Paper[i]+1e-13*size) || above(track.PerStep[i], track.Paper[i]) {
				t.Fatalf("instance %d, step %d: error %v, recursion %v, paper %v", k, i, e, track.PerStep[i], track.Paper[i])
			}
		}
		if last := steps - 1; track.PerStep[last] < 1e-6*(1+size) {
			arrived++
		}
	}
	if n := longInstances(); cut < n/10 || arrived < n/20 {
		t.Errorf("of %d runs %d have a direction that is cut and %d end close to the optimum: the test asks for too little", n, cut, arrived)
	}
}

// So for networks of up to 60 nodes with mixing matrices in float32.
//
// Reference: Theorem 3, doc/theory.md "Distributed learning with σ₂".
func TestConsensusBoundHoldsForLongRuns(t *testing.T) {
	rng := newRand(141)
	large, arrived := 0, 0
	for k := range longInstances() / 2 {
		n := 2 + rng.IntN(12)
		if k%20 == 0 {
			n = 20 + rng.IntN(41)
			large++
		}
		density := 0.2 + 0.8*rng.Float64()
		mixer, err := NewMixer(inFloat32(n, metropolis(n, func(i, j int) bool { return i == j+1 || rng.Float64() < density })))
		if err != nil {
			t.Fatal(err)
		}
		inputs := 1 + rng.IntN(2)
		local := make([]*Problem, n)
		alike := k%2 == 0 // all want the same, and arrive
		for i := range local {
			if local[i] = hardProblem(rng, Quadratic, inputs, 1); alike && i > 0 {
				local[i] = local[0]
			}
			local[i].Ridge, local[i].Root = 0.5, nil
			if k%5 == 0 {
				local[i].Ridge = 0
			}
		}
		o, err := Mean(local).Optimum(make([]float64, inputs))
		if err != nil {
			t.Fatal(err)
		}
		s, err := NewConsensusStep(local, o.W, mixer, 0)
		if err != nil {
			t.Fatal(err)
		}
		gamma := s.SafeStep(n) / 2
		now := make([][]float64, n)
		for i := range now {
			if now[i] = make([]float64, inputs); k%5 == 0 { // as far as it is an optimum
				copy(now[i], o.W)
			}
		}
		if k%5 == 0 {
			gamma = 0.1 / s.Most
		}
		var all []ConsensusStep
		var at []ConsensusError
		var worst []float64
		for range 150 + rng.IntN(150) {
			e, far := MeasureConsensus(now, o.W)
			at, worst = append(at, e), append(worst, far)
			next := together(local, mixer, now, gamma)
			step := s
			if k%3 == 0 {
				for i := range next {
					rounded(next[i])
				}
				step.Rest, _ = ConsensusRest(local, mixer, now, next, gamma)
			}
			all, now = append(all, step), next
		}
		bound := ConsensusBound(n, gamma, all, at[0])
		size := vector.Norm(o.W)
		for i, e := range at {
			if b := bound[i]; above(e.Mean, b.Mean+1e-13*size) || above(e.Spread, b.Spread+1e-12*size) || above(worst[i], b.Worst(n)+1e-12*size) {
				t.Fatalf("instance %d, %d nodes, step %d: measured %+v, worst %v, bound %+v", k, n, i, e, worst[i], b)
			}
		}
		if last := len(at) - 1; bound[last].Mean < 1e-6*(1+size) {
			arrived++
		}
	}
	if want := longInstances() / 2; large < want/25 || arrived < want/20 {
		t.Errorf("of %d networks %d are large and %d end close to the optimum: the test asks for too little", want, large, arrived)
	}
}
