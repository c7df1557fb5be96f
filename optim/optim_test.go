package optim_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/optim"
)

func normal(rng *rand.Rand, n int) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(rng.NormFloat64())
	}
	return v
}

func generator() *rand.Rand { return rand.New(rand.NewPCG(3, 4)) }

// made is an optimizer and the textbook formula that it must follow, in
// float64: reference returns a step function for n parameters.
type made struct {
	name      string
	new       func(n int) (optim.Optimizer, error)
	reference func(n int) func(p, g []float64)
}

func sgd(c optim.SGDConfig) func(n int) (optim.Optimizer, error) {
	return func(n int) (optim.Optimizer, error) { return optim.NewSGD(n, c) }
}

func adam(c optim.AdamConfig) func(n int) (optim.Optimizer, error) {
	return func(n int) (optim.Optimizer, error) { return optim.NewAdam(n, c) }
}

func optimizers() []made {
	return []made{
		{"SGD", sgd(optim.SGDConfig{StepSize: 0.05}), textbookSGD(0.05, 0)},
		{"SGD/default", sgd(optim.SGDConfig{}), textbookSGD(0.01, 0)},
		{"SGD/momentum", sgd(optim.SGDConfig{StepSize: 0.02, Momentum: 0.9}), textbookSGD(0.02, 0.9)},
		{"Adam", adam(optim.AdamConfig{}), textbookAdam(0.001, 0.9, 0.999, 1e-8)},
		{"Adam/all set", adam(optim.AdamConfig{StepSize: 0.01, Beta1: 0.8, Beta2: 0.99, Epsilon: 1e-3}), textbookAdam(0.01, 0.8, 0.99, 1e-3)},
	}
}

