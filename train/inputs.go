package train

import (
	"fmt"
	"math"
	"slices"

	gonum "gonum.org/v1/gonum/mat"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/mat"
)

// Inputs says in which coordinates the filters that read a signal, the wide part
// and the first layer, are trained. With z the row of K+1 shifts of F features
// that such a filter reads, mean c and a matrix T from the moments of the
// training data,
//
//	z' = (z - c) T      A = T A'      aᵀ = a'ᵀ - c A
//
// training moves A' and a', and what the model holds at any time is A and a: the
// same architecture and the same file, at no cost where it runs.
//
// Deviation: the paper trains on signals as they are.
type Inputs struct {
	// How inputs are scaled while a model is trained, by moments of the training
	// samples: `none`; `one` number for all, 1/rms deviation; `diag`, each with
	// mean 0 and variance 1; `full`, whitened: uncorrelated too. What is saved is a
	// model of the inputs as they are.
	Scale Scale `json:"scale,omitempty" yaml:"scale" default:"none" example:"full"`
}

// Scale names a way to scale inputs.
type Scale string

// The ways to scale inputs. A model without biases cannot take a mean away: c
// is then 0 and moments are those about 0.
const (
	ScaleNone Scale = "none" // or ""
	ScaleOne  Scale = "one"  // T = I/s, c = 0, s² the mean variance of the inputs
	ScaleDiag Scale = "diag" // T = D^-½, D the variances
	ScaleFull Scale = "full" // T = D^-½ (P + ρI)^-½, P the correlations: ZCA of inputs of one scale
)

const (
	// whitenRidge is ρ: directions in which inputs hardly vary are not blown up
	// more than 1/√ρ times.
	whitenRidge = 1e-6

	// constantInput is the share of the mean square of an input below which its
	// variance is rounding: it is scaled as ScaleOne would.
	constantInput = 1e-10

	// mostWhitened bounds the inputs of ScaleFull, whose T is kept in checkpoints.
	mostWhitened = 512
)

// Validate reports what is wrong with i.
func (i Inputs) Validate() error {
	if !slices.Contains([]Scale{"", ScaleNone, ScaleOne, ScaleDiag, ScaleFull}, i.Scale) {
		return fmt.Errorf("train: inputs.scale is %q, want none, one, diag or full", i.Scale)
	}
	return nil
}

// active says whether inputs are scaled at all.
func (i Inputs) active() bool { return i.Scale != "" && i.Scale != ScaleNone }

// Scaling is c and T of [Inputs] for a filter of a number of inputs.
type Scaling struct {
	Inputs int       `json:"inputs"`
	Center []float64 `json:"center"` // c
	Matrix []float64 `json:"matrix"` // T, Inputs×Inputs, row by row; Inputs values where it is diagonal

	sums []float64 // scratch
}

// newScaling makes the scaling of the first n inputs that m has sums of.
func newScaling(m *moments, n int, scale Scale, centred bool) (*Scaling, error) {
	if scale == ScaleFull && n > mostWhitened {
		return nil, fmt.Errorf("train: inputs.scale: full whitens at most %d inputs, a filter of this model reads %d: try diag", mostWhitened, n)
	}
	s := &Scaling{Inputs: n, Center: make([]float64, n), Matrix: make([]float64, n)}
	width := math.Sqrt(float64(len(m.gram)))
	at := func(a, b int) float64 { return m.gram[a*int(width)+b] / m.rows }
	mean := make([]float64, n)
	if centred {
		for a := range mean {
			mean[a] = at(a, int(width)-1)
		}
	}
	variance := make([]float64, n)
	all := 0.0
	for a := range variance {
		square := at(a, a)
		if v := square - float64(mean[a]*mean[a]); v > constantInput*square {
			variance[a] = v
		}
		all += variance[a] / float64(n)
	}
	if all == 0 {
		all = 1 // nothing varies: there is nothing to scale by
	}
	for a, v := range variance {
		if v == 0 || scale == ScaleOne {
			v = all
		}
		s.Matrix[a] = 1 / math.Sqrt(v)
	}
	if scale == ScaleOne {
		return s, nil
	}
	s.Center = mean
	if scale == ScaleFull {
		return s, s.whiten(func(a, b int) float64 { return at(a, b) - float64(mean[a]*mean[b]) })
	}
	return s, nil
}

// whiten turns a diagonal T = D^-½ into D^-½ (P + ρI)^-½ for the given
// covariances.
func (s *Scaling) whiten(covariance func(a, b int) float64) error {
	n := s.Inputs
	p := gonum.NewSymDense(n, nil)
	for a := range n {
		for b := range a {
			p.SetSym(a, b, float64(s.Matrix[a]*s.Matrix[b])*covariance(a, b))
		}
		p.SetSym(a, a, 1)
	}
	var eigen gonum.EigenSym
	if !eigen.Factorize(p, true) {
		return fmt.Errorf("train: inputs.scale: the correlations of %d inputs have no eigenvalues that could be found: try diag", n)
	}
	var vectors gonum.Dense
	eigen.VectorsTo(&vectors)
	values, full := eigen.Values(nil), make([]float64, n*n)
	for e, v := range values {
		root := 1 / math.Sqrt(max(v, 0)+whitenRidge)
		for a := range n {
			va := float64(root * vectors.At(a, e))
			for b := range n {
				full[a*n+b] += float64(va * vectors.At(b, e))
			}
		}
	}
	for a := range n {
		for b := range n {
			full[a*n+b] *= s.Matrix[a]
		}
	}
	s.Matrix = full
	return nil
}

