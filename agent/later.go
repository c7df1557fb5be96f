package agent

import "slices"

// later is what a state machine was told of steps that it has not begun; see
// "Whose step it is" in the package comment. Who will be a neighbour in a later
// step is not known before that begins, so anybody's messages are kept: a few of
// each sender and, for those who invent senders, not too many in all.
type later struct {
	messages []Message // their values are copies
	each     int       // messages of one sender at most
	all      int       // of all senders
}

// keep stores a message. It returns false if there is no room for it.
func (l *later) keep(m *Message, s *Stats) bool {
	same := 0
	for k := range l.messages {
		old := &l.messages[k]
		if old.From != m.From {
			continue
		}
		if old.Time == m.Time && old.Exchange == m.Exchange && old.Kind == m.Kind {
			s.Duplicates++
			return true
		}
		same++
	}
	if same >= l.each || len(l.messages) >= l.all {
		s.Refused++
		return false
	}
	copied := *m
	copied.Values = slices.Clone(m.Values)
	l.messages = append(l.messages, copied)
	s.Kept++
	return true
}

// drop forgets messages up to the given step, and counts those of steps before
// it, for which they came to nothing.
func (l *later) drop(time uint64, s *Stats) {
	rest := l.messages[:0]
	for k := range l.messages {
		switch m := &l.messages[k]; {
		case m.Time > time:
			rest = append(rest, *m)
		case m.Time < time:
			s.Stale++
		}
	}
	clear(l.messages[len(rest):])
	l.messages = rest
}

// ahead returns the latest step of which there is a message, 0 if there is none.
func (l *later) ahead() (time uint64) {
	for k := range l.messages {
		time = max(time, l.messages[k].Time)
	}
	return time
}
