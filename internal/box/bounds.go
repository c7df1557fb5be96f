package box

import (
	"fmt"
	"math"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/rule"
)

const (
	// roomForRows is how many times as long as in training a neighbour's row
	// may be.
	roomForRows = 4

	// boundless is the longest row where nothing is known of training: numbers
	// stay finite, no more. leastGuess is the shortest bound that is guessed.
	boundless, leastGuess = 1e9, 100
)

// HonestRows is how long rows of training are at most, as a share of those bounds.
const HonestRows = 1.0 / roomForRows

// MaxRows returns the longest rows that agents with this model accept from
// neighbours, by layer and hop, unless their configuration says otherwise.
func MaxRows(m *modelfile.Model) ([]float64, error) {
	rows, _, err := maxRows(m)
	return rows, err
}

// maxRows returns the longest rows that are accepted from neighbours, by layer
// and hop, and in words where they come from. A file that says nothing of rows
// was written before files did; see guessRows. A layer that was silent in training
// may speak when links are lost: no bound is below that of the inputs.
func maxRows(m *modelfile.Model) ([]float64, string, error) {
	norms, found := m.RowNorms()
	source := fmt.Sprintf("rows at most %d times as long as in training", roomForRows)
	if !found {
		moment, err := momentOf(m)
		if err != nil {
			return nil, "", err
		}
		norms, source = guessRows(m, moment)
	}
	if want := agent.Hops(m.Network); len(norms) != want {
		return nil, "", fmt.Errorf("model: tensor online.row_norms has %d numbers, want %d, one per row that a node sends; train the model again",
			len(norms), want)
	}
	most, inputs := make([]float64, len(norms)), 0.0
	if len(norms) > 0 {
		inputs = norms[0]
	}
	for k, v := range norms {
		if !(v >= 0) {
			return nil, "", fmt.Errorf("model: tensor online.row_norms: number %d is %v, want 0 or more; train the model again", k, v)
		}
		most[k] = roomForRows * max(v, inputs)
	}
	return most, source, nil
}

// guessRows bounds rows by what an older file holds: the mean squares of shifted
// inputs over so many observations, of which none can have been larger than all
// together, and the filters that they go through. Observations are those of the
// nodes that were read, and others may see larger signals: no bound is below
// leastGuess. Without them it gives a number that keeps sums finite.
func guessRows(m *modelfile.Model, moment *rule.SecondMoment) ([]float64, string) {
	net := m.Network
	norms := make([]float64, agent.Hops(net))
	if moment == nil || moment.Inputs < net.Config.In {
		for k := range norms {
			norms[k] = boundless / roomForRows
		}
		return norms, fmt.Sprintf("rows no longer than %.0e: the model file does not say how long they were in training; train the model again",
			boundless)
	}
	longest, at := float64(leastGuess)/roomForRows, 0
	for hop := range net.InputOrder() {
		if (hop+1)*net.Config.In <= moment.Inputs { // of hops that the wide part reads
			longest = max(longest, inputNorm(moment, hop, net.Config.In))
		}
		norms[at] = longest
		at++
	}
	for l := 1; l < len(net.Params.Deep); l++ {
		longest = through(&net.Params.Deep[l-1], longest)
		if m.Meta.Shift == graph.ShiftAdjacency || m.Meta.Shift == graph.ShiftLaplacian {
			longest = boundless / roomForRows // grows with the number of neighbours
		}
		for range net.Params.Deep[l].Order() {
			norms[at] = longest
			at++
		}
	}
	return norms, "rows no longer than the inputs and filters of the model file allow; train the model again for closer bounds"
}

// inputNorm returns the largest norm that any of the observations of a moment
// can have had at a hop.
func inputNorm(m *rule.SecondMoment, hop, features int) float64 {
	sum := 0.0
	for k := hop * features; k < (hop+1)*features; k++ {
		sum += m.Mean[k*(m.Inputs+1)+k]
	}
	return math.Sqrt(m.Count * sum)
}

// through returns the largest norm of what a layer makes of rows of a norm, if
// shifts lengthen none: ‖h‖ ≤ Σ_k ‖B_k‖ ‖z‖ + ‖b‖, and no activation adds to it.
func through(f *gnn.Filter, longest float64) float64 {
	sum := 0.0
	for _, tap := range f.Taps {
		square := 0.0
		for i := range tap.Rows {
			square += squared(tap.Row(i))
		}
		sum += math.Sqrt(square) * longest
	}
	return sum + math.Sqrt(squared(f.Bias))
}

func squared(v []float32) float64 {
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	return sum
}
