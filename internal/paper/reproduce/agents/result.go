package agents

import (
	"fmt"
	"slices"

	robots "github.com/wdgnn/wdgnn/internal/paper/reproduce/flocking"
	"github.com/wdgnn/wdgnn/internal/paper/reproduce/sourceloc"
	"github.com/wdgnn/wdgnn/internal/paper/reproduce/study"
)

// Columns of what agents show. The first two name learners.
var (
	learnerColumns   = []string{"frozen", "paper, eq. (9)", "own"}
	forgivingColumns = []string{"frozen, forgiving", "paper, forgiving", "own, forgiving"}
	pilotColumns     = map[string]string{
		robots.Expert: "expert", frozenPilot: "WD-GNN, frozen", learningPilot: "WD-GNN, distributed online",
	}
)

const (
	givenUpSignal   = "links given up per signal"
	givenUpShare    = "links given up, %"
	givenUpStep     = "links given up per step"
	learningChanges = "change by learning, %"
	drift           = "drift of the mean, paper, %"
)

// Rows of what agents show.
func lostRow(loss float64) string { return fmt.Sprintf("%.0f %%", 100*loss) }
func killedRow(nodes int) string  { return fmt.Sprintf("%d killed", nodes) }
func brokenRow(robots int) string { return fmt.Sprintf("%d broken", robots) }
func (s *settings) allLive() string {
	return fmt.Sprintf("none killed, all but %d detectors", s.Detectors)
}

func (s *settings) someFell() string {
	return fmt.Sprintf("these %d detectors killed, the others", s.Detectors)
}

// observeNets returns what networks of agents saw.
func (s *settings) observeNets(nets []*networkUnit) *study.Frame {
	f := new(study.Frame)
	for unit, u := range nets {
		for l, spec := range learners {
			for k, p := range s.Loss {
				x := u.Loss[spec.ID][k]
				f.Add(lostRow(p), learnerColumns[l], unit, x.Accuracy)
				f.Add(lostRow(p), forgivingColumns[l], unit, u.Forgiven[spec.ID][k].Accuracy)
				if spec.ID == sourceloc.WideDeepPaper.ID {
					f.Add(lostRow(p), drift, unit, 100*x.Drift/max(x.Way, 1e-30))
				}
			}
			for k, n := range s.Killed {
				f.Add(killedRow(n), learnerColumns[l], unit, u.Killed[spec.ID][k])
			}
			f.Add(s.allLive(), learnerColumns[l], unit, u.Others[spec.ID][0])
			f.Add(s.someFell(), learnerColumns[l], unit, u.Others[spec.ID][1])
		}
		for k, p := range s.Loss {
			given := u.Loss[sourceloc.WideDeepFrozen.ID][k].GivenUp
			f.Add(lostRow(p), givenUpSignal, unit, given)
			f.Add(lostRow(p), givenUpShare, unit, 100*given/u.Links)
		}
	}
	return f
}

// observeTeams returns what teams of robots saw: totals by start, by row of the
// tables and pilot, and the other way round.
func (s *settings) observeTeams(teams []*teamUnit) *study.Frame {
	f := new(study.Frame)
	for unit, u := range teams {
		add := func(row string, totals func(pilot string) []float64) {
			for _, pilot := range pilots {
				f.Add(row, pilotColumns[pilot], unit, totals(pilot)...)
				f.Add(pilot, row, unit, totals(pilot)...)
			}
			f.Add(row, learningChanges, unit, study.Percent(study.Mean(totals(learningPilot)), study.Mean(totals(frozenPilot))))
		}
		for k, p := range s.Loss {
			add(lostRow(p), func(pilot string) []float64 { return u.Loss[pilot][k] })
			f.Add(lostRow(p), givenUpStep, unit, u.GivenUp[k])
		}
		for k, n := range s.Robots {
			add(brokenRow(n), func(pilot string) []float64 { return u.Killed[pilot][k] })
		}
	}
	return f
}

// resultOf makes tables and figures of the units.
func resultOf(s *settings, nets []*networkUnit, teams []*teamUnit) *study.Result {
	f, g := s.observeNets(nets), s.observeTeams(teams)
	r := &study.Result{
		Tables: []study.Table{s.lossTable(f, nets), s.killedTable(f), s.flightTable(g, len(teams)), s.brokenTable(g)},
		Charts: append(s.sourceCharts(f, len(nets)), s.flightCharts(g, len(teams))...),
		Notes:  texts.Notes("agents notes", s.numbers(f, g, nets, teams)),
	}
	for _, u := range nets {
		r.Models = append(r.Models, u.Model.File)
	}
	for _, u := range teams {
		r.Models = append(r.Models, u.Model.File)
	}
	slices.Sort(r.Models)
	return r
}

