package rule

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/wdgnn/wdgnn/conformal"
)

// Season is how the nodes of a forecasting network learn: each adds to the
// forecast y† of the model as trained what it lacks, in two stages, and answers
// y† wherever that was no worse. All of it is for one node and one horizon h, in
// units of a sensor's own scale; x(t) is the truth, q = t-h the step at which it
// was forecast, σ the usual error of the model as trained, clip(·) a bound to ±3σ:
//
//	r = clip(x(t) - y†(q))                              known at t; no truth: nothing is learned
//
//	G ← aG + f(q)² ;  b ← ab + f(q) r                   a = Forget; f as it was at q
//	(G, b) ← Σ_j W_ij (G_j, b_j)                        one hop; the own for who is silent
//	n_k ← n_k + 1 ;  c_k += max(ρ, 1/n_k)(r - c_k)      k = q mod season, ρ = Rate; after G and b
//	s = mean of c_{k-m} … c_{k+m}                       k = t mod season, m = max(1, round(season/48))
//	f = s/(0.3σ) ;  first stage: y₁ = y† + f b/(G + λ)  λ = Ridge
//
//	e = clip(x(t) - y₁(q) - φ(q)ᵀθ)                     y₁ as it was at q, θ as it is now
//	g = Pφ/(1 + φᵀPφ) ;  θ ← θ + g e ;  P ← P - g φᵀP   P_0 = I/Taps: recursive least squares
//	φ = L⁻¹ [z_lags 1]ᵀ, LLᵀ = Σ + 1e-4 diag Σ          Σ: second moment of these columns in training
//	second stage: y₂ = y₁ + φᵀθ
//
//	answer y₂ while A ≤ (1 + δ)F + cσ, else y†          δ = Margin, c = Slack
//
// with A and F the sums of min(|error|, 6σ) of the answers given and of y†. It is
// the wide part with one more input, the residual of the season: linear, convex, an
// exact ridge regression. There is no step size, and nothing that could diverge;
// doc/theory.md says what is promised.
//
// Every horizon has a state of its own. Nodes send two numbers per horizon, (G, b),
// as float32, and mix what they sent, their own included.
//
// Deviation: eq. (9) mixes taps. Here taps stay at their node, and the weight of the
// season is what neighbours share.
type Season struct {
	// By which what is known of the season's weight fades with every truth, a,
	// above 0 to 1.
	Forget float64 `json:"forget,omitempty" yaml:"forget,omitempty" default:"0.995" example:"0.99"`

	// The least share by which what is remembered of a time of the season moves
	// to what came this time, ρ, above 0 to 1.
	Rate float64 `json:"rate,omitempty" yaml:"rate,omitempty" default:"0.2" example:"0.1"`

	// What pulls the season's weight to 0, λ.
	Ridge float64 `json:"ridge,omitempty" yaml:"ridge,omitempty" default:"30" example:"100"`

	// As how many truths strongly a node's own taps are pulled to the trained
	// ones; less than 0 for no taps of one's own.
	Taps float64 `json:"taps,omitempty" yaml:"taps,omitempty" default:"3000" example:"-1"`

	// By which share answers may err more than those of the model as trained,
	// δ, in the long run, before they are those of the model as trained; `gate: off`
	// for no such bound.
	Margin float64 `json:"margin,omitempty" yaml:"margin,omitempty" default:"0.02" example:"0.05"`

	// How many usual errors they may err beyond that, c.
	Slack float64 `json:"slack,omitempty" yaml:"slack,omitempty" default:"10" example:"5"`

	// Alone says that every node keeps the weight of the season to itself.
	Alone bool `json:"alone,omitempty" yaml:"-"`
}

// defaultSeason is what zeros of a Season mean.
var defaultSeason = Season{Forget: 0.995, Rate: 0.2, Ridge: 30, Taps: 3000, Margin: 0.02, Slack: 10}

const (
	seasonClip  = 3    // σ: residuals and innovations are cut to it
	seasonCap   = 6    // σ: errors count no more than it in the bound
	seasonUnit  = 0.3  // σ: what s is measured in, so that f is of the order of 1
	seasonParts = 48   // of a season: half of the width that s is the mean over
	seasonLate  = 12   // steps that a truth may come late, unless said otherwise
	leastSigma  = 1e-6 // of a sensor's scale: what is smaller is no error
	farFeatures = 1e3  // length of φ beyond which it is shortened; 6 is usual
	maxSeason   = 1 << 20
	maxHorizon  = 1 << 16
)

