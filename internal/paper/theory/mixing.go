package theory

import (
	"errors"
	"fmt"
	"math"
	"slices"

	gmat "gonum.org/v1/gonum/mat"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/crown"
	"github.com/wdgnn/wdgnn/internal/vector"
	"github.com/wdgnn/wdgnn/mat"
)

// Mixer is a mixing matrix W_t with its contraction: what one round of mixing
// leaves of the nodes' disagreement.
type Mixer struct {
	Nodes     int
	Second    float64 // σ₂(W) = ‖W - 11ᵀ/N‖, for doubly stochastic W
	Symmetric bool
	Low, High float64 // if symmetric, smallest and largest eigenvalue on disagreements

	Smallest  float64 // the smallest positive entry, ε of Assumption 5 on links and the diagonal
	Everyone  bool    // every entry is positive, as Assumption 5 says to the letter
	Own       float64 // the smallest entry of the diagonal
	Least     float64 // the smallest entry of all
	RowError  float64 // the largest |row sum - 1|
	ColError  float64 // the largest |column sum - 1|
	Skew      float64 // ‖1ᵀW - 1ᵀ‖, how far mixing is from keeping the mean of the nodes; 0 for doubly stochastic W
	dense     []float64
	neighbors [][2]int32 // links (i,j), i ≠ j
}

// NewMixer measures a mixing matrix. The sums of float32 numbers are 1 to seven
// digits; for rows that sum to 1 as far as float64 goes the diagonal is computed
// once more from the rest of the row, W_ii = 1 - Σ_{j≠i} W_ij. RowError and
// ColError are of w as given, all else of that matrix.
func NewMixer(w *mat.CSR) (*Mixer, error) {
	if w.Rows != w.Cols || w.Rows == 0 {
		return nil, fmt.Errorf("theory: a mixing matrix of %d×%d, want a square one", w.Rows, w.Cols)
	}
	n, dense := w.Rows, crown.NewShift(w).Dense()
	rows, cols := sums(n, dense)
	for i := range n {
		rest := 0.0
		for j, v := range dense[i*n : (i+1)*n] {
			if j != i {
				rest += v
			}
		}
		dense[i*n+i] = 1 - rest
	}
	m, err := MixerOf(n, dense)
	if err == nil {
		m.RowError, m.ColError = farthest(rows), farthest(cols)
	}
	return m, err
}

// sums returns the sums of rows and of columns, less 1.
func sums(n int, dense []float64) (rows, cols []float64) {
	rows, cols = make([]float64, n), make([]float64, n)
	for i, v := range dense {
		rows[i/n] += v
		cols[i%n] += v
	}
	for i := range n {
		rows[i]--
		cols[i]--
	}
	return rows, cols
}

func farthest(values []float64) float64 {
	largest := 0.0
	for _, v := range values {
		largest = max(largest, math.Abs(v))
	}
	return largest
}

// MixerOf measures the mixing matrix with the given elements, n×n by rows, which
// it keeps. Bounds that use it take its rows to sum to 1.
func MixerOf(n int, dense []float64) (*Mixer, error) {
	if n < 1 || len(dense) != n*n {
		return nil, fmt.Errorf("theory: %d numbers for a mixing matrix of %d nodes", len(dense), n)
	}
	m := &Mixer{Nodes: n, Symmetric: true, Everyone: true, Smallest: math.Inf(1), Own: math.Inf(1), Least: math.Inf(1), dense: dense}
	for i := range n {
		m.Own = min(m.Own, dense[i*n+i])
		for j, v := range dense[i*n : (i+1)*n] {
			m.Everyone = m.Everyone && v > 0
			m.Least = min(m.Least, v)
			m.Symmetric = m.Symmetric && v == dense[j*n+i]
			if v > 0 {
				m.Smallest = min(m.Smallest, v)
				if i != j {
					m.neighbors = append(m.neighbors, [2]int32{int32(i), int32(j)})
				}
			}
		}
	}
	rows, cols := sums(n, dense)
	m.RowError, m.ColError, m.Skew = farthest(rows), farthest(cols), vector.Norm(cols)
	return m, m.measure()
}

// measure computes the contraction.
func (m *Mixer) measure() error {
	n := m.Nodes
	off := centred(m.dense, n)
	if !m.Symmetric {
		m.Second = spectralNorm(off, n, n)
		return nil
	}
	values, err := eigenvalues(off, n)
	if err != nil {
		return err
	}
	drop := 0 // the eigenvalue 0 of the vector 1, which is no disagreement
	for i, v := range values {
		if math.Abs(v) < math.Abs(values[drop]) {
			drop = i
		}
	}
	m.Second = max(-values[0], values[n-1], 0)
	if rest := slices.Delete(values, drop, drop+1); len(rest) > 0 {
		m.Low, m.High = rest[0], rest[len(rest)-1]
	}
	return nil
}

