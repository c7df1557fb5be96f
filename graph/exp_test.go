package graph

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime/pprof"
	"testing"
	"time"
)

func TestExp(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	beat := make(chan []Edge, 1)
	go func() {
		var last []Edge
		for {
			select {
			case last = <-beat:
			case <-time.After(3 * time.Second):
				fmt.Printf("STUCK %#v\n", last)
				pprof.Lookup("goroutine").WriteTo(os.Stdout, 2)
				os.Exit(1)
			}
		}
	}()
	for range 200000 {
		n := 2 + rng.IntN(6)
		dir := rng.IntN(2) == 0
		var edges []Edge
		for i := range n {
			for j := range n {
				if (j > i || dir && j != i) && rng.Float64() < 0.5 {
					edges = append(edges, Edge{i, j, math.Pow(10, rng.Float64()*82-44)})
				}
			}
		}
		beat <- edges
		g, err := FromEdges(n, edges, dir)
		if err != nil {
			continue
		}
		for s := range Shift(6) {
			s.Of(g)
		}
	}
}
