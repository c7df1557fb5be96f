package flocking_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/scenario/flocking"
)

// robots returns the default configuration with n robots.
func robots(n int) flocking.Config {
	c := flocking.Default()
	c.Robots = n
	return c
}

func newSwarm(t testing.TB, c flocking.Config, seed uint64) *flocking.Swarm {
	t.Helper()
	s, err := flocking.New(c, random.Stream(seed, "swarm"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func start(t testing.TB, c flocking.Config, position, velocity [][2]float64) *flocking.Swarm {
	t.Helper()
	s, err := flocking.Start(c, position, velocity, random.Stream(1, "faults"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func step(t testing.TB, s *flocking.Swarm, accel [][2]float64) {
	t.Helper()
	if err := s.Step(accel); err != nil {
		t.Fatal(err)
	}
}

// flyExpert lets the expert fly for some steps.
func flyExpert(t testing.TB, s *flocking.Swarm, steps int) {
	t.Helper()
	accel := make([][2]float64, s.Config().Robots)
	for range steps {
		s.Expert(accel)
		step(t, s, accel)
	}
}

// actions returns n random actions, a tenth of whose components are beyond the
// clamp of ±10.
func actions(n int, rng *rand.Rand) mat.Dense {
	u := mat.NewDense(n, 2, nil)
	for k := range u.Data {
		u.Data[k] = float32(math.Round(64*22*(rng.Float64()-0.5)) / 64) // steps of 1/64 are exact
	}
	return u
}

// closeTo says whether a and b differ by at most tol, relative to numbers above
// 1.
func closeTo(a, b, tol float64) bool {
	return math.Abs(a-b) <= tol*max(1, math.Abs(a), math.Abs(b))
}

// wantError fails the test unless err mentions every one of the words.
func wantError(t *testing.T, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want one with %q", words)
	}
	for _, word := range append(words, "flocking: ") {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("error %q does not mention %q", err, word)
		}
	}
}

// wantPanic fails the test unless f panics with a message that begins
// "flocking: " and the operation.
func wantPanic(t *testing.T, op string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if text, ok := recover().(string); !ok || !strings.HasPrefix(text, "flocking: "+op) {
			t.Errorf("panic %q, want one that begins %q", text, "flocking: "+op)
		}
	}()
	f()
}