// centred returns (I - 11ᵀ/N) W (I - 11ᵀ/N).
func centred(w []float64, n int) []float64 {
	off := append([]float64(nil), w...)
	for range 2 { // rows, then columns, transposing in between
		for i := range n {
			mean := 0.0
			for _, v := range off[i*n : (i+1)*n] {
				mean += v / float64(n)
			}
			for j := range n {
				off[i*n+j] -= mean
			}
		}
		for i := range n {
			for j := range i {
				off[i*n+j], off[j*n+i] = off[j*n+i], off[i*n+j]
			}
		}
	}
	return off
}

// Products returns σ₂ of W_t, W_t W_{t-1}, … for the mixers of steps … t-1, t.
func Products(mixers []*Mixer) []float64 {
	last := len(mixers) - 1
	n := mixers[last].Nodes
	out := []float64{mixers[last].Second}
	product := gmat.NewDense(n, n, mixers[last].dense)
	for j := last - 1; j >= 0; j-- {
		var next gmat.Dense
		next.Mul(product, gmat.NewDense(n, n, mixers[j].dense))
		product = &next
		out = append(out, min(spectralNorm(centred(next.RawMatrix().Data, n), n, n), out[len(out)-1]*mixers[j].Second))
	}
	return out
}

// Sequence is Assumptions 3 to 5 for a recorded sequence of mixing matrices. A
// record is finite; links that it shows at all count as those that come back for
// ever.
type Sequence struct {
	Steps     int
	Connected bool    // the union of all graphs is (Assumption 3)
	Gap       int     // C_d: no link of the union is away for longer, record ends included (Assumption 4)
	Smallest  float64 // ε, the smallest positive entry (Assumption 5)
	Everyone  bool    // all entries are positive, as Assumption 5 says to the letter
	SumError  float64 // how far a row or column sum is from 1
	Worst     float64 // the largest σ₂(W_t)
	Windowed  float64 // the largest σ₂ of the product over a window
	Window    int     // its length
}

// CheckSequence examines a sequence of mixing matrices. Products are formed over
// blocks of window steps; 0 stands for 1.
func CheckSequence(mixers []*Mixer, window int) (*Sequence, error) {
	if len(mixers) == 0 {
		return nil, errors.New("theory: no mixing matrices")
	}
	window = min(max(window, 1), len(mixers))
	s := &Sequence{Steps: len(mixers), Everyone: true, Smallest: math.Inf(1), Window: window}
	n := mixers[0].Nodes
	last := map[[2]int32]int{} // step at which a link was seen last
	for t, m := range mixers {
		if m.Nodes != n {
			return nil, fmt.Errorf("theory: step %d: a mixing matrix of %d nodes after one of %d", t, m.Nodes, n)
		}
		s.Everyone = s.Everyone && m.Everyone
		s.Smallest = min(s.Smallest, m.Smallest)
		s.SumError = max(s.SumError, m.RowError, m.ColError)
		s.Worst = max(s.Worst, m.Second)
		for _, link := range m.neighbors {
			before, seen := last[link]
			if !seen {
				before = -1
			}
			s.Gap = max(s.Gap, t-before)
			last[link] = t
		}
		if (t+1)%window == 0 {
			products := Products(mixers[t+1-window : t+1])
			s.Windowed = max(s.Windowed, products[len(products)-1])
		}
	}
	var edges []graph.Edge
	for link, t := range last {
		s.Gap = max(s.Gap, len(mixers)-t)
		edges = append(edges, graph.Edge{From: int(link[1]), To: int(link[0]), Weight: 1})
	}
	union, err := graph.FromEdges(n, edges, true)
	if err != nil {
		return nil, err
	}
	s.Connected = union.Connected()
	return s, nil
}

// PaperConstant returns log₁₀ C_ε of eq. (20), with Ĉ_d = C_d (N-1): for any
// network of some size C_ε itself is far beyond what a float64 can hold.
func PaperConstant(nodes, gap int, epsilon float64) float64 {
	if nodes < 2 {
		return 0 // nobody to agree with
	}
	if !(epsilon > 0) {
		return math.Inf(1)
	}
	reach := float64(gap) * float64(nodes-1)
	x := reach * math.Log10(epsilon) // log₁₀ ε^Ĉ
	if x > -7 {
		p := math.Pow(10, x)
		if p >= 1 {
			return math.Inf(1)
		}
		slow := -math.Expm1(math.Log1p(-p) / reach) // 1 - (1 - p)^(1/Ĉ)
		return math.Log10(1 + float64(nodes)/slow*(1+1/p)/(1-p))
	}
	// With p = ε^Ĉ → 0: 1 - (1 - p)^(1/Ĉ) → p/Ĉ, so C_ε → N Ĉ/p².
	return math.Log10(float64(nodes)*reach) - 2*x
}