// row returns row a of T and the column at which it begins.
func (s *Scaling) row(a int) (row []float64, from int) {
	if len(s.Matrix) == s.Inputs {
		return s.Matrix[a : a+1], a
	}
	return s.Matrix[a*s.Inputs : (a+1)*s.Inputs], 0
}

// validate checks a scaling that comes from outside against a filter.
func (s *Scaling) validate(inputs int) error {
	if s == nil || s.Inputs != inputs || len(s.Center) != inputs || len(s.Matrix) != inputs && len(s.Matrix) != inputs*inputs {
		return fmt.Errorf("train: a checkpoint has no scaling of the %d inputs of the model: was it written by another configuration?", inputs)
	}
	return nil
}

// scratch returns n zeros.
func (s *Scaling) scratch(n int) []float64 {
	s.sums = append(s.sums[:0], make([]float64, n)...)
	return s.sums
}

// fold overwrites the taps and the bias of dst with A and a, given A' and a' in
// src. Sums run in float64. The bias is that of the taps as they were rounded, so
// that the mean of the inputs is taken away to the last bit of it.
func (s *Scaling) fold(dst, src *gnn.Filter) {
	in, out := src.In(), src.Out()
	sum, bias := s.scratch(2 * out)[:out], s.sums[out:]
	for g, v := range src.Bias {
		bias[g] = float64(v)
	}
	for a := range s.Inputs {
		clear(sum)
		row, from := s.row(a)
		for k, t := range row {
			b := from + k
			for g, v := range src.Taps[b/in].Row(b % in) {
				sum[g] += float64(t * float64(v))
			}
		}
		taps := dst.Taps[a/in].Row(a % in)
		for g, v := range sum {
			taps[g] = float32(v)
			bias[g] -= float64(s.Center[a] * float64(taps[g]))
		}
	}
	for g := range dst.Bias {
		dst.Bias[g] = float32(bias[g])
	}
}

// pull turns the gradient of A and a, in f, into that of A' and a':
//
//	dA' = Tᵀ (dA - cᵀ daᵀ)      da' = da
func (s *Scaling) pull(f *gnn.Filter) {
	in, out := f.In(), f.Out()
	sum := s.scratch(s.Inputs * out)
	for a := range s.Inputs {
		row, from := s.row(a)
		grad := f.Taps[a/in].Row(a % in)
		for g, v := range grad {
			d := float64(v)
			if len(f.Bias) > 0 {
				d -= float64(s.Center[a] * float64(f.Bias[g]))
			}
			for k, t := range row {
				sum[(from+k)*out+g] += float64(t * d)
			}
		}
	}
	for b := range s.Inputs {
		for g := range out {
			f.Taps[b/in].Row(b % in)[g] = float32(sum[b*out+g])
		}
	}
}

// readers returns the filters of p that read the signal.
func readers(p *gnn.Params) (list []*gnn.Filter) {
	if len(p.Wide.Taps) > 0 {
		list = append(list, &p.Wide)
	}
	if len(p.Deep) > 0 {
		list = append(list, &p.Deep[0])
	}
	return list
}

// measure makes the scalings of a model from the training data of a job.
func measure(m *gnn.WideDeep, job *Job) ([]*Scaling, error) {
	c := &job.Config
	sums, err := inputMoments(m, job)
	if err != nil {
		return nil, err
	}
	var list []*Scaling
	for _, f := range readers(&m.Params) {
		s, err := newScaling(sums, (f.Order()+1)*f.In(), c.Inputs.Scale, !m.Config.NoBias)
		if err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return list, nil
}

// inputMoments sums [z 1]ᵀ[z 1] over the rows that filters read of the signals,
// each sample once. Where links fail, they do as in training.
func inputMoments(m *gnn.WideDeep, job *Job) (*moments, error) {
	data, c := job.Train, &job.Config
	width := (m.InputOrder()+1)*m.Config.In + 1
	sums := newMoments(width, 0)
	if l, ok := data.(*Linear); ok {
		for _, s := range l.samples {
			sums.add(&s)
		}
		return &sums, nil
	}
	var pass Pass
	err := inOrder(data, c.passRows(), nil, func(samples []int, k, passes, step int) error {
		if err := data.Fill(&pass, samples, k, passes, Draw{Seed: c.Seed, Step: step}); err != nil {
			return err
		}
		z := pass.Input.Shifted
		if z.Empty() {
			z = pass.Input.ReadShifted
		}
		sums.sum(z.View(0, 0, z.Rows, width-1), mat.NewDense(z.Rows, 0, nil))
		if done := samples[len(samples)-1] + 1; job.OnInputs != nil && k == passes-1 {
			return job.OnInputs(done, data.Len())
		}
		return nil
	})
	return &sums, err
}
