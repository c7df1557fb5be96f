package flock

import (
	"context"
	"fmt"
)

// Transfer is how a controller does in worlds that it was not trained in.
type Transfer struct {
	Robots int     `json:"robots"`
	Radius float64 `json:"radius_meters"`
	Result *Result `json:"result"`
}

// Worlds lists what a controller is tried in: teams of other sizes at the
// plan's radius, then other radii with the plan's number of robots. Large adds
// a team of 1,000.
func (p Plan) Worlds(large bool) []Plan {
	teams := []int{25, 50, 100, 200, 400}
	if large {
		teams = append(teams, 1000)
	}
	var list []Plan
	for _, n := range teams {
		q := p
		q.World.Robots = n
		list = append(list, q)
	}
	for _, r := range []float64{1.5, 2, 3} {
		q := p
		q.World.CommRadiusMeters = r
		list = append(list, q)
	}
	return list
}

// Transfer flies every one of the given plans. Done, if not nil, hears of each
// as it ends.
func (c *Controller) Transfer(ctx context.Context, plans []Plan, done func(k int, t Transfer)) ([]Transfer, error) {
	var list []Transfer
	for k, p := range plans {
		r, err := p.Fly(ctx, c, nil)
		if err != nil {
			return list, fmt.Errorf("%d robots, radius %v m: %w", p.World.Robots, p.World.CommRadiusMeters, err)
		}
		r.Recording = nil
		t := Transfer{Robots: p.World.Robots, Radius: p.World.CommRadiusMeters, Result: r}
		list = append(list, t)
		if done != nil {
			done(k, t)
		}
	}
	return list, nil
}
