package flocking_test

import (
	"fmt"

	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/scenario/flocking"
)

// The expert brings 50 robots to one velocity within two seconds.
func ExampleFly() {
	swarm, err := flocking.New(flocking.Default(), random.Stream(1, "swarm"))
	if err != nil {
		fmt.Println(err)
		return
	}
	flight, err := flocking.Fly(swarm, flocking.Expert)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("velocity variation from %.1f to %.3f\n", flight.Variation[0], flight.Final())
	fmt.Println("connected at", flight.Connected(), "of", len(flight.Variation), "steps")
	// Output:
	// velocity variation from 5.7 to 0.003
	// connected at 200 of 200 steps
}
