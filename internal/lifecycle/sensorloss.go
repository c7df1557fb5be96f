package lifecycle

import (
	"math"
	"math/rand/v2"

	"github.com/wdgnn/wdgnn/forecast"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/random"
)

// playDead is play for the training part, with sensors that are silent for a share
// of the time. Every sensor lives and dies on its own, in spells of random length:
//
//	dead for 4·lags steps on average, alive for (1-p)/p times as long
//
// Their readings are missing, as far as anyone can tell: they are estimated and
// flagged as at any other time.
func (fc *forecasts) playDead(rows mat.Dense, p float64, seed uint64) {
	s, n := fc.series, fc.series.Nodes
	network := forecast.NewNetwork(fc.spec, n)
	rng := random.Stream(seed, "sensor loss")
	spells := newSpells(n, p, float64(4*fc.spec.Lags), rng)
	spare, readings := mat.NewDense(n, rows.Cols, nil), mat.NewDense(n, s.Features, nil)
	truths := make([]float32, n)
	for t := range fc.train.to {
		readings.CopyFrom(s.Step(t))
		told := fc.told(t)
		if told != nil {
			copy(truths, told)
			told = truths
		}
		for i, dead := range spells.step(rng) {
			if !dead {
				continue
			}
			readings.Set(i, 0, float32(math.NaN()))
			if told != nil {
				told[i] = float32(math.NaN())
			}
		}
		row := spare
		if at := t - fc.train.from; at >= 0 {
			row = rows.View(at*n, 0, n, rows.Cols)
		}
		network.Read(row, uint64(t), readings, told, fc.links)
	}
}

// spells says who is dead.
type spells struct {
	dead      []bool
	die, rise float64 // chances in a step
}

// newSpells begins with a share p dead; spells of death last that many steps on
// average.
func newSpells(n int, p, length float64, rng *rand.Rand) *spells {
	s := &spells{dead: make([]bool, n), rise: 1 / length}
	s.die = s.rise * p / (1 - p)
	for i := range s.dead {
		s.dead[i] = rng.Float64() < p
	}
	return s
}

// step lets one step pass.
func (s *spells) step(rng *rand.Rand) []bool {
	for i, dead := range s.dead {
		change := s.die
		if dead {
			change = s.rise
		}
		if rng.Float64() < change {
			s.dead[i] = !dead
		}
	}
	return s.dead
}
