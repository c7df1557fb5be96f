package rule

import (
	"fmt"
	"math"

	"github.com/wdgnn/wdgnn/conformal"
	"github.com/wdgnn/wdgnn/mat"
)

// SeasonNode is one node that learns by [Season]. At step t it is called in this
// order, and agents and simulations keep to it:
//
//	Tell(t, x(t))        and before it the truths of earlier steps that came late
//	Mix(…)               with what everybody's Sent says after that
//	Give(y, t, y†, z)    the answer; Predict is the same and changes nothing
//
// So a forecast made at t knows every truth up to t. A step allocates nothing. A
// SeasonNode is not safe for concurrent use.
type SeasonNode struct {
	plan     *SeasonPlan
	horizons []seasonHorizon
	answers  *Answers

	kept, gain []float64 // φ, f by horizon, y₁ - y† by horizon: what an answer is made with; and p numbers to work in
	sent, y    []float32
	judged     []SeasonJudged // by the last Tell
}

// SeasonJudged is a forecast whose truth became known.
type SeasonJudged struct {
	Horizon int // which of them, not how many steps
	Answer  float32
	Base    float32         // y†
	Bound   conformal.Bound // that the answer was given with; zeros without intervals
}

// seasonHorizon is what is known of one horizon.
type seasonHorizon struct {
	sigma          float64
	g, b           float64   // as told; Give makes them what they were mixed to
	mixedG, mixedB float64   // what predictions use
	table, seen    []float64 // c_k, n_k
	taps           []float64 // θ, p
	spread         []float64 // P, its lower triangle by rows, p(p+1)/2
}

// NewSeasonNode returns a node that learned nothing yet. Sigma is σ by horizon, the
// rms error of the model as trained at this sensor in units of its scale; what is
// not above 1e-6, or no number, counts as 1e-6.
func NewSeasonNode(p *SeasonPlan, sigma []float64) *SeasonNode {
	c := len(p.horizons)
	if len(sigma) != c {
		panic(fmt.Sprintf("rule: NewSeasonNode: %d usual errors for %d horizons", len(sigma), c))
	}
	n := &SeasonNode{
		plan: p, horizons: make([]seasonHorizon, c), kept: make([]float64, p.p+2*c), gain: make([]float64, p.p),
		sent: make([]float32, 2*c), y: make([]float32, c),
	}
	n.answers = &Answers{outputs: c, apart: true, given: make([]Given, p.ring), one: make([]float32, c)}
	for k, usual := range sigma {
		if !(usual > leastSigma && usual < math.MaxFloat32) {
			usual = leastSigma
		}
		n.horizons[k] = newSeasonHorizon(p, usual)
		g := newGate(Gate{Margin: p.config.Margin, Slack: p.config.Slack}, 1)
		g.usual, g.state.Most, g.off = usual, usual, !p.bounded
		n.answers.gates = append(n.answers.gates, g)
	}
	if p.sure != nil {
		n.answers.sure = conformal.New(*p.sure, c)
	}
	for k := range n.answers.given {
		g := &n.answers.given[k]
		g.told, g.kept = make([]bool, c), make([]float64, len(n.kept))
	}
	return n
}

func newSeasonHorizon(p *SeasonPlan, sigma float64) seasonHorizon {
	h := seasonHorizon{
		sigma: sigma, table: make([]float64, p.season), seen: make([]float64, p.season),
		taps: make([]float64, p.p), spread: make([]float64, p.p*(p.p+1)/2),
	}
	at := 0
	for i := range p.p {
		at += i
		h.spread[at+i] = 1 / p.config.Taps
	}
	return h
}

// Tell takes in the truth of step t, in units of the sensor's scale: the forecasts
// that were made for it are judged and learned from, each once, in whatever order
// truths come. It returns those forecasts: none if the truth is not finite, was told
// before, comes too late, or is about steps at which nothing was forecast. They
// belong to the node and hold until the next Tell.
func (n *SeasonNode) Tell(t uint64, truth float32) []SeasonJudged {
	n.judged = n.judged[:0]
	if truth-truth != 0 { // NaN or infinite
		return nil
	}
	for c, h := range n.plan.horizons {
		if t < h {
			continue
		}
		f := n.answers.At(t - h)
		if f == nil || f.told[c] {
			continue
		}
		said := SeasonJudged{Horizon: c, Answer: f.Learned[c], Base: f.Base[c]}
		if len(f.Bounds) > 0 {
			said.Bound = f.Bounds[c]
		}
		n.judged = append(n.judged, said)
		n.answers.judgeOne(f, c, truth)
		n.horizons[c].learn(n.plan, c, f, float64(truth), n.gain)
	}
	n.alone()
	return n.judged
}