func (m made) must(t testing.TB, n int) optim.Optimizer {
	t.Helper()
	o, err := m.new(n)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func textbookSGD(step, momentum float64) func(n int) func(p, g []float64) {
	return func(n int) func(p, g []float64) {
		v := make([]float64, n)
		return func(p, g []float64) {
			for i := range p {
				v[i] = momentum*v[i] + g[i]
				p[i] -= step * v[i]
			}
		}
	}
}

func textbookAdam(step, beta1, beta2, epsilon float64) func(n int) func(p, g []float64) {
	return func(n int) func(p, g []float64) {
		m, v, t := make([]float64, n), make([]float64, n), 0.0
		return func(p, g []float64) {
			t++
			for i := range p {
				m[i] = beta1*m[i] + (1-beta1)*g[i]
				v[i] = beta2*v[i] + (1-beta2)*g[i]*g[i]
				mean, square := m[i]/(1-math.Pow(beta1, t)), v[i]/(1-math.Pow(beta2, t))
				p[i] -= step * mean / (math.Sqrt(square) + epsilon)
			}
		}
	}
}

// A hundred steps stay with the textbook formulas in float64.
func TestTextbook(t *testing.T) {
	const n, steps = 37, 100
	for _, m := range optimizers() {
		t.Run(m.name, func(t *testing.T) {
			rng := generator()
			o, reference := m.must(t, n), m.reference(n)
			p := normal(rng, n)
			want, g64 := make([]float64, n), make([]float64, n)
			for i := range p {
				want[i] = float64(p[i])
			}
			for step := range steps {
				g := normal(rng, n)
				for i := range g {
					g64[i] = float64(g[i])
				}
				o.Step(p, g)
				reference(want, g64)
				for i := range p {
					if got := float64(p[i]); math.Abs(got-want[i]) > 2e-5 {
						t.Fatalf("step %d, parameter %d: got %v, want %v", step, i, got, want[i])
					}
				}
			}
			if got := o.State().Steps; got != steps {
				t.Errorf("%d steps counted, want %d", got, steps)
			}
		})
	}
}

// The first step of Adam has the length of the step size whatever the size of
// the gradient: the bias correction at work.
func TestAdamFirstStep(t *testing.T) {
	a, err := optim.NewAdam(3, optim.AdamConfig{StepSize: 0.25})
	if err != nil {
		t.Fatal(err)
	}
	p := make([]float32, 3)
	a.Step(p, []float32{1e-3, -1, 1e6})
	for i, want := range []float64{-0.25, 0.25, -0.25} {
		if got := float64(p[i]); math.Abs(got-want) > 1e-5 {
			t.Errorf("parameter %d: got %v, want %v", i, got, want)
		}
	}
}

// Stopping, writing the state as JSON and going on in a new optimizer gives
// the bits of the run that never stopped.
func TestResume(t *testing.T) {
	const n, before, after = 21, 7, 13
	for _, m := range optimizers() {
		t.Run(m.name, func(t *testing.T) {
			rng := generator()
			start := normal(rng, n)
			grads := make([][]float32, before+after)
			for i := range grads {
				grads[i] = normal(rng, n)
			}
			whole, p := m.must(t, n), slices.Clone(start)
			for _, g := range grads {
				whole.Step(p, g)
			}

			first, q := m.must(t, n), slices.Clone(start)
			for _, g := range grads[:before] {
				first.Step(q, g)
			}
			text, err := json.Marshal(first.State())
			if err != nil {
				t.Fatal(err)
			}
			var state optim.State
			if err := json.Unmarshal(text, &state); err != nil {
				t.Fatal(err)
			}
			second := m.must(t, n)
			if err := second.Restore(state); err != nil {
				t.Fatal(err)
			}
			clear(state.Values) // the optimizer holds a copy
			for _, g := range grads[before:] {
				second.Step(q, g)
			}

			if !slices.Equal(q, p) {
				t.Errorf("parameters %v, want %v", q, p)
			}
			got, want := second.State(), whole.State()
			if got.Algorithm != want.Algorithm || got.Steps != want.Steps || !slices.Equal(got.Values, want.Values) {
				t.Errorf("state %+v, want %+v", got, want)
			}
		})
	}
}

func TestStateIsACopy(t *testing.T) {
	for _, m := range optimizers() {
		o, p, g := m.must(t, 2), []float32{1, 2}, []float32{3, 4}
		o.Step(p, g)
		before := o.State()
		o.Step(p, g)
		clear(o.State().Values)
		if after := o.State(); slices.Equal(before.Values, after.Values) && len(after.Values) > 0 {
			t.Errorf("%s: a state follows the optimizer that gave it: %v", m.name, before.Values)
		}
	}
}

func TestRestoreRefuses(t *testing.T) {
	inf := float32(math.Inf(1))
	momentum := sgd(optim.SGDConfig{Momentum: 0.5})
	cases := []struct {
		name  string
		new   func(n int) (optim.Optimizer, error)
		state optim.State
		want  string
	}{
		{
			"another algorithm", adam(optim.AdamConfig{}),
			optim.State{Algorithm: "sgd", Values: make([]float32, 4)},
			`optim: Adam: restore: state of algorithm "sgd", want "adam"`,
		},
		{"no algorithm", momentum, optim.State{}, `optim: SGD: restore: state of algorithm "", want "sgd"`},
		{
			"another size", adam(optim.AdamConfig{}),
			optim.State{Algorithm: "adam", Values: make([]float32, 2)},
			"optim: Adam: restore: state with 2 values, want 4",
		},
		{
			"a velocity too many", sgd(optim.SGDConfig{}),
			optim.State{Algorithm: "sgd", Values: make([]float32, 2)},
			"optim: SGD: restore: state with 2 values, want 0",
		},
		{
			"a count out of range", momentum,
			optim.State{Algorithm: "sgd", Steps: math.MaxUint64, Values: make([]float32, 2)},
			"optim: SGD: restore: state after 18446744073709551615 steps",
		},
		{"an infinity", momentum, optim.State{Algorithm: "sgd", Values: []float32{0, inf}}, "optim: SGD: restore: state with value 1 = +Inf"},
		{
			"a negative square", adam(optim.AdamConfig{}),
			optim.State{Algorithm: "adam", Values: []float32{-1, -1, 0, -2}},
			"optim: Adam: restore: state with a negative mean of squares, value 3 = -2",
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			o, err := c.new(2)
			if err != nil {
				t.Fatal(err)
			}
			o.Step([]float32{1, 2}, []float32{3, 4})
			before := o.State()
			err = o.Restore(c.state)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want it to contain %q", err, c.want)
			}
			if after := o.State(); after.Steps != before.Steps || !slices.Equal(after.Values, before.Values) {
				t.Errorf("a refused state changed the optimizer: %+v, want %+v", after, before)
			}
		})
	}
}

