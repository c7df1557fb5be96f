package conformal_test

import (
	"fmt"

	"github.com/wdgnn/wdgnn/conformal"
)

// A node asks for sets that hold the right class in 80 of 100 answers, hears what
// was right, and goes on.
func Example() {
	node := conformal.New(conformal.Config{Coverage: 0.8, Classes: true}, 3)
	answers := [][]float32{{2, 0, 0}, {0, 2, 1}, {1, 0, 3}, {2, 1, 0}, {0, 3, 2}, {1, 1.5, 0}}
	truths := []float32{0, 1, 2, 0, 2, 1}
	for t, y := range answers {
		bound := node.Bounds()[0]
		fmt.Println(bound.Set(nil, y), bound.Unknown())
		node.Judge(y, node.Bounds(), truths[t:t+1])
	}
	m := node.Meter()
	fmt.Printf("%d of %d held\n", m.Held, m.Judged)

	// Output:
	// [0 1 2] true
	// [0 1 2] true
	// [0 1 2] true
	// [0 1 2] true
	// [1] false
	// [0 1] false
	// 5 of 6 held
}
