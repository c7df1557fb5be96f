package sourceloc

import (
	"fmt"
	"iter"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
)

// Stream is the online phase: one signal after the other arrives, the detectors
// answer, and are told the community that it started in. It may be replayed any
// number of times, by one goroutine at a time.
//
// A detector that has lost all its links sees its own signal only; it is asked
// and told like any other.
type Stream struct {
	signals mat.Dense // (T·N)×1
	labels  []int32   // T
	nodes   int
	renew   int // signals per graph
	shifts  []*mat.CSR
	mixings []*mat.CSR
	truth   []loss.Loss // by community
	now     int         // the signal whose answer is revealed next
}

// NewStreamOver returns a stream over the given signals, heard over graphs with
// the shift that the function returns for each, by which models read them and
// not signals spread, and its Metropolis mixing matrix. A graph serves renew
// signals before the next takes over, the first again after the last; with
// renew 0 the first serves all.
//
// Deviation: the paper does not say whether a graph that lost links is
// normalised anew. It is, by its own λmax with graph.ShiftSpectral.Of: otherwise
// every model answers by chance.
func (w *World) NewStreamOver(
	shift func(*graph.Graph) (*mat.CSR, error), graphs []*graph.Graph, renew int, signals mat.Dense, labels []int32,
) (*Stream, error) {
	n := w.Graph.Nodes()
	if len(graphs) == 0 || renew < 0 {
		return nil, fmt.Errorf("sourceloc: a stream over %d graphs, a new one every %d signals; want at least one graph", len(graphs), renew)
	}
	if signals.Rows != len(labels)*n || signals.Cols != 1 {
		return nil, fmt.Errorf("sourceloc: signals of %d×%d for %d labels and %d nodes, want %d×1",
			signals.Rows, signals.Cols, len(labels), n, len(labels)*n)
	}
	s := &Stream{signals: signals, labels: labels, nodes: n, renew: renew}
	for t, l := range labels {
		if l < 0 || int(l) >= w.Config.Communities {
			return nil, fmt.Errorf("sourceloc: signal %d started in community %d, there are %d", t, l, w.Config.Communities)
		}
	}
	for k, g := range graphs {
		if g.Nodes() != n {
			return nil, fmt.Errorf("sourceloc: graph %d has %d nodes, the network %d", k, g.Nodes(), n)
		}
		over, err := shift(g)
		if err != nil {
			return nil, fmt.Errorf("sourceloc: graph %d: %w", k, err)
		}
		mixing, err := graph.Metropolis(g)
		if err != nil {
			return nil, fmt.Errorf("sourceloc: graph %d: %w", k, err)
		}
		s.shifts, s.mixings = append(s.shifts, over), append(s.mixings, mixing)
	}
	for c := range w.Config.Communities {
		told := make([]int32, n)
		for i := range told {
			told[i] = loss.NoLabel
		}
		for _, d := range w.Detectors {
			told[d] = int32(c)
		}
		s.truth = append(s.truth, loss.CrossEntropy{Labels: told})
	}
	return s, nil
}

// Len returns the number of signals.
func (s *Stream) Len() int { return len(s.labels) }

// Samples yields the signals in order, each with its graph.
func (s *Stream) Samples() iter.Seq[graph.Sample] {
	return func(yield func(graph.Sample) bool) {
		for t := range s.labels {
			k := 0
			if s.renew > 0 {
				k = t / s.renew % len(s.shifts)
			}
			s.now = t
			sample := graph.Sample{Time: t, Shift: s.shifts[k], Mixing: s.mixings[k], Signal: s.signals.View(t*s.nodes, 0, s.nodes, 1)}
			if !yield(sample) {
				return
			}
		}
	}
}

// Reveal returns what the answers of the detectors to the latest signal cost:
// the cross-entropy against the community it started in.
func (s *Stream) Reveal(mat.Dense) loss.Loss { return s.truth[s.labels[s.now]] }
