package reproduce

import (
	"fmt"
	"slices"

	"github.com/wdgnn/wdgnn/internal/reproduce/study"
)

// agentsColumns names agentsLearners.
var agentsColumns = []string{"frozen", "literal, eq. (9)", "personal (m = 50)"}

// agentsResult makes tables and figures of the units.
func agentsResult(s *agentsSettings, nets []*agentsSource, teams []*agentsFlock) *Result {
	r := &Result{
		Tables: []study.Table{s.lossTable(nets), s.killedTable(nets), s.flightTable(teams), s.brokenTable(teams)},
		Notes:  []string{agentsBits(s, nets, teams), agentsVerdict(s, nets, teams)},
	}
	r.Charts = []study.Chart{
		{Name: "agents-loss", Title: "Agents that lose messages", X: "messages lost, %", Y: "right answers, %", Note: s.sourceNote(nets)},
		{Name: "agents-killed", Title: "Agents whose neighbours fall silent", X: "nodes killed", Y: "right answers, %", Note: s.sourceNote(nets)},
		{Name: "agents-flight-loss", Title: "Robots that lose messages", X: "messages lost, %", Y: "total velocity variation, m²/s²", Note: s.flightNote(teams)},
		{Name: "agents-flight-killed", Title: "Robots among broken ones", X: "robots broken", Y: "total velocity variation, m²/s²", Note: s.flightNote(teams)},
	}
	for l, spec := range agentsLearners {
		addCurve(&r.Charts[0], agentsColumns[l], len(s.Loss), func(k int) (float64, *study.Value) {
			return 100 * s.Loss[k], over(nets, func(u *agentsSource) float64 { return u.Loss[spec.ID][k].Accuracy })
		})
		addCurve(&r.Charts[1], agentsColumns[l], len(s.Killed), func(k int) (float64, *study.Value) {
			return float64(s.Killed[k]), over(nets, func(u *agentsSource) float64 { return u.Killed[spec.ID][k] })
		})
	}
	for l, spec := range agentsLearners {
		addCurve(&r.Charts[0], agentsColumns[l]+", forgiving", len(s.Loss), func(k int) (float64, *study.Value) {
			return 100 * s.Loss[k], over(nets, func(u *agentsSource) float64 { return u.Forgiven[spec.ID][k].Accuracy })
		})
	}
	chance := 100 / float64(s.Source.World.Communities)
	r.Charts[0].Curves = append(r.Charts[0].Curves, study.Curve{Name: "chance", X: []float64{0}, Y: []float64{chance}, Reference: true})
	for _, pilot := range agentsPilots {
		addCurve(&r.Charts[2], pilot, len(s.Loss), func(k int) (float64, *study.Value) {
			return 100 * s.Loss[k], over(teams, func(u *agentsFlock) float64 { return mean(u.Loss[pilot][k]) })
		})
		addCurve(&r.Charts[3], pilot, len(s.Robots), func(k int) (float64, *study.Value) {
			return float64(s.Robots[k]), over(teams, func(u *agentsFlock) float64 { return mean(u.Killed[pilot][k]) })
		})
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

// addCurve adds a curve of points with standard errors; the expert's is something to
// compare with.
func addCurve(c *study.Chart, name string, points int, at func(k int) (float64, *study.Value)) {
	curve := study.Curve{Name: name, Points: name != expertRow, Reference: name == expertRow}
	for k := range points {
		x, v := at(k)
		curve.X, curve.Y, curve.Spread = append(curve.X, x), append(curve.Y, v.Mean), append(curve.Spread, v.Spread)
	}
	c.Curves = append(c.Curves, curve)
}

// over returns mean and standard error of a number over units.
func over[T any](all []T, of func(u T) float64) *study.Value {
	var v []float64
	for _, u := range all {
		v = append(v, of(u))
	}
	return study.StandardError(v)
}

func (s *agentsSettings) sourceNote(nets []*agentsSource) string {
	return fmt.Sprintf("seed %d, %d networks of %d subgraphs, links lost for good with probability %v; bars: standard error over networks", s.Source.Seed, len(nets), s.Source.Subgraphs, s.Source.OutageProb)
}

func (s *agentsSettings) flightNote(teams []*agentsFlock) string {
	return fmt.Sprintf("seed %d, %d realizations of %d starts; bars: standard error over realizations", s.Flock.Seed, len(teams), s.Starts)
}

// lossTable is accuracy against lost messages.
func (s *agentsSettings) lossTable(nets []*agentsSource) study.Table {
	t := study.Table{
		Title:   "Source localization: right answers, %, by messages lost",
		Columns: slices.Concat(agentsColumns, []string{"frozen, forgiving", "literal, forgiving", "personal, forgiving"}, []string{"links given up per signal", "drift of the mean, literal, %", "drift of the mean, personal, %"}),
		Note: fmt.Sprintf("WD-GNN of Table 1 with a row-stochastic shift, %d epochs; mean ± standard error over %d networks, %d subgraphs each, %d signals, links lost for good with probability %v. On top of that each message to each receiver is lost with the probability in the first column, and what is lost at one is lost at all larger ones. "+
			"A link of which a message is lost counts as dropped to the end of the signal; forgiving agents leave its sender out of that one hop and use what it says in the next. "+
			"Of %.0f links, each direction on its own, those are given up of whose ten messages one is missing. "+
			"A link that is given up in one direction before its first message leaves W row-stochastic only: the drift is how far mixing alone has moved the mean of all parameters at the end, in %% of the way of that mean from where it began. Chance is %.0f %%.",
			s.Source.Epochs, len(nets), s.Source.Subgraphs, s.Source.Test, s.Source.OutageProb, over(nets, func(u *agentsSource) float64 { return u.Links }).Mean, 100/float64(s.Source.World.Communities)),
	}
	for k, p := range s.Loss {
		row := study.Row{Name: fmt.Sprintf("%.0f %%", 100*p), Ours: true}
		for _, spec := range agentsLearners {
			row.Cells = append(row.Cells, study.Cell{Value: over(nets, func(u *agentsSource) float64 { return u.Loss[spec.ID][k].Accuracy }), Decimals: 1})
		}
		for _, spec := range agentsLearners {
			row.Cells = append(row.Cells, study.Cell{Value: over(nets, func(u *agentsSource) float64 { return u.Forgiven[spec.ID][k].Accuracy }), Decimals: 1})
		}
		share := over(nets, func(u *agentsSource) float64 { return 100 * u.Loss[wideDeepFrozen.ID][k].GivenUp / u.Links })
		row.Cells = append(row.Cells, study.Cell{
			Value: over(nets, func(u *agentsSource) float64 { return u.Loss[wideDeepFrozen.ID][k].GivenUp }), Decimals: 0,
			Text: fmt.Sprintf("(%.0f %%)", share.Mean),
		})
		for _, spec := range agentsLearners[1:] {
			row.Cells = append(row.Cells, study.Cell{Decimals: 2, Value: over(nets, func(u *agentsSource) float64 {
				return 100 * u.Loss[spec.ID][k].Drift / max(u.Loss[spec.ID][k].Way, 1e-30)
			})})
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// killedTable is accuracy against killed nodes.
func (s *agentsSettings) killedTable(nets []*agentsSource) study.Table {
	t := study.Table{
		Title:   "Source localization: right answers, %, after nodes were killed",
		Columns: agentsColumns,
		Note: fmt.Sprintf("Answers to the signals from number %d on, when the nodes fall silent; those before, in which agents already learn, are not counted. Of %d nodes some that are no detectors are killed, at random, the same ones and more in every next row. Nobody is told: those who are left wait for them until the deadline of every signal. No message is lost. The last two rows kill detectors and count the answers of the others.",
			s.KillTime, s.Source.World.Communities*s.Source.World.Members),
	}
	add := func(name string, of func(u *agentsSource, id string) float64) {
		row := study.Row{Name: name, Ours: true}
		for _, spec := range agentsLearners {
			row.Cells = append(row.Cells, study.Cell{Value: over(nets, func(u *agentsSource) float64 { return of(u, spec.ID) }), Decimals: 1})
		}
		t.Rows = append(t.Rows, row)
	}
	for k, n := range s.Killed {
		add(fmt.Sprintf("%d killed", n), func(u *agentsSource, id string) float64 { return u.Killed[id][k] })
	}
	add(fmt.Sprintf("none killed, all but %d detectors", s.Detectors), func(u *agentsSource, id string) float64 { return u.Others[id][0] })
	add(fmt.Sprintf("these %d detectors killed, the others", s.Detectors), func(u *agentsSource, id string) float64 { return u.Others[id][1] })
	return t
}

// flightCells are a row of flights: totals, and what learning changes.
func flightCells(teams []*agentsFlock, totals func(u *agentsFlock, pilot string) []float64) (cells []study.Cell) {
	for _, pilot := range agentsPilots {
		cells = append(cells, study.Cell{Value: over(teams, func(u *agentsFlock) float64 { return mean(totals(u, pilot)) }), Decimals: 1})
	}
	lower, flights := 0, 0
	for _, u := range teams {
		before := totals(u, frozenPilot)
		for k, v := range totals(u, learningPilot) {
			flights++
			if v < before[k] {
				lower++
			}
		}
	}
	change := over(teams, func(u *agentsFlock) float64 {
		return 100 * (mean(totals(u, learningPilot))/mean(totals(u, frozenPilot)) - 1)
	})
	return append(cells, study.Cell{Value: change, Decimals: 1, Signed: true}, study.Cell{Text: fmt.Sprintf("%d of %d", lower, flights)})
}

var flightColumns = []string{"expert", "WD-GNN, frozen", "WD-GNN, distributed online", "change by learning, %", "flights with a lower total"}

// flightTable is velocity variation against lost messages.
func (s *agentsSettings) flightTable(teams []*agentsFlock) study.Table {
	t := study.Table{
		Title:   "Robots: total velocity variation, m²/s², by messages lost",
		Columns: append(slices.Clone(flightColumns), "links given up per step"),
		Note: fmt.Sprintf("%d robots, each with an agent of its own that exchanges one message per step with those within %v m; controller of Table 2 with a row-stochastic shift, %d flights, %d epochs; γ = %v, taps as trained at the start of each flight. Mean ± standard error over %d realizations of %d starts. With a message a robot loses the position and velocity of its sender too, for features and cost. The expert sees everything.",
			s.Flock.World.Robots, s.Flock.World.CommRadiusMeters, s.Flock.Train, s.Flock.Epochs, s.Flock.Gamma, len(teams), s.Starts),
	}
	for k, p := range s.Loss {
		cells := flightCells(teams, func(u *agentsFlock, pilot string) []float64 { return u.Loss[pilot][k] })
		cells = append(cells, study.Cell{Value: over(teams, func(u *agentsFlock) float64 { return u.GivenUp[k] }), Decimals: 0})
		t.Rows = append(t.Rows, study.Row{Name: fmt.Sprintf("%.0f %%", 100*p), Ours: true, Cells: cells})
	}
	return t
}

// brokenTable is velocity variation against broken robots.
func (s *agentsSettings) brokenTable(teams []*agentsFlock) study.Table {
	t := study.Table{
		Title:   "Robots: total velocity variation of those that work, m²/s², by robots broken",
		Columns: flightColumns,
		Note: fmt.Sprintf("From %.2f s of %v s on the broken robots keep their velocity and say nothing; the same ones and more in every next row. They are not counted, before or after. No message of the others is lost. The expert sees broken robots, keeps a distance and takes them for part of the swarm whose velocity is to be met; the others do not see them.",
			float64(s.BreakTime)*s.Flock.World.SampleSeconds, s.Flock.World.DurationSeconds),
	}
	for k, n := range s.Robots {
		t.Rows = append(t.Rows, study.Row{
			Name: fmt.Sprintf("%d broken", n), Ours: true,
			Cells: flightCells(teams, func(u *agentsFlock, pilot string) []float64 { return u.Killed[pilot][k] }),
		})
	}
	return t
}

// agentsBits says whether agents compute what one process computes.
func agentsBits(s *agentsSettings, nets []*agentsSource, teams []*agentsFlock) string {
	var source, flock bits
	for _, u := range nets {
		source.add(u.Bits)
	}
	for _, u := range teams {
		flock.add(u.Bits)
	}
	return fmt.Sprintf("Bits: while nothing is lost, all outputs of the agents had the bits of one process (`online.Consensus` hop by hop, or the frozen model) in %d of %d signals. "+
		"The first flight of every realization was compared at all %d probabilities, since the simulator can say whom a robot did not hear: same bits in %d of %d steps.",
		source.Same, source.Steps, len(s.Loss), flock.Same, flock.Steps)
}

// agentsVerdict compares the ends of every sweep, unit by unit.
func agentsVerdict(s *agentsSettings, nets []*agentsSource, teams []*agentsFlock) string {
	last, lost := len(s.Loss)-1, 100*s.Loss[len(s.Loss)-1]
	killed, broken := len(s.Killed)-1, len(s.Robots)-1
	text := fmt.Sprintf("From first to last row, paired by network: with %.0f %% of messages lost,", lost)
	for l, spec := range agentsLearners {
		v := over(nets, func(u *agentsSource) float64 { return u.Loss[spec.ID][last].Accuracy - u.Loss[spec.ID][0].Accuracy })
		text += fmt.Sprintf(" %s %+.1f ± %.1f points%s", agentsColumns[l], v.Mean, v.Spread, separator(l))
	}
	text += fmt.Sprintf(" With %d nodes killed,", s.Killed[killed])
	diverged := 0.0
	for l, spec := range agentsLearners {
		v := over(nets, func(u *agentsSource) float64 { return u.Killed[spec.ID][killed] - u.Killed[spec.ID][0] })
		text += fmt.Sprintf(" %s %+.1f ± %.1f%s", agentsColumns[l], v.Mean, v.Spread, separator(l))
		for _, u := range nets {
			for _, x := range u.Loss[spec.ID] {
				diverged += x.Diverged
			}
		}
	}
	percent := func(of func(u *agentsFlock) (first, last []float64)) *study.Value {
		return over(teams, func(u *agentsFlock) float64 {
			a, b := of(u)
			return 100 * (mean(b)/mean(a) - 1)
		})
	}
	text += " Robots, in % of the total:"
	for k, pilot := range []string{frozenPilot, learningPilot} {
		a := percent(func(u *agentsFlock) ([]float64, []float64) { return u.Loss[pilot][0], u.Loss[pilot][last] })
		b := percent(func(u *agentsFlock) ([]float64, []float64) { return u.Killed[pilot][0], u.Killed[pilot][broken] })
		text += fmt.Sprintf(" %s %+.1f ± %.1f with %.0f %% of messages lost, %+.1f ± %.1f with %d broken%s", pilot, a.Mean, a.Spread, lost, b.Mean, b.Spread, s.Robots[broken], []string{";", "."}[k])
	}
	if diverged > 0 {
		text += " Some updates were refused because they would have left the range of numbers."
	}
	return text
}

// separator ends one of three parts of a sentence.
func separator(part int) string { return []string{",", ",", "."}[part] }
