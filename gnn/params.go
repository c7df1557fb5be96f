package gnn

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/wdgnn/wdgnn/mat"
)

// Params is every number of a WideDeep in one slice, with named windows into
// it. Optimisers, gradient checks, averaging and checkpoints walk Flat; layers
// read the windows. A gradient is a Params too.
//
// What online learning retrains comes first: Flat[:WideLen()] is 𝒜, the taps
// of the wide part followed by its bias.
type Params struct {
	Flat []float32

	Wide    Filter    // 𝒜: A_k, F×G, and its bias; no taps if the model has no wide part
	Deep    []Filter  // ℬ: B_ℓk, F_{ℓ-1}×F_ℓ, and biases, by layer
	Readout Readout   // R, G×C, and its bias
	Gain    []float32 // α_W, α_D, β of eq. (2): see GainWide, GainDeep, GainBias; empty with one part only

	deep    Deep // its layers share Deep
	windows []Window
}

// Positions in Params.Gain.
const (
	GainWide = iota // α_W
	GainDeep        // α_D
	GainBias        // β
)

// Window names one tensor in Params.Flat: "wide.tap.0", "wide.bias",
// "deep.1.tap.3", "deep.1.bias", "readout.weight", "readout.bias", "gain".
// Layers count from 1, as in the paper.
type Window struct {
	Name       string
	Offset     int
	Rows, Cols int
}

// Len returns the number of values in the window.
func (w Window) Len() int { return w.Rows * w.Cols }

// NewParams returns parameters for the architecture c over flat, or over new
// zeros if flat is nil. It panics if c is not valid or flat has the wrong
// length.
func NewParams(c Config, flat []float32) Params {
	if err := c.Validate(); err != nil {
		panic(err.Error())
	}
	var p Params
	p.layout(c, nil)
	n := 0
	for _, w := range p.windows {
		n += w.Len()
	}
	if flat == nil {
		flat = make([]float32, n)
	}
	if len(flat) != n {
		panic(fmt.Sprintf("gnn: NewParams: %d numbers for an architecture of %d", len(flat), n))
	}
	p = Params{Flat: flat}
	p.layout(c, flat)
	return p
}

// layout cuts the windows; with a nil flat it only counts.
func (p *Params) layout(c Config, flat []float32) {
	offset := 0
	cut := func(name string, rows, cols int) []float32 {
		p.windows = append(p.windows, Window{name, offset, rows, cols})
		lo := offset
		offset += rows * cols
		if flat == nil {
			return nil
		}
		return flat[lo:offset:offset]
	}
	filter := func(name string, in, out, order int) Filter {
		lo := offset
		for k := range order + 1 {
			cut(fmt.Sprintf("%s.tap.%d", name, k), in, out)
		}
		hi := offset
		var bias []float32
		if !c.NoBias {
			bias = cut(name+".bias", 1, out)
		}
		if flat == nil {
			return Filter{}
		}
		return filterOver(in, out, order, flat[lo:hi:hi], bias)
	}
	if c.Wide != nil {
		p.Wide = filter("wide", c.In, c.Features, c.Wide.Order)
	}
	in := c.In
	for l, layer := range c.Deep {
		f := filter(fmt.Sprintf("deep.%d", l+1), in, layer.Features, layer.Order)
		p.Deep = append(p.Deep, f)
		p.deep.Layers = append(p.deep.Layers, Layer{Filter: f, Activation: layer.Activation})
		in = layer.Features
	}
	if c.Outputs > 0 {
		weight := cut("readout.weight", c.Features, c.Outputs)
		if flat != nil {
			p.Readout.Weight = mat.NewDense(c.Features, c.Outputs, weight)
		}
		if !c.NoBias {
			p.Readout.Bias = cut("readout.bias", 1, c.Outputs)
		}
	}
	if c.hasGains() {
		p.Gain = cut("gain", 1, 3)
	}
}

// Windows lists the tensors of Flat in order. The slice belongs to p.
func (p *Params) Windows() []Window { return p.windows }

// WideLen returns how many of the first numbers of Flat belong to 𝒜, taps and
// bias; WideTaps how many are taps.
func (p *Params) WideLen() int { return p.WideTaps() + len(p.Wide.Bias) }

// WideTaps returns how many of the first numbers of Flat are taps of 𝒜.
func (p *Params) WideTaps() int { return p.Wide.stack.Rows * p.Wide.stack.Cols }

// Init draws starting values: taps and biases of a filter uniform within
// ±1/√((K+1)·F), the readout within ±1/√G, gains as configured.
func (p *Params) Init(c Config, rng *rand.Rand) {
	draw := func(bound float64, values []float32) {
		for i := range values {
			values[i] = float32((2*float64(rng.Float64()) - 1) * bound)
		}
	}
	filter := func(f *Filter) {
		bound := 1 / math.Sqrt(float64(f.stack.Rows))
		draw(bound, f.stack.Data)
		draw(bound, f.Bias)
	}
	if c.Wide != nil {
		filter(&p.Wide)
		if c.Wide.StartZero {
			clear(p.Flat[:p.WideLen()])
		}
	}
	for l := range p.Deep {
		filter(&p.Deep[l])
	}
	bound := 1 / math.Sqrt(float64(c.Features))
	draw(bound, p.Readout.Weight.Data)
	draw(bound, p.Readout.Bias)
	if len(p.Gain) > 0 {
		g := c.Gains
		if g == (Gains{}) {
			g = Gains{Wide: 1, Deep: 1}
		}
		p.Gain[GainWide], p.Gain[GainDeep], p.Gain[GainBias] = g.Wide, g.Deep, g.Bias
	}
}
