package agents

import (
	"github.com/wdgnn/wdgnn/internal/paper/reproduce/study"

	robots "github.com/wdgnn/wdgnn/internal/paper/reproduce/flocking"
)

// curveOf is a curve of points with standard errors; that of the expert is
// something to compare with.
func curveOf(name string, points int, at func(k int) (float64, *study.Value)) study.Curve {
	c := study.Curve{Name: name, Points: name != robots.Expert, Reference: name == robots.Expert}
	for k := range points {
		c.Add(at(k))
	}
	return c
}

// sourceCharts draw the answers of agents against lost messages and killed nodes.
func (s *settings) sourceCharts(f *study.Frame, nets int) []study.Chart {
	note := texts.Say("agents source chart", map[string]any{"S": s, "Count": nets})
	loss := study.Chart{Name: "agents-loss", Title: "Agents that lose messages", X: "messages lost, %", Y: "right answers, %", Note: note}
	killed := study.Chart{
		Name: "agents-killed", Title: "Agents whose neighbours fall silent", X: "nodes killed", Y: "right answers, %", Note: note,
	}
	lost := func(column string) func(k int) (float64, *study.Value) {
		return func(k int) (float64, *study.Value) { return 100 * s.Loss[k], f.Error(lostRow(s.Loss[k]), column) }
	}
	for _, name := range learnerColumns {
		loss.Curves = append(loss.Curves, curveOf(name, len(s.Loss), lost(name)))
		killed.Curves = append(killed.Curves, curveOf(name, len(s.Killed), func(k int) (float64, *study.Value) {
			return float64(s.Killed[k]), f.Error(killedRow(s.Killed[k]), name)
		}))
	}
	for l, name := range forgivingColumns {
		loss.Curves = append(loss.Curves, curveOf(learnerColumns[l]+", forgiving", len(s.Loss), lost(name)))
	}
	loss.Curves = append(loss.Curves, study.Curve{Name: "chance", X: []float64{0}, Y: []float64{s.chance()}, Reference: true})
	return []study.Chart{loss, killed}
}

// flightCharts draw the flights of agents against lost messages and broken robots.
func (s *settings) flightCharts(f *study.Frame, teams int) []study.Chart {
	note := texts.Say("agents flight chart", map[string]any{"S": s, "Count": teams})
	const variation = "total velocity variation, m²/s²"
	loss := study.Chart{Name: "agents-flight-loss", Title: "Robots that lose messages", X: "messages lost, %", Y: variation, Note: note}
	broken := study.Chart{Name: "agents-flight-killed", Title: "Robots among broken ones", X: "robots broken", Y: variation, Note: note}
	for _, pilot := range pilots {
		loss.Curves = append(loss.Curves, curveOf(pilot, len(s.Loss), func(k int) (float64, *study.Value) {
			return 100 * s.Loss[k], f.Error(pilot, lostRow(s.Loss[k]))
		}))
		broken.Curves = append(broken.Curves, curveOf(pilot, len(s.Robots), func(k int) (float64, *study.Value) {
			return float64(s.Robots[k]), f.Error(pilot, brokenRow(s.Robots[k]))
		}))
	}
	return []study.Chart{loss, broken}
}

// change is what the last row of a sweep has changed against the first.
type change struct {
	Name           string
	Change, Broken *study.Value
}

// numbers are the numbers of the notes.
func (s *settings) numbers(f, g *study.Frame, nets []*networkUnit, teams []*teamUnit) map[string]any {
	last, killed, broken := s.Loss[len(s.Loss)-1], s.Killed[len(s.Killed)-1], s.Robots[len(s.Robots)-1]
	n := map[string]any{"S": s, "Lost": 100 * last, "Killed": killed, "Robots": broken}
	var source, flock bits
	diverged := 0.0
	for _, u := range nets {
		source.add(u.Bits)
		for _, list := range u.Loss {
			for _, x := range list {
				diverged += x.Diverged
			}
		}
	}
	for _, u := range teams {
		flock.add(u.Bits)
	}
	n["Source"], n["Flock"], n["Diverged"] = source, flock, diverged > 0
	f.Compare("by loss", lostRow(last), lostRow(s.Loss[0]), study.Less, learnerColumns...)
	f.Compare("by killing", killedRow(killed), killedRow(s.Killed[0]), study.Less, learnerColumns...)
	var ofLoss, ofKilled, ofFlights []change
	for _, name := range learnerColumns {
		ofLoss = append(ofLoss, change{Name: name, Change: f.Error("by loss", name)})
		ofKilled = append(ofKilled, change{Name: name, Change: f.Error("by killing", name)})
	}
	for _, pilot := range []string{frozenPilot, learningPilot} {
		column := pilotColumns[pilot]
		g.Compare("by loss", lostRow(last), lostRow(s.Loss[0]), study.Percent, column)
		g.Compare("by breaking", brokenRow(broken), brokenRow(s.Robots[0]), study.Percent, column)
		ofFlights = append(ofFlights, change{pilot, g.Error("by loss", column), g.Error("by breaking", column)})
	}
	n["OfLoss"], n["OfKilled"], n["OfFlights"] = ofLoss, ofKilled, ofFlights
	return n
}
