package theory_test

import (
	"context"
	"fmt"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/crown"
	"github.com/wdgnn/wdgnn/internal/paper/theory"
	"github.com/wdgnn/wdgnn/random"
)

// How much can the outputs of a model change if a ring of ten nodes loses a
// link?
func ExampleNewStability() {
	ring := graph.Ring(10)
	torn, err := graph.NewOutage(ring, random.Stream(1, "links")).At(0.1)
	if err != nil {
		fmt.Println(err)
		return
	}
	s, _ := graph.ShiftSymmetric.Of(ring)
	sHat, _ := graph.ShiftSymmetric.Of(torn)
	m, err := gnn.NewRandom(gnn.Config{In: 1, Features: 1, Wide: &gnn.WideConfig{Order: 2}, NoBias: true}, random.Stream(1, "model"))
	if err != nil {
		fmt.Println(err)
		return
	}
	pair, err := theory.NewPair(crown.NewShift(s), crown.NewShift(sHat))
	if err != nil {
		fmt.Println(err)
		return
	}
	stability := theory.NewStability(crown.NewNetwork(m), pair)
	x := make([]float64, 10)
	x[0] = 1
	change := stability.Measure(pair, x)
	fmt.Println("links lost:", ring.Edges()-torn.Edges())
	fmt.Println("the certificate holds:", change.Change <= change.Any)
	fmt.Println("and is below the theorem's bound:", change.Any < stability.Paper(1))
	// Output:
	// links lost: 1
	// the certificate holds: true
	// and is below the theorem's bound: true
}

// Two squared errors whose optimum moves from 1 to 1.5: with γ = 1 a gradient
// step halves the distance, and the drift adds to it.
func ExampleTrack() {
	cost := func(target float64) *theory.Problem {
		return &theory.Problem{Kind: theory.Quadratic, Inputs: 1, Outputs: 1, Rows: []theory.Row{{
			Input: []float64{0.5}, Base: []float64{0}, Target: []float64{target / 2}, Share: 1,
		}}}
	}
	costs := []*theory.Problem{cost(1), cost(1.5)}
	curvature, err := costs[0].Curvature()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("C_s = %.1f, safe below γ = %.0f\n", curvature.Smooth, curvature.SafeStep())
	path := theory.Descend(costs, []float64{0}, 1)
	t, err := theory.Track(context.Background(), costs, nil, path, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("distance %.2f, bound %.2f\n", t.Measured[1], t.PerStep[1])
	// Output:
	// C_s = 0.5, safe below γ = 4
	// distance 1.00, bound 1.00
}

// One round of Metropolis mixing on a ring leaves at most σ₂ of a disagreement.
func ExampleNewMixer() {
	w, err := graph.Metropolis(graph.Ring(6))
	if err != nil {
		fmt.Println(err)
		return
	}
	m, err := theory.NewMixer(w)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("σ₂ = %.3f\n", m.Second)
	fmt.Printf("C_ε of Theorem 3 = 10^%.0f\n", theory.PaperConstant(6, 1, m.Smallest))
	// Output:
	// σ₂ = 0.667
	// C_ε of Theorem 3 = 10^6
}
