package live

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

// Frame is one moment of a scene. A nil slice means as it was in the frame
// before, except for Pulses; an empty one means none. Slices belong to the hub
// once published, and are not written to by anybody.
type Frame struct {
	Time float64 `json:"t"`

	Values []Floats `json:"values,omitempty"` // by quantity and node; NaN where a node has none
	Down   []int32  `json:"down"`             // nodes that do not run
	Out    []int32  `json:"out"`              // links of the scene that are out, as indices

	Said map[int32]string `json:"said,omitempty"` // of a node, where there is more to say than that it is in Down, or up

	Positions  Floats     `json:"pos,omitempty"` // of a moving layout, m: x0 y0 x1 y1 …
	Velocities Floats     `json:"vel,omitempty"` // m/s
	Links      [][2]int32 `json:"links"`         // of a moving layout

	Liars []int32 `json:"liars,omitzero"` // nodes that tell others what is not so
	Taps  *Taps   `json:"taps,omitempty"` // of all nodes

	Pulses []int32 `json:"pulses,omitempty"` // links that carried a message since the frame before, as indices

	Trial *Trial `json:"trial,omitempty"` // of a scene that has trials

	Curves   Numbers `json:"curves,omitempty"`   // by curve of the scene
	Counters Numbers `json:"counters,omitempty"` // by counter
	Settings Numbers `json:"settings,omitempty"` // present values by control; NaN if it has none

	Progress *Progress `json:"progress,omitempty"` // of work that has an end; nil if there is none
}

// Progress is how much of some work is done.
type Progress struct {
	Done float64 `json:"done"` // 0 to Of
	Of   float64 `json:"of"`
	Left float64 `json:"left"`           // s, by the pace so far; -1 if that is not known yet
	What string  `json:"what,omitempty"` // is counted; empty for the scene's time
}

// complete takes what f leaves out from the frame before. Every frame a hub
// sends is therefore whole, and a reader may lose any of them.
func (f *Frame) complete(before *Frame) {
	fill(&f.Values, before.Values)
	fill(&f.Down, before.Down)
	fill(&f.Out, before.Out)
	fill(&f.Positions, before.Positions)
	fill(&f.Velocities, before.Velocities)
	fill(&f.Links, before.Links)
	fill(&f.Curves, before.Curves)
	fill(&f.Counters, before.Counters)
	fill(&f.Settings, before.Settings)
	fill(&f.Liars, before.Liars)
	if f.Said == nil {
		f.Said = before.Said
	}
	if f.Taps == nil {
		f.Taps = before.Taps
	}
	if f.Trial == nil {
		f.Trial = before.Trial
	}
}

func fill[S ~[]E, E any](to *S, from S) {
	if *to == nil {
		*to = from
	}
}

// Words say what happened.
type Words struct {
	Time float64 `json:"t"`
	Text string  `json:"text"`
	Mark string  `json:"mark,omitempty"` // a few words of it for the axis of time, if it is worth marking there
	Anew bool    `json:"anew,omitempty"` // everything began anew: curves start here
}

