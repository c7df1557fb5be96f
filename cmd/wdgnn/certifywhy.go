package main

import (
	"math"

	"github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/internal/paper/certify"
)

// explainStability says what Theorem 1 and the direct certificate say, and why their
// numbers are what they are.
func explainStability(w *lines, s *certify.StabilityReport) {
	w.printf("\n  What it says\n")
	w.printf("  The direct certificate bounds how far all outputs together can move, as one vector, for this one change of the\n")
	w.printf("  graph and any signal as large, whatever activations do on the way. It holds however large the change is; it says nothing\n")
	w.printf("  of single answers, which certify without --paper tries one by one.\n")
	if math.IsNaN(float64(s.Epsilon)) || math.IsNaN(float64(s.IntegralLipschitz)) {
		return
	}
	w.printf("  Theorem 1 bounds the same by 2 C_L C_Ψ (1 + 8√N) ‖X‖ ε, for ε → 0. Here ε = %s", number(s.Epsilon))
	if float64(s.Epsilon) > 0.1 {
		w.printf(", far from 0, and what\n  it leaves out, O(ε²), is not small")
	}
	w.printf(".\n  1 + 8√N = %s takes the worst misalignment of eigenvectors, C_Ψ = %s as many features as there are, all of them\n",
		number(1+8*math.Sqrt(float64(s.Nodes))), number(s.Architecture))
	w.printf("  as sharp as the sharpest filter, C_L = %s, and all at once: that is why it is so much more than was measured.\n",
		number(s.IntegralLipschitz))
}

// explainTracking does so for Theorems 2 and 3.
func explainTracking(w *lines, o *certify.OnlineReport) {
	w.printf("\n  What it says\n")
	w.printf("  An optimum that moves by C_B a step is followed by steps that shrink the distance to it by m < 1: Theorem 2 has the\n")
	w.printf("  distance settle at C_B/(1 - m). A cost that is flat in some direction, as on few rows, has m = 1 there and no bound;\n")
	w.printf("  a ridge bends it, and the nearer m is to 1 the larger is the bound.\n")
	if m := o.Mixing; m != nil && o.Mode == config.Distributed {
		w.printf("  Theorem 3 adds what nodes differ by. To the letter it counts how long news takes through the network with the\n")
		w.printf("  smallest weight of W, %s, at every hop, to a power of the number of nodes: hence 10 to the power of %s. Ours\n",
			number(m.Smallest), number(m.PaperBound))
		w.printf("  takes σ₂ of W, how fast mixing really forgets.\n")
	}
}
