package graph

import (
	"errors"
	"fmt"
	"math/rand/v2"
)

// SBMConfig describes a stochastic block model: nodes fall into blocks, and
// the probability of an edge depends on whether its ends share one. Nodes are
// numbered block by block.
type SBMConfig struct {
	Sizes []int   // nodes per block, each ≥ 1; at least one block
	Intra float64 // probability of an edge inside a block, 0 ≤ p ≤ 1; the zero value is no edge
	Inter float64 // probability of an edge between two blocks, 0 ≤ p ≤ 1; the zero value is no edge
}

// Validate reports everything that is wrong with c.
func (c SBMConfig) Validate() error {
	var errs []error
	if len(c.Sizes) == 0 {
		errs = append(errs, errors.New("no blocks; give the number of nodes of each"))
	}
	total := 0
	for b, size := range c.Sizes {
		if size < 1 || nodeCount(size) != nil || nodeCount(total+size) != nil {
			errs = append(errs, fmt.Errorf("block %d of %d nodes; want at least 1 and a sum that fits an int32", b, size))
			continue
		}
		total += size
	}
	return errors.Join(append(errs, probability("Intra", c.Intra), probability("Inter", c.Inter))...)
}

// SBM draws an undirected, unweighted graph from the model. One uniform is
// drawn per pair of nodes, whatever the probabilities: two draws from equal
// generators are nested if their probabilities are ordered.
func SBM(c SBMConfig, rng *rand.Rand) (*Graph, error) {
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("graph: SBM: %w", err)
	}
	var block []int
	for b, size := range c.Sizes {
		for range size {
			block = append(block, b)
		}
	}
	return drawPairs(len(block), rng, func(i, j int) float64 {
		if block[i] == block[j] {
			return c.Intra
		}
		return c.Inter
	}), nil
}

// ErdosRenyi draws an undirected, unweighted graph on n nodes in which every
// edge is present with probability p, 0 ≤ p ≤ 1, independently of the others.
// Two draws from equal generators are nested if their probabilities are
// ordered.
func ErdosRenyi(n int, p float64, rng *rand.Rand) (*Graph, error) {
	if err := errors.Join(nodeCount(n), probability("p", p)); err != nil {
		return nil, fmt.Errorf("graph: ErdosRenyi: %w", err)
	}
	return drawPairs(n, rng, func(int, int) float64 { return p }), nil
}

// UntilConnected returns the first connected graph that draw gives, or an
// error after tries draws without one. It is how the paper's source
// localisation gets its graph:
//
//	g, err := graph.UntilConnected(100, func() (*graph.Graph, error) { return graph.SBM(c, rng) })
func UntilConnected(tries int, draw func() (*Graph, error)) (*Graph, error) {
	for range tries {
		g, err := draw()
		if err != nil {
			return nil, err
		}
		if g.Connected() {
			return g, nil
		}
	}
	return nil, fmt.Errorf("graph: UntilConnected: none of %d draws is connected; try more draws or a higher edge probability", tries)
}

// drawPairs keeps the pair i < j with the given probability. Pairs are visited
// row by row, one uniform each.
func drawPairs(n int, rng *rand.Rand, prob func(i, j int) float64) *Graph {
	var pairs []pair
	for i := range n {
		for j := i + 1; j < n; j++ {
			if rng.Float64() < prob(i, j) { // Float64 < 1, so probability 1 keeps all
				pairs = append(pairs, pair{int32(i), int32(j)})
			}
		}
	}
	return fromPairs(n, pairs)
}

// probability reports a value outside 0 ≤ p ≤ 1.
func probability(name string, p float64) error {
	if p >= 0 && p <= 1 { // false for NaN
		return nil
	}
	return fmt.Errorf("%s is %v; want a probability, 0 to 1", name, p)
}
