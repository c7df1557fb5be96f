package agents

import (
	"cmp"
	"context"
	"fmt"
	"runtime/debug"

	"github.com/wdgnn/wdgnn/graph"
	robots "github.com/wdgnn/wdgnn/internal/paper/reproduce/flocking"
	"github.com/wdgnn/wdgnn/internal/paper/reproduce/sourceloc"
	"github.com/wdgnn/wdgnn/internal/paper/reproduce/study"
	"github.com/wdgnn/wdgnn/internal/recipe"
)

// Experiment is the experiment of this package.
var Experiment = study.Experiment{
	Name:  "agents",
	Title: "Agents that lose messages and neighbours",
	About: texts.Say("agents about", nil),
	Do:    run,
}

// localShift is the shift of the models, which nodes compute from their links.
var localShift = graph.ShiftRowStochastic

// settings are the settings of the experiment. Everything that changes a
// number is here.
type settings struct {
	Source recipe.Sourceloc `json:"source"`
	Flock  recipe.Flocking  `json:"flock"`

	Loss []float64 `json:"loss"` // probabilities that a message is lost, 0 first

	Killed    []int `json:"killed"`     // numbers of nodes that fall silent, 0 first
	Detectors int   `json:"detectors"`  // that fall silent once
	KillTime  int   `json:"kill_time"`  // signal from which they do
	Robots    []int `json:"robots"`     // numbers of robots that break, 0 first
	BreakTime int   `json:"break_time"` // step from which they do
	Starts    int   `json:"starts"`     // flights per setting
}

// settingsFrom returns the settings that o asks for.
func settingsFrom(o study.Options) settings {
	s := settings{
		Source: sourceloc.From(o), Flock: robots.From(o),
		Loss: []float64{0, 0.1, 0.2, 0.3, 0.4, 0.5}, Killed: []int{0, 1, 2, 5, 10, 20}, Detectors: 2,
	}
	s.Source.Epochs, s.Source.Shift = cmp.Or(o.Epochs, sourceloc.ShiftEpochs), &localShift
	s.Source.Subgraphs = cmp.Or(o.Subgraphs, 5)
	if o.Quick {
		s.Source.Subgraphs = cmp.Or(o.Subgraphs, 1)
	}
	s.KillTime = min(100, s.Source.Test/2)
	s.BreakTime = s.Flock.World.Steps() / 4
	s.Starts = min(s.Flock.Test, 20)
	for _, n := range []int{0, 1, 5, 10} {
		if n < s.Flock.World.Robots {
			s.Robots = append(s.Robots, n)
		}
	}
	return s
}

// unit is one network, or one realization of robots.
type unit struct {
	Source *networkUnit `json:"source,omitempty"`
	Flock  *teamUnit    `json:"flock,omitempty"`
}

func run(ctx context.Context, r *study.Run) (*study.Result, error) {
	s := settingsFrom(r.Options)
	repeats := cmp.Or(r.Repeats, 3)
	if r.Quick {
		repeats = cmp.Or(r.Repeats, 1)
	}
	defer debug.SetGCPercent(debug.SetGCPercent(20)) // as for the flights of other tables
	var lent recipe.Shelf
	source, flock := s.sourceWork(), s.flockWork()
	all, err := study.Units(ctx, r, 2*repeats, (source+flock)/2,
		func(k int) string {
			if k < repeats {
				return fmt.Sprintf("graph%d", k)
			}
			return fmt.Sprintf("data%d", k-repeats)
		},
		s, func(ctx context.Context, k int) (*unit, error) {
			if k < repeats {
				source, err := sourceloc.New(r, s.Source, k, 0)
				if err != nil {
					return nil, err
				}
				u, err := (&realization{source}).agents(ctx, &s)
				return &unit{Source: u}, err
			}
			z := &swarms{robots.New(r, s.Flock, k-repeats, r.Inside(2*repeats), flock)}
			z.Reserve(&lent, 0)
			defer z.Release(&lent)
			u, err := z.agents(ctx, &s)
			return &unit{Flock: u}, err
		})
	if err != nil {
		return nil, err
	}
	var nets []*networkUnit
	var teams []*teamUnit
	for _, u := range all {
		if u.Source != nil {
			nets = append(nets, u.Source)
		} else {
			teams = append(teams, u.Flock)
		}
	}
	return resultOf(&s, nets, teams), nil
}
