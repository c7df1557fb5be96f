package mat

import (
	"fmt"
	"math"
	"slices"
	"sync/atomic"
)

// CSR is a sparse matrix in compressed rows: row i holds the values
// Val[RowPtr[i]:RowPtr[i+1]] in the columns Col[RowPtr[i]:RowPtr[i+1]], which
// ascend strictly. Graph shifts S and mixing matrices W are CSRs; row i
// receives: an entry (i,j) means that node i hears node j.
//
// A CSR built by [NewCSR] or [FromEntries] is valid and must not be changed;
// any number of goroutines may read it.
type CSR struct {
	Rows, Cols int
	RowPtr     []int // Rows+1 offsets
	Col        []int32
	Val        []float32

	trusted uint32 // 1 once trust has seen the entries
}

// NewCSR returns the matrix with the given parts, which it shares from then
// on. It reports the first thing that is wrong with them: offsets that
// descend, columns out of range or not strictly ascending, values that are
// not finite.
func NewCSR(rows, cols int, rowPtr []int, col []int32, val []float32) (*CSR, error) {
	s := &CSR{Rows: rows, Cols: cols, RowPtr: rowPtr, Col: col, Val: val}
	if err := s.validate(); err != nil {
		return nil, fmt.Errorf("mat: CSR %d×%d: %w", rows, cols, err)
	}
	return s, nil
}

func (s *CSR) validate() error {
	if s.Rows < 0 || s.Cols < 0 || s.Cols > math.MaxInt32 {
		return fmt.Errorf("shape out of range")
	}
	if len(s.RowPtr) != s.Rows+1 || s.RowPtr[0] != 0 || s.RowPtr[s.Rows] != len(s.Col) || len(s.Col) != len(s.Val) {
		return fmt.Errorf("%d offsets, %d columns and %d values do not fit together", len(s.RowPtr), len(s.Col), len(s.Val))
	}
	for i := range s.Rows {
		if s.RowPtr[i] > s.RowPtr[i+1] || s.RowPtr[i+1] > len(s.Col) {
			return fmt.Errorf("row %d: offsets %d to %d", i, s.RowPtr[i], s.RowPtr[i+1])
		}
		last := int32(-1)
		col, val := s.Row(i)
		for e, j := range col {
			if j <= last || int(j) >= s.Cols {
				return fmt.Errorf("row %d: column %d after %d", i, j, last)
			}
			if !Finite(val[e]) {
				return fmt.Errorf("row %d, column %d: value %v", i, j, val[e])
			}
			last = j
		}
	}
	return nil
}

// trust panics unless the entries lie in s, which somebody may have put together by
// hand: the assembly of SpMM reads where they say. It looks at them once.
func (s *CSR) trust() {
	if atomic.LoadUint32(&s.trusted) == 1 {
		return
	}
	if len(s.RowPtr) != s.Rows+1 || s.RowPtr[0] < 0 || s.RowPtr[s.Rows] > min(len(s.Col), len(s.Val)) || !slices.IsSorted(s.RowPtr) {
		panic(fmt.Sprintf("mat: SpMM: %d offsets, %d columns and %d values of a sparse %d×%d",
			len(s.RowPtr), len(s.Col), len(s.Val), s.Rows, s.Cols))
	}
	for _, j := range s.Col[s.RowPtr[0]:s.RowPtr[s.Rows]] {
		if uint(j) >= uint(s.Cols) {
			panic(fmt.Sprintf("mat: SpMM: column %d of a sparse %d×%d", j, s.Rows, s.Cols))
		}
	}
	atomic.StoreUint32(&s.trusted, 1)
}

// Entry is one element of a sparse matrix.
type Entry struct {
	Row, Col int
	Val      float32
}

