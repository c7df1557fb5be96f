package flocking

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/paper/reproduce/study"
	"github.com/wdgnn/wdgnn/internal/paper/reproduce/study/studytest"
	"github.com/wdgnn/wdgnn/internal/recipe"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/scenario/flocking"
)

// smallFlight is a short flight of few robots.
func smallFlight() flocking.Config {
	c := flocking.Default()
	c.Robots, c.DurationSeconds = 12, 0.15
	return c
}

func flightOf(t *testing.T, c flocking.Config, seed uint64) *flocking.Swarm {
	t.Helper()
	s, err := flocking.New(c, random.Stream(seed, "flight"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// somePilot is a random WD-GNN whose actions are of the size of real ones.
func somePilot(t *testing.T) *recipe.Pilot {
	t.Helper()
	m := recipe.FlockSpec{Kind: recipe.WideDeep, Order: 3, Features: 8}
	c := m.Architecture()
	c.Wide.StartZero = false
	network, err := gnn.NewRandom(c, random.Stream(4, "pilot"))
	if err != nil {
		t.Fatal(err)
	}
	return &recipe.Pilot{Model: network, Shift: graph.ShiftSpectral}
}

// after returns the velocities one step after a state, if the robots act as a
// model with the given taps would; of robot one alone, if that is not negative,
// while the others act as base says.
func after(t *testing.T, d *doublePilot, s *flocking.Swarm, base [][2]float64, one int) [][2]float64 {
	t.Helper()
	next, err := flocking.Start(s.Config(), s.Positions(), s.Velocities(), nil)
	if err != nil {
		t.Fatal(err)
	}
	u := slices.Clone(base)
	for i := range u {
		if one < 0 || one == i {
			u[i] = d.action(d.z[i])
		}
	}
	if err := next.Step(u); err != nil {
		t.Fatal(err)
	}
	return next.Velocities()
}

// variance returns the velocity variation of some robots.
func variance(velocity [][2]float64, robots []int) float64 {
	var mean [2]float64
	for _, i := range robots {
		for c, v := range velocity[i] {
			mean[c] += v / float64(len(robots))
		}
	}
	sum := 0.0
	for _, i := range robots {
		for c, v := range velocity[i] {
			sum += (v - mean[c]) * (v - mean[c]) / float64(len(robots))
		}
	}
	return sum
}

// What a learner subtracts from its taps is γ times the gradient of the cost
// of the next state, as finite differences of the simulator give it: of all
// robots for centralized learning, of its neighbourhood through its own action
// for each robot. Components of actions beyond the clamp have no part in it.
// Reference: Section 6.2, Online learning.
func TestOnlineGradientIsFiniteDifference(t *testing.T) {
	const gamma, h = 64, 1e-3
	for _, cost := range []flocking.Cost{flocking.CostVariation, flocking.CostNeighborhood} {
		p := somePilot(t)
		p.Cost, p.Rule = cost, recipe.OnlineFlight(gamma, 0)
		c := smallFlight()
		c.MaxAccelMPS2 = 1.5 // some components saturate
		s := flightOf(t, c, 2)
		n := c.Robots
		l, err := p.Learner(n)
		if err != nil {
			t.Fatal(err)
		}
		saturated, compared := 0, 0
		taps := func(i int) []float32 {
			v := make([]float32, len(p.Model.Params.Flat[:p.Model.Params.WideTaps()]))
			switch l := l.(type) {
			case *online.Centralized:
				l.Taps(v)
			case *online.Consensus:
				l.Taps(v, i)
			}
			return v
		}
		double := newDoublePilot(p.Model) // moves the delay line on, and evaluates at other taps
		var check func()                  // what the update of the step before should have been
		_, err = p.Fly(context.Background(), s, l, func(s *flocking.Swarm, u mat.Dense) error {
			if check != nil {
				check()
				check = nil
			}
			double.shift(s)
			if s.Time() != 5 {
				return nil
			}
			state, err := flocking.Start(c, s.Positions(), s.Velocities(), nil)
			if err != nil {
				return err
			}
			base := make([][2]float64, n)
			for i := range base {
				base[i] = [2]float64{float64(u.At(i, 0)), float64(u.At(i, 1))}
				for _, v := range base[i] {
					if math.Abs(v) > c.MaxAccelMPS2 {
						saturated++
					}
				}
			}
			heard := make([][]int, n)
			for i := range heard {
				heard[i] = []int{i}
				for _, j := range s.Heard().Neighbors(i) {
					heard[i] = append(heard[i], int(j))
				}
			}
			all := make([]int, n)
			for i := range all {
				all[i] = i
			}
			before := make([][]float32, n)
			for i := range before {
				before[i] = taps(i)
			}
			mixed := before // what a robot steps from: the mean of those that it hears
			if cost == flocking.CostNeighborhood {
				w, err := s.Mixing()
				if err != nil {
					return err
				}
				mixed = make([][]float32, n)
				for i := range mixed {
					mixed[i] = make([]float32, len(before[i]))
					col, val := w.Row(i)
					for e := range mixed[i] {
						sum := 0.0
						for k, j := range col {
							sum += float64(val[k]) * float64(before[j][e])
						}
						mixed[i][e] = float32(sum)
					}
				}
			}
			z := double.z
			check = func() {
				for _, i := range []int{0, 5, 11} {
					who, one := heard[i], i
					if cost == flocking.CostVariation {
						who, one = all, -1
					}
					now := taps(i)
					at := newDoublePilot(p.Model)
					at.z = z
					width := len(at.taps[0])
					for k := range at.taps {
						for g := range at.taps[k] {
							at.taps[k][g] = float64(before[i][k*width+g])
						}
					}
					for k := 0; k < len(at.taps); k += 5 {
						g := k % width
						tap := &at.taps[k][g]
						middle := *tap
						*tap = middle + h
						up := variance(after(t, at, state, base, one), who)
						*tap = middle - h
						down := variance(after(t, at, state, base, one), who)
						*tap = middle
						want := (up - down) / (2 * h)
						got := (float64(mixed[i][k*width+g]) - float64(now[k*width+g])) / gamma
						if !(math.Abs(got-want) <= 1e-3*math.Abs(want)+2e-7) {
							t.Errorf("%s: robot %d, tap %d, %d: gradient %v, want %v", cost, i, k, g, got, want)
						}
						compared++
					}
				}
			}
			return nil
		})
		if err != nil || compared == 0 || saturated == 0 {
			t.Errorf("%s: %d derivatives compared, %d components saturated, %v", cost, compared, saturated, err)
		}
	}
}

// A pilot flies as its equations say in float64, with and without learning.
func TestDoublePilotAgrees(t *testing.T) {
	c := flocking.Default()
	c.DurationSeconds = 0.5
	for _, cost := range []flocking.Cost{"", flocking.CostVariation} {
		p := somePilot(t)
		p.Cost, p.Rule = cost, recipe.OnlineFlight(0.05, 1)
		l, err := p.Learner(c.Robots)
		if err != nil {
			t.Fatal(err)
		}
		got, err := p.Fly(context.Background(), flightOf(t, c, 3), l, nil)
		if err != nil {
			t.Fatal(err)
		}
		d := newDoublePilot(p.Model)
		if cost != "" {
			d.gamma, d.clip = 0.05, 1
		}
		want, err := flocking.Fly(flightOf(t, c, 3), d.control)
		if err != nil {
			t.Fatal(err)
		}
		if !(math.Abs(got.Total()/want.Total()-1) < 1e-4) {
			t.Errorf("cost %q: total %v, want %v", cost, got.Total(), want.Total())
		}
	}
}

// The orderings of Table 2 hold with the stable profile: for 12 robots and a
// quarter of the flights, and, if WDGNN_FLOCKING is set, which takes a minute,
// for 50 robots. Online learning helps, the WD-GNN is better than the GNN, and
// the GNN better than the filter.
// Reference: Section 6.2, Table 2.
func TestFlockingOrderings(t *testing.T) {
	if testing.Short() {
		t.Skipf("SKIPPED %s: it trains models; it runs without -short", t.Name())
	}
	o := studytest.Options(t.TempDir())
	o.Repeats, o.Epochs, o.Flights = 1, 30, 100
	chains := [][]string{
		{Expert, "stable wd-gnn central", "stable wd-gnn distributed", "stable wd-gnn", "stable gnn", "stable filter"},
		{"stable filter central", "stable filter distributed", "stable filter"},
	}
	if os.Getenv("WDGNN_FLOCKING") != "" {
		o.Repeats, o.Robots = 2, 0
		chains = append(chains, []string{"stable gnn", "stable filter central"})
	}
	r := &study.Run{Options: o}
	for _, dir := range []string{filepath.Join(o.Out, "units"), r.Models()} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	s := From(o)
	s.BatchSize, s.Test = 5, 40 // 600 steps of the optimiser, as at full size
	rows := append([]tableRow{{ID: Expert}}, stableRows(&s)...)
	all, err := unitsOf(context.Background(), r, s, o.Repeats, rows)
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range all {
		for _, row := range rows {
			f := u.Rows[row.ID]
			t.Logf("%d %-26s total %6.1f (median %6.1f), final %.4f (median %.4f)",
				u.Index, row.ID, study.Mean(f.Total), median(f.Total), study.Mean(f.Final), median(f.Final))
		}
		for _, order := range chains {
			for k := 1; k < len(order); k++ {
				if a, b := study.Mean(u.Rows[order[k-1]].Total), study.Mean(u.Rows[order[k]].Total); a >= b {
					t.Errorf("realization %d: %s has a total of %v, %s of %v", u.Index, order[k-1], a, order[k], b)
				}
			}
		}
	}
}
