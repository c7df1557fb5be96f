package lifecycle

import (
	"fmt"
	"slices"

	"github.com/wdgnn/wdgnn/forecast"
	"github.com/wdgnn/wdgnn/modelfile"
)

// keep stores in a model file what the sensors know before row t: newcomers are its
// sensors from then on.
func (s *readings) keep(file *modelfile.Model, t int) error {
	spec := *s.spec
	spec.Sensors, spec.Norms = slices.Clone(spec.Sensors), slices.Clone(spec.Norms)
	memory := s.before
	if s.last != t { // that row was not read yet
		memory = s.network.Memory()
	}
	for i := len(spec.Sensors); i < len(memory); i++ {
		if memory[i].Norm == nil { // nobody was heard
			break
		}
		spec.Sensors, spec.Norms = append(spec.Sensors, s.series.Names[i]), append(spec.Norms, *memory[i].Norm)
	}
	if err := file.SetForecast(&spec); err != nil {
		return err
	}
	if err := file.SetSensors(memory[:len(spec.Sensors)]); err != nil {
		return err
	}
	links, err := narrowed(s.graph(max(t-1, 0)), len(spec.Sensors))
	if err != nil {
		return err
	}
	file.SetSensorGraph(links)
	if s.ridge == nil {
		return nil
	}
	ridge, err := widenedRidge(s.ridge, len(spec.Sensors))
	if err != nil {
		return err
	}
	return file.SetBaselines(ridge, s.naive)
}

// widenedRidge returns a ridge regression for more sensors, newcomers with the mean of all.
func widenedRidge(r *forecast.Ridge, nodes int) (*forecast.Ridge, error) {
	each := r.Horizons * (r.Lags + 1)
	known := len(r.Weights) / each
	weights := slices.Clone(r.Weights)
	for range nodes - known {
		for k := range each {
			sum := 0.0
			for i := range known {
				sum += r.Weights[i*each+k] / float64(known)
			}
			weights = append(weights, sum)
		}
	}
	return forecast.NewRidge(r.Lags, r.Horizons, weights)
}

// ComparedShape returns the shape of Compared: steps×N×C×4.
func (r *OnlineRun) ComparedShape() []int { return append(r.PredictionShape(), compared) }

// Truths returns what became known of the steps so far, in the user's units, and its
// shape, steps×N; nil if the model does not forecast. What is not known is NaN.
func (r *OnlineRun) Truths() (values []float32, shape []int) {
	s := r.Stream.sensors
	if s == nil {
		return nil, nil
	}
	steps := r.PredictionShape()[0]
	return s.truth[:steps*s.series.Nodes], []int{steps, s.series.Nodes}
}

// ResumeForecasts gives back what an earlier run wrote: Compared, and Truths.
func (r *OnlineRun) ResumeForecasts(others, truths []float32) error {
	s := r.Stream.sensors
	n, m := len(r.Predictions)*compared, r.State.At*s.series.Nodes
	if len(others) < n || len(truths) < m {
		return fmt.Errorf("there are %d numbers to compare with and %d truths, want %d and %d", len(others), len(truths), n, m)
	}
	r.Compared = append(r.Compared[:0], others[:n]...)
	for k, v := range truths[:m] {
		s.recall(k, v)
	}
	return nil
}

// recall takes in a truth of an earlier run, the k-th of the stream.
func (s *readings) recall(k int, v float32) {
	i := k % s.series.Nodes
	s.truth[k] = v
	if v-v == 0 {
		s.normal[k] = s.norm(i).Normal(v)
	}
}

// norm returns that of sensor i, of which something is known.
func (s *readings) norm(i int) *forecast.Norm {
	if i < len(s.spec.Norms) {
		return &s.spec.Norms[i]
	}
	return s.network.Sensor(i).Memory().Norm
}
