package online

import (
	"slices"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/rule"
)

// InputMoment returns the second moment of what the wide part of m reads,
// [X SX … SᴷX], at the given rows of samples on the shift s: [Config.Moment] of a
// model that was trained on them. It is nil for a model without a wide part. Of
// a trajectory, s is its space-time shift. Step, which may be nil, is told after
// every block how many of all samples are done; its error ends the work, and the
// moment is nil.
//
//	s: R×R   signals: (samples·R)×F, sample by sample   read: rows of a sample; nil means all
func InputMoment(
	m *gnn.WideDeep, s *mat.CSR, signals mat.Dense, read []int, e *mat.Engine, step func(done, all int) error,
) *rule.SecondMoment {
	if m.Config.Wide == nil {
		return nil
	}
	if read == nil {
		read = make([]int, s.Rows)
		for i := range read {
			read[i] = i
		}
	}
	inputs := (m.Config.Wide.Order + 1) * m.Config.In
	shifter := gnn.Shifter{Engine: e}
	shifted := mat.NewDense(s.Rows, inputs, nil)
	const work = 1 << 28                             // products between two steps, a quarter of a second of them
	block := max(min(1024, work/(inputs*inputs)), 1) // rows that are added at once
	rows := mat.NewDense(len(read)*max(block/len(read), 1), inputs, nil)
	moment, filled := new(rule.SecondMoment), 0
	for from := 0; from < signals.Rows; from += s.Rows {
		shifter.Shift(shifted, s, signals.View(from, 0, s.Rows, signals.Cols))
		for _, i := range read {
			copy(rows.Row(filled), shifted.Row(i))
			filled++
		}
		if filled == rows.Rows || from+s.Rows == signals.Rows {
			moment.Add(rows.View(0, 0, filled, inputs), inputs)
			filled = 0
			if step != nil && step(from/s.Rows+1, signals.Rows/s.Rows) != nil {
				return nil
			}
		}
	}
	return moment
}

// mostHeardWork bounds the products that HearEach takes: about two seconds of
// them. It looks at fewer samples if there are more nodes, leastHeardSamples at
// least, which say enough of 64 values.
const (
	mostHeardWork     = 1 << 31
	leastHeardSamples = 512
)

// HearEach adds to moment what single nodes hear: of every node read that has few
// enough neighbours in s its rule.Hearing with the second moment over the samples.
// It is for graphs that stay as they are but for links that are lost; where
// neighbours change at every step it means nothing. Arguments are as for
// InputMoment.
func HearEach(moment *rule.SecondMoment, m *gnn.WideDeep, s *mat.CSR, signals mat.Dense, read []int, e *mat.Engine) {
	if moment == nil || rule.HeardHops(m.Config.Wide.Order) == 0 {
		return
	}
	if read == nil {
		for i := range s.Rows {
			read = append(read, i)
		}
	}
	heard, work := map[int]*rule.Hearing{}, int64(0)
	for _, i := range read {
		h := NewHearing(m, neighbors(s, i))
		if p := h.Size(); p <= rule.MostHeard {
			heard[i] = h
			h.Moment = make([]float64, p*p)
			work += int64(p * p)
		}
	}
	if len(heard) == 0 {
		return
	}
	samples := signals.Rows / s.Rows
	every := max(samples/max(int(mostHeardWork/work), leastHeardSamples), 1)
	shifter := gnn.Shifter{Engine: e}
	shifted := mat.NewDense(s.Rows, (m.Config.Wide.Order+1)*m.Config.In, nil)
	row, v, count := make([]float32, rule.MostHeard), make([]float64, rule.MostHeard), 0.0
	for sample := 0; sample < samples; sample += every {
		shifter.Shift(shifted, s, signals.View(sample*s.Rows, 0, s.Rows, signals.Cols))
		count++
		for i, h := range heard {
			h.Row(row, shifted.Row(i), func(e, k int) []float32 {
				return shifted.Row(h.Neighbors[e])[k*h.Features : (k+1)*h.Features]
			})
			p := h.Size()
			for k, x := range row[:p-1] {
				v[k] = float64(x)
			}
			v[p-1] = 1
			for a, va := range v[:p] {
				for b, vb := range v[:a+1] {
					h.Moment[a*p+b] += float64(va * vb)
				}
			}
		}
	}
	for _, h := range heard {
		p := h.Size()
		for a := range p {
			for b := range a + 1 {
				mean := h.Moment[a*p+b] / count
				h.Moment[a*p+b], h.Moment[b*p+a] = mean, mean
			}
		}
	}
	moment.Heard = heard
}

// NewHearing returns how a node of m with the given neighbours hears them, without
// a moment.
func NewHearing(m *gnn.WideDeep, neighbors []int) *rule.Hearing {
	order := m.Config.Wide.Order
	return &rule.Hearing{Inputs: (order + 1) * m.Config.In, Features: m.Config.In, Hops: rule.HeardHops(order), Neighbors: neighbors}
}

// HeardRow returns the row of h at node i of a network with the shift s, in dst if
// it has room: the node's own shifted inputs, and behind them those that its
// neighbours have at their hops, where their link is in row i of s. Links that h
// does not name are heard in the node's own inputs alone.
//
//	s: N×N   shifted: [X SX … SᴷX], N×((K+1)·F)
func HeardRow(dst []float32, h *rule.Hearing, s *mat.CSR, shifted mat.Dense, i int) []float32 {
	dst = slices.Grow(dst[:0], h.Len())[:h.Len()]
	links, _ := s.Row(i)
	h.Row(dst, shifted.Row(i), func(e, k int) []float32 {
		j := h.Neighbors[e]
		if _, found := slices.BinarySearch(links, int32(j)); !found {
			return nil
		}
		return shifted.Row(j)[k*h.Features : (k+1)*h.Features]
	})
	return dst
}

// neighbors returns the nodes whose values row i of s adds up, without i.
func neighbors(s *mat.CSR, i int) []int {
	col, _ := s.Row(i)
	list := make([]int, 0, len(col))
	for _, j := range col {
		if int(j) != i {
			list = append(list, int(j))
		}
	}
	return list
}
