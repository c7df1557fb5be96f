package theory

import (
	"context"
	"fmt"
	"slices"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/paper/certify"
	robots "github.com/wdgnn/wdgnn/internal/paper/reproduce/flocking"
	"github.com/wdgnn/wdgnn/internal/paper/theory"
	"github.com/wdgnn/wdgnn/internal/recipe"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/scenario/flocking"
)

// certifiedFlight are the theorems for a trained controller and one flight.
type certifiedFlight struct {
	Model     recipe.FlockInfo    `json:"model"`
	Mixing    []flightMixing      `json:"mixing"`
	Filters   []certifiedFilter   `json:"filters"`
	Pairs     []certifiedPair     `json:"pairs"`     // of successive graphs
	Sequences []certifiedSequence `json:"sequences"` // of the first steps
	Runs      []certifiedRun      `json:"runs"`      // of learning in flight
	Limited   []int               `json:"limited"`   // actions at the actuators' limit, by run
}

// flightMixing is how the graphs of a flight mix, over windows of one length.
type flightMixing struct {
	Window    int     `json:"window"`
	Connected bool    `json:"connected"` // the union of all graphs
	Gap       int     `json:"gap"`       // C_d
	Smallest  float64 `json:"smallest"`  // ε
	Worst     float64 `json:"worst"`     // largest σ₂(W_t)
	Windowed  float64 `json:"windowed"`  // largest σ₂ over a window
}

// certifiedFilter are the constants of a filter over the spectra of a flight's
// graphs.
type certifiedFilter struct {
	Name      string  `json:"name"`
	Order     int     `json:"order"`
	Lipschitz float64 `json:"lipschitz"` // C_L
	Gain      float64 `json:"gain"`      // max |a(λ)|
}

// certifiedPair is Theorem 1 for the graphs of two successive steps, if each stood
// still.
type certifiedPair struct {
	Time    int `json:"time"`
	Changed int `json:"changed"` // links that only one of them has
	certifiedOutput
}

// certifiedSequence is the direct certificate of the first steps of a flight
// against the same steps on other graphs.
type certifiedSequence struct {
	Name string `json:"name"`
	certify.SequenceReport
}

const (
	certifiedFlightParts = 3  // that advance the progress
	certifiedTrack       = 50 // steps of a flight whose space-time shift is looked at
)

// track is a recorded flight.
type track struct {
	graphs  []*graph.Graph
	shifts  []*mat.CSR
	signals []mat.Dense
	mixers  []*theory.Mixer
}

// swarms is a realization of Table 2 whose controller is looked at.
type swarms struct{ *robots.Swarms }

// certify trains the controller, lets it fly and computes the bounds.
func (z *swarms) certify(ctx context.Context) (certifiedFlight, error) {
	var lent recipe.Shelf
	z.Reserve(&lent, 0)
	t, err := z.Prepare(ctx, z.Spec(recipe.WideDeep, recipe.ClipClosest))
	if err != nil {
		return certifiedFlight{}, err
	}
	z.Release(&lent) // its memory is no longer needed
	f := certifiedFlight{Model: t.Info}
	flown, err := z.track(t)
	if err != nil {
		return f, err
	}
	for _, window := range []int{1, 5, 20, 100} {
		q, err := theory.CheckSequence(flown.mixers, window)
		if err != nil {
			return f, err
		}
		f.Mixing = append(f.Mixing, flightMixing{
			Window: window, Connected: q.Connected, Gap: q.Gap, Smallest: q.Smallest, Worst: q.Worst, Windowed: q.Windowed,
		})
	}
	if err := f.successive(ctx, t, flown, z.Seed); err != nil {
		return f, err
	}
	z.Advance(robots.FlightsCost, "certificates of successive graphs of a flight")
	if err := f.sequences(ctx, t, flown, z); err != nil {
		return f, err
	}
	z.Advance(robots.FlightsCost, "certificates of the sequence of graphs of a flight")
	for _, cost := range []flocking.Cost{flocking.CostVariation, flocking.CostNeighborhood} {
		if err := f.learning(ctx, t, cost, z); err != nil {
			return f, fmt.Errorf("learning from %s: %w", cost, err)
		}
	}
	z.Advance(robots.FlightsCost, "bounds of learning in flight")
	return f, nil
}

// track lets the controller fly the first test flight, and records it.
func (z *swarms) track(t *recipe.FlockModel) (*track, error) {
	s, err := z.Swarm("test", 0, 0)
	if err != nil {
		return nil, err
	}
	control, err := t.Pilot().Controller(z.World.Robots)
	if err != nil {
		return nil, err
	}
	out := &track{}
	_, err = flocking.Fly(s, func(accel [][2]float64, s *flocking.Swarm) error {
		shift, err := s.Shift(t.Info.Model.Shift)
		if err != nil {
			return err
		}
		w, err := s.Mixing()
		if err != nil {
			return err
		}
		m, err := theory.NewMixer(w)
		if err != nil {
			return err
		}
		x := mat.NewDense(z.World.Robots, flocking.Features, nil)
		s.Signal(x)
		out.graphs, out.mixers, out.signals = append(out.graphs, s.Heard().Clone()), append(out.mixers, m), append(out.signals, x)
		out.shifts = append(out.shifts, &mat.CSR{
			Rows: shift.Rows, Cols: shift.Cols, RowPtr: slices.Clone(shift.RowPtr), Col: slices.Clone(shift.Col), Val: slices.Clone(shift.Val),
		})
		return control(accel, s)
	})
	return out, err
}

