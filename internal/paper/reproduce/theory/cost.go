package theory

import (
	"math"

	"github.com/wdgnn/wdgnn/internal/paper/certify"
	"github.com/wdgnn/wdgnn/internal/paper/theory"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/scenario/flocking"
)

// flightCosts writes the costs of learning in flight as squared errors of a
// theory.Problem, whose row costs share · ½ Σ_d (y_d - t_d)². With u = u† + z w Γ^½
// and v' = v + T_s u,
//
//	J   = (1/N) Σ_i ‖v'_i - v̄'‖²              z_i → √2 T_s (z_i - z̄)
//	J_i = (n_i - 1)/n_i² ‖v'_i - m_{-i}‖² + …  z_i → √2 (√(n_i - 1)/n_i) T_s z_i
//
// with m_{-i} the mean of the n_i - 1 robots that i hears, whose actions are given,
// and … what does not depend on u_i. That is what the costs are as long as no
// action is at the actuators' limit.
type flightCosts struct {
	swarm   *flocking.Swarm
	cost    flocking.Cost
	limited int // actions beyond the limit so far
}

// rows returns the rows of the present step; see certify.StreamRun.
func (f *flightCosts) rows(c *theory.Coordinates, z, base, u mat.Dense, _ loss.Loss) []certify.Observation {
	config, velocity := f.swarm.Config(), f.swarm.Velocities()
	limit, seconds := config.MaxAccelMPS2, config.SampleSeconds
	for _, v := range u.Data {
		if math.Abs(float64(v)) > limit {
			f.limited++
		}
	}
	var all []certify.Observation
	for i := range z.Rows {
		o := certify.Observation{Node: i, Row: theory.Row{Input: c.Input(z.Row(i)), Base: make([]float64, 2), Target: make([]float64, 2)}}
		for k := range o.Row.Input {
			o.Row.Input[k] *= seconds
		}
		for d := range o.Row.Base {
			o.Row.Base[d] = velocity[i][d] + seconds*float64(base.At(i, d))
		}
		all = append(all, o)
	}
	if f.cost == flocking.CostVariation {
		centre(all)
		return all
	}
	var heard []certify.Observation
	for _, o := range all {
		neighbors := f.swarm.Heard().Neighbors(o.Node)
		if len(neighbors) == 0 {
			continue // it costs nothing
		}
		for _, j := range neighbors {
			for d := range o.Row.Target {
				v := velocity[j][d] + seconds*min(max(float64(u.At(int(j), d)), -limit), limit)
				o.Row.Target[d] += v / float64(len(neighbors))
			}
		}
		stretch(&o.Row, math.Sqrt(2*float64(len(neighbors)))/float64(len(neighbors)+1))
		heard = append(heard, o)
	}
	return heard
}

// centre subtracts the mean of all rows from each, and scales them by √2.
func centre(all []certify.Observation) {
	share := 1 / float64(len(all))
	for _, part := range []func(r *theory.Row) []float64{
		func(r *theory.Row) []float64 { return r.Input },
		func(r *theory.Row) []float64 { return r.Base },
	} {
		mean := make([]float64, len(part(&all[0].Row)))
		for i := range all {
			for k, v := range part(&all[i].Row) {
				mean[k] += share * v
			}
		}
		for i := range all {
			for k, v := range mean {
				part(&all[i].Row)[k] -= v
			}
		}
	}
	for i := range all {
		stretch(&all[i].Row, math.Sqrt2)
	}
}

// stretch scales what a row reads, answers and should answer.
func stretch(r *theory.Row, by float64) {
	for _, v := range [][]float64{r.Input, r.Base, r.Target} {
		for k := range v {
			v[k] *= by
		}
	}
}