// On a convex quadratic every optimizer arrives.
func TestQuadratic(t *testing.T) {
	curvature := []float32{1, 4, 9}
	target := []float32{1, -2, 3}
	for name, o := range map[string]func(n int) (optim.Optimizer, error){
		"SGD":      sgd(optim.SGDConfig{StepSize: 0.1}),
		"momentum": sgd(optim.SGDConfig{StepSize: 0.02, Momentum: 0.8}),
		"Adam":     adam(optim.AdamConfig{StepSize: 0.05}),
	} {
		t.Run(name, func(t *testing.T) {
			o := made{new: o}.must(t, 3)
			p, g := make([]float32, 3), make([]float32, 3)
			for range 1000 {
				for i := range p {
					g[i] = curvature[i] * (p[i] - target[i])
				}
				o.Step(p, g)
			}
			for i, want := range target {
				if got := p[i]; math.Abs(float64(got-want)) > 1e-3 {
					t.Errorf("parameter %d: got %v, want %v", i, got, want)
				}
			}
		})
	}
}

func TestValidate(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	type config interface{ Validate() error }
	for _, c := range []struct {
		name   string
		config config
		want   []string // parts of the message; none means no error
	}{
		{"zero SGD", optim.SGDConfig{}, nil},
		{"zero Adam", optim.AdamConfig{}, nil},
		{"all of SGD", optim.SGDConfig{StepSize: -1, Momentum: 1}, []string{"optim: SGD: step size -1", "optim: SGD: momentum 1"}},
		{
			"all of Adam",
			optim.AdamConfig{StepSize: inf, Beta1: 1, Beta2: nan, Epsilon: -1},
			[]string{"step size +Inf", "beta1 1", "beta2 NaN", "epsilon -1"},
		},
		{"negative decays", optim.AdamConfig{Beta1: -0.1, Beta2: -0.1}, []string{"beta1 -0.1", "beta2 -0.1"}},
		{"1 after rounding", optim.AdamConfig{Beta2: 0.99999999999}, []string{"beta2"}},
		{"0 after rounding", optim.AdamConfig{StepSize: 1e-60, Epsilon: 1e-60}, []string{"step size 1e-60", "epsilon 1e-60"}},
		{"momentum NaN", optim.SGDConfig{StepSize: nan, Momentum: nan}, []string{"step size NaN", "momentum NaN"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := c.config.Validate()
			if c.want == nil && err != nil {
				t.Errorf("got %v, want no error", err)
			}
			for _, want := range c.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("got %v, want it to contain %q", err, want)
				}
			}
		})
	}
	if _, err := optim.NewSGD(2, optim.SGDConfig{Momentum: 2}); err == nil {
		t.Error("NewSGD accepts momentum 2")
	}
	if _, err := optim.NewAdam(2, optim.AdamConfig{Beta1: 2}); err == nil {
		t.Error("NewAdam accepts beta1 2")
	}
	if _, err := optim.NewSGD(-1, optim.SGDConfig{}); err == nil {
		t.Error("NewSGD accepts -1 parameters")
	}
	if _, err := optim.NewAdam(-1, optim.AdamConfig{}); err == nil {
		t.Error("NewAdam accepts -1 parameters")
	}
}

func TestConfigJSON(t *testing.T) {
	s := optim.SGDConfig{StepSize: 0.1, Momentum: 0.9}
	a := optim.AdamConfig{StepSize: 0.005, Beta1: 0.8, Beta2: 0.99, Epsilon: 1e-6}
	for _, c := range []struct {
		in   any
		out  func(text []byte) (any, error)
		want string
	}{
		{
			s, func(text []byte) (any, error) { var v optim.SGDConfig; err := json.Unmarshal(text, &v); return v, err },
			`{"step_size":0.1,"momentum":0.9}`,
		},
		{
			a, func(text []byte) (any, error) { var v optim.AdamConfig; err := json.Unmarshal(text, &v); return v, err },
			`{"step_size":0.005,"beta1":0.8,"beta2":0.99,"epsilon":0.000001}`,
		},
		{optim.AdamConfig{}, func(text []byte) (any, error) { var v optim.AdamConfig; err := json.Unmarshal(text, &v); return v, err }, `{}`},
	} {
		text, err := json.Marshal(c.in)
		if err != nil || string(text) != c.want {
			t.Errorf("%+v as JSON: %s, %v, want %s", c.in, text, err, c.want)
		}
		if got, err := c.out(text); err != nil || got != c.in {
			t.Errorf("back from JSON: %+v, %v, want %+v", got, err, c.in)
		}
	}
}

