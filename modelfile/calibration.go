package modelfile

import (
	"fmt"
	"slices"
)

// Names of the tensors that hold a calibration, all of float64.
const (
	calibratedName = "online.scores.node"  // that have scores of their own, 1×R
	countsName     = "online.scores.count" // how many scores, (R+1)×W: by node and output, and in the last row of all nodes
	scoresName     = "online.scores"       // one after the other in that order, 1×sum of counts
)

// Calibration is how answers of a model turned out on samples that it was not
// trained on: their scores as package conformal has them, oldest first. From
// answers to classes there is one list of scores, otherwise one for each output.
type Calibration struct {
	Nodes  []int         // that have scores of their own, ascending
	Scores [][][]float64 // theirs, by node and output
	Pooled [][]float64   // scores of all nodes together, by output
}

// Of returns the scores of a node, by output, and whether they are its own; if
// not, they are those of all nodes together.
func (c *Calibration) Of(node int) (scores [][]float64, own bool) {
	at, found := slices.BinarySearch(c.Nodes, node)
	if !found {
		return c.Pooled, false
	}
	return c.Scores[at], true
}

// Begin returns the scores with which a node begins, by output: those of all nodes
// and then, as the latest, its own; nil if training did not read it, and nothing is
// known of its answers. Read is Meta.Nodes.
func (c *Calibration) Begin(node int, read []int) [][]float64 {
	scores, own := c.Of(node)
	switch {
	case !own && len(read) > 0 && !slices.Contains(read, node):
		return nil
	case !own:
		return scores
	}
	all := make([][]float64, len(scores))
	for k := range all {
		all[k] = slices.Concat(c.Pooled[k], scores[k])
	}
	return all
}

// SetCalibration stores how answers turned out; without pooled scores it stores
// nothing.
func (m *Model) SetCalibration(c *Calibration) {
	lists := slices.Concat(append(slices.Clone(c.Scores), c.Pooled)...)
	all := slices.Concat(lists...)
	if len(all) == 0 {
		return
	}
	if m.Precise == nil {
		m.Precise = map[string]Float64s{}
	}
	counts := make([]float64, len(lists))
	for k, list := range lists {
		counts[k] = float64(len(list))
	}
	m.Precise[countsName] = Float64s{Rows: len(c.Nodes) + 1, Cols: len(c.Pooled), Data: counts}
	m.Precise[scoresName] = Float64s{Rows: 1, Cols: len(all), Data: all}
	delete(m.Precise, calibratedName)
	if len(c.Nodes) > 0 {
		nodes := make([]float64, len(c.Nodes))
		for k, i := range c.Nodes {
			nodes[k] = float64(i)
		}
		m.Precise[calibratedName] = Float64s{Rows: 1, Cols: len(nodes), Data: nodes}
	}
}

// Calibration returns what SetCalibration stored, nil if there is nothing. What
// does not hold together is an error.
func (m *Model) Calibration() (*Calibration, error) {
	counts, found := m.Numbers(countsName)
	if !found {
		return nil, nil
	}
	nodes, _ := m.Numbers(calibratedName)
	scores, _ := m.Numbers(scoresName)
	if counts.Rows != len(nodes.Data)+1 {
		return nil, fmt.Errorf("modelfile: calibration: %s is %d×%d for %d nodes", countsName, counts.Rows, counts.Cols, len(nodes.Data))
	}
	c, before, rest := new(Calibration), -1, scores.Data
	for _, v := range nodes.Data {
		if !whole(v) || int(v) <= before {
			return nil, fmt.Errorf("modelfile: calibration: %s holds %v after %d, want nodes in ascending order", calibratedName, v, before)
		}
		before = int(v)
		c.Nodes = append(c.Nodes, before)
	}
	for row := range slices.Chunk(counts.Data, counts.Cols) {
		var lists [][]float64
		for _, n := range row {
			if !whole(n) || int(n) > len(rest) {
				return nil, fmt.Errorf("modelfile: calibration: %s holds %v, %d scores are left", countsName, n, len(rest))
			}
			lists = append(lists, rest[:int(n):int(n)])
			rest = rest[int(n):]
		}
		c.Scores = append(c.Scores, lists)
	}
	if len(rest) > 0 {
		return nil, fmt.Errorf("modelfile: calibration: %s holds %d scores more than %s says", scoresName, len(rest), countsName)
	}
	c.Pooled, c.Scores = c.Scores[len(c.Nodes)], c.Scores[:len(c.Nodes)]
	return c, nil
}

// whole says whether v is a whole number from 0 that an int32 can hold.
func whole(v float64) bool { return v >= 0 && v < 1<<31 && v == float64(int32(v)) }
