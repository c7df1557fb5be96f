package agent

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"github.com/wdgnn/wdgnn/forecast"
	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/rule"
)

// PlanConfig says what all agents of a run share.
type PlanConfig struct {
	Model    *gnn.WideDeep
	Operator graph.Shift // how a node makes its row of S from the links that are alive
	Scale    float64     // λmax of the whole graph, for graph.ShiftSpectral; the others need neighbours alone
	Delayed  bool        // one exchange per step, eq. (24)

	// Basis and Rule say how nodes learn; a nil Basis means that they do not, but
	// for Season.
	Basis *rule.Basis
	Rule  *rule.Config

	// Forecast, if not nil, says that nodes forecast what their sensors will read:
	// Begin then has readings in the user's units, and so have predictions.
	// Season is how such nodes learn, with Rule and in the place of Basis, and
	// Replayed what they begin with; all three may be nil.
	Forecast *forecast.Spec
	Season   *rule.SeasonPlan
	Replayed *Replayed

	// Cost is the kind of cost that is revealed in this run: nodes that forecast and
	// learn by a Basis judge themselves by it.
	Cost loss.Loss

	// Scores, if not nil, returns how earlier answers of a node turned out, with
	// which its sets or intervals begin; see rule.NodeConfig.
	Scores func(id NodeID) [][]float64

	// Start stands for what nodes begin with that Model does not say, by which
	// hosts know that theirs began alike; 0 if all begin with the model. See
	// [Node.Seed].
	Start uint64

	// Forgiving leaves a neighbour whose message of one exchange did not come
	// out of that hop only. Otherwise its link counts as dropped to the end of
	// the step. With six exchanges in a step a strict node keeps a link through
	// all of them only if six messages came.
	Forgiving bool

	// MaxNorm is the largest Euclidean norm of a neighbour's row or vector;
	// longer ones are refused. 0 means no limit.
	MaxNorm float64

	// MaxRows, if not nil, is the largest norm of a neighbour's row for every
	// layer and hop that is sent, the hops of the input first: [Hops] of them.
	// Rows of some are much longer than those of others, and one bound for all
	// would bound only these. Of a delayed message, which carries all, it is the
	// root of the sum of their squares.
	MaxRows []float64

	// ClipNorm shortens longer vectors of parameters instead of refusing
	// them; 0 means never.
	ClipNorm float64
}

// Plan is what all agents of a run share. [NewPlan] makes it. It does not change, and
// is safe for concurrent use.
type Plan struct {
	PlanConfig
	stages []stage // exchanges of a step
	sent   int     // vectors that the rule sends
	extra  int     // numbers behind the row of a first message: the vectors, or the seasons
}

// stage is one exchange.
type stage struct {
	layer int // 0 is the input, shared by the wide part and the first layer
	hop   int // row Z_hop is sent
	width int // numbers in it
	last  bool
	most  float64 // its largest norm
}

// NewPlan returns the plan that c describes, or everything that is wrong with c.
func NewPlan(c PlanConfig) (*Plan, error) {
	p := &Plan{PlanConfig: c}
	var errs []error
	complain := func(format string, args ...any) { errs = append(errs, fmt.Errorf("agent: "+format, args...)) }
	if _, err := p.Operator.MarshalText(); err != nil {
		complain("no operator is called %q", p.Operator)
	} else if !p.Operator.Local() && !(p.Scale > 0) {
		complain("the model's shift is divided by λmax of the whole graph, which no node knows: " +
			"give the scale, or train with row-stochastic or symmetric")
	}
	if p.Model == nil {
		complain("no model")
		return nil, errors.Join(errs...)
	}
	if p.Basis != nil {
		if p.Rule == nil {
			complain("a basis without a rule")
		} else if err := p.Rule.Validate(); err != nil {
			errs = append(errs, err)
		} else {
			p.sent, _ = p.Rule.Vectors()
			if p.Delayed && p.Rule.Retrain == rule.RetrainHeard {
				complain("retrain: heard is for graphs that keep their links or lose some; with delayed filters they change at every step: try newton")
			}
		}
		if p.Model.Config.Wide == nil {
			complain("the model has no wide part, and nothing else learns online")
		}
	}
	p.validateForecast(complain)
	if !(p.MaxNorm >= 0) || !(p.ClipNorm >= 0) {
		complain("max norm %v and clip norm %v, want 0 for none or more", p.MaxNorm, p.ClipNorm)
	}
	if want := Hops(p.Model); p.MaxRows != nil && len(p.MaxRows) != want {
		complain("bounds of %d rows, want %d, of every layer and hop", len(p.MaxRows), want)
	}
	for _, v := range p.MaxRows {
		if !(v >= 0) {
			complain("a row of norm %v at most, want 0 or more", v)
		}
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	if p.learns() {
		p.extra = p.sent * p.Basis.Len()
	} else if p.Season != nil {
		p.extra = 2 * p.Season.Outputs()
	}
	p.stages = p.schedule()
	p.bound()
	return p, nil
}

// bound sets the bounds of the exchanges.
func (p *Plan) bound() {
	rows := p.MaxRows // none where nothing but parameters travels
	if p.Delayed && rows != nil {
		sum := 0.0
		for _, v := range rows {
			sum += float64(v * v)
		}
		rows = []float64{math.Sqrt(sum)}
	}
	for e := range p.stages {
		p.stages[e].most = cmp.Or(p.MaxNorm, math.Inf(1))
		if e < len(rows) {
			p.stages[e].most = min(p.stages[e].most, rows[e])
		}
	}
}

// Hops returns how many rows a node of m sends to each neighbour per step: those
// of all hops but the last, of the input and of every layer after the first.
func Hops(m *gnn.WideDeep) int {
	n := m.InputOrder()
	for l := 1; l < len(m.Params.Deep); l++ {
		n += m.Params.Deep[l].Order()
	}
	return n
}

func (p *Plan) learns() bool { return p.Basis != nil }

// layers returns how many shifted signals a step has: that of the input, and
// one per layer after the first.
func (p *Plan) layers() int { return max(len(p.Model.Params.Deep), 1) }

// shape returns order and features of a shifted signal.
func (p *Plan) shape(layer int) (order, features int) {
	if layer == 0 {
		return p.Model.InputOrder(), p.Model.Config.In
	}
	f := &p.Model.Params.Deep[layer]
	return f.Order(), f.In()
}

// schedule returns the exchanges of a step.
func (p *Plan) schedule() []stage {
	if p.Delayed {
		width := 0
		for l := range p.layers() {
			order, features := p.shape(l)
			width += order * features
		}
		return []stage{{width: width, last: true}}
	}
	var list []stage
	for l := range p.layers() {
		order, features := p.shape(l)
		for hop := range order {
			list = append(list, stage{layer: l, hop: hop, width: features, last: hop == order-1})
		}
	}
	if len(list) == 0 { // taps must travel all the same
		list = []stage{{last: true}}
	}
	return list
}

// Exchanges returns how many messages a node sends to each neighbour per step.
func (p *Plan) Exchanges() int { return len(p.stages) }

// Length returns how many values a message of exchange e has.
func (p *Plan) Length(e int) int {
	if e == 0 {
		return p.stages[0].width + p.extra
	}
	return p.stages[e].width
}