// successive computes Theorem 1 for some steps at which the graph changes.
func (f *certifiedFlight) successive(ctx context.Context, t *recipe.FlockModel, flown *track, seed uint64) error {
	file := &modelfile.Model{Network: t.Network, Meta: modelfile.Meta{Shift: t.Info.Model.Shift, Delayed: true}}
	last := len(flown.graphs) - 1
	for part := range 4 {
		for at := part * last / 4; at < (part+1)*last/4; at++ {
			n := changedLinks(flown.graphs[at], flown.graphs[at+1])
			if n == 0 {
				continue
			}
			r, err := certify.Graphs(ctx, file, flown.graphs[at], flown.graphs[at+1], certify.Options{Seed: seed})
			if err != nil {
				return err
			}
			f.Pairs = append(f.Pairs, certifiedPair{at, n, certifiedOf(r)})
			if f.Filters == nil {
				for _, c := range r.Filters {
					f.Filters = append(f.Filters, certifiedFilter{c.Name, c.Order, c.IntegralLipschitz, c.Gain})
				}
			}
			break
		}
	}
	return nil
}

// changedLinks counts the links that only one of two graphs has.
func changedLinks(a, b *graph.Graph) int {
	n := 0
	for i := range a.Nodes() {
		for _, j := range a.Neighbors(i) {
			if _, both := slices.BinarySearch(b.Neighbors(i), j); !both {
				n++
			}
		}
		for _, j := range b.Neighbors(i) {
			if _, both := slices.BinarySearch(a.Neighbors(i), j); !both {
				n++
			}
		}
	}
	return n / 2
}

// sequences computes the direct certificate of the first steps for graphs that are
// a step old, and for messages that are lost.
func (f *certifiedFlight) sequences(ctx context.Context, t *recipe.FlockModel, flown *track, z *swarms) error {
	steps := min(certifiedTrack, len(flown.shifts))
	shifts := flown.shifts[:steps]
	others := []struct {
		name   string
		shifts []*mat.CSR
	}{{"graphs a step old", append(slices.Clone(shifts[:1]), shifts[:steps-1]...)}}
	for _, p := range []float64{0.05, 0.1, 0.3} {
		var lost []*mat.CSR
		for at, s := range shifts {
			rest, err := graph.NewOutage(flown.graphs[at], z.Stream("certified outage", at)).At(p)
			if err != nil {
				return err
			}
			lost = append(lost, within(s, rest))
		}
		others = append(others, struct {
			name   string
			shifts []*mat.CSR
		}{fmt.Sprintf("links lost at every step, p = %v", p), lost})
	}
	for _, o := range others {
		r, err := certify.Sequence(ctx, t.Network, shifts, o.shifts, flown.signals[:steps])
		if err != nil {
			return err
		}
		f.Sequences = append(f.Sequences, certifiedSequence{o.name, *r})
	}
	return nil
}

// within returns the entries of s on the links of g: what robots receive that do
// not know which messages were lost, and go on dividing by the same λmax.
func within(s *mat.CSR, g *graph.Graph) *mat.CSR {
	out := &mat.CSR{Rows: s.Rows, Cols: s.Cols, RowPtr: []int{0}}
	for i := range s.Rows {
		col, val := s.Row(i)
		for e, j := range col {
			if _, ok := slices.BinarySearch(g.Neighbors(i), j); ok {
				out.Col, out.Val = append(out.Col, j), append(out.Val, val[e])
			}
		}
		out.RowPtr = append(out.RowPtr, len(out.Col))
	}
	return out
}

// learning computes Theorem 2 or 3 for the controller as it learns in flight.
func (f *certifiedFlight) learning(ctx context.Context, t *recipe.FlockModel, cost flocking.Cost, z *swarms) error {
	s, err := z.Swarm("test", 0, 0)
	if err != nil {
		return err
	}
	world, err := flocking.NewStream(s, t.Info.Model.Shift, cost)
	if err != nil {
		return err
	}
	costs := &flightCosts{swarm: s, cost: cost}
	run := certify.StreamRun{
		Model: t.Network, Distributed: cost == flocking.CostNeighborhood, World: world,
		Kind: theory.Quadratic, Rows: costs.rows, Steps: z.Run.Test,
		Config: online.Config{Nodes: z.World.Robots, Delayed: true}, Rule: recipe.OnlineFlight(z.Gamma, z.OnlineClip),
	}
	r, err := certify.Stream(ctx, run)
	if err != nil {
		return err
	}
	f.Runs, f.Limited = append(f.Runs, certifiedRunOf(r)), append(f.Limited, costs.limited)
	return world.Err()
}
