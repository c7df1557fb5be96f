package recommend

import "slices"

// mark is what the learner remembered when so many ratings of the history had been told.
type mark struct {
	at     int
	memory memory
}

// marks are moments from which a deletion can learn again, at even distances that grow with
// the history, so that there are never many. They are not kept on the disk: after a
// restart the first is that moment.
type marks struct {
	list  []mark // ascending
	every int    // ratings between two
}

// mostMarks is how many there are at most.
const mostMarks = 64

// mark marks this moment, if that is due.
func (w *writer) mark() {
	m, at, last := &w.marks, len(w.history), 0
	if len(m.list) > 0 {
		last = m.list[len(m.list)-1].at
	}
	if at-last < m.every {
		return
	}
	m.add(mark{at, w.learner.memory()})
}

// add adds a mark, and drops every other where there are too many.
func (m *marks) add(one mark) {
	m.list = append(m.list, one)
	if len(m.list) <= mostMarks {
		return
	}
	var kept []mark
	for k := 1; k < len(m.list); k += 2 {
		kept = append(kept, m.list[k])
	}
	m.list, m.every = kept, 2*m.every
}

// until returns the marks that know at most the first so many ratings.
func (m *marks) until(at int) marks {
	k := slices.IndexFunc(m.list, func(one mark) bool { return one.at > at })
	if k < 0 {
		k = len(m.list)
	}
	return marks{slices.Clone(m.list[:k]), m.every}
}

// resume gives a learner what it remembered at the last mark, and returns how many ratings
// that knows; 0 without a mark.
func (m *marks) resume(l *learner) (at int, err error) {
	if len(m.list) == 0 {
		return 0, nil
	}
	last := m.list[len(m.list)-1]
	return last.at, l.restore(last.memory)
}