// learn takes the truth x of forecast f into both stages.
func (h *seasonHorizon) learn(p *SeasonPlan, c int, f *Given, x float64, gain []float64) {
	phi, season, first := p.of(f.kept)
	most := float64(seasonClip * h.sigma)
	known := x - float64(f.Base[c])
	if p.season > 0 {
		r := min(max(known, -most), most)
		s := season[c]
		h.g = float64(p.config.Forget*h.g) + float64(s*s)
		h.b = float64(p.config.Forget*h.b) + float64(s*r)
		k := f.Time % p.season
		h.seen[k]++
		h.table[k] += float64(max(p.config.Rate, 1/h.seen[k]) * (r - h.table[k]))
	}
	if p.p > 0 {
		e := known - first[c] - dot(phi, h.taps)
		h.recurse(phi, min(max(e, -most), most), gain)
	}
}

// recurse is one step of recursive least squares with the innovation e. P stays
// symmetric, because only one triangle is there, and no more than it was.
//
//	g = Pφ/(1 + φᵀPφ) ;  θ ← θ + g e ;  P ← P - g (Pφ)ᵀ
func (h *seasonHorizon) recurse(phi []float64, e float64, gain []float64) {
	symmetric(gain, h.spread, phi)            // Pφ
	scale := 1 / (1 + max(dot(phi, gain), 0)) // below 0 by rounding alone
	step := float64(scale * e)
	at := 0
	for i, v := range gain {
		h.taps[i] += float64(step * v)
		row := h.spread[at : at+i+1]
		w := float64(scale * v)
		for j := range row {
			row[j] -= float64(w * gain[j])
		}
		at += i + 1
	}
}

// symmetric writes A x to dst, overwritten; a is the lower triangle of A by rows. Two
// rows at a time keep a processor busy that waits for every sum to be added to; each
// number is summed as one row after the other would.
func symmetric(dst, a, x []float64) {
	i, at := 0, 0
	if len(x)%2 == 1 {
		dst[0] = float64(a[0] * x[0])
		i, at = 1, 1
	}
	for ; i < len(x); i += 2 {
		r0, r1 := a[at:at+i], a[at+i+1:at+2*i+1]
		before, to := x[:len(r0)], dst[:len(r0)]
		r1 = r1[:len(r0)]
		v0, v1 := x[i], x[i+1]
		s0, s1 := float64(a[at+i]*v0), float64(a[at+2*i+2]*v1)
		for j, w0 := range r0 {
			w1, b := r1[j], before[j]
			s0 += float64(w0 * b)
			s1 += float64(w1 * b)
			to[j] = to[j] + float64(w0*v0) + float64(w1*v1)
		}
		across := a[at+2*i+1]
		dst[i], dst[i+1] = s0+float64(across*v1), s1+float64(across*v0)
		at += 2*i + 3
	}
}

// alone lets predictions use what the node sends: it heard nobody yet.
func (n *SeasonNode) alone() {
	for c, v := range n.Sent() {
		if h := &n.horizons[c/2]; c%2 == 0 {
			h.mixedG = float64(v)
		} else {
			h.mixedB = float64(v)
		}
	}
}

// Sent returns what the node sends to its neighbours: G and b of every horizon, one
// after the other. It belongs to the node and holds until the next call.
func (n *SeasonNode) Sent() []float32 {
	for c := range n.horizons {
		n.sent[2*c], n.sent[2*c+1] = float32(n.horizons[c].g), float32(n.horizons[c].b)
	}
	return n.sent
}

// Mix makes (G, b) the sum over itself and its neighbours, with the weights of row i
// of W, ascending by node; the e-th of them is node i itself for e = self. What the
// e-th sent at this step stands in row rows[e] of vectors; in the place of one with
// rows[e] < 0, who is silent, or who sent what cannot be, stands the node's own.
// Nothing lasts before Give: Mix may be called again.
//
//	vectors: ·×2C, read      weights, rows: one per node heard
func (n *SeasonNode) Mix(weights []float32, self int, vectors mat.Dense, rows []int32) {
	own := n.Sent()
	for c := range n.horizons {
		h := &n.horizons[c]
		g, b := 0.0, 0.0
		for e, w := range weights {
			vg, vb := own[2*c], own[2*c+1]
			if e != self && rows[e] >= 0 {
				if v := vectors.Row(int(rows[e])); h.possible(n.plan, v[2*c], v[2*c+1]) {
					vg, vb = v[2*c], v[2*c+1]
				}
			}
			g += float64(float64(w) * float64(vg))
			b += float64(float64(w) * float64(vb))
		}
		h.mixedG, h.mixedB = h.within(n.plan, g, b)
	}
}

