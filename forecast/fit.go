package forecast

import (
	"errors"
	"fmt"
	"math"

	"github.com/wdgnn/wdgnn/mat"
)

// Scaling says what normalises readings.
type Scaling string

const (
	ScalePerSensor Scaling = "sensor" // mean and deviation of every sensor
	ScaleCommon    Scaling = "common" // mean and deviation of all readings together
)

// Fit returns s with norms measured on the training part of a series.
//
//	readings  (T·N)×(1+Extras), step after step, in the user's units; NaN and s.Missing are no reading
//	links     N×N, as Network.Read takes them; nil if there are none
//
// s.Norms is not looked at; its Steps become T if they are 0. A sensor that never
// reads has the mean and scale of all; one that stands still, the scale of all.
func Fit(s Spec, readings mat.Dense, links *mat.CSR, scaling Scaling) (*Spec, error) {
	nodes := len(s.Sensors)
	if nodes == 0 || readings.Rows%nodes != 0 || readings.Cols != 1+s.Extras || links != nil && (links.Rows != nodes || links.Cols != nodes) {
		return nil, fmt.Errorf("forecast: fit: readings are %d×%d for %d sensors and %d extras", readings.Rows, readings.Cols, nodes, s.Extras)
	}
	f := fitting{spec: &s, readings: readings, links: links, nodes: nodes, steps: readings.Rows / nodes}
	s.Norms = make([]Norm, nodes)
	if s.Steps == 0 {
		s.Steps = uint64(f.steps)
	}
	if err := f.scales(scaling); err != nil {
		return nil, err
	}
	f.limits()
	f.imputation()
	return &s, s.Validate()
}

// fitting is what Fit works on.
type fitting struct {
	spec         *Spec
	readings     mat.Dense
	links        *mat.CSR
	nodes, steps int
}

// few is the number of readings below which a sensor's own deviation says little.
const few = 30

// moments are sums over numbers, about the first of them.
type moments struct{ first, sum, squares, count float64 }

func (m *moments) add(v float64) {
	if m.count == 0 {
		m.first = v
	}
	d := v - m.first
	m.sum += d
	m.squares += float64(d * d)
	m.count++
}

func (m *moments) merge(o moments) {
	if o.count == 0 {
		return
	}
	if m.count == 0 {
		m.first = o.first
	}
	d := o.first - m.first
	m.squares += o.squares + float64(2*d*o.sum) + float64(o.count*d*d)
	m.sum += o.sum + float64(o.count*d)
	m.count += o.count
}

func (m *moments) mean() float64 {
	if m.count == 0 {
		return 0
	}
	return m.first + m.sum/m.count
}

func (m *moments) deviation() float64 {
	if m.count == 0 {
		return 0
	}
	mean := m.sum / m.count
	return math.Sqrt(max(m.squares/m.count-float64(mean*mean), 0))
}

// scale returns the deviation, or other where it says nothing.
func (m *moments) scale(other float64) float64 {
	if d := m.deviation(); m.count >= few && d > 1e-6*max(math.Abs(m.mean()), 1e-300) {
		return d
	}
	return other
}

// scales measures means and scales of readings and extras.
func (f *fitting) scales(scaling Scaling) error {
	if scaling == "" {
		scaling = ScalePerSensor
	}
	if scaling != ScalePerSensor && scaling != ScaleCommon {
		return fmt.Errorf("forecast: fit: scaling is %q, want %q or %q", scaling, ScalePerSensor, ScaleCommon)
	}
	for c := range f.readings.Cols {
		own, all := f.moments(c)
		if c == 0 && all.count == 0 {
			return errors.New("forecast: fit: the training part has no reading")
		}
		common := all.scale(1)
		for i := range own {
			mean, scale := own[i].mean(), own[i].scale(common)
			if own[i].count == 0 || scaling == ScaleCommon {
				mean = all.mean()
			}
			if scaling == ScaleCommon {
				scale = common
			}
			n := &f.spec.Norms[i]
			if c == 0 {
				n.Mean, n.Scale = mean, scale
			} else {
				n.ExtraMean, n.ExtraScale = append(n.ExtraMean, mean), append(n.ExtraScale, scale)
			}
		}
	}
	return nil
}

