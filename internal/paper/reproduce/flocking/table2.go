package flocking

import (
	"cmp"
	"context"
	"fmt"
	"runtime/debug"
	"slices"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/paper/reproduce/study"
	"github.com/wdgnn/wdgnn/internal/recipe"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/rule"
	"github.com/wdgnn/wdgnn/scenario/flocking"
)

// Table2 compares controllers of robots.
var Table2 = study.Experiment{
	Name:  "table2",
	Title: "Table 2: robot swarm control",
	About: texts.Say("table2 about", nil),
	Do:    runTable2,
}

// unit is what a realization leaves.
type unit struct {
	Index  int                      `json:"index"`
	Models []recipe.FlockInfo       `json:"models"`
	Rows   map[string]*flown        `json:"rows"`
	Tracks map[string][]study.Track `json:"tracks,omitempty"` // of the first test flight, by row
	Double map[string][]float64     `json:"double,omitempty"` // totals of the first test flights, computed in float64
}

func runTable2(ctx context.Context, r *study.Run) (*study.Result, error) {
	s := From(r.Options)
	repeats := cmp.Or(r.Repeats, 5)
	if r.Quick {
		repeats = cmp.Or(r.Repeats, 1)
	}
	rows := table2Rows(&s)
	if r.Quick {
		rows = slices.DeleteFunc(rows, func(row tableRow) bool { return row.Few })
	}
	all, err := unitsOf(ctx, r, s, repeats, rows)
	if err != nil {
		return nil, err
	}
	return table2Result(&s, rows, all), nil
}

// unitsOf computes n realizations of the given rows.
func unitsOf(ctx context.Context, r *study.Run, s recipe.Flocking, n int, rows []tableRow) ([]*unit, error) {
	// Most of the memory is a few large matrices: without this, garbage could
	// double it before it is collected.
	defer debug.SetGCPercent(debug.SetGCPercent(20))
	var lent recipe.Shelf
	work := FlightsCost * float64(len(rows))
	for _, step := range plan(rows) {
		work += recipe.DatasetCost
		for _, m := range step {
			work += s.Work(m)
		}
	}
	return study.Units(ctx, r, n, work,
		func(k int) string { return fmt.Sprintf("data%d", k) },
		[]any{s, rows}, func(ctx context.Context, k int) (*unit, error) {
			z := New(r, s, k, r.Inside(n), work)
			z.Reserve(&lent, s.DaggerFlights)
			defer z.Release(&lent)
			return z.unit(ctx, rowsOf(rows, k))
		})
}

// plan returns the models that rows need, those on one dataset together.
func plan(rows []tableRow) (steps [][]recipe.FlockSpec) {
	type set struct {
		shift graph.Shift
		cap   float64
	}
	at, seen := map[set]int{}, map[recipe.FlockSpec]bool{}
	for _, row := range rows {
		m := row.Model
		if row.ID == Expert || seen[m] {
			continue
		}
		seen[m] = true
		key := set{m.Shift, m.NearCap}
		k, ok := at[key]
		if !ok {
			k = len(steps)
			at[key], steps = k, append(steps, nil)
		}
		steps[k] = append(steps[k], m)
	}
	return steps
}

// unit trains all models and flies all rows.
func (z *Swarms) unit(ctx context.Context, rows []tableRow) (*unit, error) {
	u := &unit{Index: z.Index, Rows: map[string]*flown{}}
	for _, step := range plan(rows) {
		for _, m := range step {
			t, err := z.Prepare(ctx, m)
			if err != nil {
				return nil, err
			}
			u.Models = append(u.Models, t.Info)
		}
	}
	flights := make([]*flown, len(rows))
	err := recipe.Each(ctx, z.Threads, len(rows), func(k int) (err error) {
		if flights[k], err = z.row(ctx, rows[k]); err != nil {
			return fmt.Errorf("%s: %w", rows[k].ID, err)
		}
		z.Advance(FlightsCost, "realization %d: %s %.1f", z.Index, rows[k].ID, study.Mean(flights[k].Total))
		return nil
	})
	if err != nil {
		return nil, err
	}
	for k, row := range rows {
		u.Rows[row.ID] = flights[k]
	}
	z.Finish()
	if z.Index != 0 {
		return u, nil
	}
	if err := z.drawTracks(ctx, u, rows); err != nil {
		return nil, err
	}
	return u, z.compareDouble(ctx, u, rows)
}

// pilot returns the controller of a row.
func (z *Swarms) pilot(row tableRow) *recipe.Pilot {
	p := z.Models[row.Model].Pilot()
	p.Cost, p.Rule = row.Cost, recipe.OnlineFlight(row.Gamma, z.OnlineClip)
	if row.Gated {
		p.Rule.Gate = &rule.Gate{}
	}
	return p
}

// row flies the test flights of a row.
func (z *Swarms) row(ctx context.Context, row tableRow) (*flown, error) {
	if row.ID == Expert {
		return z.flyExpert(ctx)
	}
	return z.fly(ctx, z.pilot(row), row.Model.NearCap, row.Carry)
}

// trackStep is the number of time steps between two points of a drawn track.
const trackStep = 4

// drawTracks keeps the ways of the robots in the first test flight of the
// expert and of the WD-GNN.
func (z *Swarms) drawTracks(ctx context.Context, u *unit, rows []tableRow) error {
	u.Tracks = map[string][]study.Track{}
	for _, row := range rows {
		if row.ID != Expert && row.ID != "wd-gnn central" {
			continue
		}
		s, err := z.Swarm("test", 0, row.Model.NearCap)
		if err != nil {
			return err
		}
		tracks := make([]study.Track, z.World.Robots)
		look := func(s *flocking.Swarm) {
			if s.Time()%trackStep == 0 || s.Time() == z.World.Steps()-1 {
				for i, p := range s.Positions() {
					t := &tracks[i]
					t.X, t.Y, t.Velocity = append(t.X, p[0]), append(t.Y, p[1]), s.Velocities()[i]
				}
			}
		}
		if row.ID == Expert {
			_, err = flocking.Fly(s, func(accel [][2]float64, s *flocking.Swarm) error {
				look(s)
				return flocking.Expert(accel, s)
			})
		} else {
			p := z.pilot(row)
			l, lerr := p.Learner(z.World.Robots)
			if lerr != nil {
				return lerr
			}
			_, err = p.Fly(ctx, s, l, func(s *flocking.Swarm, _ mat.Dense) error { look(s); return nil })
		}
		if err != nil {
			return err
		}
		u.Tracks[row.ID] = tracks
	}
	return nil
}
