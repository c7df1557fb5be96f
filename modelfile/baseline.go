package modelfile

import (
	"errors"
	"fmt"

	"github.com/wdgnn/wdgnn/forecast"
	"github.com/wdgnn/wdgnn/mat"
)

// Tensors of what a forecast model is compared with.
const (
	ridgeName = "online.forecast.ridge" // N×C(p+1), F64: weights of p lags and a constant, by horizon
	naiveName = "online.forecast.naive" // N×(1+Season), F32: the newest reading, and that of each slot of the season
	clockName = "online.forecast.clock" // N×Season, F32: the mean of training in each slot; left out without a season
)

// SetBaselines stores what a forecast model is compared with, as it was at the end of
// a replay, so that a later stream can be judged without the training series. Nodes
// behind the sensors of Forecast are left out; a sensor that joined later has the mean
// weights.
func (m *Model) SetBaselines(r *forecast.Ridge, n *forecast.Naive) error {
	s, err := m.Forecast()
	if err != nil {
		return err
	}
	if s == nil {
		return errors.New("modelfile: baselines need what SetForecast stores")
	}
	each := r.Horizons * (r.Lags + 1)
	if r.Horizons != len(s.Horizons) || r.Lags > s.Lags || len(n.Newest) < len(s.Sensors) || n.Slots.Cols != s.Season {
		return fmt.Errorf("modelfile: baselines of another model than that of %d sensors", len(s.Sensors))
	}
	x := Float64s{Rows: len(s.Sensors), Cols: each}
	for i := range s.Sensors {
		x.Data = append(x.Data, r.Of(i)...)
	}
	m.setPrecise(ridgeName, x)
	values := mat.NewDense(len(s.Sensors), 1+s.Season, nil)
	for i := range values.Rows {
		row := values.Row(i)
		row[0] = n.Newest[i]
		if s.Season > 0 {
			copy(row[1:], n.Slots.Row(i))
		}
	}
	if m.Extra == nil {
		m.Extra = map[string]mat.Dense{}
	}
	m.Extra[naiveName] = values
	if !n.Means.Empty() {
		m.Extra[clockName] = n.Means.View(0, 0, len(s.Sensors), s.Season).Clone()
	}
	return nil
}

// Baselines returns what SetBaselines stored, for a network of the given nodes, of
// which those behind the sensors of Forecast begin anew; nil if there is nothing.
func (m *Model) Baselines(nodes int) (*forecast.Ridge, *forecast.Naive, error) {
	x, found := m.Numbers(ridgeName)
	values, also := m.Extra[naiveName]
	s, err := m.Forecast()
	if !found || !also || err != nil || s == nil {
		return nil, nil, err
	}
	c := len(s.Horizons)
	if x.Rows != len(s.Sensors) || x.Cols%c != 0 || x.Cols/c-1 < 1 || x.Cols/c-1 > s.Lags {
		return nil, nil, fmt.Errorf("modelfile: tensor %s is %d×%d for %d sensors, %d horizons and %d lags",
			ridgeName, x.Rows, x.Cols, len(s.Sensors), c, s.Lags)
	}
	if values.Rows != len(s.Sensors) || values.Cols != 1+s.Season {
		return nil, nil, fmt.Errorf("modelfile: tensor %s is %d×%d for %d sensors and a season of %d",
			naiveName, values.Rows, values.Cols, len(s.Sensors), s.Season)
	}
	r, err := forecast.NewRidge(x.Cols/c-1, c, some(x.Data))
	if err != nil {
		return nil, nil, fmt.Errorf("modelfile: %w", err)
	}
	n := forecast.NewNaive(s, nodes)
	for i := range min(values.Rows, nodes) {
		row := values.Row(i)
		n.Newest[i] = row[0]
		if s.Season > 0 {
			copy(n.Slots.Row(i), row[1:])
		}
	}
	means, found := m.Extra[clockName]
	if !found {
		return r, n, nil
	}
	if means.Rows != len(s.Sensors) || means.Cols != s.Season {
		return nil, nil, fmt.Errorf("modelfile: tensor %s is %d×%d for %d sensors and a season of %d",
			clockName, means.Rows, means.Cols, len(s.Sensors), s.Season)
	}
	n.Means = n.Slots.Clone()
	for i := range min(means.Rows, nodes) {
		copy(n.Means.Row(i), means.Row(i))
	}
	return r, n, nil
}
