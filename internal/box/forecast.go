package box

import (
	"fmt"
	"strings"
	"time"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/forecast"
	"github.com/wdgnn/wdgnn/internal/duration"
	"github.com/wdgnn/wdgnn/internal/snapshot"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/rule"
)

// forecastCost is what forecasts cost where learn: names a rule that asks.
const forecastCost = "l1"

// forecasts says whether a model does. What is wrong with what it knows of sensors is
// said by planForecast.
func forecasts(m *modelfile.Model) bool {
	spec, err := m.Forecast()
	return spec != nil || err != nil
}

// planForecast gives a plan what a model of forecasts knows of its sensors, and of
// the past: what was replayed to them in training, or played by wdgnn online.
func planForecast(p *agent.PlanConfig, m *modelfile.Model) error {
	spec, err := m.Forecast()
	if err != nil || spec == nil {
		return err
	}
	p.Forecast, p.Replayed = spec, new(agent.Replayed)
	if p.Replayed.Sensors, err = m.Sensors(); err != nil {
		return err
	}
	g, err := m.SensorGraph()
	if err != nil {
		return err
	}
	if g != nil {
		p.Replayed.Links = g.Adjacency()
	}
	s, found, err := snapshot.Of(m)
	if err != nil {
		return err
	}
	if found {
		p.Replayed.Seasons = s.Nodes
	}
	return nil
}

// seasonPlan completes a plan whose nodes learn by seasons. Where links have a
// direction nodes keep the weight of the season to themselves, as wdgnn online does.
func seasonPlan(p *agent.PlanConfig, m *modelfile.Model, r *rule.Config, moment *rule.SecondMoment) error {
	spec, order := p.Forecast, 0
	if wide := m.Network.Config.Wide; wide != nil {
		order = wide.Order
	} else {
		season := *r.Season
		season.Taps = -1 // there are none to begin from
		r.Season = &season
	}
	g, err := m.SensorGraph()
	if err != nil {
		return fmt.Errorf("model: %w", err)
	}
	if g != nil && g.Directed() {
		season := *r.Season
		season.Alone, r.Season = true, &season
	}
	p.Rule = r
	p.Season, err = rule.NewSeasonPlan(r, rule.SeasonTask{
		Season: spec.Season, Horizons: spec.Horizons, Lagged: spec.Lagged(order), Moment: moment,
	})
	if err != nil {
		return fmt.Errorf("learn: %w", err)
	}
	return nil
}

// names returns those of sensors: of the model, and of newcomers that a series or the
// configuration names.
func (b *Box) names(p *agent.Plan) map[agent.NodeID]string {
	if p.Forecast == nil {
		return nil
	}
	list := p.Forecast.Sensors
	if b.series != nil {
		list = b.series.series.Names
	}
	names := make(map[agent.NodeID]string, len(list))
	for i, name := range list {
		names[agent.NodeID(i)] = name
	}
	for i, name := range b.Sensors {
		if names[agent.NodeID(i)] == "" {
			names[agent.NodeID(i)] = name
		}
	}
	return names
}

// describeForecast says what is forecast, and of whom.
func (b *Box) describeForecast(s *forecast.Spec) string {
	ahead := make([]string, len(s.Horizons))
	for c, h := range s.Horizons {
		ahead[c] = fmt.Sprintf("%d steps", h)
		if s.Interval > 0 {
			ahead[c] = duration.Text(time.Duration(h) * s.Interval)
		}
	}
	last := len(ahead) - 1
	text := ahead[last]
	if last > 0 {
		text = strings.Join(ahead[:last], ", ") + " and " + text
	}
	text = fmt.Sprintf("%d sensors, %s ahead", len(s.Sensors), text)
	if s.Unit != "" {
		text += ", in " + s.Unit
	}
	newcomers := 0
	for _, id := range b.nodes {
		if int(id) >= len(s.Sensors) {
			newcomers++
		}
	}
	if newcomers > 0 {
		text += fmt.Sprintf("; nodes here that were not in training: %d", newcomers)
	}
	return text
}