// filled returns s with its defaults.
func (s Season) filled() Season {
	for _, p := range []struct {
		to *float64
		v  float64
	}{
		{&s.Forget, defaultSeason.Forget},
		{&s.Rate, defaultSeason.Rate},
		{&s.Ridge, defaultSeason.Ridge},
		{&s.Taps, defaultSeason.Taps},
		{&s.Margin, defaultSeason.Margin},
		{&s.Slack, defaultSeason.Slack},
	} {
		if *p.to == 0 {
			*p.to = p.v
		}
	}
	return s
}

// complaints reports what is wrong with s, each with its key.
func (s *Season) complaints() (list []string) {
	complain := func(format string, args ...any) { list = append(list, fmt.Sprintf("season."+format, args...)) }
	if !(s.Forget >= 0 && s.Forget <= 1) {
		complain("forget is %v, want above 0 to 1, or 0 for %v", s.Forget, defaultSeason.Forget)
	}
	if !(s.Rate >= 0 && s.Rate <= 1) {
		complain("rate is %v, want above 0 to 1, or 0 for %v", s.Rate, defaultSeason.Rate)
	}
	if math.IsNaN(s.Taps) || math.IsInf(s.Taps, 0) || s.Taps > 0 && s.Taps < leastPull {
		complain("taps is %v, want %v or more, 0 for %v, or less than 0 for none", s.Taps, leastPull, defaultSeason.Taps)
	}
	if math.IsInf(s.Ridge, 0) || !(s.Ridge >= leastPull || s.Ridge == 0) {
		complain("ridge is %v, want %v or more, or 0 for %v", s.Ridge, leastPull, defaultSeason.Ridge)
	}
	for _, p := range []struct {
		name     string
		value, d float64
	}{{"margin", s.Margin, defaultSeason.Margin}, {"slack", s.Slack, defaultSeason.Slack}} {
		if !(p.value >= 0) || math.IsInf(p.value, 0) {
			complain("%s is %v, want a number ≥ 0, 0 for %v", p.name, p.value, p.d)
		}
	}
	return list
}

// leastPull is the weakest ridge: with less, sums of many years would be told apart
// from it no more.
const leastPull = 1e-3

// String says in a few words how it learns.
func (s *Season) String() string {
	f := s.filled()
	words := fmt.Sprintf("season, forgetting %g, ridge %g", f.Forget, f.Ridge)
	if f.Alone {
		words += ", its weight not shared"
	}
	if f.Taps > 0 {
		return words + fmt.Sprintf(", own taps pulled by %g", f.Taps)
	}
	return words + ", no taps of one's own"
}

// Seasonal is the preset of forecasts: see [Season].
func Seasonal() Config { return Config{Season: new(Season), Gate: new(Gate)} }

// checkSeason reports what is wrong with a configuration that learns by the season.
func (c *Config) checkSeason() error {
	if c.Season == nil {
		return nil
	}
	var errs []error
	for _, what := range c.Season.complaints() {
		errs = append(errs, errors.New("rule: "+what))
	}
	if c.Newton != nil || c.Rule != nil || c.StepSize != (StepSize{}) || c.Ridge != 0 || c.ClipNorm != 0 ||
		c.Retrain != "" || c.Limit != 0 {
		errs = append(errs, errors.New("rule: season goes without newton, a rule of one's own, step size, ridge, clip_norm, "+
			"retrain and limit: leave them out"))
	}
	if c.Gate != nil && *c.Gate != (Gate{}) {
		errs = append(errs, errors.New("rule: gate has numbers of other presets; those of season are season.margin and season.slack"))
	}
	return errors.Join(errs...)
}

// SeasonTask is what a forecasting model says to those who learn by [Season].
type SeasonTask struct {
	Season   int           // steps of a season, such as those of a day; 0 means that there is none
	Horizons []int         // h by output, in steps, each at least 1
	Lagged   []int         // columns of z that are readings, ascending; see forecast.Spec
	Moment   *SecondMoment // of the columns of z in training; nil if no taps are learned
}

// SeasonPlan is what all nodes that learn by [Season] share. It does not change and
// is safe for concurrent use.
type SeasonPlan struct {
	config   Season
	bounded  bool // answers are y† where learning does harm
	season   uint64
	half     uint64 // m
	horizons []uint64
	lagged   []int
	root     []float64 // L, p×p lower triangular; nil without taps
	p        int       // features with the 1; 0 without taps
	ring     int       // forecasts that are remembered
	sure     *conformal.Config
	weight   float64 // most of what G may be, in f² of 1: 1/(1-a)
}

