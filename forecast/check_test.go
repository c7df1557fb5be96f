package forecast_test

import (
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/forecast"
)

// reader feeds one sensor step by step.
type reader struct {
	sensor *forecast.Sensor
	row    []float32
	step   uint64
}

func newReader(s *forecast.Spec) *reader {
	return &reader{sensor: forecast.NewSensor(s, &s.Norms[0]), row: make([]float32, s.Inputs())}
}

// read takes a reading that is its own truth.
func (r *reader) read(v float32) { r.take(v, 0, false) }

// told takes a reading and an answer that comes apart from it.
func (r *reader) told(v, truth float32) { r.take(v, truth, true) }

func (r *reader) take(v, truth float32, told bool) {
	r.sensor.Read(r.row, r.step, []float32{v}, truth, told, 0, false)
	r.step++
}

func (r *reader) broken() string {
	why, _ := r.sensor.Broken()
	return why
}

// A sensor whose readings are not what the answers say is broken from a doubt of .3
// until below .1; meanwhile it uses the answers.
func TestAnswersAreEvidence(t *testing.T) {
	r := newReader(spec()) // σ is .2, 2 in the user's units
	for range 20 {
		r.told(60, 60)
	}
	if why := r.broken(); why != "" {
		t.Fatalf("a sensor that is right is broken: %s", why)
	}
	r.told(0, 61) // m = .2
	if why := r.broken(); why != "" || r.row[0] != -5 {
		t.Errorf("after one reading that is wrong: %q and input %v, want trust and -5", why, r.row[0])
	}
	r.told(0, 61) // m = .36
	why, since := r.sensor.Broken()
	if !strings.Contains(why, "answers") || since != 21 || r.row[0] != 1.1 || r.row[3] != 0 {
		t.Errorf("after two: %q since %d, inputs %v, want the answer 1.1 since step 21, which is no estimate", why, since, r.row)
	}
	r.told(0, nan)
	if r.row[3] != 1 || r.broken() == "" {
		t.Errorf("without an answer: inputs %v, %q, want an estimate and no trust", r.row, r.broken())
	}
	steps := 0
	for ; r.broken() != "" && steps < 100; steps++ {
		r.told(62, 62)
	}
	if steps != 6 { // .8⁶ .36 < .1
		t.Errorf("trusted after %d readings that are right, want 6", steps)
	}
	if v, ok := r.sensor.Truth(); !ok || v != 1.2 || r.row[0] != 1.2 {
		t.Errorf("truth %v (%t) and input %v, want 1.2", v, ok, r.row[0])
	}
}

// An answer stands in for a reading that is missing, and is no estimate.
func TestAnswerForAGap(t *testing.T) {
	r := newReader(spec())
	r.told(nan, 70)
	if r.row[0] != 2 || r.row[3] != 0 {
		t.Errorf("inputs %v, want the answer 2 without a flag", r.row)
	}
	if v, ok := r.sensor.Truth(); !ok || v != 2 {
		t.Errorf("truth %v (%t), want 2", v, ok)
	}
}

// Sensors that really stand still are not distrusted while answers confirm them;
// without answers they are, after twice the longest run of training and 6 readings.
func TestStandingStill(t *testing.T) {
	r := newReader(spec()) // the longest run of training is 3
	for range 100 {
		r.told(60, 60)
	}
	if why := r.broken(); why != "" {
		t.Errorf("answers say that it is right: %s", why)
	}
	for range 11 {
		r.told(60, nan)
	}
	if why := r.broken(); why != "" {
		t.Errorf("after 11 steps without an answer: %s", why)
	}
	r.told(60, nan)
	if why := r.broken(); !strings.Contains(why, "stand still") {
		t.Errorf("after 12: %q, want a sensor that stands still", why)
	}
	if v, ok := r.sensor.Truth(); ok {
		t.Errorf("truth %v, want none", v)
	}
	r = newReader(spec())
	first := 0
	for r.broken() == "" && first < 100 {
		r.read(60)
		first++
	}
	if first != 13 { // 12 steps, and longer than 2·3 + 6
		t.Errorf("a sensor whose readings are their own truth is broken after %d equal ones, want 13", first)
	}
	if _, ok := r.sensor.Truth(); ok {
		t.Error("a broken sensor knows the truth, want none")
	}
	r.read(60.5)
	if why := r.broken(); why != "" {
		t.Errorf("after another reading: %s", why)
	}
	if v, ok := r.sensor.Truth(); !ok || v != 1.05 {
		t.Errorf("truth %v (%t), want 1.05", v, ok)
	}
}

// Readings that jump more than training saw are noise, until they are calm again. What
// was read before is forgotten: inputs are what neighbours say, here nothing.
func TestNoise(t *testing.T) {
	r := newReader(spec()) // a mean change of .5 in training
	first := 0
	for ; r.broken() == "" && first < 100; first++ {
		r.read([]float32{30, 70}[first%2]) // changes of 4
	}
	if first != 12 || !strings.Contains(r.broken(), "jump") {
		t.Errorf("broken after %d readings, %q; want 12, when the self-test begins", first, r.broken())
	}
	for k, x := range r.row[:3] {
		if x != 0 {
			t.Errorf("lag %d is %v, want 0, the level: nobody was heard", k, x)
		}
	}
	calm := 0
	for ; r.broken() != "" && calm < 200; calm++ {
		r.read(50 + float32(calm%2))
	}
	if calm < 10 || calm > 30 {
		t.Errorf("trusted after %d calm readings, want 10 to 30", calm)
	}
}

// A change over a gap is no roughness.
func TestGapsAreNotRough(t *testing.T) {
	r := newReader(spec())
	for k := range 200 {
		r.read([]float32{30, nan, 70, nan}[k%4])
		if why := r.broken(); why != "" {
			t.Fatalf("step %d: %s", k, why)
		}
	}
}

// A reading far outside what training saw is no reading, and says so; a truth far
// outside is none.
func TestFarOutside(t *testing.T) {
	r := newReader(spec()) // 20 to 80 in training: -100 to 200 may be
	for _, v := range []float32{199, 201, -99, -101, 50} {
		r.told(v, v)
		far := v > 200 || v < -100
		if got := strings.Contains(r.broken(), "far outside"); got != far || (r.row[3] == 1) != far {
			t.Errorf("reading %v: %q and inputs %v, want far outside: %t", v, r.broken(), r.row, far)
		}
		if _, ok := r.sensor.Truth(); ok == far {
			t.Errorf("reading %v: a truth is %t, want %t", v, ok, !far)
		}
	}
}

// The code for a missing reading is none, as NaN is.
func TestMissingCode(t *testing.T) {
	s := spec()
	s.Missing = new(float64)
	r := newReader(s)
	r.read(60)
	r.read(0)
	if r.row[3] != 1 || r.row[0] != .9 {
		t.Errorf("inputs %v, want .9 of the last reading, and a flag", r.row)
	}
	if _, ok := r.sensor.Truth(); ok {
		t.Error("a missing reading is a truth, want none")
	}
}
