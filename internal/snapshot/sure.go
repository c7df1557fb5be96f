package snapshot

import (
	"github.com/wdgnn/wdgnn/conformal"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/online"
)

// Names of the tensors that hold what is remembered of sets and intervals, all of
// float64.
const (
	sureName      = "online.sure"       // a row per node that is read: coverage, and the numbers of sureRow by output
	sureScoreName = "online.sure.score" // the scores, node by node, output by output, the oldest first
	waitBoundName = "online.wait.bound" // a row per answer that waits: the bounds of its outputs
)

// sureNumbers is how many numbers sureRow returns.
const sureNumbers = 6

// sureRow returns the numbers of one output.
func sureRow(w *conformal.WindowMemory) []float64 {
	m := &w.Meter
	return []float64{w.Level, float64(len(w.Scores)), float64(m.Judged), float64(m.Held), float64(m.Sized), m.Size}
}

// putSure stores what a snapshot holds of sets and intervals.
func putSure(file *modelfile.Model, s *online.Snapshot) {
	var numbers, scores, bounds []float64
	rows, answers := 0, 0
	for _, a := range s.Answers {
		if a.Conformal != nil {
			rows++
			numbers = append(numbers, a.Conformal.Coverage)
			for k := range a.Conformal.Windows {
				w := &a.Conformal.Windows[k]
				numbers, scores = append(numbers, sureRow(w)...), append(scores, w.Scores...)
			}
		}
		for _, g := range a.Given {
			if len(g.Bounds) > 0 {
				answers++
			}
			for _, b := range g.Bounds {
				bounds = append(bounds, b.Low, b.High)
			}
		}
	}
	for _, t := range []struct {
		name   string
		rows   int
		values []float64
	}{{sureName, rows, numbers}, {sureScoreName, 1, scores}, {waitBoundName, answers, bounds}} {
		if len(t.values) > 0 {
			file.Precise[t.name] = modelfile.Float64s{Rows: t.rows, Cols: len(t.values) / t.rows, Data: t.values}
		}
	}
}

// sure gives a snapshot, whose answers are in place, what putSure stored.
func (r *reader) sure(s *online.Snapshot) {
	if r.err != nil {
		return
	}
	numbers, found := r.file.Numbers(sureName)
	if found && (numbers.Rows != len(s.Answers) || numbers.Cols%sureNumbers != 1) {
		r.complain("%s is %d×%d for %d nodes", sureName, numbers.Rows, numbers.Cols, len(s.Answers))
		return
	}
	scores, _ := r.file.Numbers(sureScoreName)
	rest := scores.Data
	for k := range s.Answers {
		if !found {
			break
		}
		row := numbers.Data[k*numbers.Cols : (k+1)*numbers.Cols]
		m := &conformal.Memory{Coverage: row[0]}
		for row = row[1:]; len(row) > 0; row = row[sureNumbers:] {
			for _, v := range row[1:5] {
				if !(v >= 0 && v <= 1<<53) || v != float64(uint64(v)) {
					r.complain("%s holds %v, want whole numbers from 0", sureName, v)
					return
				}
			}
			m.Windows = append(m.Windows, conformal.WindowMemory{
				Scores: take(r, sureScoreName, &rest, int(row[1])), Level: row[0],
				Meter: conformal.Meter{Judged: uint64(row[2]), Held: uint64(row[3]), Sized: uint64(row[4]), Size: row[5]},
			})
		}
		s.Answers[k].Conformal = m
	}
	if r.err == nil && len(rest) > 0 {
		r.complain("%s holds more than %s says", sureScoreName, sureName)
	}
	r.bounds(s)
}

// bounds gives answers that wait their bounds.
func (r *reader) bounds(s *online.Snapshot) {
	x, found := r.file.Numbers(waitBoundName)
	if !found || r.err != nil {
		return
	}
	rest := x.Data
	for k := range s.Answers {
		for g := range s.Answers[k].Given {
			row := take(r, waitBoundName, &rest, x.Cols)
			for i := 0; i+1 < len(row); i += 2 {
				s.Answers[k].Given[g].Bounds = append(s.Answers[k].Given[g].Bounds, conformal.Bound{Low: row[i], High: row[i+1]})
			}
		}
	}
	if r.err == nil && len(rest) > 0 {
		r.complain("%s holds more than there are answers that wait", waitBoundName)
	}
}
