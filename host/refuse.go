package host

import (
	"fmt"
	"math"
	"strings"
)

// mostComplaints is how many things that are wrong with a line its answer names.
const mostComplaints = 5

// complain notes what is wrong with the line of the step that begins, for its
// answer, and logs the first of its kind.
func (h *Machine) complain(kind, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	h.wrong = append(h.wrong, text)
	h.warnOnce(kind, text)
}

// warnOnce logs the first line of a kind that is refused; all are counted.
func (h *Machine) warnOnce(kind, text string) {
	if !h.warned[kind] {
		h.warned[kind] = true
		h.warn("a line is refused; others like it are counted without a word", "kind", kind, "time", h.time, "why", text)
	}
}

// doubt notes what is odd about a line that is taken, for its answer, and logs the first of
// its kind.
func (h *Machine) doubt(text string, detail ...any) {
	if !h.warned[text] {
		h.warned[text] = true
		h.warn(text, detail...)
	}
	h.wrong = append(h.wrong, strings.TrimSuffix(fmt.Sprintln(append([]any{text + ":"}, detail...)...), "\n"))
}

// doubtRows notes rows of which neighbours refuse what they are sent: a sensor reads a
// thousand times too much. The node answers, and is not heard.
func (h *Machine) doubtRows(l *Line) {
	most := h.cfg.Plan.MaxRows
	if len(most) == 0 || h.forecasts() {
		return
	}
	for k := range l.Nodes {
		sum := 0.0
		for _, x := range l.Nodes[k].Row {
			sum += float64(float64(x) * float64(x))
		}
		if length := math.Sqrt(sum); length > most[0] {
			h.doubt("a row is so long that neighbours refuse it; does it have the units of the training data?",
				"node", l.Nodes[k].Node, "length", float32(length), "most", float32(most[0]))
		}
	}
}

// complaints returns what is wrong with the line, and forgets it.
func (h *Machine) complaints() string {
	list := h.wrong
	h.wrong = h.wrong[:0]
	if more := len(list) - mostComplaints; more > 0 {
		list = append(list[:mostComplaints:mostComplaints], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(list, "; ")
}

// refuse answers a line with rows that begins no step, so that a world which
// waits for the answer goes on.
func (h *Machine) refuse(l *Line, kind, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	h.warnOnce(kind, text)
	h.reply(l.Time).Error = text
}