// check reports a frame that does not fit the scene.
func (s *Scene) check(f *Frame) error {
	n := len(s.Nodes)
	switch {
	case math.IsNaN(f.Time) || math.IsInf(f.Time, 0):
		return fmt.Errorf("live: frame at time %v", f.Time)
	case f.Values != nil && len(f.Values) != len(s.Quantities):
		return fmt.Errorf("live: frame: %d quantities, the scene has %d", len(f.Values), len(s.Quantities))
	case f.Curves != nil && len(f.Curves) != len(s.Curves):
		return fmt.Errorf("live: frame: %d curves, the scene has %d", len(f.Curves), len(s.Curves))
	case f.Counters != nil && len(f.Counters) != len(s.Counters):
		return fmt.Errorf("live: frame: %d counters, the scene has %d", len(f.Counters), len(s.Counters))
	case f.Settings != nil && len(f.Settings) != len(s.Controls):
		return fmt.Errorf("live: frame: %d settings, the scene has %d controls", len(f.Settings), len(s.Controls))
	case f.Positions != nil && len(f.Positions) != 2*n || f.Velocities != nil && len(f.Velocities) != 2*n:
		return fmt.Errorf("live: frame: %d coordinates and %d of velocities, want %d each", len(f.Positions), len(f.Velocities), 2*n)
	case f.Progress != nil && !f.Progress.valid():
		return fmt.Errorf("live: frame: progress %+v, want at most all of it and finite numbers", *f.Progress)
	case len(f.Links) > maxEdges:
		return fmt.Errorf("live: frame: %d links, want at most %d", len(f.Links), maxEdges)
	}
	for q, v := range f.Values {
		if v != nil && len(v) != n {
			return fmt.Errorf("live: frame: quantity %q of %d nodes, the scene has %d", s.Quantities[q].Name, len(v), n)
		}
	}
	for _, l := range f.Links {
		if !within(int(l[0]), n) || !within(int(l[1]), n) {
			return fmt.Errorf("live: frame: a link from %d to %d, there are %d nodes", l[0], l[1], n)
		}
	}
	for _, list := range []struct {
		what    string
		indices []int32
		most    int
	}{{"node", f.Down, n}, {"node", f.Liars, n}, {"link", f.Out, len(s.Edges)}, {"link", f.Pulses, len(s.Edges)}} {
		for _, i := range list.indices {
			if !within(int(i), list.most) {
				return fmt.Errorf("live: frame: %s %d, there are %d", list.what, i, list.most)
			}
		}
	}
	for i, text := range f.Said {
		if !within(int(i), n) || len(text) > maxText {
			return fmt.Errorf("live: frame: %d bytes are said of node %d, there are %d nodes", len(text), i, n)
		}
	}
	if err := s.checkTaps(f.Taps); err != nil {
		return err
	}
	return s.checkTrial(f.Trial)
}

func (p *Progress) valid() bool {
	return p.Done >= 0 && p.Done <= p.Of && !math.IsInf(p.Of, 0) && p.Left-p.Left == 0
}

// Floats are numbers in JSON with null for what is not finite.
type Floats []float32

// MarshalJSON writes the shortest text that reads back as the same float32.
func (v Floats) MarshalJSON() ([]byte, error) { return writeNumbers(v, 32), nil }

// UnmarshalJSON reads null as NaN.
func (v *Floats) UnmarshalJSON(text []byte) error {
	return readNumbers(text, (*[]float32)(v))
}

// Numbers are Floats with more digits.
type Numbers []float64

// MarshalJSON writes the shortest text that reads back as the same float64.
func (v Numbers) MarshalJSON() ([]byte, error) { return writeNumbers(v, 64), nil }

// UnmarshalJSON reads null as NaN.
func (v *Numbers) UnmarshalJSON(text []byte) error {
	return readNumbers(text, (*[]float64)(v))
}

func writeNumbers[F float32 | float64](v []F, bits int) []byte {
	if v == nil {
		return []byte("null")
	}
	text := append(make([]byte, 0, 2+8*len(v)), '[')
	for i, x := range v {
		if i > 0 {
			text = append(text, ',')
		}
		if x-x != 0 { // NaN or infinite
			text = append(text, "null"...)
		} else {
			text = strconv.AppendFloat(text, float64(x), 'g', -1, bits)
		}
	}
	return append(text, ']')
}

func readNumbers[F float32 | float64](text []byte, to *[]F) error {
	if bytes.Equal(bytes.TrimSpace(text), []byte("null")) {
		return nil
	}
	var list []*float64
	if err := json.Unmarshal(text, &list); err != nil {
		return err
	}
	*to = make([]F, len(list))
	for i, x := range list {
		(*to)[i] = F(nan)
		if x != nil {
			(*to)[i] = F(*x)
		}
	}
	return nil
}

var nan = math.NaN()
