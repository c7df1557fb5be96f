package forecast

import "fmt"

// Sensor is the memory of one node: its last readings, and whether it can be
// trusted. It is not safe for concurrent use.
type Sensor struct {
	spec     *Spec
	norm     *Norm
	calendar calendar
	m        Memory

	truth   float32 // of the step just read
	knows   bool    // whether there is one
	reason  reason  // why the reading of the step just read is not used
	noticed bool    // that was not so at the step before
}

// NewSensor returns a sensor that has read nothing yet.
func NewSensor(s *Spec, n *Norm) *Sensor {
	return &Sensor{
		spec: s, norm: n, calendar: newCalendar(s),
		m: Memory{Lags: make([]float32, s.Lags), Extras: make([]float32, s.Extras)},
	}
}

// NewNewcomer returns a sensor that was not in training, with a norm of its own as
// [Spec.Newcomer] makes it.
func NewNewcomer(s *Spec, n Norm) *Sensor {
	sensor := NewSensor(s, &n)
	sensor.m.Norm = &n
	return sensor
}

// Absent writes the inputs of a node of which nothing is known, a newcomer that has
// no neighbour yet: nothing but a flag and the calendar.
func (s *Spec) Absent(row []float32, t uint64) {
	clear(row)
	row[s.Flag()] = 1
	c := newCalendar(s)
	c.write(row[s.Lags+1+s.Extras:], t)
}

// longestGap is how many skipped steps are counted one by one; of a longer silence
// nothing more is left to fade.
const longestGap = 4096

// Read takes what arrived at step t and writes the node's F inputs to row.
//
//	reading  1+Extras numbers in the user's units, or none; NaN and Spec.Missing are no reading
//	truth    in the user's units, NaN if it is not known; it counts only if answers are told
//	told     answers come apart from readings; otherwise a reading is its own truth
//	near     what an [Ear] heard of the neighbours' rows of step t-1; heard if it heard any
//
// Steps ascend; steps that were skipped count as missing. Read allocates nothing. It
// panics if row or reading have other lengths, or t does not ascend.
func (s *Sensor) Read(row []float32, t uint64, reading []float32, truth float32, told bool, near float32, heard bool) {
	if len(row) != s.spec.Inputs() || len(reading) != 0 && len(reading) != 1+s.spec.Extras {
		panic(fmt.Sprintf("forecast: Read: %d inputs from %d numbers, want %d from %d",
			len(row), len(reading), s.spec.Inputs(), 1+s.spec.Extras))
	}
	if s.m.Started {
		if t <= s.m.Step {
			panic(fmt.Sprintf("forecast: Read: step %d after step %d", t, s.m.Step))
		}
		for range min(t-s.m.Step-1, longestGap) {
			s.fade()
			s.push(s.estimate(0, false))
			s.m.Quiet++
		}
	}
	s.m.Step = t
	x, read := s.normal(reading)
	s.judge(x, read, read && s.norm.far(float64(reading[0])), truth, told)
	s.fade()
	s.m.Estimated = false
	switch v, known := s.Truth(); {
	case read && s.reason == trusted:
		s.trust(x)
	case told && known:
		s.trust(v)
	default:
		if s.noticed && s.reason != outside {
			s.forget(near, heard)
		}
		s.push(s.estimate(near, heard))
		s.m.Estimated = true
	}
	s.write(row, t, reading)
}

// normal returns the reading in normalised units; false if there is none.
func (s *Sensor) normal(reading []float32) (float32, bool) {
	if len(reading) == 0 || !s.spec.present(reading[0]) {
		return 0, false
	}
	return s.norm.Normal(reading[0]), true
}

// present says whether v is a number and not the code for none.
func (s *Spec) present(v float32) bool {
	return v-v == 0 && (s.Missing == nil || v != float32(*s.Missing))
}

// trust takes x as what the world is now.
func (s *Sensor) trust(x float32) {
	s.push(x)
	s.m.Value, s.m.Kept, s.m.Alone = float64(x)-s.norm.Level, 1, 1
}

// fade lets the last reading count for less by one step: κᵏ and λᵏ.
func (s *Sensor) fade() {
	s.m.Kept = float64(s.m.Kept * s.norm.Keep)
	s.m.Alone = float64(s.m.Alone * s.norm.Alone)
}

// estimate returns x̂ for a step without a reading, after fade. It is not further
// outside what training saw than readings may be, whatever neighbours say.
func (s *Sensor) estimate(near float32, heard bool) float32 {
	n := s.norm
	x := n.Level + float64(s.m.Alone*s.m.Value)
	if heard {
		others := float64(n.Near * (float64(near) - n.NearLevel))
		x = n.Level + float64(s.m.Kept*s.m.Value) + float64((1-s.m.Kept)*others)
	}
	low, high := n.limits()
	return float32(min(max(x, (low-n.Mean)/n.Scale), (high-n.Mean)/n.Scale))
}

// forget drops the readings of a sensor that has just been found broken: they were
// nonsense for a while. Its neighbours alone say what it read.
func (s *Sensor) forget(near float32, heard bool) {
	s.m.Kept, s.m.Alone = 0, 0
	x := s.estimate(near, heard)
	for l := range s.m.Lags {
		s.m.Lags[l] = x
	}
}

// push puts x before the readings so far. Before the first one the world was as it
// is then.
func (s *Sensor) push(x float32) {
	lags := s.m.Lags
	if !s.m.Started {
		s.m.Started = true
		for l := range lags {
			lags[l] = x
		}
		return
	}
	copy(lags[1:], lags)
	lags[0] = x
}

// mostExtra bounds normalised extras: a number in other units must not drown all
// else.
const mostExtra = 10

func (s *Sensor) write(row []float32, t uint64, reading []float32) {
	copy(row, s.m.Lags)
	row[s.spec.Flag()] = flag(s.m.Estimated)
	row = row[s.spec.Lags+1:]
	for e := range s.m.Extras {
		if len(reading) > 0 && s.spec.present(reading[1+e]) {
			v := float32((float64(reading[1+e]) - s.norm.ExtraMean[e]) / s.norm.ExtraScale[e])
			s.m.Extras[e] = min(max(v, -mostExtra), mostExtra)
		}
	}
	s.calendar.write(row[copy(row, s.m.Extras):], t)
}

func flag(estimated bool) float32 {
	if estimated {
		return 1
	}
	return 0
}

// Truth returns what the world was at the step just read, in normalised units; false
// if nobody knows.
func (s *Sensor) Truth() (v float32, ok bool) { return s.truth, s.knows }

// Units returns a normalised number in the user's units.
func (s *Sensor) Units(y float32) float32 { return s.norm.Units(y) }

// Normal returns what a truth in the user's units is in normalised ones; false if it
// is no number, the code for none, or far outside what training saw.
func (s *Sensor) Normal(truth float32) (v float32, ok bool) {
	if !s.spec.present(truth) || s.norm.far(float64(truth)) {
		return 0, false
	}
	return s.norm.Normal(truth), true
}
