package agent

import (
	"fmt"
	"slices"

	"github.com/wdgnn/wdgnn/forecast"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/rule"
)

// Replayed is what the sensors of training remember when a run begins: after the
// training series was played to them, or a later one.
type Replayed struct {
	Sensors []forecast.Memory // by node; nil means that they have read nothing
	Seasons []rule.State      // by node; nil means that nothing was learned
	Links   *mat.CSR          // whom they heard in the last step, the adjacency of then; nil for nobody
}

// hears returns what node i heard of its neighbours' readings in the last step that
// was replayed.
func (r *Replayed) hears(s *forecast.Spec, i int) (at uint64, near float32, heard bool) {
	at = r.Sensors[i].Step
	if r.Links == nil || i >= r.Links.Rows || !r.Sensors[i].Started {
		return at, 0, false
	}
	var ear forecast.Ear
	row := make([]float32, s.Flag()+1)
	nodes, weights := r.Links.Row(i)
	for e, j := range nodes {
		if int(j) >= len(r.Sensors) || int(j) == i {
			continue
		}
		if m := &r.Sensors[j]; m.Started && !m.Estimated {
			row[0] = m.Lags[0]
			ear.Hear(s, weights[e], row)
		}
	}
	near, heard = ear.Near()
	return at, near, heard
}

// meanSeason returns the mean of what nodes of training began with; nil if they began
// with nothing, or nodes do not learn by seasons.
func (p *Plan) meanSeason(nodes []int, weights []float32) rule.State {
	if p.Replayed == nil || p.Season == nil {
		return nil
	}
	var states []rule.State
	var shares []float64
	for k, j := range nodes {
		if j < len(p.Replayed.Seasons) {
			states, shares = append(states, p.Replayed.Seasons[j]), append(shares, float64(weights[k]))
		}
	}
	return p.Season.Average(states, shares)
}

// sigma returns the usual errors of a sensor by horizon.
func (p *Plan) sigma(n *forecast.Norm) []float64 {
	if len(n.Sigma) == len(p.Forecast.Horizons) {
		return n.Sigma
	}
	return make([]float64, len(p.Forecast.Horizons))
}

// furthest returns the largest horizon.
func (p *Plan) furthest() int { return slices.Max(p.Forecast.Horizons) }

// validateForecast reports what is wrong with a plan that forecasts.
func (p *Plan) validateForecast(complain func(format string, args ...any)) {
	s := p.Forecast
	if s == nil {
		if p.Season != nil || p.Replayed != nil {
			complain("seasons are learned where nodes forecast: the plan does not say what it knows of sensors")
		}
		return
	}
	if err := s.Validate(); err != nil {
		complain("%w", err)
		return
	}
	if s.Inputs() != p.Model.Config.In || len(s.Horizons) != p.Model.Outputs() {
		complain("sensors give %d inputs and want %d horizons, the model has %d inputs and %d outputs",
			s.Inputs(), len(s.Horizons), p.Model.Config.In, p.Model.Outputs())
	}
	if p.Delayed || p.Model.InputOrder() == 0 {
		complain("nodes that forecast hear the readings of their neighbours, of the same step: train with an order of 1 or more, without delays")
	}
	if p.Season != nil && (p.Basis != nil || p.Rule == nil || p.Season.Outputs() != len(s.Horizons)) {
		complain("seasons of %d horizons are learned by a rule of their own, without a basis; the model has %d",
			p.Season.Outputs(), len(s.Horizons))
	}
	if p.Basis != nil && p.Rule != nil {
		if _, ok := p.Cost.(loss.Regression); !ok || p.Rule.Delay != p.furthest() {
			complain("forecasts are judged %d steps later by the truth of their own sensor: want that delay, got %d, "+
				"and a cost of numbers, got %T", p.furthest(), p.Rule.Delay, p.Cost)
		}
	}
	if err := p.Replayed.validate(p); err != nil {
		complain("%w", err)
	}
}

// validate reports what keeps nodes from beginning with r.
func (r *Replayed) validate(p *Plan) error {
	if r == nil {
		return nil
	}
	nodes := len(p.Forecast.Norms)
	if len(r.Sensors) > 0 && len(r.Sensors) < nodes || len(r.Seasons) > 0 && len(r.Seasons) < nodes {
		return fmt.Errorf("what %d sensors and %d seasons remember, want that of all %d nodes of training, or nothing",
			len(r.Sensors), len(r.Seasons), nodes)
	}
	for i := range r.Sensors {
		if m := &r.Sensors[i]; i < nodes || m.Norm != nil {
			if err := forecast.NewSensor(p.Forecast, &p.Forecast.Norms[min(i, nodes-1)]).Restore(*m); err != nil {
				return fmt.Errorf("what node %d remembers of its sensor does not fit: %w", i, err)
			}
		}
	}
	if p.Season == nil {
		return nil
	}
	node := rule.NewSeasonNode(p.Season, p.sigma(&p.Forecast.Norms[0]))
	for i := range r.Seasons {
		if err := node.Fits(r.Seasons[i]); err != nil {
			return fmt.Errorf("what node %d remembers of its season does not fit: %w; learn as it did", i, err)
		}
	}
	return nil
}