// moments returns those of column c, by sensor and of all.
func (f *fitting) moments(c int) (own []moments, all moments) {
	own = make([]moments, f.nodes)
	for r := range f.readings.Rows {
		if v := f.readings.Row(r)[c]; f.spec.present(v) {
			own[r%f.nodes].add(float64(v))
		}
	}
	for i := range own {
		all.merge(own[i])
	}
	return own, all
}

// limits measures what the self-test compares with.
func (f *fitting) limits() {
	for i := range f.spec.Norms {
		n := &f.spec.Norms[i]
		n.Low, n.High = math.Inf(1), math.Inf(-1)
		s := NewSensor(f.spec, n)
		for t := range f.steps {
			reading := f.readings.Row(t*f.nodes + i)[:1]
			x, read := s.normal(reading)
			if !read {
				continue
			}
			s.feel(x)
			n.Rough, n.Longest = max(n.Rough, s.m.Rough), max(n.Longest, s.m.Run)
			n.Low, n.High = min(n.Low, float64(reading[0])), max(n.High, float64(reading[0]))
		}
		if n.Low > n.High {
			n.Low, n.High = n.Mean, n.Mean
		}
	}
}

// imputation fits β and κ by least squares, over steps with a reading before them:
//
//	β = Σ x(t) near(t-1) / Σ near(t-1)²      r(t) = x(t) - β near(t-1)
//	κ = Σ r(t) r(t-1) / Σ r(t-1)²            between 0 and 1
func (f *fitting) imputation() {
	near := mat.NewDense(f.nodes, f.steps, nil) // of step t-1, NaN if nobody was heard
	for i := range f.nodes {
		f.hear(near.Row(i), i)
	}
	for i := range f.spec.Norms {
		f.impute(&f.spec.Norms[i], i, near.Row(i))
	}
}

// at returns the normalised reading of node i at step t; false if there is none.
func (f *fitting) at(t, i int) (float32, bool) {
	v := f.readings.Row(t*f.nodes + i)[0]
	if !f.spec.present(v) {
		return 0, false
	}
	return f.spec.Norms[i].Normal(v), true
}

// hear writes what node i hears at the step before each.
func (f *fitting) hear(near []float32, i int) {
	near[0] = float32(math.NaN())
	for t := 1; t < f.steps; t++ {
		var e Ear
		if f.links != nil {
			columns, weights := f.links.Row(i)
			for k, j := range columns {
				if x, read := f.at(t-1, int(j)); read && int(j) != i {
					e.add(weights[k], x, 0)
				}
			}
		}
		v, heard := e.Near()
		if !heard {
			v = float32(math.NaN())
		}
		near[t] = v
	}
}

// impute fits the estimate of one node.
func (f *fitting) impute(n *Norm, i int, near []float32) {
	xn, nn := 0.0, 1.0 // a little towards 0
	for t := 1; t < f.steps; t++ {
		if x, read := f.at(t, i); read && near[t]-near[t] == 0 {
			xn += float64(float64(x) * float64(near[t]))
			nn += float64(float64(near[t]) * float64(near[t]))
		}
	}
	n.Near = xn / nn
	rr, ss := 0.0, 1.0
	last, had := 0.0, false
	for t := range f.steps {
		x, read := f.at(t, i)
		r := float64(x)
		if near[t]-near[t] == 0 {
			r -= float64(n.Near * float64(near[t]))
		}
		if read && had {
			rr += float64(r * last)
			ss += float64(last * last)
		}
		last, had = r, read
	}
	n.Keep = min(max(rr/ss, 0), 1)
}
