//go:build linux

package main

import (
	"slices"
	"sync"
	"time"

	"github.com/wdgnn/wdgnn/host"
)

// ledger accounts for the lines that one process of a box was given. It is safe
// for concurrent use.
type ledger struct {
	mu      sync.Mutex
	open    map[uint64]bool // steps whose line was written and not answered
	lines   int
	answers int
	refused int // of them, with an error
	strange int // answers that nobody asked for
	report  *host.Report
	heard   time.Time // when that came
	before  *host.Report
	last    uint64 // the latest step that was answered, also with an error
	good    uint64 // the latest that all nodes answered
	first   uint64 // the first such step
	told    int    // answers of nodes whose class was known
	right   int
}

// write notes that a line goes out.
func (l *ledger) write(step uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open == nil {
		l.open = map[uint64]bool{}
	}
	l.open[step] = true
	l.lines++
}

// unwrite notes that it did not.
func (l *ledger) unwrite(step uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.open, step)
	l.lines--
}

// take notes an answer of nodes whose classes are given, less than 0 for unknown.
func (l *ledger) take(a *host.Answer, nodes int, class func(node int) int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.open[a.Time] {
		l.strange++
		return
	}
	delete(l.open, a.Time)
	l.answers++
	l.last = max(l.last, a.Time)
	if a.Error != "" {
		l.refused++
	} else if len(a.Outputs) == nodes {
		if l.good == 0 {
			l.first = a.Time
		}
		l.good = max(l.good, a.Time)
	}
	for _, o := range a.Outputs {
		if want := class(int(o.Node)); want >= 0 {
			l.told++
			if slices.Index(o.Value, slices.Max(o.Value)) == want {
				l.right++
			}
		}
	}
}

// over says whether a step was answered, and either its time is over or it was left out.
func (l *ledger) over(step uint64, late bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last >= step && (late || l.good < step)
}

// latest returns the latest step that all nodes answered, 0 if there is none.
func (l *ledger) latest() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.good
}

// hear notes a report.
func (l *ledger) hear(r *host.Report, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.before, l.report, l.heard = l.report, r, now
}

// Account says what became of the lines of boxes.
type Account struct {
	Lines   int `json:"lines"`   // written
	Answers int `json:"answers"` // of them, answered
	Refused int `json:"refused"` // of these, with an error: the step was over, or left out to catch up

	Missing     int `json:"missing"`     // lines without an answer
	Counted     int `json:"counted"`     // of them, in a counter of the box
	Died        int `json:"died"`        // with a process, written after its last report
	Unexplained int `json:"unexplained"` // the rest
	Strange     int `json:"strange"`     // answers that nobody asked for

	Quarantines int `json:"quarantines"` // of boxes, all of which are honest

	Down int `json:"down"` // lines that were due while a box was down
	Full int `json:"full"` // or did not listen: not written

	Told  int `json:"told"`  // answers of nodes whose class was known
	Right int `json:"right"` // of them, right
}

// ok says whether every line is explained, and nobody was wronged.
func (a *Account) ok() bool { return a.Unexplained == 0 && a.Strange == 0 && a.Quarantines == 0 }

// add adds o.
func (a *Account) add(o Account) {
	a.Lines += o.Lines
	a.Answers += o.Answers
	a.Refused += o.Refused
	a.Missing += o.Missing
	a.Counted += o.Counted
	a.Died += o.Died
	a.Unexplained += o.Unexplained
	a.Strange += o.Strange
	a.Quarantines += o.Quarantines
	a.Down += o.Down
	a.Full += o.Full
	a.Told += o.Told
	a.Right += o.Right
}

// account closes the books of a process that is gone. What it counted is in its last
// report. Of one whose world ended that is the whole truth. Lines that another had not
// read when it was told to end, and all that a killed one was told since it last
// reported, died with it.
func (l *ledger) account(worldEnded bool) Account {
	l.mu.Lock()
	defer l.mu.Unlock()
	a := Account{
		Lines: l.lines, Answers: l.answers, Refused: l.refused, Missing: len(l.open), Strange: l.strange,
		Told: l.told, Right: l.right,
	}
	known := 0 // to a report
	if l.report != nil {
		for step := range l.open {
			if worldEnded || step < l.report.Time || l.report.Final && step == l.report.Time {
				known++
			}
		}
		for _, n := range l.report.Quarantines {
			a.Quarantines += int(n)
		}
		a.Counted = min(known, int(l.report.Stats.Unanswered+l.report.Stats.LostAnswers))
	}
	a.Died = len(l.open) - known
	a.Unexplained = known - a.Counted
	if a.Unexplained > 0 && l.report.Final && l.report.Waits { // under way when an earlier program was told to end
		a.Unexplained--
		a.Died++
	}
	return a
}
