package demo

import (
	"math"
	"slices"

	"github.com/wdgnn/wdgnn/internal/recipe"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/online"
)

// lie is what one node of a Live says that is not so.
type lie int

// The lies.
const (
	noLie     lie = iota
	signalLie     // it says that the pulse starts with it, always
	tapsLie       // where taps are mixed it sends taps that mean nothing
)

var lieNames = []string{"nobody", "about its signal", "about its taps"}

const (
	lieSignal = 1 // what a source has when a pulse starts
	lieLength = 3 // of taps, in lengths of the trained ones
)

// findLiar returns the node that most detectors hear directly, the first of equals,
// which is neither detector nor source.
func findLiar(z *recipe.Source) int {
	best, most := 0, -1
	for i := range z.Net.Graph.Nodes() {
		if slices.Contains(z.Net.Detectors, i) || slices.Contains(z.Net.Sources, i) {
			continue
		}
		heard := 0
		for _, j := range z.Net.Graph.Neighbors(i) {
			if slices.Contains(z.Net.Detectors, int(j)) {
				heard++
			}
		}
		if heard > most {
			best, most = i, heard
		}
	}
	return best
}

// lie lets the liar begin or end to lie.
func (l *Live) lie(what lie) {
	l.knobs.lie = what
	at, node := float64(l.time), l.world.liar
	switch what {
	case signalLie:
		l.hub.Mark(at, "a node lies", "Node %d lies about its signal: at every signal it says that the pulse starts with it.", node)
	case tapsLie:
		l.hub.Mark(at, "a node lies", "Node %d lies about its taps: to those who mix it sends random ones.", node)
	default:
		l.hub.Mark(at, "nobody lies", "Nobody lies.")
	}
	if what != tapsLie {
		l.forget()
	}
}

// forget lets those who were told false taps begin again with the trained ones: they
// would hardly ever get rid of them, and what is compared should begin alike.
func (l *Live) forget() {
	for _, k := range l.learners {
		if k.fooled {
			k.reset()
			l.hub.Say(float64(l.time), "%s was lied to, and begins again with the taps trained offline.", k.name)
		}
	}
}

// spoil returns the signal as the network hears it.
func (l *Live) spoil(signal mat.Dense) mat.Dense {
	if l.knobs.lie != signalLie {
		return signal
	}
	heard := mat.NewDense(signal.Rows, signal.Cols, slices.Clone(signal.Data[:signal.Rows*signal.Cols]))
	heard.Set(l.world.liar, 0, lieSignal)
	return heard
}

// falseTaps draws what the liar sends to those who learn like k: a direction that
// means nothing, lieLength times as long as 𝒜†.
func (k *racer) falseTaps(z *recipe.Source) []float32 {
	c, ok := k.learner.(*online.Consensus)
	if !ok {
		return nil
	}
	start := z.Models[k.spec.Kind].Network.Params.Flat[:c.Basis().TapsLen()]
	rng, x, length := z.Stream("lie"), make([]float64, c.Basis().Len()), 0.0
	for e := range x {
		x[e] = rng.NormFloat64()
		length += float64(x[e] * x[e])
	}
	trained := 0.0
	for _, v := range start {
		trained += float64(float64(v) * float64(v))
	}
	taps := make([]float32, len(x))
	for e, v := range x {
		taps[e] = float32(lieLength * math.Sqrt(trained/length) * v)
	}
	return taps
}

// fool replaces what a node has, and therefore sends to those that it mixes with, by
// the false taps.
func (k *racer) fool(node int) error {
	s := k.learner.Snapshot()
	for e, v := range k.lies {
		s.Nodes[node].Params()[e] = float64(v)
	}
	k.fooled = true
	return k.learner.Restore(s)
}