func TestClipNorm(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for _, c := range []struct {
		name  string
		grad  []float32
		limit float64
		norm  float64
		want  []float32
	}{
		{"too long", []float32{3, 4}, 1, 5, []float32{0.6, 0.8}},
		{"short enough", []float32{3, 4}, 5, 5, []float32{3, 4}},
		{"no limit", []float32{3, 4}, 0, 5, []float32{3, 4}},
		{"infinite limit", []float32{3, 4}, math.Inf(1), 5, []float32{3, 4}},
		{"empty", nil, 1, 0, nil},
		{"zero", []float32{0, 0}, 1, 0, []float32{0, 0}},
		{"squares beyond float32", []float32{3e30, 4e30}, 1, 5e30, []float32{0.6, 0.8}},
		{"infinite", []float32{1, inf}, 1, math.Inf(1), []float32{1, inf}},
		{"not a number", []float32{1, nan, inf}, 1, math.NaN(), []float32{1, nan, inf}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := optim.ClipNorm(c.grad, c.limit)
			if math.IsNaN(c.norm) != math.IsNaN(got) || math.Abs(got-c.norm) > 1e-6*c.norm {
				t.Errorf("norm %v, want %v", got, c.norm)
			}
			for i, want := range c.want {
				got := c.grad[i]
				if got != want && !(got != got && want != want) && !(math.Abs(float64(got-want)) < 1e-6) {
					t.Errorf("element %d: got %v, want %v", i, got, want)
				}
			}
		})
	}
}

func TestPanics(t *testing.T) {
	two, three := make([]float32, 2), make([]float32, 3)
	s, err := optim.NewSGD(2, optim.SGDConfig{})
	if err != nil {
		t.Fatal(err)
	}
	a, err := optim.NewAdam(2, optim.AdamConfig{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		want string
		call func()
	}{
		{"optim: SGD: 3 parameters and a gradient of 3, want 2", func() { s.Step(three, three) }},
		{"optim: SGD: 2 parameters and a gradient of 3, want 2", func() { s.Step(two, three) }},
		{"optim: Adam: 3 parameters and a gradient of 2, want 2", func() { a.Step(three, two) }},
		{"optim: ClipNorm: limit -1", func() { optim.ClipNorm(two, -1) }},
		{"optim: ClipNorm: limit NaN", func() { optim.ClipNorm(two, math.NaN()) }},
	} {
		t.Run(c.want, func(t *testing.T) {
			defer func() {
				if got := recover(); got != c.want {
					t.Errorf("panic %v, want %q", got, c.want)
				}
			}()
			c.call()
		})
	}
}

func TestNoAllocation(t *testing.T) {
	const n = 100
	p, g := make([]float32, n), normal(generator(), n)
	for _, m := range optimizers() {
		o := m.must(t, n)
		if got := testing.AllocsPerRun(100, func() { o.Step(p, g) }); got != 0 {
			t.Errorf("%s: a step allocates %v times, want 0", m.name, got)
		}
	}
	if got := testing.AllocsPerRun(100, func() { optim.ClipNorm(g, 1) }); got != 0 {
		t.Errorf("ClipNorm allocates %v times, want 0", got)
	}
}

// A model of the size the paper trains: about 7,000 parameters.
const modelSize = 7000

func BenchmarkStep(b *testing.B) {
	p, g := make([]float32, modelSize), normal(generator(), modelSize)
	for _, m := range optimizers() {
		b.Run(m.name, func(b *testing.B) {
			o := m.must(b, modelSize)
			b.ReportAllocs()
			b.SetBytes(4 * modelSize)
			for b.Loop() {
				o.Step(p, g)
			}
		})
	}
}

func BenchmarkClipNorm(b *testing.B) {
	g := normal(generator(), modelSize)
	b.ReportAllocs()
	b.SetBytes(4 * modelSize)
	for b.Loop() {
		optim.ClipNorm(g, 1e9)
	}
}
