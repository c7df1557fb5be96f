package theory

import (
	"errors"
	"fmt"
	"math"
	"slices"

	gmat "gonum.org/v1/gonum/mat"

	"github.com/wdgnn/wdgnn/internal/crown"
	"github.com/wdgnn/wdgnn/internal/vector"
)

// Sizes beyond which numbers are left out.
const (
	MostDense  = 2000 // nodes up to which eigenvectors are computed
	mostAlign  = 400  // nodes up to which δ is
	zeroSum    = 1e-7 // |λ_i + λ_j| that counts as 0, in units of the largest |λ|: what float32 entries leave of it
	zeroChange = 1e-6 // share of ‖Ŝ - S‖ that counts as none
)

// Pair is a shift S and a perturbed one Ŝ on the same nodes, with all that
// bounds need to know of the two.
type Pair struct {
	Shift, Perturbed *crown.Shift // S, Ŝ; not changed

	// Symmetric says whether both are; the theorem assumes it. If not, there
	// are no spectra, and only the direct certificate applies.
	Symmetric bool
	Asymmetry string // a place that shows it, if they are not

	Values, PerturbedValues []float64 // eigenvalues of S and Ŝ, ascending; nil if not computed
	Over                    Interval  // that holds all of them
	Relative                Relative

	shiftT, perturbedT *crown.Shift
}

// Relative describes E of Ŝ - S = E S + S E, the relative perturbation.
//
// Deviation: d(S, Ŝ) of eq. (10) is the smallest ‖E‖ over all orders of the
// nodes. Size takes the order as it is, which is an upper bound and the right
// one where nodes have names. Where λ_i + λ_j = 0 an entry of E is free, if it
// exists; it is taken as 0.
type Relative struct {
	Computed bool
	Exists   bool    // E exists; if not, Size is +Inf and Theorem 1 says nothing
	Size     float64 // ε = ‖E‖
	Root     float64 // ‖E‖_F
	Absolute float64 // ‖Ŝ - S‖_F

	Zero        int     // pairs i ≤ j with λ_i + λ_j = 0
	Unreachable float64 // the share of ‖Ŝ - S‖_F that lies in them, and that no E reaches
	Smallest    float64 // the smallest |λ_i + λ_j| that is not 0

	// Misalignment is δ = (‖U - V‖ + 1)² - 1 of Lemma 1, U the eigenvectors of
	// E, which may be ordered and signed at will; they are matched greedily
	// with those of S. It is NaN where it was not computed; 8 bounds it.
	Misalignment float64
}

// NewPair compares S with Ŝ. Shifts of different size are an error; directed
// ones are not, but leave most numbers out.
func NewPair(s, perturbed *crown.Shift) (*Pair, error) {
	if s.Nodes() != perturbed.Nodes() {
		return nil, fmt.Errorf("theory: a graph of %d nodes and a perturbed one of %d; a node that left keeps its number, without links",
			s.Nodes(), perturbed.Nodes())
	}
	if s.Nodes() == 0 {
		return nil, errors.New("theory: a graph without nodes")
	}
	p := &Pair{Shift: s, Perturbed: perturbed, shiftT: s.Transposed(), perturbedT: perturbed.Transposed()}
	p.Relative.Misalignment = math.NaN()
	if p.Asymmetry = asymmetry(s, p.shiftT); p.Asymmetry == "" {
		p.Asymmetry = asymmetry(perturbed, p.perturbedT)
	}
	if p.Symmetric = p.Asymmetry == ""; !p.Symmetric {
		return p, nil
	}
	if s.Nodes() > MostDense {
		reach := max(radius(s, p.shiftT), radius(perturbed, p.perturbedT))
		p.Over = Interval{-reach, reach}
		return p, nil
	}
	return p, p.decompose()
}

// radius bounds the largest |λ| of a symmetric shift.
func radius(s, st *crown.Shift) float64 {
	along := func(s *crown.Shift) func([]float64) []float64 {
		return func(x []float64) []float64 {
			y := make([]float64, s.Nodes())
			s.Apply(y, x, 1)
			return y
		}
	}
	return operatorNorm(linear{s.Nodes(), s.Nodes(), along(s), along(st)})
}

// decompose computes spectra and E.
func (p *Pair) decompose() error {
	n := p.Shift.Nodes()
	basis, err := eigen(p.Shift.Dense(), n)
	if err != nil {
		return err
	}
	p.Values = basis.values
	if p.PerturbedValues, err = eigenvalues(p.Perturbed.Dense(), n); err != nil {
		return err
	}
	p.Over = Interval{min(p.Values[0], p.PerturbedValues[0]), max(p.Values[n-1], p.PerturbedValues[n-1])}
	change := changeIn(basis, p)
	return p.Relative.solve(change, basis.values)
}

// changeIn returns Vᵀ(Ŝ - S)V.
func changeIn(v eigenbasis, p *Pair) []float64 {
	n := len(v.values)
	moved, back := make([]float64, n*n), make([]float64, n)
	for i := range n {
		row := v.vectors[i*n : (i+1)*n]
		p.Perturbed.Apply(moved[i*n:(i+1)*n], row, 1)
		p.Shift.Apply(back, row, 1)
		vector.Axpy(moved[i*n:(i+1)*n], -1, back)
	}
	out := gmat.NewDense(n, n, nil)
	out.Mul(gmat.NewDense(n, n, moved), gmat.NewDense(n, n, v.vectors).T())
	return out.RawMatrix().Data
}

