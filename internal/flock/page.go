package flock

import (
	"bytes"
	_ "embed"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"

	"github.com/wdgnn/wdgnn/scenario/flocking"
)

// page is the playback, with a mark where the flight goes.
//
//go:embed page.html
var page []byte

var pageMark = []byte("@flight@")

// pageFlight is a flight as the page reads it.
type pageFlight struct {
	Title         string          `json:"title"`
	About         string          `json:"about"`
	Robots        int             `json:"robots"`
	Frames        int             `json:"frames"`
	Stride        int             `json:"stride"`
	SampleSeconds float64         `json:"sampleSeconds"`
	Radius        float64         `json:"radius"`
	Stops         []flocking.Stop `json:"stops"`

	// States are x, y, vx, vy of every robot and frame, 16 bits each in little
	// endian: of the box from Low by Span, and of ±Fastest.
	States  string     `json:"states"`
	Low     [2]float64 `json:"low"`
	Span    [2]float64 `json:"span"`
	Fastest float64    `json:"fastest"`

	Curves     []pageCurve `json:"curves"`
	Components []int       `json:"components"`
	Closest    []number    `json:"closest"`
	Collisions []int       `json:"collisions"`
	Moved      []short     `json:"moved,omitempty"`
}

type pageCurve struct {
	Name   string  `json:"name"`
	Color  string  `json:"color"`
	Values []short `json:"values"`
}

// short is written with five digits.
type short float64

// MarshalJSON implements [json.Marshaler].
func (s short) MarshalJSON() ([]byte, error) { return fmt.Appendf(nil, "%.5g", float64(s)), nil }

// WriteHTML writes the recording as one page that plays it back. The page asks
// nothing of the network.
func (r *Recording) WriteHTML(w io.Writer) error {
	text, err := json.Marshal(r.page()) // escapes what could end a script
	if err != nil {
		return fmt.Errorf("flock: page: %w", err)
	}
	_, err = w.Write(bytes.Replace(page, pageMark, text, 1))
	return err
}

func (r *Recording) page() *pageFlight {
	c := r.World
	p := &pageFlight{
		Title:  fmt.Sprintf("A flight of %d robots", c.Robots),
		About:  r.about(),
		Robots: c.Robots, Frames: len(r.Frames), Stride: r.Stride, SampleSeconds: c.SampleSeconds, Radius: c.CommRadiusMeters,
		Stops: append([]flocking.Stop{}, c.Faults.Stops...), States: r.states(),
		Curves:     []pageCurve{{"learned", "robot", shorts(r.Learned.Variation)}, {"expert", "expert", shorts(r.Expert.Variation)}},
		Components: r.Learned.Components, Collisions: r.Learned.Collisions,
	}
	lo, hi, fastest := r.bounds()
	p.Low, p.Span, p.Fastest = lo, [2]float64{hi[0] - lo[0], hi[1] - lo[1]}, fastest
	for _, d := range r.Learned.Closest {
		p.Closest = append(p.Closest, number(d))
	}
	if r.Frozen != nil {
		p.Curves[0].Name = "learning in flight"
		p.Curves = append(p.Curves, pageCurve{"as trained", "frozen", shorts(r.Frozen.Variation)})
		p.Moved = shorts(r.Moved)
	}
	return p
}

// about says in a sentence or two what is flown.
func (r *Recording) about() string {
	c := r.World
	text := fmt.Sprintf("Communication radius %v m, %d steps of %v s. Total velocity variation %.4g, expert %.4g on the same start.",
		c.CommRadiusMeters, len(r.Learned.Variation), c.SampleSeconds, r.Learned.Total(), r.Expert.Total())
	if f := c.Faults; f.MessageLoss > 0 || f.DelaySteps > 0 || len(f.Stops) > 0 {
		n := r.Learned.Counts
		text += fmt.Sprintf(" Faults: %d robots stop, %d of %d messages lost, %d steps of delay.", len(f.Stops), n.Lost, n.Messages, f.DelaySteps)
	}
	if r.Stride > 1 {
		text += fmt.Sprintf(" One frame in %d steps.", r.Stride)
	}
	return text
}

// states returns the frames in 16 bits per number.
func (r *Recording) states() string {
	lo, hi, fastest := r.bounds()
	var raw []byte
	put := func(v, low, span float64) {
		share := 0.5
		if span > 0 {
			share = (v - low) / span
		}
		raw = binary.LittleEndian.AppendUint16(raw, uint16(math.Round(share*math.MaxUint16)))
	}
	for _, f := range r.Frames {
		for i, p := range f.Position {
			for d := range p {
				put(p[d], lo[d], hi[d]-lo[d])
			}
			for _, v := range f.Velocity[i] {
				put(v, -fastest, 2*fastest)
			}
		}
	}
	return base64.StdEncoding.EncodeToString(raw)
}

func shorts(values []float64) []short {
	out := make([]short, len(values))
	for i, v := range values {
		out[i] = short(v)
	}
	return out
}
