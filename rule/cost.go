package rule

import (
	"fmt"

	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
)

// Cost is J_t or J_{i,t}, a cost as a function of the parameters x.
type Cost interface {
	// Gradient writes ∇J(x) to dst and returns J, without the ridge, whose gradient
	// is in dst.
	//
	//	dst: Basis.Len values, overwritten   x: as many, read
	Gradient(dst, x []float32) float64
}

// observed is the cost of the rows that a step brought to one node, or to a whole
// network:
//
//	J(x) = mean over the rows of J_r(y†_r + z_r x R)
//
// or what a [loss.Loss] says of all rows together. Nothing of it is kept after the
// step, and it allocates nothing once it has met its largest. It is not safe for
// concurrent use.
type observed struct {
	basis  *Basis
	config *Config
	per    int // rows at most

	z       []float64 // per·rows: inputs, and 1 if the bias is retrained
	base    []float32 // per·C
	target  []float32 // per·targets
	rows    int
	targets int // numbers per target

	judge   loss.Targeted // costs a row with its target
	current loss.Loss     // costs all rows together, in its place

	effective, g       []float64 // rows×C
	scratch, projected []float64 // a row of C values, and as many as x has
	y, dy              mat.Dense
	next               []float32 // as many as x has
}

func newObserved(f *Basis, c *Config, rows int) *observed {
	return &observed{
		basis: f, config: c, per: rows,
		effective: make([]float64, f.rows*f.outputs), g: make([]float64, f.rows*f.outputs),
		scratch: make([]float64, f.outputs), projected: make([]float64, f.Len()),
		y: mat.NewDense(rows, f.outputs, nil), dy: mat.NewDense(rows, f.outputs, nil),
		next: make([]float32, f.Len()),
	}
}

// row returns [z_r 1] or z_r, as the basis has it.
func (o *observed) row(r int) []float64 { return o.z[r*o.basis.rows : (r+1)*o.basis.rows] }

// goal returns the target of row r.
func (o *observed) goal(r int) []float32 { return o.target[r*o.targets : (r+1)*o.targets] }

// begin opens a step whose targets have n numbers.
func (o *observed) begin(n int) {
	o.rows, o.targets = 0, n
	if need := o.per * n; len(o.target) < need {
		o.target = make([]float32, need)
	}
	if o.z == nil { // most nodes of a network may never see a cost
		o.z, o.base = make([]float64, o.per*o.basis.rows), make([]float32, o.per*o.basis.outputs)
	}
}

// add puts one more row in.
func (o *observed) add(z, base []float32) {
	row := o.row(o.rows)
	row[len(row)-1] = 1 // of the bias; an input overwrites it if that is not retrained
	for k, v := range z[:o.basis.inputs] {
		row[k] = float64(v)
	}
	copy(o.base[o.rows*o.basis.outputs:(o.rows+1)*o.basis.outputs], base)
	o.rows++
}

// take puts one more row in, row index of j, if that carries a cost.
func (o *observed) take(z, base []float32, index int, j loss.Targeted) {
	if o.judge = j; j.TargetOf(index, o.goal(o.rows)) {
		o.add(z, base)
	}
}

// release drops what belongs to the caller.
func (o *observed) release() { o.judge, o.current, o.rows = nil, nil, 0 }

// Gradient implements [Cost].
func (o *observed) Gradient(dst, x []float32) float64 {
	f := o.basis
	if len(dst) != f.Len() || len(x) != f.Len() {
		panic(fmt.Sprintf("rule: Gradient: %d values at %d, want %d", len(dst), len(x), f.Len()))
	}
	cost := 0.0
	if o.rows == 0 {
		clear(dst)
	} else if f.outputs == 1 && f.width == 1 && o.rows == 1 && o.current == nil && o.config.ClipNorm == 0 {
		cost = o.single(dst, x)
	} else {
		f.Effect(o.effective, x)
		clear(o.g)
		if o.current != nil {
			cost = o.together()
		} else {
			cost = o.apart()
		}
		f.ascent(dst, o.g, o.config.ClipNorm, o.projected)
	}
	if ridge := float32(o.config.Ridge); ridge != 0 {
		for e, v := range x {
			dst[e] += float32(ridge * v)
		}
	}
	return cost
}

// single is Gradient, but for the ridge, where matrices are single numbers. Sums of one
// term begin at 0, as there: a product may be -0.
func (o *observed) single(dst, x []float32) float64 {
	z, root := o.row(0), o.basis.root[0]
	sum := float64(o.base[0])
	for k, v := range z {
		sum += float64(v * (0 + float64(float64(x[k])*root)))
	}
	y, dy := o.y.Data[:1], o.dy.Data[:1]
	y[0] = float32(sum)
	cost := o.judge.EvalTarget(dy, y, o.goal(0))
	d := float64(dy[0])
	for k, v := range z {
		dst[k] = float32(0 + float64((0+float64(v*d))*root))
	}
	return cost
}

// together judges all rows at once.
func (o *observed) together() float64 {
	n := o.basis.outputs
	y, dy := o.y.View(0, 0, o.rows, n), o.dy.View(0, 0, o.rows, n)
	for r := range o.rows {
		o.output(y.Row(r), r)
	}
	cost := o.current.Eval(dy, y)
	for r := range o.rows {
		o.gather(r, dy.Row(r), 1)
	}
	return cost
}

// apart judges every row with its own target.
func (o *observed) apart() float64 {
	cost, share := 0.0, 1/float64(o.rows)
	y, dy := o.y.Row(0), o.dy.Row(0)
	for r := range o.rows {
		o.output(y, r)
		cost += float64(share * o.judge.EvalTarget(dy, y, o.goal(r)))
		o.gather(r, dy, share)
	}
	return cost
}

// output writes y†_r + z_r x R to y.
func (o *observed) output(y []float32, r int) {
	sum, n := o.scratch, len(y)
	for c, b := range o.base[r*n : (r+1)*n] {
		sum[c] = float64(b)
	}
	addRowTimes(sum, o.row(r), o.effective)
	for c, v := range sum {
		y[c] = float32(v)
	}
}

// gather adds share z_rᵀ dy to the gradient.
func (o *observed) gather(r int, dy []float32, share float64) {
	d := o.scratch
	zero := true
	for c, v := range dy {
		d[c] = float64(share * float64(v))
		zero = zero && v == 0
	}
	if !zero {
		addTimes(o.g, o.row(r), d, 1, len(d))
	}
}