// NewSeasonPlan returns what nodes share that learn by c, valid and with a Season,
// how the forecasts of a task turn out. Truths are learned from if they come at most
// c.Delay steps later than they could; 0 means 12. Without c.Gate they answer with
// what they learned whatever that costs.
func NewSeasonPlan(c *Config, task SeasonTask) (*SeasonPlan, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if c.Season == nil {
		return nil, errors.New("rule: no season: the preset season is what forecasts learn by")
	}
	if err := task.validate(); err != nil {
		return nil, err
	}
	p := &SeasonPlan{
		config: c.Season.filled(), bounded: c.Gate != nil, season: uint64(task.Season), lagged: slices.Clone(task.Lagged),
	}
	p.half = max(1, uint64(math.Round(float64(task.Season)/seasonParts)))
	p.weight = 1e9
	if fade := 1 - p.config.Forget; fade > 1e-9 {
		p.weight = 1 / fade
	}
	for _, h := range task.Horizons {
		p.horizons = append(p.horizons, uint64(h))
	}
	p.ring = slices.Max(task.Horizons) + seasonLate + 1
	if c.Delay > 0 {
		p.ring += c.Delay - seasonLate
	}
	if c.Conformal != nil {
		sure := *c.Conformal
		sure.Classes = false
		p.sure = &sure
	}
	if p.config.Taps < 0 {
		return p, nil
	}
	return p, p.whiten(task.Moment)
}

// validate reports what is wrong with t.
func (t *SeasonTask) validate() error {
	var errs []error
	complain := func(format string, args ...any) { errs = append(errs, fmt.Errorf("rule: season: "+format, args...)) }
	if t.Season < 0 || t.Season > maxSeason {
		complain("%d steps, want 1 to %d, or 0 for no season", t.Season, maxSeason)
	}
	if len(t.Horizons) == 0 {
		complain("no horizon: how many steps ahead is forecast?")
	}
	for _, h := range t.Horizons {
		if h < 1 || h > maxHorizon {
			complain("a horizon of %d steps, want 1 to %d", h, maxHorizon)
		}
	}
	for e, k := range t.Lagged {
		if k < 0 || e > 0 && k <= t.Lagged[e-1] {
			complain("column %d of the shifted inputs is named after others; name each once, in ascending order", k)
		}
	}
	return errors.Join(errs...)
}

// whiten computes L of the columns that are readings, and of the 1 behind them, with
// operations that round the same everywhere.
func (p *SeasonPlan) whiten(m *SecondMoment) error {
	if m == nil {
		return errors.New("rule: season: taps of one's own need the second moment of the inputs in training, which this model does not have; " +
			"train it again, or set season.taps to -1")
	}
	if err := m.Validate(); err != nil {
		return err
	}
	columns := append(slices.Clone(p.lagged), m.Inputs)
	n := len(columns)
	if n > 1 && columns[n-2] >= m.Inputs {
		return fmt.Errorf("rule: season: column %d of shifted inputs whose second moment has %d", columns[n-2], m.Inputs)
	}
	sigma := make([]float64, n*n)
	for a, i := range columns {
		for b, j := range columns {
			v := m.Mean[i*(m.Inputs+1)+j]
			if a == b {
				v += float64(whiteningRidge * v)
				if v == 0 { // an input that was always 0
					v = 1
				}
			}
			sigma[a*n+b] = v
		}
	}
	p.p, p.root = n, make([]float64, n*n)
	if !cholesky(p.root, sigma, n) {
		return errors.New("rule: season: the matrix given as second moment of the inputs is not the moment of any: it has a negative eigenvalue")
	}
	return nil
}

// Outputs returns how many horizons are forecast.
func (p *SeasonPlan) Outputs() int { return len(p.horizons) }

// features writes φ of the shifted inputs z to phi, overwritten: zeros where z is
// not finite. What is absurdly far from training is shortened.
func (p *SeasonPlan) features(phi []float64, z []float32) {
	if p.p == 0 {
		return
	}
	for e, k := range p.lagged {
		phi[e] = float64(z[k])
	}
	phi[p.p-1] = 1
	forward(p.root, phi)
	length := math.Sqrt(dot(phi, phi))
	switch {
	case !(length < math.MaxFloat64):
		clear(phi)
	case length > farFeatures:
		for e := range phi {
			phi[e] = phi[e] / length * farFeatures
		}
	}
}
