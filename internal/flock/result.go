package flock

import (
	"encoding/json"
	"io"

	"github.com/wdgnn/wdgnn/internal/recipe"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/rule"
	"github.com/wdgnn/wdgnn/scenario/flocking"
)

// Result is how the flights of a plan went.
type Result struct {
	Plan    Plan         `json:"plan"`
	Shift   string       `json:"shift"`
	Learned Row          `json:"learned"`
	Frozen  *Row         `json:"frozen,omitempty"` // the controller as trained, if it learned
	Expert  Row          `json:"expert"`
	Drift   online.Drift `json:"drift"` // of the learner after the last flight

	Recording *Recording `json:"-"` // of the last flight
}

// Row is how one controller flew, flight by flight.
type Row struct {
	Name    string    `json:"name"`
	Flights []Summary `json:"flights"`
}

// Summary is one flight in a few numbers.
type Summary struct {
	Total     float64         `json:"total"` // velocity variation, sum over all steps
	Final     float64         `json:"final"` // of the last step
	Steps     int             `json:"steps"`
	Connected int             `json:"connected"`      // steps with a connected communication graph
	Crashed   int             `json:"crashed"`        // steps with a collision
	Closest   float64         `json:"closest_meters"` // distance of any two robots at any step
	Refused   int             `json:"refused"`        // updates that diverged; with gates, by robot
	Counts    flocking.Counts `json:"counts"`         // what faults did

	AsTrained int `json:"as_trained,omitempty"` // robots that flew as trained at the end, by their gates
	Anew      int `json:"anew,omitempty"`       // times that a robot began to learn anew
}

func (r *Row) add(f *flocking.Flight, refused int) {
	r.Flights = append(r.Flights, Summary{
		Total: f.Total(), Final: f.Final(), Steps: len(f.Variation), Connected: f.Connected(),
		Crashed: f.Crashed(), Closest: f.MinDistance(), Refused: refused, Counts: f.Counts,
	})
}

// addGates adds what the gates of the robots say after the last flight added.
func (r *Row) addGates(gates []rule.GateState) {
	f := &r.Flights[len(r.Flights)-1]
	for _, g := range gates {
		if !g.Open {
			f.AsTrained++
		}
		f.Anew += int(g.Anew)
		f.Refused += int(g.Refused)
	}
}

// Mean returns the mean over the flights of Total and Final; everything else is
// summed up, and Closest is the smallest.
func (r *Row) Mean() Summary {
	var m Summary
	for k, f := range r.Flights {
		m.Total += f.Total / float64(len(r.Flights))
		m.Final += f.Final / float64(len(r.Flights))
		m.Steps += f.Steps
		m.Connected += f.Connected
		m.Crashed += f.Crashed
		m.Refused += f.Refused
		m.AsTrained += f.AsTrained
		m.Anew += f.Anew
		if k == 0 || f.Closest < m.Closest {
			m.Closest = f.Closest
		}
		m.Counts.Messages += f.Counts.Messages
		m.Counts.Lost += f.Counts.Lost
		m.Counts.Muted += f.Counts.Muted
		m.Counts.Blind += f.Counts.Blind
		m.Counts.Idle += f.Counts.Idle
		m.Counts.Saturated += f.Counts.Saturated
	}
	return m
}

// Ratio returns a over b; 0 if b is 0, so that it is a number in any case.
func Ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

// WriteJSON writes the result and the curves of the recorded flight as one
// object. It says nothing of clocks or machines.
func (r *Result) WriteJSON(w io.Writer) error {
	type curves struct {
		Learned      *flocking.Flight `json:"learned"`
		Frozen       *flocking.Flight `json:"frozen,omitempty"`
		Expert       *flocking.Flight `json:"expert"`
		Moved        []float64        `json:"moved,omitempty"`
		Disagreement []float64        `json:"disagreement,omitempty"`
	}
	whole := struct {
		*Result
		Curves curves `json:"last_flight"`
	}{Result: r}
	if t := r.Recording; t != nil {
		whole.Curves = curves{t.Learned, t.Frozen, t.Expert, nil, nil}
		if t.Frozen != nil {
			whole.Curves.Moved, whole.Curves.Disagreement = t.Moved, t.Disagreement
		}
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", " ")
	return enc.Encode(whole)
}

// land prepares a learner for the next flight.
func land(l online.Learner) error { return recipe.Land(l) }