// solve finds E in the eigenbasis of S, where Ŝ - S = E S + S E reads
//
//	[Ŝ - S]_ij = E_ij (λ_i + λ_j)
//
// It overwrites change by E.
func (r *Relative) solve(change, values []float64) error {
	n := len(values)
	reach := max(math.Abs(values[0]), math.Abs(values[n-1]))
	r.Computed, r.Absolute, r.Smallest = true, vector.Norm(change), math.Inf(1)
	lost := 0.0
	for i := range n {
		for j := range n {
			sum := values[i] + values[j]
			if math.Abs(sum) <= zeroSum*reach {
				lost += change[i*n+j] * change[i*n+j]
				change[i*n+j] = 0
				if i <= j {
					r.Zero++
				}
				continue
			}
			r.Smallest = min(r.Smallest, math.Abs(sum))
			change[i*n+j] /= sum
		}
	}
	if r.Absolute > 0 {
		r.Unreachable = math.Sqrt(lost) / r.Absolute
	}
	if r.Exists = r.Unreachable <= zeroChange; !r.Exists {
		r.Size, r.Root = math.Inf(1), math.Inf(1)
		return nil
	}
	r.Root = vector.Norm(change)
	for i := range n { // rounding apart, E is symmetric
		for j := range i {
			mean := (change[i*n+j] + change[j*n+i]) / 2
			change[i*n+j], change[j*n+i] = mean, mean
		}
	}
	if n > mostAlign {
		theta, err := eigenvalues(change, n)
		if err == nil {
			r.Size = max(-theta[0], theta[n-1], 0)
		}
		return err
	}
	u, err := eigen(change, n)
	if err != nil {
		return err
	}
	r.Size = max(-u.values[0], u.values[n-1], 0)
	r.Misalignment = misalignment(u)
	return nil
}

// misalignment returns (‖U - I‖ + 1)² - 1 for eigenvectors in the basis V,
// after matching each with an axis.
func misalignment(u eigenbasis) float64 {
	n := len(u.values)
	order := make([]int, n*n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch x, y := math.Abs(u.vectors[a]), math.Abs(u.vectors[b]); {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return 0
	})
	axisOf, taken := make([]int, n), make([]bool, n)
	for i := range axisOf {
		axisOf[i] = -1
	}
	for _, at := range order {
		if i, axis := at/n, at%n; axisOf[i] < 0 && !taken[axis] {
			axisOf[i], taken[axis] = axis, true
		}
	}
	off := make([]float64, n*n)
	for i, axis := range axisOf {
		sign := 1.0
		if u.vectors[i*n+axis] < 0 {
			sign = -1
		}
		for j := range n {
			off[axis*n+j] = sign * u.vectors[i*n+j]
		}
		off[axis*n+axis]--
	}
	d := spectralNorm(off, n, n) + 1
	return d*d - 1
}

// Frequencies returns the eigenvalues of both shifts, nil if not computed.
func (p *Pair) Frequencies() []float64 {
	if p.Values == nil {
		return nil
	}
	return slices.Concat(p.Values, p.PerturbedValues)
}

// asymmetry names a place where S differs from its transpose st, "" if there is
// none.
func asymmetry(s, st *crown.Shift) string {
	for i := range s.Nodes() {
		col, val := s.Row(i)
		other, back := st.Row(i)
		for e := range max(len(col), len(other)) {
			switch {
			case e >= len(other) || e < len(col) && col[e] < other[e]:
				return fmt.Sprintf("entry (%d,%d) is %.4g and (%d,%d) is 0", i, col[e], val[e], col[e], i)
			case e >= len(col) || other[e] < col[e]:
				return fmt.Sprintf("entry (%d,%d) is %.4g and (%d,%d) is 0", other[e], i, back[e], i, other[e])
			case val[e] != back[e]:
				return fmt.Sprintf("entry (%d,%d) is %.7g and (%d,%d) is %.7g", i, col[e], val[e], col[e], i, back[e])
			}
		}
	}
	return ""
}

// between returns (1-t) S + t Ŝ.
func between(s, perturbed *crown.Shift, t float64) *crown.Shift {
	rowPtr, cols, vals := []int{0}, []int32(nil), []float64(nil)
	for i := range s.Nodes() {
		a, av := s.Row(i)
		b, bv := perturbed.Row(i)
		for len(a) > 0 || len(b) > 0 {
			var j int32
			v := 0.0
			switch {
			case len(b) == 0 || len(a) > 0 && a[0] < b[0]:
				j, v = a[0], (1-t)*av[0]
				a, av = a[1:], av[1:]
			case len(a) == 0 || b[0] < a[0]:
				j, v = b[0], t*bv[0]
				b, bv = b[1:], bv[1:]
			default:
				j, v = a[0], av[0]+t*(bv[0]-av[0])
				a, av, b, bv = a[1:], av[1:], b[1:], bv[1:]
			}
			cols, vals = append(cols, j), append(vals, v)
		}
		rowPtr = append(rowPtr, len(cols))
	}
	return crown.ShiftOf(rowPtr, cols, vals)
}
