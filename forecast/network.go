package forecast

import (
	"fmt"
	"math"

	"github.com/wdgnn/wdgnn/mat"
)

// Ear adds up what a node hears of its neighbours' readings: the weighted mean of
// input 0, the newest reading, over neighbours whose flag says that it is no
// estimate. Neighbours are heard in ascending order, so that all who hear the same
// have the same bits. The zero Ear has heard nothing.
type Ear struct{ sum, weight float64 }

// Hear adds the row of inputs that a neighbour sent, with the weight a_ij of the link;
// a weight that is not positive counts nothing.
func (e *Ear) Hear(s *Spec, weight float32, row []float32) { e.add(weight, row[0], row[s.Flag()]) }

func (e *Ear) add(weight, newest, flag float32) {
	if flag != 0 || newest-newest != 0 || !(weight > 0) {
		return
	}
	w := float64(weight)
	e.sum += float64(w * float64(newest))
	e.weight += w
}

// Near returns the mean; false if nobody was heard.
func (e *Ear) Near() (near float32, heard bool) {
	if e.weight <= 0 {
		return 0, false
	}
	return float32(e.sum / e.weight), true
}

// Network is all sensors of a network in one process. It is not safe for concurrent
// use.
type Network struct {
	spec    *Spec
	sensors []*Sensor // nil for a newcomer that nobody knows yet
	before  *mat.CSR  // links of the step before; nil at first
	step    uint64    // the step before
	newest  []float32 // input 0 of the step before
	flags   []float32 // and its flag
	scratch newcomerScratch
}

type newcomerScratch struct {
	near    []int
	weights []float32
}

// NewNetwork returns a network of the sensors of s and, if there are more nodes, of
// newcomers behind them. A newcomer has the mean norm of the trained sensors that it
// hears in the first step in which it hears one; until then it gives no inputs but
// 0, a flag, and the calendar, and knows no truth.
func NewNetwork(s *Spec, nodes int) *Network {
	n := &Network{spec: s, sensors: make([]*Sensor, nodes), newest: make([]float32, nodes), flags: make([]float32, nodes)}
	for i := range min(nodes, len(s.Norms)) {
		n.sensors[i] = NewSensor(s, &s.Norms[i])
	}
	return n
}

// Read takes what all nodes read at step t and writes their inputs, a row each.
//
//	rows      N×F
//	readings  N×(1+Extras), in the user's units; NaN and Spec.Missing are no reading
//	truths    N, in the user's units, NaN unknown; nil if a reading is its own truth
//	links     N×N, the adjacency matrix: row i holds whom i hears
//
// What a node hears of step t, it uses at step t+1. Read allocates nothing unless a
// newcomer joins.
func (n *Network) Read(rows mat.Dense, t uint64, readings mat.Dense, truths []float32, links *mat.CSR) {
	nodes := len(n.sensors)
	if rows.Rows != nodes || readings.Rows != nodes || truths != nil && len(truths) != nodes || links.Rows != nodes {
		panic(fmt.Sprintf("forecast: Read: %d rows, %d readings and %d links for %d nodes", rows.Rows, readings.Rows, links.Rows, nodes))
	}
	for i := range n.sensors {
		if n.sensors[i] == nil {
			n.settle(i, links)
		}
		row := rows.Row(i)
		if n.sensors[i] == nil {
			n.spec.Absent(row, t)
			continue
		}
		near, heard := n.near(i, t)
		truth, told := float32(0), truths != nil
		if told {
			truth = truths[i]
		}
		n.sensors[i].Read(row, t, readings.Row(i), truth, told, near, heard)
	}
	for i := range n.sensors {
		row := rows.Row(i)
		n.newest[i], n.flags[i] = row[0], row[n.spec.Flag()]
	}
	n.before, n.step = links, t
}

// near returns what node i heard in the step before t; nothing if that was skipped.
func (n *Network) near(i int, t uint64) (float32, bool) {
	if n.before == nil || n.step+1 != t {
		return 0, false
	}
	var e Ear
	columns, weights := n.before.Row(i)
	for k, j := range columns {
		if int(j) != i {
			e.add(weights[k], n.newest[j], n.flags[j])
		}
	}
	return e.Near()
}

// settle gives newcomer i a norm if it hears a trained sensor.
func (n *Network) settle(i int, links *mat.CSR) {
	columns, weights := links.Row(i)
	n.scratch.near, n.scratch.weights = n.scratch.near[:0], n.scratch.weights[:0]
	for k, j := range columns {
		if int(j) != i {
			n.scratch.near, n.scratch.weights = append(n.scratch.near, int(j)), append(n.scratch.weights, weights[k])
		}
	}
	norm, ok := n.spec.Newcomer(n.scratch.near, n.scratch.weights)
	if !ok {
		return
	}
	n.sensors[i] = NewNewcomer(n.spec, norm)
}

// Sensor returns that of node i; nil for a newcomer that has heard nobody yet.
func (n *Network) Sensor(i int) *Sensor { return n.sensors[i] }

// Truths writes what the world was at the step just read, by node, in normalised
// units; NaN where nobody knows.
func (n *Network) Truths(dst []float32) {
	for i, s := range n.sensors {
		dst[i] = float32(math.NaN())
		if s == nil {
			continue
		}
		if v, ok := s.Truth(); ok {
			dst[i] = v
		}
	}
}

// Memory returns copies of what all sensors remember; without lags for a newcomer
// that has heard nobody yet.
func (n *Network) Memory() []Memory {
	all := make([]Memory, len(n.sensors))
	for i, s := range n.sensors {
		if s != nil {
			all[i] = s.Memory()
		}
	}
	return all
}

// Restore makes the network go on from what Memory returned, of the first nodes if
// there are fewer; links are those of the last step. Sensors whose memory is
// restored go on with the same bits.
func (n *Network) Restore(all []Memory, links *mat.CSR) error {
	if len(all) > len(n.sensors) {
		return fmt.Errorf("forecast: restore %d sensors in a network of %d", len(all), len(n.sensors))
	}
	if links != nil && (links.Rows != len(n.sensors) || links.Cols != len(n.sensors)) {
		return fmt.Errorf("forecast: restore: links of %d×%d nodes in a network of %d", links.Rows, links.Cols, len(n.sensors))
	}
	for i := range n.flags {
		n.newest[i], n.flags[i] = 0, 1
	}
	for i := range all {
		if err := n.restore(i, &all[i]); err != nil {
			return err
		}
	}
	n.before = links
	return nil
}

func (n *Network) restore(i int, m *Memory) error {
	if i >= len(n.spec.Norms) {
		n.sensors[i] = nil
		if m.Norm == nil {
			return nil
		}
		n.sensors[i] = NewNewcomer(n.spec, *m.Norm)
	}
	if err := n.sensors[i].Restore(*m); err != nil {
		return fmt.Errorf("node %d: %w", i, err)
	}
	if m.Started {
		n.newest[i], n.flags[i], n.step = m.Lags[0], flag(m.Estimated), max(n.step, m.Step)
	}
	return nil
}
