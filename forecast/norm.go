package forecast

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// Norm is what training measured of one sensor. All but Mean, Scale, Low, High and
// those of extras are in normalised units.
type Norm struct {
	Mean  float64 `json:"mean"`
	Scale float64 `json:"scale"` // more than 0

	Sigma []float64 `json:"sigma,omitempty"` // σ: rms error of the trained model, by horizon; nil before training

	Level     float64 `json:"level"`      // ℓ: mean reading; 0 unless the scale is common
	NearLevel float64 `json:"near_level"` // ℓ': mean of what neighbours read
	Near      float64 `json:"near"`       // β: what neighbours' readings say of this one
	Keep      float64 `json:"keep"`       // κ: what the last reading counts after a step, 0 to 1
	Alone     float64 `json:"alone"`      // λ: the same if no neighbour is heard

	// What training saw: the largest mean change, the longest run of equal readings,
	// and between what readings were. Fit widens what is small for the network.
	Rough   float64 `json:"rough"`
	Longest int     `json:"longest"`
	Low     float64 `json:"low"`
	High    float64 `json:"high"`

	ExtraMean  []float64 `json:"extra_mean,omitempty"`
	ExtraScale []float64 `json:"extra_scale,omitempty"`
}

// Normal returns a reading in normalised units.
func (n *Norm) Normal(reading float32) float32 {
	return float32((float64(reading) - n.Mean) / n.Scale)
}

// Units returns a normalised number, such as a model's output, in the user's units.
func (n *Norm) Units(y float32) float32 {
	return float32(float64(float64(y)*n.Scale) + n.Mean)
}

// limits returns between what a reading must be: no further outside what training saw
// than twice the distance between its ends. Others are in other units, or nonsense.
func (n *Norm) limits() (low, high float64) {
	span := 2 * max(n.High-n.Low, n.Scale)
	return n.Low - span, n.High + span
}

// far says whether a reading is outside limits.
func (n *Norm) far(reading float64) bool {
	low, high := n.limits()
	return reading < low || reading > high
}

// sigma returns the rms error of forecasts of the shortest horizon.
func (n *Norm) sigma() float64 {
	if len(n.Sigma) == 0 || n.Sigma[0] <= 0 {
		return untrained
	}
	return n.Sigma[0]
}

// untrained is σ where no model was trained yet.
const untrained = 0.3

func (n *Norm) validate(s *Spec) error {
	var errs []error
	finite := func(name string, values ...float64) {
		for _, v := range values {
			if v-v != 0 {
				errs = append(errs, fmt.Errorf("%s is %v, want a number", name, v))
			}
		}
	}
	finite("mean", n.Mean)
	finite("sigma", n.Sigma...)
	finite("near or level", n.Near, n.Level, n.NearLevel)
	finite("low or high", n.Low, n.High)
	finite("extra mean", n.ExtraMean...)
	for _, scale := range append([]float64{n.Scale}, n.ExtraScale...) {
		if !(scale > 0) || math.IsInf(scale, 0) {
			errs = append(errs, fmt.Errorf("scale is %v, want a number above 0", scale))
		}
	}
	if !(n.Keep >= 0 && n.Keep <= 1 && n.Alone >= 0 && n.Alone <= 1) {
		errs = append(errs, fmt.Errorf("keep is %v and alone %v, want 0 to 1", n.Keep, n.Alone))
	}
	if !(n.Rough >= 0) || n.Longest < 0 || n.Low > n.High {
		errs = append(errs, fmt.Errorf("roughness %v, longest run %d, readings from %v to %v", n.Rough, n.Longest, n.Low, n.High))
	}
	if len(n.Sigma) != 0 && len(n.Sigma) != len(s.Horizons) {
		errs = append(errs, fmt.Errorf("%d sigmas for %d horizons", len(n.Sigma), len(s.Horizons)))
	}
	if len(n.ExtraMean) != s.Extras || len(n.ExtraScale) != s.Extras {
		errs = append(errs, fmt.Errorf("%d means and %d scales for %d extras", len(n.ExtraMean), len(n.ExtraScale), s.Extras))
	}
	return errors.Join(errs...)
}

// SetSigma stores the rms errors of a trained model at horizon c, by sensor, in
// normalised units. Those that are not known (NaN) or below 0.3 × the mean over
// sensors become that: a sensor that was easy to foretell in training is not
// doubted for a small change.
func (s *Spec) SetSigma(c int, rms []float64) {
	sum, count := 0.0, 0
	for _, v := range rms {
		if v >= 0 && !math.IsInf(v, 0) {
			sum, count = sum+v, count+1
		}
	}
	mean := untrained
	if count > 0 && sum > 0 {
		mean = sum / float64(count)
	}
	for i := range s.Norms {
		if len(s.Norms[i].Sigma) != len(s.Horizons) {
			s.Norms[i].Sigma = make([]float64, len(s.Horizons))
		}
		v := mean
		if rms[i] >= 0 && !math.IsInf(rms[i], 0) {
			v = max(rms[i], 0.3*mean)
		}
		s.Norms[i].Sigma[c] = v
	}
}

func (n *Norm) clone() *Norm {
	c := *n
	c.Sigma, c.ExtraMean, c.ExtraScale = slices.Clone(n.Sigma), slices.Clone(n.ExtraMean), slices.Clone(n.ExtraScale)
	return &c
}

// Newcomer returns the norm of a sensor that was not in training: the weighted mean
// of its neighbours' that were, with the weights of the links. It is false if there
// is none.
func (s *Spec) Newcomer(near []int, weights []float32) (Norm, bool) {
	n := Norm{Low: math.Inf(1), High: math.Inf(-1), ExtraMean: make([]float64, s.Extras), ExtraScale: make([]float64, s.Extras)}
	total := 0.0
	for e, j := range near {
		if j >= 0 && j < len(s.Norms) {
			total += max(float64(weights[e]), 0)
		}
	}
	if !(total > 0) {
		return Norm{}, false
	}
	for e, j := range near {
		w := max(float64(weights[e]), 0) / total
		if j < 0 || j >= len(s.Norms) || w == 0 {
			continue
		}
		n.blend(w, &s.Norms[j])
	}
	return n, true
}

// blend adds w times another norm to n. What training saw is all that any of them
// saw.
func (n *Norm) blend(w float64, o *Norm) {
	n.Mean += float64(w * o.Mean)
	n.Scale += float64(w * o.Scale)
	n.Level += float64(w * o.Level)
	n.NearLevel += float64(w * o.NearLevel)
	n.Near += float64(w * o.Near)
	n.Keep = min(n.Keep+float64(w*o.Keep), 1)
	n.Alone = min(n.Alone+float64(w*o.Alone), 1)
	if len(n.Sigma) < len(o.Sigma) {
		n.Sigma = append(n.Sigma, make([]float64, len(o.Sigma)-len(n.Sigma))...)
	}
	for c, v := range o.Sigma {
		n.Sigma[c] += float64(w * v)
	}
	n.Rough, n.Longest = max(n.Rough, o.Rough), max(n.Longest, o.Longest)
	n.Low, n.High = min(n.Low, o.Low), max(n.High, o.High)
	for e := range n.ExtraMean {
		n.ExtraMean[e] += float64(w * o.ExtraMean[e])
		n.ExtraScale[e] += float64(w * o.ExtraScale[e])
	}
}
