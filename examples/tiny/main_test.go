package main

import (
	"math/rand/v2"
	"os"
	"runtime"
	"testing"
)

// What the program prints, to the digit: a change of the method shows here.
func Example() {
	run(os.Stdout)
	// Output:
	// 50 nodes, mean squared error
	// links lost   frozen   learning
	//        0 %    0.043      0.043
	//       10 %    0.054      0.051
	//       20 %    0.081      0.066
	//       30 %    0.125      0.102
	//       40 %    0.155      0.124
	//       50 %    0.188      0.142
}

// Which goroutine runs when changes no bit.
func TestSchedule(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	g := connect(func(i, j int) bool { return rng.Float64() < 0.2 })
	world := make([]signal, 100)
	for n := range world {
		world[n] = draw(g, rng)
	}
	m := &model{wide: vector{0, 1, -0.5}}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	frozen, learning := deploy(g, m, world)
	for range 3 {
		runtime.GOMAXPROCS(8)
		if f, l := deploy(g, m, world); f != frozen || l != learning {
			t.Errorf("got errors %v and %v on 8 processors, want %v and %v as on one", f, l, frozen, learning)
		}
	}
}
