package train

import (
	"errors"
	"fmt"
	"sync"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/mat"
)

// Linear are the samples of a Shifted for a graph filter: a model without a
// deep part, whose output is a linear map of its shifted inputs,
//
//	y = z M + mᵀ      z: 1×I   M: I×C   m: C
//
// so that the mean squared error of a batch is a quadratic form of (M, m). A
// sample is kept as what that form needs, the sums of [z 1]ᵀ[z 1] and [z 1]ᵀt
// over its rows, and a pass is I+1 rows however many there were. Losses and
// gradients agree with those of Shifted within rounding.
type Linear struct {
	samples []moments
	width   int // I+1
	outputs int // C
	probes  mat.Dense
}

// moments are sums over the rows of a sample, in float64.
type moments struct {
	gram    []float64 // Σ [z 1]ᵀ[z 1], (I+1)×(I+1)
	cross   []float64 // Σ [z 1]ᵀ t, (I+1)×C
	squares float64   // Σ ‖t‖²
	rows    float64
}

func newMoments(width, outputs int) moments {
	return moments{gram: make([]float64, width*width), cross: make([]float64, width*outputs)}
}

// NewLinear sums up the samples of d, several at a time, for the model m. The
// objective must be the mean squared error of all rows.
func NewLinear(m *gnn.WideDeep, d *Shifted, threads int) (*Linear, error) {
	if m.Config.Wide == nil || len(m.Config.Deep) > 0 {
		return nil, errors.New("train: a model with a deep part is not linear: train it on all rows")
	}
	t, ok := d.targets.(*Targets)
	if !ok || !t.squared() {
		return nil, errors.New("train: sums over rows give the mean squared error alone, of all rows: train with another loss on all rows")
	}
	inputs := (m.InputOrder() + 1) * m.Config.In
	if d.rows.Cols < inputs || t.values.Cols != m.Outputs() {
		return nil, fmt.Errorf("train: rows of %d numbers with targets of %d for a model from %d to %d",
			d.rows.Cols, t.values.Cols, inputs, m.Outputs())
	}
	l := &Linear{samples: make([]moments, d.Len()), width: inputs + 1, outputs: t.values.Cols, probes: mat.NewDense(inputs+1, inputs, nil)}
	for k := range inputs {
		l.probes.Set(k, k, 1)
	}
	var wg sync.WaitGroup
	threads = max(min(threads, d.Len()), 1)
	for w := range threads {
		wg.Go(func() {
			for s := w; s < d.Len(); s += threads {
				l.samples[s] = newMoments(l.width, l.outputs)
				l.samples[s].sum(d.rows.View(s*d.each, 0, d.each, inputs), t.values.View(s*d.each, 0, d.each, t.values.Cols))
			}
		})
	}
	wg.Wait()
	return l, nil
}

// sum adds rows with their targets.
func (m *moments) sum(rows, targets mat.Dense) {
	x := make([]float64, rows.Cols+1)
	x[rows.Cols] = 1
	m.rows += float64(rows.Rows)
	for i := range rows.Rows {
		for k, v := range rows.Row(i) {
			x[k] = float64(v)
		}
		for a, xa := range x {
			g := m.gram[a*len(x) : a*len(x)+a+1]
			for b, xb := range x[:a+1] {
				g[b] += float64(xa * xb)
			}
		}
		t := targets.Row(i)
		for c, v := range t {
			tc := float64(v)
			m.squares += float64(tc * tc)
			for a, xa := range x {
				m.cross[a*len(t)+c] += float64(xa * tc)
			}
		}
	}
	for a := range x { // the other half
		for b := range a {
			m.gram[b*len(x)+a] = m.gram[a*len(x)+b]
		}
	}
}

// add adds the sums of other rows.
func (m *moments) add(more *moments) {
	for e, v := range more.gram {
		m.gram[e] += v
	}
	for e := range m.cross {
		m.cross[e] += more.cross[e]
	}
	m.squares += more.squares
	m.rows += more.rows
}

// Len returns the number of samples.
func (l *Linear) Len() int { return len(l.samples) }

// Passes implements Data: a batch is one pass.
func (l *Linear) Passes(int, int) int { return 1 }

// Fill implements Data. The model is asked for its output at the unit vectors
// and at 0, which tells M and m.
func (l *Linear) Fill(p *Pass, samples []int, _, _ int, _ Draw) error {
	q := &p.memory.quadratic
	if len(q.all.gram) != l.width*l.width || len(q.all.cross) != l.width*l.outputs {
		*q = quadratic{all: newMoments(l.width, l.outputs), theta: make([]float64, l.width*l.outputs), slope: make([]float64, l.width*l.outputs)}
	}
	clear(q.all.gram)
	clear(q.all.cross)
	q.all.squares, q.all.rows = 0, 0
	for _, s := range samples {
		q.all.add(&l.samples[s])
	}
	p.Input = gnn.Input{Shifted: l.probes}
	p.Rows = p.Rows[:0]
	for r := range l.width {
		p.Rows = append(p.Rows, r)
	}
	p.Loss, p.Share = q, 1
	return nil
}

// quadratic is the mean squared error of the samples of a batch, as a function
// of a model's output at the unit vectors, rows 0 … I-1, and at 0, row I. With
// θ = [M; mᵀ], the gram matrix Q, cross products P and n rows,
//
//	J = (⟨θ, Qθ⟩ - 2⟨θ, P⟩ + Σ‖t‖²) / (n C)      dθ = 2 (Qθ - P) / (n C)
type quadratic struct {
	all          moments
	theta, slope []float64
}

// Eval implements [loss.Loss].
func (q *quadratic) Eval(dy, y mat.Dense) float64 {
	last, cols := y.Rows-1, y.Cols
	for k := range y.Rows {
		for c, v := range y.Row(k) {
			q.theta[k*cols+c] = float64(v)
			if k < last {
				q.theta[k*cols+c] -= float64(y.At(last, c))
			}
		}
	}
	scale, sum := 1/(q.all.rows*float64(cols)), q.all.squares
	for k := range y.Rows {
		gram := q.all.gram[k*y.Rows : (k+1)*y.Rows]
		for c := range cols {
			e := k*cols + c
			product := 0.0
			for j, g := range gram {
				product += float64(g * q.theta[j*cols+c])
			}
			sum += float64(q.theta[e] * (product - 2*q.all.cross[e]))
			q.slope[e] = 2 * scale * (product - q.all.cross[e])
		}
	}
	if !dy.Empty() {
		for c := range cols {
			rest := q.slope[last*cols+c]
			for k := range last {
				v := q.slope[k*cols+c]
				dy.Set(k, c, float32(v))
				rest -= v
			}
			dy.Set(last, c, float32(rest))
		}
	}
	return scale * sum
}
