package forecast

import (
	"errors"
	"fmt"
	"math"
	"slices"

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
	if nodes == 0 || readings.Rows%nodes != 0 || readings.Cols != 1+s.Extras {
		return nil, fmt.Errorf("forecast: fit: readings are %d×%d for %d sensors and %d extras", readings.Rows, readings.Cols, nodes, s.Extras)
	}
	if links != nil && (links.Rows != nodes || links.Cols != nodes) {
		return nil, fmt.Errorf("forecast: fit: links of %d×%d nodes for %d sensors", links.Rows, links.Cols, nodes)
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

// limits measures what the self-test compares with. A sensor that was calmer than most
// is compared with the middle one, in the user's units, one with few readings with
// what others did.
func (f *fitting) limits() {
	counts := make([]int, f.nodes)
	all := Norm{Low: math.Inf(1), High: math.Inf(-1)}
	var usual, spans []float64 // roughness and range of readings in the user's units
	for i := range f.spec.Norms {
		n := &f.spec.Norms[i]
		counts[i] = f.limit(n, i)
		all.Longest = max(all.Longest, n.Longest)
		all.Low, all.High = min(all.Low, n.Low), max(all.High, n.High)
		if counts[i] >= few && n.Low < n.High {
			usual, spans = append(usual, float64(n.Rough*n.Scale)), append(spans, n.High-n.Low)
		}
	}
	slices.Sort(usual)
	slices.Sort(spans)
	for i := range f.spec.Norms {
		n := &f.spec.Norms[i]
		if counts[i] < few {
			n.Longest, n.Low, n.High = all.Longest, all.Low, all.High
			n.Rough = middle(usual, math.Inf(1)) / n.Scale
			continue
		}
		n.Rough = max(n.Rough, middle(usual, float64(2*n.Rough*n.Scale))/n.Scale)
		wider := float64(max(middle(spans, 4*(n.High-n.Low))-(n.High-n.Low), 0) / 2)
		n.Low, n.High = n.Low-wider, n.High+wider
	}
}

// middle returns the median of sorted values, but no more than most unless that is 0:
// what is usual in a network. Many calm sensors have their first rush hour after
// training; but sensors may also measure different things.
func middle(sorted []float64, most float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	m := sorted[len(sorted)/2]
	if most > 0 {
		m = min(m, most)
	}
	return m
}

// limit measures one sensor, and returns how many readings it has.
func (f *fitting) limit(n *Norm, i int) (count int) {
	n.Low, n.High = math.Inf(1), math.Inf(-1)
	s := NewSensor(f.spec, n)
	for t := range f.steps {
		reading := f.readings.Row(t*f.nodes + i)[:1]
		x, read := s.normal(reading)
		if !read {
			continue
		}
		s.feel(x, uint64(t))
		count++
		n.Rough, n.Longest = max(n.Rough, s.m.Rough), max(n.Longest, s.m.Run)
		n.Low, n.High = min(n.Low, float64(reading[0])), max(n.High, float64(reading[0]))
	}
	return count
}

// imputation fits what estimates are made with.
func (f *fitting) imputation() {
	near := make([]float32, f.steps) // of step t-1, NaN if nobody was heard
	for i := range f.spec.Norms {
		f.hear(near, i)
		f.impute(&f.spec.Norms[i], i, near)
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

// impute fits the estimate of one node: first what neighbours say, over steps with
// both, about their means ℓ and ℓ',
//
//	β = Σ (x(t) - ℓ) (near(t-1) - ℓ') / (Σ (near(t-1) - ℓ')² + 1)
//
// then κ and λ for gaps of several lengths.
func (f *fitting) impute(n *Norm, i int, near []float32) {
	var own, others moments
	for t, v := range near {
		if x, read := f.at(t, i); read {
			own.add(float64(x))
		}
		if v-v == 0 {
			others.add(float64(v))
		}
	}
	n.Level, n.NearLevel = own.mean(), others.mean()
	xn, nn := 0.0, 1.0 // a little towards 0
	for t, v := range near {
		if x, read := f.at(t, i); read && v-v == 0 {
			d := float64(v) - n.NearLevel
			xn += float64((float64(x) - n.Level) * d)
			nn += float64(d * d)
		}
	}
	n.Near = xn / nn
	n.Keep = f.keep(n, i, near, n.Near)
	n.Alone = f.keep(n, i, near, 0)
}

// gaps are the lengths for which κ is fitted, kept its values that are tried.
var (
	gaps = []int{1, 2, 3, 6, 12}
	kept = []float64{0, .5, .6, .7, .8, .85, .9, .93, .95, .96, .97, .98, .985, .99, .995, 1}
)

// keep returns the κ with the least squared error of estimates of x(t) from x(t-g)
// and near(t-1), summed over gaps g; the smallest of equals. With
//
//	a = x(t) - ℓ - β near      b = x(t-g) - ℓ - β near      error = a - κᵍ b
//
// that takes three sums for each gap.
func (f *fitting) keep(n *Norm, i int, near []float32, beta float64) float64 {
	aa, ab, bb := make([]float64, len(gaps)), make([]float64, len(gaps)), make([]float64, len(gaps))
	for t := range f.steps {
		x, read := f.at(t, i)
		if !read {
			continue
		}
		others := 0.0
		if v := near[t]; v-v == 0 {
			others = float64(beta * (float64(v) - n.NearLevel))
		}
		for k, g := range gaps {
			if t < g {
				break
			}
			if before, read := f.at(t-g, i); read {
				a, b := float64(x)-n.Level-others, float64(before)-n.Level-others
				aa[k] += float64(a * a)
				ab[k] += float64(a * b)
				bb[k] += float64(b * b)
			}
		}
	}
	best, least := 0.0, math.Inf(1)
	for _, kappa := range kept {
		total := 0.0
		for k, g := range gaps {
			p := 1.0
			for range g {
				p = float64(p * kappa)
			}
			total += aa[k] - float64(2*p*ab[k]) + float64(float64(p*p)*bb[k])
		}
		if total < least {
			best, least = kappa, total
		}
	}
	return best
}
