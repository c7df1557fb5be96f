package train

import (
	"math/rand/v2"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/random"
)

// Data is a set of samples that a model can be run on. Run asks several
// goroutines to Fill at once, a Pass each; Fill must not change the Data.
type Data interface {
	// Len returns the number of samples.
	Len() int

	// Passes returns in how many passes a batch of that many samples runs, if
	// each is to have about the given number of rows: small enough for what
	// it leaves on the tape to stay in the cache.
	Passes(samples, rows int) int

	// Fill makes p pass k of passes over the given samples. Memory of p may
	// be reused; it is valid until the next Fill with the same p. Everything
	// random comes from draw.
	Fill(p *Pass, samples []int, k, passes int, draw Draw) error
}

// Pass is one run of a model over a part of a batch: its input, and the loss
// of its output.
type Pass struct {
	Input gnn.Input
	Rows  []int     // target row of every output row; see Objective
	Loss  loss.Loss // of these rows
	Share float64   // of this loss in that of the batch; all passes of a batch together have 1

	// Weight is what the loss of the batch counts for in a mean over several
	// batches: the number of its samples, less the part of them that carries
	// no loss. An Evaluator sets it to that number before Fill, which need not
	// touch it where every row carries a loss.
	Weight float64

	// Own is what the Data keeps from one Fill of this Pass to the next: memory
	// that no other thread uses.
	Own any

	scratch scratch
	memory  Memory
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

// part returns where part k of parts of n begins and ends.
func part(n, k, parts int) (lo, hi int) { return n * k / parts, n * (k + 1) / parts }
