package modelfile

import (
	"fmt"
	"maps"
	"slices"
)

// Names of the tensors that say what single nodes heard in training, one row of
// float64 each, node after node.
const (
	heardNodeName     = "online.heard.node"     // which nodes, ascending
	heardCountName    = "online.heard.count"    // how many neighbours each had
	heardNeighborName = "online.heard.neighbor" // which, ascending
	heardMomentName   = "online.heard.moment"   // lower triangle of the second moment, row by row
)

// MostHeard is how many numbers of second moments of single nodes a model file
// holds at most, 32 MiB of them; those of larger networks are left out.
const MostHeard = 1 << 22

// Heard is what one node heard in training: from whom, and the second moment of
// its inputs, of what these neighbours sent and of a 1, p×p by rows.
type Heard struct {
	Neighbors []int
	Moment    []float64
}

// SetHeard stores what single nodes heard. If the moments of all of them are more
// than MostHeard numbers none is stored. The model keeps no reference to nodes.
func (m *Model) SetHeard(nodes map[int]Heard) {
	var node, count, neighbor, moment []float64
	for _, i := range slices.Sorted(maps.Keys(nodes)) {
		h := nodes[i]
		node, count = append(node, float64(i)), append(count, float64(len(h.Neighbors)))
		for _, j := range h.Neighbors {
			neighbor = append(neighbor, float64(j))
		}
		p := root(len(h.Moment))
		for a := range p {
			moment = append(moment, h.Moment[a*p:a*p+a+1]...)
		}
	}
	if len(moment) > MostHeard {
		return
	}
	for _, t := range []struct {
		name   string
		values []float64
	}{{heardNodeName, node}, {heardCountName, count}, {heardNeighborName, neighbor}, {heardMomentName, moment}} {
		if len(t.values) == 0 {
			continue
		}
		if m.Precise == nil {
			m.Precise = map[string]Float64s{}
		}
		m.Precise[t.name] = Float64s{Rows: 1, Cols: len(t.values), Data: t.values}
	}
}

// Heard returns what SetHeard stored, nil if the model has none. The moment of a
// node with n neighbours is that of inputs + each·n values and a 1. What the
// numbers of a moment mean is for the caller to check.
func (m *Model) Heard(inputs, each int) (map[int]Heard, error) {
	var lists [3][]int
	for k, name := range []string{heardNodeName, heardCountName, heardNeighborName} {
		x, _ := m.Numbers(name)
		for _, v := range x.Data {
			if !(v >= 0 && v <= 1<<31) || v != float64(int(v)) {
				return nil, fmt.Errorf("tensor %s holds %v, want whole numbers from 0", name, v)
			}
			lists[k] = append(lists[k], int(v))
		}
	}
	nodes, counts, neighbors := lists[0], lists[1], lists[2]
	moments, _ := m.Numbers(heardMomentName)
	if len(nodes) == 0 {
		return nil, nil
	}
	if len(counts) != len(nodes) {
		return nil, fmt.Errorf("tensor %s has %d numbers, %s has %d", heardCountName, len(counts), heardNodeName, len(nodes))
	}
	all, rest := map[int]Heard{}, moments.Data
	for k, i := range nodes {
		n := counts[k]
		if n > len(neighbors) {
			return nil, fmt.Errorf("tensor %s is too short", heardNeighborName)
		}
		h := Heard{Neighbors: neighbors[:n:n]}
		neighbors = neighbors[n:]
		p := inputs + each*n + 1
		if p > len(rest) || p*(p+1)/2 > len(rest) {
			return nil, fmt.Errorf("tensor %s is too short", heardMomentName)
		}
		h.Moment, rest = unpack(rest, p), rest[p*(p+1)/2:]
		all[i] = h
	}
	if len(neighbors) > 0 || len(rest) > 0 || len(all) != len(nodes) {
		return nil, fmt.Errorf("the tensors online.heard.… hold more than %s says", heardNodeName)
	}
	return all, nil
}

// unpack returns the symmetric matrix, p×p, whose lower triangle is at the
// beginning of packed.
func unpack(packed []float64, p int) []float64 {
	full := make([]float64, p*p)
	at := 0
	for a := range p {
		for b := range a + 1 {
			full[a*p+b], full[b*p+a] = packed[at], packed[at]
			at++
		}
	}
	return full
}

// root returns the p with p² = n.
func root(n int) int {
	p := 0
	for p*p < n {
		p++
	}
	return p
}
