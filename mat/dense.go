package mat

import "fmt"

// Dense is a matrix of float32, row-major: element (i,j) is
// Data[i*Stride+j]. It is a view; copies share Data. The zero Dense is empty.
// Concurrent use is safe as long as nobody writes.
type Dense struct {
	Rows, Cols int
	Stride     int // distance between rows in Data; Stride ≥ Cols
	Data       []float32
}

// NewDense returns a rows×cols matrix over data, which the matrix shares from
// then on. A nil data allocates zeros. It panics if len(data) != rows*cols.
func NewDense(rows, cols int, data []float32) Dense {
	if rows < 0 || cols < 0 {
		panic(fmt.Sprintf("mat: NewDense: negative shape %d×%d", rows, cols))
	}
	if data == nil {
		data = make([]float32, rows*cols)
		adviseHuge(data)
	}
	if len(data) != rows*cols {
		panic(fmt.Sprintf("mat: NewDense: %d values for %d×%d", len(data), rows, cols))
	}
	return Dense{Rows: rows, Cols: cols, Stride: cols, Data: data}
}

// Empty says whether a has no elements.
func (a Dense) Empty() bool { return a.Rows == 0 || a.Cols == 0 }

// At returns element (i,j).
func (a Dense) At(i, j int) float32 {
	a.check("At", i, j)
	return a.Data[i*a.Stride+j]
}

// Set writes element (i,j).
func (a Dense) Set(i, j int, v float32) {
	a.check("Set", i, j)
	a.Data[i*a.Stride+j] = v
}

func (a Dense) check(op string, i, j int) {
	if uint(i) >= uint(a.Rows) || uint(j) >= uint(a.Cols) {
		panic(fmt.Sprintf("mat: %s: (%d,%d) outside %d×%d", op, i, j, a.Rows, a.Cols))
	}
}

// Row returns row i, sharing memory with a.
func (a Dense) Row(i int) []float32 {
	if uint(i) >= uint(a.Rows) {
		panic(noRow{i, a.Rows, a.Cols})
	}
	lo := i * a.Stride
	return a.Data[lo : lo+a.Cols : lo+a.Cols]
}

// noRow is what Row panics with. It is put into words when somebody asks, so that Row
// is short enough to be compiled into its callers.
type noRow struct{ row, rows, cols int }

func (n noRow) Error() string {
	return fmt.Sprintf("mat: Row: %d outside %d×%d", n.row, n.rows, n.cols)
}

// View returns the rows×cols block of a whose first element is (i,j). It
// shares memory with a.
func (a Dense) View(i, j, rows, cols int) Dense {
	if i < 0 || j < 0 || rows < 0 || cols < 0 || i+rows > a.Rows || j+cols > a.Cols {
		panic(fmt.Sprintf("mat: View: %d×%d at (%d,%d) outside %d×%d", rows, cols, i, j, a.Rows, a.Cols))
	}
	if rows == 0 || cols == 0 {
		return Dense{Rows: rows, Cols: cols, Stride: cols}
	}
	lo := i*a.Stride + j
	hi := lo + (rows-1)*a.Stride + cols
	return Dense{Rows: rows, Cols: cols, Stride: a.Stride, Data: a.Data[lo:hi:hi]}
}

// Reshape returns the elements of a, in order, as a rows×cols matrix that
// shares memory with a. It panics unless a is contiguous and
// rows*cols == a.Rows*a.Cols.
//
// A batch of B signals on N nodes is stored as (N·B)×F, node by node;
// Reshape(N, B·F) is the form that one graph shift of the whole batch reads.
func (a Dense) Reshape(rows, cols int) Dense {
	if rows*cols != a.Rows*a.Cols || !a.Contiguous() {
		panic(fmt.Sprintf("mat: Reshape: %s to %d×%d", a.shape(), rows, cols))
	}
	return Dense{Rows: rows, Cols: cols, Stride: cols, Data: a.Data}
}

// Contiguous says whether the rows of a follow each other without gaps.
func (a Dense) Contiguous() bool { return a.Stride == a.Cols || a.Rows <= 1 || a.Empty() }

// Zero sets every element of a to 0.
func (a Dense) Zero() {
	if a.Contiguous() {
		clear(a.Data)
		return
	}
	for i := range a.Rows {
		clear(a.Row(i))
	}
}

// CopyFrom copies the elements of b, which must have the shape of a.
func (a Dense) CopyFrom(b Dense) {
	sameShape("CopyFrom", a, b)
	if a.Contiguous() && b.Contiguous() {
		copy(a.Data, b.Data)
		return
	}
	if a.Cols == 1 { // a call to copy for one number costs more than the number
		if b.Stride == 1 {
			scatter(a.Data, a.Stride, b.Data[:b.Rows])
			return
		}
		for i := range a.Rows {
			a.Data[i*a.Stride] = b.Data[i*b.Stride]
		}
		return
	}
	for i := range a.Rows {
		copy(a.Data[i*a.Stride:i*a.Stride+a.Cols], b.Data[i*b.Stride:])
	}
}

// scatter writes x to every stride-th value of dst.
func scatter(dst []float32, stride int, x []float32) {
	at := 0
	for ; len(x) >= 4; x = x[4:] {
		dst[at] = x[0]
		dst[at+stride] = x[1]
		dst[at+2*stride] = x[2]
		dst[at+3*stride] = x[3]
		at += 4 * stride
	}
	for _, v := range x {
		dst[at] = v
		at += stride
	}
}

// Clone returns a contiguous copy of a.
func (a Dense) Clone() Dense {
	b := NewDense(a.Rows, a.Cols, nil)
	b.CopyFrom(a)
	return b
}

// Resize returns a contiguous rows×cols matrix that reuses the memory of a if
// it is large enough. Its elements are undefined. Scratch that only grows is
// how passes avoid allocation in steady state.
func (a Dense) Resize(rows, cols int) Dense {
	if n := rows * cols; cap(a.Data) >= n {
		return Dense{Rows: rows, Cols: cols, Stride: cols, Data: a.Data[:n]}
	}
	return NewDense(rows, cols, nil)
}

func (a Dense) shape() string {
	if a.Contiguous() {
		return fmt.Sprintf("%d×%d", a.Rows, a.Cols)
	}
	return fmt.Sprintf("%d×%d with stride %d", a.Rows, a.Cols, a.Stride)
}
