package flocking

import (
	"context"
	"math"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/recipe"
	"github.com/wdgnn/wdgnn/scenario/flocking"
)

// doubleFlights is how many test flights are flown again in float64.
const doubleFlights = 10

// doubleRows are the rows that are.
var doubleRows = []string{"wd-gnn", "wd-gnn central"}

// compareDouble flies some test flights with every number in float64.
func (z *Swarms) compareDouble(ctx context.Context, u *unit, rows []tableRow) error {
	u.Double = map[string][]float64{}
	for _, row := range rows {
		if row.ID != doubleRows[0] && row.ID != doubleRows[1] {
			continue
		}
		totals := make([]float64, min(doubleFlights, z.Test))
		err := recipe.Each(ctx, z.Threads, len(totals), func(k int) error {
			s, err := z.Swarm("test", k, row.Model.NearCap)
			if err != nil {
				return err
			}
			d := newDoublePilot(z.Models[row.Model].Network)
			if row.Cost != "" {
				d.gamma, d.clip = row.Gamma, z.OnlineClip
			}
			flight, err := flocking.Fly(s, d.control)
			if err != nil {
				return err
			}
			totals[k] = flight.Total()
			return nil
		})
		if err != nil {
			return err
		}
		u.Double[row.ID] = totals
	}
	return nil
}

// doublePilot is a controller of one layer, with the shift A/λmax, in float64
// throughout: features, delay line, model and, if gamma is not 0, centralized
// learning by eq. (7) with the whole taps. It is written for comparison, from
// the equations and without the library's products.
type doublePilot struct {
	m           *gnn.WideDeep
	gamma, clip float64

	taps    [][]float64 // 𝒜, ((K+1)·F)×G; nil without a wide part
	tracker graph.Tracker
	z       [][]float64 // [Z_0 … Z_K], by robot
}

func newDoublePilot(m *gnn.WideDeep) *doublePilot {
	d := &doublePilot{m: m}
	for _, tap := range m.Params.Wide.Taps {
		for f := range tap.Rows {
			row := make([]float64, tap.Cols)
			for g, v := range tap.Row(f) {
				row[g] = float64(v)
			}
			d.taps = append(d.taps, row)
		}
	}
	return d
}

// control is a [flocking.Controller].
func (d *doublePilot) control(accel [][2]float64, s *flocking.Swarm) error {
	d.shift(s)
	for i, z := range d.z {
		accel[i] = d.action(z)
	}
	if d.gamma != 0 {
		d.learn(accel, s)
	}
	return nil
}

// shift moves the delay line on.
func (d *doublePilot) shift(s *flocking.Swarm) {
	lambda := d.tracker.Largest(s.Heard())
	next := make([][]float64, s.Config().Robots)
	for i, x := range s.Features() {
		z := make([]float64, (d.m.InputOrder()+1)*len(x))
		copy(z, x[:])
		if d.z != nil {
			for _, j := range s.Heard().Neighbors(i) {
				for k := range z[len(x):] {
					z[len(x)+k] += d.z[j][k] / lambda
				}
			}
		}
		next[i] = z
	}
	d.z = next
}

// action returns the output of the model for one robot.
func (d *doublePilot) action(z []float64) (u [2]float64) {
	p := &d.m.Params
	alpha := [3]float64{1, 1, 0}
	for k, v := range p.Gain {
		alpha[k] = float64(v)
	}
	for g := range d.m.Config.Features {
		h := alpha[gnn.GainBias]
		if d.taps != nil {
			sum := float64(p.Wide.Bias[g])
			for k, row := range d.taps {
				sum += z[k] * row[g]
			}
			h += alpha[gnn.GainWide] * sum
		}
		if len(p.Deep) > 0 {
			sum, f := float64(p.Deep[0].Bias[g]), p.Deep[0].In()
			for k, tap := range p.Deep[0].Taps {
				for c := range f {
					sum += z[k*f+c] * float64(tap.At(c, g))
				}
			}
			h += alpha[gnn.GainDeep] * math.Tanh(sum)
		}
		for c := range u {
			u[c] += h * float64(p.Readout.Weight.At(g, c))
		}
	}
	for c := range u {
		u[c] += float64(p.Readout.Bias[c])
	}
	return u
}

// learn takes a step down the velocity variation after the actions.
func (d *doublePilot) learn(u [][2]float64, s *flocking.Swarm) {
	n, ts, limit := float64(len(u)), s.Config().SampleSeconds, s.Config().MaxAccelMPS2
	next, mean := make([][2]float64, len(u)), [2]float64{}
	for i, v := range s.Velocities() {
		for c := range v {
			next[i][c] = v[c] + ts*min(max(u[i][c], -limit), limit)
			mean[c] += next[i][c] / n
		}
	}
	alpha := 1.0
	if len(d.m.Params.Gain) > 0 {
		alpha = float64(d.m.Params.Gain[gnn.GainWide])
	}
	r := d.m.Params.Readout.Weight
	grad, squares := make([][]float64, len(d.taps)), 0.0
	for k := range grad {
		grad[k] = make([]float64, r.Rows)
	}
	for i, z := range d.z {
		var slope [2]float64
		for c := range slope {
			if math.Abs(u[i][c]) <= limit {
				slope[c] = 2 * ts / n * (next[i][c] - mean[c])
			}
		}
		for k := range grad {
			for g := range grad[k] {
				grad[k][g] += alpha * z[k] * (float64(r.At(g, 0))*slope[0] + float64(r.At(g, 1))*slope[1])
			}
		}
	}
	for _, row := range grad {
		for _, v := range row {
			squares += v * v
		}
	}
	step := d.gamma
	if norm := math.Sqrt(squares); norm > d.clip {
		step *= d.clip / norm
	}
	for k, row := range grad {
		for g, v := range row {
			d.taps[k][g] -= step * v
		}
	}
}