// possible says whether G and b of a neighbour can be those of a node that learns,
// with usual errors up to 100 times as large as here. For sums G of f² and b of f r,
// |r| ≤ 3σ, that fade alike
//
//	0 ≤ G ≤ 100/(1-a)      b² ≤ G (3σ)²/(1-a)      by Cauchy and Schwarz
//
// and means of such G and b have both, too.
func (h *seasonHorizon) possible(p *SeasonPlan, g, b float32) bool {
	const others, rounding = 100, 1 + 1e-6
	r := float64(others * float64(seasonClip*h.sigma))
	return g >= 0 && float64(g) <= float64(float64(farSeason*farSeason*p.weight)*rounding) &&
		float64(float64(b)*float64(b)) <= float64(float64(float64(g)*p.weight)*float64(float64(r*r)*rounding))
}

// farSeason is the largest |f|: the table stays within ±3σ, and f = s/(0.3σ).
const farSeason = seasonClip / seasonUnit

// within keeps what was mixed within what a node could have learned itself: weights
// do not sum to 1 to the last bit, and neighbours may send anything.
func (h *seasonHorizon) within(p *SeasonPlan, g, b float64) (float64, float64) {
	mostG := float64(farSeason * farSeason * p.weight)
	mostB := float64(farSeason*float64(seasonClip*h.sigma)) * p.weight
	return min(max(g, 0), mostG), min(max(b, -mostB), mostB)
}

// Predict writes what the node answers at step t to y, overwritten, and changes
// nothing that lasts.
//
//	y, base: C      z: (K+1)F, the shifted inputs
func (n *SeasonNode) Predict(y []float32, t uint64, base, z []float32) {
	n.forecast(t, base, z)
	n.answers.Answer(t, y, n.y, base)
}

// Give is Predict, and keeps what the answer was made with, so that it is learned
// from when its truth comes. What was mixed is now the node's own. It returns the
// bounds of the answer's intervals, by horizon, nil without; they belong to the node
// and hold until the next Tell.
func (n *SeasonNode) Give(y []float32, t uint64, base, z []float32) []conformal.Bound {
	n.forecast(t, base, z)
	g := n.answers.Give(t, y, n.y, base, nil)
	g.used = mat.Finite(base...)
	copy(g.kept, n.kept)
	for c := range n.horizons {
		h := &n.horizons[c]
		h.g, h.b = h.mixedG, h.mixedB
	}
	return g.Bounds
}

// of returns φ, f and y₁ - y† of what an answer was made with.
func (p *SeasonPlan) of(kept []float64) (phi, season, first []float64) {
	c := len(p.horizons)
	return kept[:p.p], kept[p.p : p.p+c], kept[p.p+c:]
}

// forecast computes what the node would answer at step t.
func (n *SeasonNode) forecast(t uint64, base, z []float32) {
	phi, season, first := n.plan.of(n.kept)
	n.plan.features(phi, z)
	for c := range n.horizons {
		h := &n.horizons[c]
		season[c], first[c] = h.channel(n.plan, t)
		n.y[c] = float32(float64(base[c]) + first[c] + dot(phi, h.taps))
	}
}

// channel returns f at step t, and what the first stage adds to y†.
func (h *seasonHorizon) channel(p *SeasonPlan, t uint64) (f, first float64) {
	if p.season == 0 {
		return 0, 0
	}
	k := (t%p.season + p.season*p.half - p.half) % p.season
	sum := 0.0
	for range 2*p.half + 1 {
		sum += h.table[k]
		if k++; k == p.season {
			k = 0
		}
	}
	s := sum / float64(2*p.half+1)
	f = s / float64(seasonUnit*h.sigma)
	return f, float64(f * (h.mixedB / (h.mixedG + p.config.Ridge)))
}

// Bounds returns those of the next answer, as Give does.
func (n *SeasonNode) Bounds() []conformal.Bound { return n.answers.Bounds() }

// Meter returns how often intervals held the truth, all horizons together.
func (n *SeasonNode) Meter() conformal.Meter { return n.answers.Meter() }

// SeasonState is how the answers of one horizon do.
type SeasonState struct {
	Open    bool    `json:"open"`    // it answers with what was learned
	Answers float64 `json:"answers"` // A, the sum of what answers erred, each 6σ at most
	Trained float64 `json:"trained"` // F, the same of the model as trained
}

// Does returns how the answers of horizon c, the c-th of the plan, do.
func (n *SeasonNode) Does(c int) SeasonState {
	g := &n.answers.gates[c]
	return SeasonState{g.opens(), g.state.Answered, g.state.Frozen}
}

// Taps returns θ of horizon c, what the second stage adds to the trained taps in
// whitened features; empty without it. It belongs to the node.
func (n *SeasonNode) Taps(c int) []float64 { return n.horizons[c].taps }
