package livepage

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/wdgnn/wdgnn/internal/live"
)

// pieceFrames are compressed together. A page unpacks a piece when it gets
// there.
const pieceFrames = 100

// The page shows four digits.
const (
	digits     = 5 // of quantities and curves
	timeDigits = 9
)

// packRun returns what a recording holds beside its frames.
func packRun(r *live.Recording) (string, error) {
	run := *r
	run.Times = round(r.Times, timeDigits)
	run.History = live.History{Times: round(r.History.Times, timeDigits)}
	for _, c := range r.History.Curves {
		run.History.Curves = append(run.History.Curves, round(c, digits))
	}
	return squeeze(&run)
}

// packPiece returns frames from the given one on.
func packPiece(r *live.Recording, from int) (string, error) {
	texts, err := r.Read(from, pieceFrames, math.MaxInt)
	if err != nil {
		return "", err
	}
	frames := make([]*live.Frame, len(texts))
	for k, text := range texts {
		if err := json.Unmarshal(text, &frames[k]); err != nil {
			return "", fmt.Errorf("frame %d: %w", from+k, err)
		}
	}
	p := newPacker(frames)
	piece := struct {
		Unit   map[string]float64 `json:"unit"`
		Frames []map[string]any   `json:"frames"`
	}{Unit: p.unit}
	for _, f := range frames {
		change, err := p.change(f)
		if err != nil {
			return "", err
		}
		piece.Frames = append(piece.Frames, change)
	}
	return squeeze(piece)
}

// packer writes frames as what changes from one to the next:
//
//	pos, vel   differences in units, which are short and much alike
//	links      those that came or went
//	t, pulses  as they are
//
// and everything else whole, or not at all if it is as it was.
type packer struct {
	unit  map[string]float64
	sums  map[string]live.Numbers // in units, as the page has them
	links map[[2]int32]bool
	texts map[string]string // of the rest
}

func newPacker(frames []*live.Frame) *packer {
	p := &packer{sums: map[string]live.Numbers{}, links: map[[2]int32]bool{}, texts: map[string]string{}}
	var pos, vel []live.Floats
	for _, f := range frames {
		pos, vel = append(pos, f.Positions), append(vel, f.Velocities)
	}
	p.unit = map[string]float64{"pos": unitOf(pos), "vel": unitOf(vel)}
	return p
}

// unitOf returns the power of ten that is a ten-thousandth of the span of all
// numbers, or a little less.
func unitOf(lists []live.Floats) float64 {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, list := range lists {
		for _, v := range list {
			lo, hi = min(lo, float64(v)), max(hi, float64(v))
		}
	}
	if !(hi > lo && hi-lo < math.MaxFloat32) { // no span, or not a number among them
		return 1e-4
	}
	return math.Pow10(int(math.Floor(math.Log10(hi-lo))) - 4)
}

// change returns how f differs from the frame before.
func (p *packer) change(f *live.Frame) (map[string]any, error) {
	out := map[string]any{"t": roundOne(f.Time, timeDigits)}
	if len(f.Pulses) > 0 {
		out["pulses"] = f.Pulses
	}
	p.move(out, "pos", f.Positions)
	p.move(out, "vel", f.Velocities)
	if f.Links != nil {
		p.relink(out, f.Links)
	}
	rest := map[string]any{
		"down": f.Down, "out": f.Out, "curves": round(f.Curves, digits), "counters": f.Counters, "settings": f.Settings, "trial": f.Trial,
	}
	if f.Liars != nil {
		rest["liars"] = f.Liars
	}
	if f.Taps != nil {
		rest["taps"] = f.Taps
	}
	if f.Values != nil {
		list := make([]live.Numbers, len(f.Values))
		for q, v := range f.Values {
			list[q] = round(v, digits)
		}
		rest["values"] = list
	}
	for name, v := range rest {
		text, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		if s := string(text); s != "null" && s != p.texts[name] {
			out[name], p.texts[name] = json.RawMessage(text), s
		}
	}
	return out, nil
}

// move writes coordinates, unless one of them is no number.
func (p *packer) move(out map[string]any, name string, to live.Floats) {
	if to == nil {
		return
	}
	sums := make(live.Numbers, len(to))
	for i, v := range to {
		if v-v != 0 { // NaN or infinite
			return
		}
		sums[i] = math.Round(float64(v) / p.unit[name])
	}
	steps := append(live.Numbers{}, sums...)
	for i, before := range p.sums[name] {
		steps[i] -= before
	}
	out[name], p.sums[name] = steps, sums
}

// relink writes the links that came or went.
func (p *packer) relink(out map[string]any, to [][2]int32) {
	changed := [][2]int32{}
	now := make(map[[2]int32]bool, len(to))
	for _, l := range to {
		if !now[l] && !p.links[l] {
			changed = append(changed, l)
		}
		now[l] = true
	}
	for l := range p.links {
		if !now[l] {
			changed = append(changed, l)
		}
	}
	slices.SortFunc(changed, func(a, b [2]int32) int { return slices.Compare(a[:], b[:]) })
	out["links"], p.links = changed, now
}

// round returns the numbers with so many digits; nil of nil.
func round[F float32 | float64, S ~[]F](list S, digits int) live.Numbers {
	if list == nil {
		return nil
	}
	out := make(live.Numbers, len(list))
	for i, v := range list {
		out[i] = roundOne(float64(v), digits)
	}
	return out
}

func roundOne(v float64, digits int) float64 {
	out, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', digits, 64), 64)
	if err != nil { // rounded beyond the largest number
		return v
	}
	return out
}

// squeeze writes a value as JSON, compresses it and writes that in base64.
func squeeze(v any) (string, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return "", err
	}
	if _, err := z.Write(text); err != nil {
		return "", err
	}
	if err := z.Close(); err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(b.Bytes()), nil
}