// FromEntries returns the rows×cols matrix that holds entries, given in any
// order. Two entries for one place, an entry outside the matrix and a value
// that is not finite are errors.
func FromEntries(rows, cols int, entries []Entry) (*CSR, error) {
	sorted := slices.Clone(entries)
	slices.SortStableFunc(sorted, func(a, b Entry) int {
		if a.Row != b.Row {
			return a.Row - b.Row
		}
		return a.Col - b.Col
	})
	rowPtr := make([]int, max(rows, 0)+1)
	col := make([]int32, len(sorted))
	val := make([]float32, len(sorted))
	for e, t := range sorted {
		if t.Row < 0 || t.Row >= rows || t.Col < 0 || t.Col >= cols {
			return nil, fmt.Errorf("mat: entry (%d,%d) outside %d×%d", t.Row, t.Col, rows, cols)
		}
		if e > 0 && t.Row == sorted[e-1].Row && t.Col == sorted[e-1].Col {
			return nil, fmt.Errorf("mat: two entries for (%d,%d)", t.Row, t.Col)
		}
		rowPtr[t.Row+1]++
		col[e], val[e] = int32(t.Col), t.Val
	}
	for i := range rows {
		rowPtr[i+1] += rowPtr[i]
	}
	return NewCSR(rows, cols, rowPtr, col, val)
}

// NNZ returns the number of stored entries.
func (s *CSR) NNZ() int { return len(s.Col) }

// Row returns the columns and values of row i, sharing memory with s.
func (s *CSR) Row(i int) (col []int32, val []float32) {
	lo, hi := s.RowPtr[i], s.RowPtr[i+1]
	return s.Col[lo:hi:hi], s.Val[lo:hi:hi]
}

// Slice returns rows lo ≤ i < lo+rows, sharing memory with s.
func (s *CSR) Slice(lo, rows int) CSR {
	s.trust()
	return CSR{Rows: rows, Cols: s.Cols, RowPtr: s.RowPtr[lo : lo+rows+1], Col: s.Col, Val: s.Val, trusted: 1}
}

// At returns element (i,j), 0 where nothing is stored.
func (s *CSR) At(i, j int) float32 {
	if uint(i) >= uint(s.Rows) || uint(j) >= uint(s.Cols) {
		panic(fmt.Sprintf("mat: At: (%d,%d) outside %d×%d", i, j, s.Rows, s.Cols))
	}
	col, val := s.Row(i)
	if e, ok := slices.BinarySearch(col, int32(j)); ok {
		return val[e]
	}
	return 0
}

// T returns the transpose. Its rows are sorted because s is read in order.
func (s *CSR) T() *CSR {
	t := &CSR{
		Rows: s.Cols, Cols: s.Rows,
		RowPtr: make([]int, s.Cols+1),
		Col:    make([]int32, s.NNZ()),
		Val:    make([]float32, s.NNZ()),
	}
	for _, j := range s.Col {
		t.RowPtr[j+1]++
	}
	for j := range s.Cols {
		t.RowPtr[j+1] += t.RowPtr[j]
	}
	next := slices.Clone(t.RowPtr)
	for i := range s.Rows {
		col, val := s.Row(i)
		for e, j := range col {
			t.Col[next[j]], t.Val[next[j]] = int32(i), val[e]
			next[j]++
		}
	}
	return t
}

// Equal says whether s and t have the same shape and the same stored entries.
func (s *CSR) Equal(t *CSR) bool {
	return s.Rows == t.Rows && s.Cols == t.Cols && slices.Equal(s.RowPtr, t.RowPtr) &&
		slices.Equal(s.Col, t.Col) && slices.Equal(s.Val, t.Val)
}

// Dense returns s as a dense matrix.
func (s *CSR) Dense() Dense {
	a := NewDense(s.Rows, s.Cols, nil)
	for i := range s.Rows {
		col, val := s.Row(i)
		for e, j := range col {
			a.Data[i*a.Stride+int(j)] = val[e]
		}
	}
	return a
}

// BlockDiagonal returns the matrix with the given blocks on its diagonal: many
// graphs as one, so that a batch of samples with a graph each is one product.
func BlockDiagonal(blocks ...*CSR) *CSR {
	rows, cols, nnz := 0, 0, 0
	for _, b := range blocks {
		rows, cols, nnz = rows+b.Rows, cols+b.Cols, nnz+b.NNZ()
	}
	s := &CSR{
		Rows: rows, Cols: cols,
		RowPtr: make([]int, 1, rows+1),
		Col:    make([]int32, 0, nnz),
		Val:    make([]float32, 0, nnz),
	}
	right := int32(0)
	for _, b := range blocks {
		base := len(s.Col)
		for _, p := range b.RowPtr[1:] {
			s.RowPtr = append(s.RowPtr, base+p)
		}
		for _, j := range b.Col {
			s.Col = append(s.Col, right+j)
		}
		s.Val = append(s.Val, b.Val...)
		right += int32(b.Cols)
	}
	return s
}
