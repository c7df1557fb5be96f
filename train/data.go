package train

import (
	"math/rand/v2"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/random"
)

// Data is a set of samples that a model can be run on.
type Data interface {
	// Len returns the number of samples.
	Len() int

	// PassRows returns how many rows one sample adds to a pass. Run uses it
	// to cut large batches into passes that fit the cache.
	PassRows() int

	// Fill makes p a pass over the given samples. Memory of p may be reused;
	// it is valid until the next Fill with the same p. Everything random
	// comes from draw.
	Fill(p *Pass, samples []int, draw Draw) error
}

// Pass is one run of a model over some samples: its input, and the loss of its
// output.
type Pass struct {
	Input gnn.Input
	Rows  []int // target row of every output row; see Objective
	Loss  loss.Loss

	scratch scratch
}

// Draw names the randomness of one batch. All passes over a batch get the same
// Draw.
type Draw struct {
	Seed    uint64
	Restart int // how often training began anew
	Step    int // batches since it began
}

// Rand returns the batch's generator for the given purpose.
func (d Draw) Rand(purpose string) *rand.Rand {
	return random.Stream(d.Seed, purpose, d.Restart, d.Step)
}
