package rule

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/wdgnn/wdgnn/conformal"
	"github.com/wdgnn/wdgnn/mat"
)

// SeasonMemory is everything that a [SeasonNode] remembers. A node restored from it
// goes on with the same bits.
type SeasonMemory struct {
	Horizons  []SeasonHorizon   `json:"horizons"`
	Waiting   []SeasonForecast  `json:"waiting,omitempty"` // forecasts that a truth may still come for, the oldest first
	Conformal *conformal.Memory `json:"conformal,omitempty"`
}

// SeasonHorizon is what a node remembers of one horizon, in the letters of [Season].
type SeasonHorizon struct {
	Weight  [2]float64 `json:"weight"`           // G and b
	Table   []float64  `json:"table,omitempty"`  // c_k, by slot of the season
	Seen    []float64  `json:"seen,omitempty"`   // n_k
	Taps    []float64  `json:"taps,omitempty"`   // θ
	Spread  []float64  `json:"spread,omitempty"` // P, its lower triangle by rows
	Answers float64    `json:"answers"`          // A
	Trained float64    `json:"trained"`          // F
}

// SeasonForecast is what a forecast was made with; numbers but the features are by
// horizon.
type SeasonForecast struct {
	Time     uint64            `json:"time"`
	Features []float64         `json:"features,omitempty"` // φ
	Base     []float32         `json:"base"`               // y†
	Answer   []float32         `json:"answer"`
	Season   []float64         `json:"season"` // f
	First    []float64         `json:"first"`  // y₁ - y†
	Judged   []bool            `json:"judged"`
	Bounds   []conformal.Bound `json:"bounds,omitempty"`
}

// Memory returns a copy of what the node remembers.
func (n *SeasonNode) Memory() SeasonMemory {
	var m SeasonMemory
	for c := range n.horizons {
		h := &n.horizons[c]
		m.Horizons = append(m.Horizons, SeasonHorizon{
			Weight: [2]float64{h.g, h.b}, Table: slices.Clone(h.table), Seen: slices.Clone(h.seen),
			Taps: slices.Clone(h.taps), Spread: slices.Clone(h.spread), Answers: h.answers, Trained: h.trained,
		})
	}
	for k := range n.ring {
		if f := &n.ring[k]; f.used && slices.Contains(f.judged, false) {
			m.Waiting = append(m.Waiting, SeasonForecast{
				Time: f.time, Features: slices.Clone(f.phi), Base: slices.Clone(f.base), Answer: slices.Clone(f.answer),
				Season: slices.Clone(f.season), First: slices.Clone(f.first), Judged: slices.Clone(f.judged), Bounds: slices.Clone(f.bounds),
			})
		}
	}
	slices.SortFunc(m.Waiting, func(a, b SeasonForecast) int {
		if a.Time < b.Time {
			return -1
		}
		return 1
	})
	if n.conform != nil {
		sure := n.conform.Memory()
		m.Conformal = &sure
	}
	return m
}

// Restore gives the node the memory m, which may come from outside: an error says
// what does not fit, and leaves the node as it was. Forecasts that wait for longer
// than this node would wait are left out; a memory without intervals lets them begin
// anew, and an empty one is that of a node which has learned nothing.
func (n *SeasonNode) Restore(m SeasonMemory) error {
	if err := n.Fits(m); err != nil {
		return err
	}
	if m.empty() {
		*n = *NewSeasonNode(n.plan, n.sigma())
		return nil
	}
	for c := range n.horizons {
		h, from := &n.horizons[c], &m.Horizons[c]
		h.g, h.b, h.answers, h.trained = from.Weight[0], from.Weight[1], from.Answers, from.Trained
		copy(h.table, from.Table)
		copy(h.seen, from.Seen)
		copy(h.taps, from.Taps)
		copy(h.spread, from.Spread)
	}
	for k := range n.ring {
		n.ring[k].used = false
	}
	for k := range m.Waiting { // the oldest first: newer ones take their place
		n.ring[m.Waiting[k].Time%uint64(len(n.ring))].set(&m.Waiting[k])
	}
	n.alone()
	if n.conform == nil {
		return nil
	}
	n.conform = conformal.New(*n.plan.sure, len(n.horizons))
	if m.Conformal == nil {
		return nil
	}
	return n.conform.Restore(*m.Conformal)
}

func (f *seasonForecast) set(from *SeasonForecast) {
	f.time, f.used = from.Time, true
	copy(f.phi, from.Features)
	copy(f.base, from.Base)
	copy(f.answer, from.Answer)
	copy(f.season, from.Season)
	copy(f.first, from.First)
	copy(f.judged, from.Judged)
	for c := range f.bounds {
		f.bounds[c] = conformal.Bound{Low: -math.MaxFloat64, High: math.MaxFloat64}
	}
	copy(f.bounds, from.Bounds)
}

// Fits reports what keeps m from being restored.
func (n *SeasonNode) Fits(m SeasonMemory) error {
	p, c := n.plan, len(n.horizons)
	if m.empty() {
		return nil
	}
	if len(m.Horizons) != c {
		return fmt.Errorf("rule: memory: the season of %d horizons, want %d", len(m.Horizons), c)
	}
	for k := range m.Horizons {
		h := &m.Horizons[k]
		if len(h.Table) != int(p.season) || len(h.Seen) != int(p.season) {
			return fmt.Errorf("rule: memory: a season of %d steps, want %d", len(h.Table), p.season)
		}
		if len(h.Taps) != p.p || len(h.Spread) != p.p*(p.p+1)/2 {
			return fmt.Errorf("rule: memory: %d own taps with %d numbers of how sure they are, want %d with %d",
				len(h.Taps), len(h.Spread), p.p, p.p*(p.p+1)/2)
		}
		if err := h.valid(); err != nil {
			return err
		}
	}
	for k := range m.Waiting {
		f := &m.Waiting[k]
		if !f.sized(c, p.p) || k > 0 && f.Time <= m.Waiting[k-1].Time {
			return fmt.Errorf("rule: memory: forecast %d of those that wait does not fit %d horizons and %d features, or is not in order", k, c, p.p)
		}
		if !f.finite() {
			return fmt.Errorf("rule: memory: a number of forecast %d of those that wait is not finite", k)
		}
	}
	if n.conform != nil && m.Conformal != nil {
		return n.conform.Fits(*m.Conformal)
	}
	return nil
}

