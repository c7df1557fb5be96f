package live

import "slices"

// History is the past of the curves, thinned out: whoever comes late sees how
// it went.
type History struct {
	Times  Numbers   `json:"t"`
	Curves []Numbers `json:"curves"` // by curve, then by time
}

// maxHistory bounds the points of a curve's past.
const maxHistory = 2000

// history keeps every stride-th point. Once there are too many, every second
// is thrown away and the stride doubles.
type history struct {
	past   History
	stride int
	seen   int
}

func (h *history) add(f *Frame) {
	if f.Curves == nil {
		return
	}
	if h.past.Curves == nil {
		h.past.Curves, h.stride = make([]Numbers, len(f.Curves)), 1
	}
	if last := len(h.past.Times) - 1; last >= 0 && h.past.Times[last] == f.Time { // the same moment, seen again
		for k, v := range f.Curves {
			h.past.Curves[k][last] = v
		}
		return
	}
	h.seen++
	if (h.seen-1)%h.stride != 0 {
		return
	}
	h.past.Times = append(h.past.Times, f.Time)
	for k, v := range f.Curves {
		h.past.Curves[k] = append(h.past.Curves[k], v)
	}
	if len(h.past.Times) > maxHistory {
		h.past.Times = halve(h.past.Times)
		for k, c := range h.past.Curves {
			h.past.Curves[k] = halve(c)
		}
		h.stride *= 2
	}
}

// halve keeps every second value, the first among them.
func halve(v Numbers) Numbers {
	kept := v[:0]
	for i := 0; i < len(v); i += 2 {
		kept = append(kept, v[i])
	}
	return kept
}

// copy returns the past, nil if there is none.
func (h *history) copy() *History {
	if h.past.Curves == nil {
		return nil
	}
	c := &History{Times: slices.Clone(h.past.Times)}
	for _, v := range h.past.Curves {
		c.Curves = append(c.Curves, slices.Clone(v))
	}
	return c
}
