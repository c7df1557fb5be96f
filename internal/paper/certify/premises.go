package certify

import (
	"fmt"
	"math"
	"strings"

	"github.com/wdgnn/wdgnn/internal/config"
)

// Premise is something that a bound takes for granted, and whether it is so.
type Premise struct {
	Name  string `json:"name"`
	Holds bool   `json:"holds"`
	Why   string `json:"why"` // the number that decides it, or what is the matter
}

// premises are all of a bound. Every bound of a report has them listed in this file,
// and is called proven if each of them holds.
type premises []Premise

func (p *premises) take(name string, holds bool, why string, args ...any) {
	*p = append(*p, Premise{name, holds, fmt.Sprintf(why, args...)})
}

func (p premises) proven() bool { return len(p.doubts()) == 0 }

// doubts says why those do not hold that do not.
func (p premises) doubts() []string {
	var out []string
	for _, q := range p {
		if !q.Holds {
			out = append(out, q.Why)
		}
	}
	return out
}

// bound returns a bound with what is to be said of it, and why it is not proven.
func (p premises) bound(name string, bound, measured float64, note string) BoundReport {
	ratio := math.NaN()
	if measured > 0 {
		ratio = bound / measured
	}
	if doubts := p.doubts(); len(doubts) > 0 {
		note = strings.TrimPrefix(note+"; not proven: "+strings.Join(doubts, ", "), "; ")
	}
	return BoundReport{name, Number(bound), Number(measured), Number(ratio), p.proven(), note, p}
}

// What float32 may be beside float64: of an answer, and of the numbers that a step
// rounds, 2⁻²⁴ times sums of a hundred and more.
const (
	mostOff   = 1e-4
	mostRough = 1e-5
)

// rounded is what answers in float32, of the model itself, are beside those of the
// network in float64 that is bounded.
type rounded struct {
	off  float64 // of themselves, at most
	both float64 // on S and on Ŝ together, in length
	same bool    // S is Ŝ: answers are the same, bit by bit
}

// direct are the premises of the direct certificate, with the value it has.
func direct(delayed bool, r rounded, bound float64) premises {
	var p premises
	p.take("filters read one graph", !delayed, "delayed filters, for a graph and signals that stand still only")
	p.take("the network that is bounded is the one that answers", r.off <= mostOff,
		"what the model answers is %.2g of itself beside the network that is bounded", r.off)
	p.take("float32 rounds less than the bound", r.same || r.both <= bound, "float32 rounds %.2g, the bound is %.2g", r.both, bound)
	p.take("the bound is a number", !math.IsNaN(bound) && !math.IsInf(bound, 0), "%v", bound)
	return p
}

// firstOrder are the premises of a bound of Theorem 1 as it is computed.
func firstOrder(more string) premises {
	var p premises
	p.take("what is of the order of ε² is part of it", false, "without O(ε²)%s", more)
	return p
}

// steps are the premises of the bounds of a run: as it was, or as it was learned once
// more in float64, with W whose rows sum to 1 and nothing clipped.
//
// What a step was beside a gradient step is part of the bounds, whatever it comes from;
// but where rounding does not explain it, the steps are not those of the theorem.
func (r *recording) steps(t *Tracked, again bool) premises {
	var p premises
	if r.mode == config.Distributed {
		off, least := 0.0, math.Inf(1)
		for _, m := range r.mixers {
			off, least = max(off, m.RowError), min(least, m.Least)
		}
		p.take("rows of W sum to 1", again || off <= mostRough, "rows of W sum to 1 but for %.2g", off)
		p.take("no weight of W is below 0", least >= -mostRough, "the smallest weight of W is %.2g", least)
	}
	p.take("gradients are whole, or only shorter", again || r.exact(), "gradients may be clipped")
	p.take("steps are gradient steps", t.Rough <= mostRough,
		"steps are up to %.2g beside gradient steps, more than rounding explains", float64(t.Rest))
	last := math.NaN()
	if n := min(len(t.Bound), len(t.Measured)); n > 0 {
		last = float64(t.Bound[n-1])
	}
	p.take("the bound is a number", !math.IsNaN(last), "%v", last)
	return p
}