// empty says that nothing is remembered.
func (m *SeasonMemory) empty() bool {
	return len(m.Horizons) == 0 && len(m.Waiting) == 0 && m.Conformal == nil
}

// sized says whether f has numbers for c horizons and p features.
func (f *SeasonForecast) sized(c, p int) bool {
	return len(f.Features) == p && len(f.Base) == c && len(f.Answer) == c && len(f.Season) == c && len(f.First) == c &&
		len(f.Judged) == c && (len(f.Bounds) == 0 || len(f.Bounds) == c)
}

func (f *SeasonForecast) finite() bool {
	return mat.Finite(f.Features...) && mat.Finite(f.Season...) && mat.Finite(f.First...) && mat.Finite(f.Base...) && mat.Finite(f.Answer...)
}

// valid reports what cannot be the memory of a horizon.
func (h *SeasonHorizon) valid() error {
	if !mat.Finite(h.Table...) || !mat.Finite(h.Seen...) || !mat.Finite(h.Taps...) || !mat.Finite(h.Spread...) ||
		!mat.Finite(h.Weight[:]...) || !mat.Finite(h.Answers, h.Trained) {
		return errors.New("rule: memory: a number of the season is not finite")
	}
	if !(h.Weight[0] >= 0) || h.Answers < 0 || h.Trained < 0 {
		return fmt.Errorf("rule: memory: a season with G = %v and errors of %v and %v, want 0 or more", h.Weight[0], h.Answers, h.Trained)
	}
	for _, v := range h.Seen {
		if v < 0 {
			return fmt.Errorf("rule: memory: a slot of the season was seen %v times", v)
		}
	}
	at := 0
	for i := range h.Taps {
		if at += i; !(h.Spread[at+i] >= 0) {
			return fmt.Errorf("rule: memory: own tap %d has a variance of %v", i, h.Spread[at+i])
		}
	}
	return nil
}

// Begun returns m as a stream begins with it, after a replay of the past: what was
// learned stays, and nothing is counted yet of how answers did.
func (m SeasonMemory) Begun() SeasonMemory {
	m.Horizons = slices.Clone(m.Horizons)
	for c := range m.Horizons {
		m.Horizons[c].Answers, m.Horizons[c].Trained = 0, 0
	}
	if m.Conformal != nil {
		sure := *m.Conformal
		sure.Windows = slices.Clone(sure.Windows)
		for k := range sure.Windows {
			sure.Windows[k].Meter = conformal.Meter{}
		}
		m.Conformal = &sure
	}
	return m
}

// Average returns the memory with which a node begins that was not there before: the
// mean of its neighbours', whose weights are above 0, and nothing of how their
// answers did. Intervals begin with the scores of the neighbour with the largest
// weight. Neighbours that remember nothing, or other horizons, seasons or taps than
// that one, are left out; without any the memory is empty.
func Average(memories []SeasonMemory, weights []float64) SeasonMemory {
	best := -1
	for k, w := range weights {
		if w > 0 && len(memories[k].Horizons) > 0 && (best < 0 || w > weights[best]) {
			best = k
		}
	}
	if best < 0 {
		return SeasonMemory{}
	}
	shares, total := make([]float64, len(weights)), 0.0
	for k, w := range weights {
		if w > 0 && memories[k].alike(&memories[best]) {
			shares[k] = w
			total += w
		}
	}
	for k := range shares {
		shares[k] /= total
	}
	mean := memories[best].Begun()
	mean.Waiting = nil
	for c := range mean.Horizons {
		mean.Horizons[c] = blend(memories, shares, c)
	}
	return mean
}

// blend returns the mean of horizon c.
func blend(memories []SeasonMemory, shares []float64, c int) (mean SeasonHorizon) {
	for k, share := range shares {
		if share == 0 {
			continue
		}
		h := &memories[k].Horizons[c]
		mean.Weight[0] += float64(share * h.Weight[0])
		mean.Weight[1] += float64(share * h.Weight[1])
		mean.Table, mean.Seen = addScaled(mean.Table, share, h.Table), addScaled(mean.Seen, share, h.Seen)
		mean.Taps, mean.Spread = addScaled(mean.Taps, share, h.Taps), addScaled(mean.Spread, share, h.Spread)
	}
	for k, v := range mean.Seen {
		mean.Seen[k] = math.Floor(v)
	}
	return mean
}

// addScaled adds a x to sum, which it makes if there is none.
func addScaled(sum []float64, a float64, x []float64) []float64 {
	if sum == nil {
		sum = make([]float64, len(x))
	}
	for e, v := range x {
		sum[e] += float64(a * v)
	}
	return sum
}

// alike says whether m and other are of one plan, as far as they show it.
func (m *SeasonMemory) alike(other *SeasonMemory) bool {
	if len(m.Horizons) != len(other.Horizons) {
		return false
	}
	for c := range m.Horizons {
		a, b := &m.Horizons[c], &other.Horizons[c]
		if len(a.Table) != len(b.Table) || len(a.Seen) != len(b.Seen) || len(a.Taps) != len(b.Taps) || len(a.Spread) != len(b.Spread) {
			return false
		}
	}
	return true
}
