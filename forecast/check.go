package forecast

import "math"

// reason is why a reading is not used.
type reason uint8

const (
	trusted reason = iota
	contradicted
	rough
	stuck
	outside
)

var reasons = [...]string{
	trusted:      "",
	contradicted: "its readings are not what the answers say",
	rough:        "its readings jump more than training saw",
	stuck:        "its readings stand still longer than training saw",
	outside:      "its readings are far outside what training saw",
}

// Constants of the sensor check.
const (
	doubtKeep = 0.8 // of the doubt m stays from one answer to the next
	doubtFrom = 0.3 // broken from this doubt on
	doubtTo   = 0.1 // until it is below this

	patience = 12 // steps without an answer before a sensor tests itself

	roughKeep = 0.95 // of the roughness stays from one reading to the next
	roughMost = 1.3  // × that of training: broken above, until it is below that of training
	roughCap  = 2    // × that of training: no more is remembered, so that a calm sensor is soon believed
	runFactor = 2    // × the longest run of training
	runMore   = 6    // and as many readings: broken above
)

// judge looks at a reading x, normalised, if there is one, and at the truth that came
// with it, and decides whether readings are used.
func (s *Sensor) judge(x float32, read, far bool, truth float32, told bool) {
	s.truth, s.knows = 0, false
	if told {
		s.truth, s.knows = s.Normal(truth)
	}
	s.m.Quiet = min(s.m.Quiet+1, patience)
	if s.knows && read {
		s.m.Quiet = 0
		s.confront(float64(x) - float64(s.truth))
	}
	if read && !far {
		s.feel(x, s.m.Step)
		s.m.Rough = min(s.m.Rough, float64(roughCap*s.norm.Rough))
	}
	s.decide(far, told)
	if !told && read && s.reason == trusted {
		s.truth, s.knows = x, true
	}
}

// confront moves the doubt m by the difference of a reading and its truth.
//
//	m ← .8 m + .2 min(|x - v|/σ, 1)
func (s *Sensor) confront(difference float64) {
	miss := min(math.Abs(difference)/s.norm.sigma(), 1)
	s.m.Doubt = float64(doubtKeep*s.m.Doubt) + float64((1-doubtKeep)*miss)
	if s.m.Doubt >= doubtFrom {
		s.m.Doubted = true
	} else if s.m.Doubt < doubtTo {
		s.m.Doubted = false
	}
}

// feel moves what the self-test looks at by the reading of step t.
//
//	v ← .95 v + .05 |x - x'|         x' the reading of the step before, if there is one
//	run ← run + 1 if x = x', else 1  x' the reading before
func (s *Sensor) feel(x float32, t uint64) {
	if s.m.Run > 0 && s.m.At+1 == t {
		change := math.Abs(float64(x) - float64(s.m.Last))
		s.m.Rough = float64(roughKeep*s.m.Rough) + float64((1-roughKeep)*change)
	}
	if x != s.m.Last {
		s.m.Run = 0
	}
	s.m.Run++
	s.m.Last, s.m.At = x, t
}

// decide says whether the sensor is broken, and since when.
func (s *Sensor) decide(far, told bool) {
	was := s.reason
	s.reason = trusted
	switch {
	case far:
		s.reason = outside
	case told && s.m.Doubted:
		s.reason = contradicted
	case s.m.Quiet < patience:
	case s.m.Rough > float64(roughMost*s.norm.Rough) || was == rough && s.m.Rough > s.norm.Rough:
		s.reason = rough
	case s.m.Run > runFactor*s.norm.Longest+runMore:
		s.reason = stuck
	}
	s.noticed = s.reason != trusted && was == trusted
	if s.noticed {
		s.m.Since = s.m.Step
	}
	s.m.Reason = uint8(s.reason)
}

// Broken says why the readings of this sensor are not used, in words for people, and
// since which step; "" if they are.
//
// Answers are evidence: a sensor is broken whose readings are not what the answers
// say, until they are again. Where answers come apart from readings and 12 steps
// pass without one, or where a reading is its own truth, the sensor tests itself: it
// is broken when its readings jump more than 1.3 times what training saw, until they
// jump no more than that, and while they stand still for more than twice as long and 6
// readings; the readings before are then forgotten, too. A reading far outside what
// training saw is never used.
func (s *Sensor) Broken() (why string, since uint64) {
	if s.reason == trusted {
		return "", 0
	}
	return reasons[s.reason], s.m.Since
}