// errorColumns are columns with standard errors.
func errorColumns(decimals int, names ...string) (list []study.Column) {
	for _, name := range names {
		list = append(list, study.Column{Name: name, Decimals: decimals, Error: true})
	}
	return list
}

// ourLines are lines that the paper does not have.
func ourLines(names ...string) (list []study.Line) {
	for _, name := range names {
		list = append(list, study.Line{Name: name, Ours: true})
	}
	return list
}

// chance is the accuracy of a guess, in %.
func (s *settings) chance() float64 { return 100 / float64(s.Source.World.Communities) }

// lossTable is accuracy against lost messages.
func (s *settings) lossTable(f *study.Frame, nets []*networkUnit) study.Table {
	links := 0.0
	for _, u := range nets {
		links += u.Links / float64(len(nets))
	}
	l := study.Layout{
		Title:   "Source localization: right answers, %, by messages lost",
		Columns: append(errorColumns(1, learnerColumns...), errorColumns(1, forgivingColumns...)...),
		Note:    texts.Say("agents loss", map[string]any{"S": s, "Count": len(nets), "Links": links, "Chance": s.chance()}),
	}
	l.Columns = append(l.Columns, study.Column{Name: givenUpSignal, Cell: func(row string) study.Cell {
		return study.Cell{Value: f.Error(row, givenUpSignal), Text: fmt.Sprintf("(%.0f %%)", f.Mean(row, givenUpShare))}
	}})
	l.Columns = append(l.Columns, errorColumns(2, drift)...)
	for _, p := range s.Loss {
		l.Lines = append(l.Lines, ourLines(lostRow(p))...)
	}
	return f.Table(l)
}

// killedTable is accuracy against killed nodes.
func (s *settings) killedTable(f *study.Frame) study.Table {
	l := study.Layout{
		Title:   "Source localization: right answers, %, after nodes were killed",
		Columns: errorColumns(1, learnerColumns...),
		Note:    texts.Say("agents killed", map[string]any{"S": s, "Nodes": s.Source.World.Communities * s.Source.World.Members}),
	}
	for _, n := range s.Killed {
		l.Lines = append(l.Lines, ourLines(killedRow(n))...)
	}
	l.Lines = append(l.Lines, ourLines(s.allLive(), s.someFell())...)
	return f.Table(l)
}

// flightColumns are totals, and what learning changes.
func flightColumns(f *study.Frame) (list []study.Column) {
	for _, pilot := range pilots {
		list = append(list, errorColumns(1, pilotColumns[pilot])...)
	}
	return append(list, study.Column{Name: learningChanges, Decimals: 1, Error: true, Signed: true},
		study.Column{Name: "flights with a lower total", Cell: func(row string) study.Cell {
			lower, flights := f.Above(frozenPilot, learningPilot, row)
			return study.Cell{Text: fmt.Sprintf("%d of %d", lower, flights)}
		}})
}

// flightTable is velocity variation against lost messages.
func (s *settings) flightTable(f *study.Frame, teams int) study.Table {
	l := study.Layout{
		Title:   "Robots: total velocity variation, m²/s², by messages lost",
		Columns: append(flightColumns(f), errorColumns(0, givenUpStep)...),
		Note:    texts.Say("agents flights", map[string]any{"S": s, "Count": teams}),
	}
	for _, p := range s.Loss {
		l.Lines = append(l.Lines, ourLines(lostRow(p))...)
	}
	return f.Table(l)
}

// brokenTable is velocity variation against broken robots.
func (s *settings) brokenTable(f *study.Frame) study.Table {
	l := study.Layout{
		Title:   "Robots: total velocity variation of those that work, m²/s², by robots broken",
		Columns: flightColumns(f),
		Note: texts.Say("agents broken", map[string]any{
			"S": s, "Seconds": float64(s.BreakTime) * s.Flock.World.SampleSeconds,
		}),
	}
	for _, n := range s.Robots {
		l.Lines = append(l.Lines, ourLines(brokenRow(n))...)
	}
	return f.Table(l)
}
