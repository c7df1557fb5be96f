package demo

import (
	"fmt"
	"math"

	"github.com/wdgnn/wdgnn/internal/live"
	"github.com/wdgnn/wdgnn/internal/recipe"
	"github.com/wdgnn/wdgnn/online"
)

// tapColumns are the taps of a node as a scene has them: of each hop one for every
// community that may be answered.
func tapColumns(w *world) (list []live.TapColumn) {
	for hop := range w.Architecture(recipe.WideDeep).Wide.Order + 1 {
		for c := range w.World.Communities {
			list = append(list, live.TapColumn{Name: community(c), Group: fmt.Sprintf("hop %d", hop)})
		}
	}
	return list
}

// taps returns by how much the taps of every node of the learner on show differ from
// those trained offline, as they reach the outputs: for hop k and community c
//
//	√(mean [Sᵏx]²) · [𝒜_i - 𝒜†]_k Ω_c
//
// the change of an answer that a usual value of that hop brings about, so that hops
// can be compared. The scale goes by those who tell the truth. It is nil before
// training.
func (l *Live) taps() *live.Taps {
	w, n := l.world, l.world.all.Nodes()
	c, ok := l.learners[l.shown].learner.(*online.Consensus)
	if !ok {
		return nil
	}
	moment, outputs := w.Models[recipe.WideDeep].Moment, c.Basis().Outputs()
	usual := make([]float64, moment.Inputs)
	for k := range usual {
		usual[k] = math.Sqrt(moment.Mean[k*(moment.Inputs+1)+k])
	}
	rows, columns := c.Basis().TapsLen()/w.Architecture(recipe.WideDeep).Features, moment.Inputs*outputs // a bias is the last row
	values, effect, most := make([]float64, 0, n*columns), make([]float64, rows*outputs), 0.0
	for i := range n {
		c.Basis().Effect(effect, c.Params(i))
		for e, v := range effect[:columns] {
			v = float64(v * usual[e/outputs])
			if values = append(values, v); l.knobs.lie != tapsLie || i != w.liar {
				most = max(most, math.Abs(v))
			}
		}
	}
	return live.NewTaps(l.shown, values, most)
}
