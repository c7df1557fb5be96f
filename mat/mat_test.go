package mat_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/internal/alloctest"
	"github.com/wdgnn/wdgnn/mat"
)

func normal(rng *rand.Rand, rows, cols int) mat.Dense {
	a := mat.NewDense(rows, cols, nil)
	for i := range a.Data {
		a.Data[i] = float32(rng.NormFloat64())
	}
	return a
}

// inside returns a copy of a as a block of a larger matrix full of NaN.
func inside(a mat.Dense) mat.Dense {
	outer := mat.NewDense(a.Rows+2, a.Cols+3, nil)
	for i := range outer.Data {
		outer.Data[i] = float32(math.NaN())
	}
	v := outer.View(1, 2, a.Rows, a.Cols)
	v.CopyFrom(a)
	return v
}

func sparse(t testing.TB, rng *rand.Rand, rows, cols int, density float64) *mat.CSR {
	t.Helper()
	var entries []mat.Entry
	for i := range rows {
		for j := range cols {
			if rng.Float64() < density {
				entries = append(entries, mat.Entry{Row: i, Col: j, Val: float32(rng.NormFloat64())})
			}
		}
	}
	rng.Shuffle(len(entries), func(i, j int) { entries[i], entries[j] = entries[j], entries[i] })
	s, err := mat.FromEntries(rows, cols, entries)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// product is the float64 reference: start + Σ a(i,p)·b(p,j).
func product(start func(i, j int) float64, a, b func(i, j int) float64, m, n, k int) [][]float64 {
	c := make([][]float64, m)
	for i := range c {
		c[i] = make([]float64, n)
		for j := range c[i] {
			c[i][j] = start(i, j)
			for p := range k {
				c[i][j] += a(i, p) * b(p, j)
			}
		}
	}
	return c
}

func at(a mat.Dense) func(i, j int) float64 {
	return func(i, j int) float64 { return float64(a.At(i, j)) }
}

func flip(f func(i, j int) float64) func(i, j int) float64 {
	return func(i, j int) float64 { return f(j, i) }
}

func zero(int, int) float64 { return 0 }

func check(t *testing.T, what string, got mat.Dense, want [][]float64) {
	t.Helper()
	for i := range want {
		for j, w := range want[i] {
			if g := float64(got.At(i, j)); math.Abs(g-w) > 1e-4*max(1, math.Abs(w)) {
				t.Fatalf("%s: element (%d,%d) is %v, want %v", what, i, j, g, w)
			}
		}
	}
}

// Panels one below the other give the bits of products one after the other.
func TestStackedProductsAreChains(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 3))
	for range 50 {
		m, n, k, panels := 1+rng.IntN(20), 1+rng.IntN(40), 1+rng.IntN(30), 1+rng.IntN(6)
		a, b, bias := normal(rng, panels*m, k), normal(rng, panels*k, n), normal(rng, 1, n).Data
		got, want := mat.NewDense(m, n, nil), mat.NewDense(m, n, nil)
		mat.Serial.MulBiasStacked(got, bias, panels, a, b)
		mat.FillRows(want, bias)
		for p := range panels {
			mat.Serial.AddMul(want, a.View(p*m, 0, m, k), b.View(p*k, 0, k, n))
		}
		if !slices.Equal(got.Data, want.Data) {
			t.Fatalf("%d panels of %d×%d times %d×%d: got other bits than a chain of products", panels, m, k, k, n)
		}
	}
}

// Every product agrees with its formula, on contiguous matrices and on views.
func TestProducts(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	e := mat.Serial
	for range 100 {
		m, n, k := 1+rng.IntN(20), 1+rng.IntN(40), rng.IntN(30)
		shape := func(rows, cols int) mat.Dense {
			a := normal(rng, rows, cols)
			if rng.IntN(2) == 0 && !a.Empty() {
				a = inside(a)
			}
			return a
		}
		a, at_, b, bt, c := shape(m, k), shape(k, m), shape(k, n), shape(n, k), shape(m, n)
		c0 := c.Clone()
		e.Mul(c, a, b)
		check(t, "Mul", c, product(zero, at(a), at(b), m, n, k))
		c.CopyFrom(c0)
		e.AddMul(c, a, b)
		check(t, "AddMul", c, product(at(c0), at(a), at(b), m, n, k))
		e.MulATB(c, at_, b)
		check(t, "MulATB", c, product(zero, flip(at(at_)), at(b), m, n, k))
		c.CopyFrom(c0)
		e.AddMulATB(c, at_, b)
		check(t, "AddMulATB", c, product(at(c0), flip(at(at_)), at(b), m, n, k))
		e.MulABT(c, a, bt)
		check(t, "MulABT", c, product(zero, at(a), flip(at(bt)), m, n, k))
		c.CopyFrom(c0)
		e.AddMulABT(c, a, bt)
		check(t, "AddMulABT", c, product(at(c0), at(a), flip(at(bt)), m, n, k))

		s := sparse(t, rng, m, k+1, 0.4)
		x := shape(k+1, n)
		e.SpMM(c, s, x)
		check(t, "SpMM", c, product(zero, at(s.Dense()), at(x), m, n, k+1))

		sums := make([]float32, n)
		e.AddColumnSums(sums, x)
		check(t, "AddColumnSums", mat.NewDense(1, n, sums), product(zero, func(int, int) float64 { return 1 }, at(x), 1, n, k+1))
	}
}

func TestElementwise(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	e := mat.Serial
	for _, view := range []bool{false, true} {
		shape := func() mat.Dense {
			a := normal(rng, 5, 13)
			if view {
				a = inside(a)
			}
			return a
		}
		x, y, z := shape(), shape(), shape()
		y0 := y.Clone()
		each := func(what string, got mat.Dense, want func(x, y float64) float64) {
			t.Helper()
			for i := range 5 {
				for j := range 13 {
					w := want(float64(x.At(i, j)), float64(y0.At(i, j)))
					if g := float64(got.At(i, j)); math.Abs(g-w) > 1e-5*max(1, math.Abs(w)) {
						t.Fatalf("%s: element (%d,%d) is %v, want %v", what, i, j, g, w)
					}
				}
			}
		}
		e.AddScaled(y, 3, x)
		each("AddScaled", y, func(x, y float64) float64 { return y + 3*x })
		y.CopyFrom(y0)
		e.Scale(y, 0.5)
		each("Scale", y, func(_, y float64) float64 { return y / 2 })
		e.Blend(z, 2, x, -1, y0, 0.25)
		each("Blend", z, func(x, y float64) float64 { return 2*x - y + 0.25 })
		e.LeakyReLU(z, x, 0.1)
		each("LeakyReLU", z, func(x, _ float64) float64 { return max(x, 0.1*x) })
		e.LeakyReLUBack(z, x, y0, 0, 2)
		each("LeakyReLUBack", z, func(x, y float64) float64 {
			if y > 0 {
				return 2 * x
			}
			return 0
		})
		e.Tanh(z, x)
		each("Tanh", z, func(x, _ float64) float64 { return math.Tanh(x) })
		e.TanhBack(z, x, y0, 3)
		each("TanhBack", z, func(x, y float64) float64 { return 3 * x * (1 - y*y) })
		want := 0.0
		for i := range 5 {
			for j := range 13 {
				want += float64(x.At(i, j)) * float64(y0.At(i, j))
			}
		}
		if got := e.Dot(x, y0); math.Abs(got-want) > 1e-5 {
			t.Errorf("Dot is %v, want %v", got, want)
		}
	}
}

func TestSoftmax(t *testing.T) {
	x := []float32{1000, 1001, 999}
	p := make([]float32, 3)
	logSum := mat.Softmax(p, x)
	if want := 1001 + math.Log(1+math.Exp(-1)+math.Exp(-2)); math.Abs(logSum-want) > 1e-6 {
		t.Errorf("log of the sum is %v, want %v", logSum, want)
	}
	if sum := p[0] + p[1] + p[2]; math.Abs(float64(sum)-1) > 1e-6 {
		t.Errorf("probabilities sum to %v", sum)
	}
}

// Any number of threads gives the same bits, on sizes that do and do not
// divide evenly. They are large enough for threads to share them.
func TestThreadsChangeNothing(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	const rows = 5003
	a, b, bt := normal(rng, rows, 67), normal(rng, 67, 40), normal(rng, 40, 67)
	s, x := sparse(t, rng, 701, 701, 0.1), normal(rng, 701, 70)
	y := normal(rng, rows, 70)
	run := func(e *mat.Engine) []mat.Dense {
		out := []mat.Dense{normal(rng, rows, 40), normal(rng, rows, 40), normal(rng, 67, 70), normal(rng, 701, 70), normal(rng, rows, 67)}
		e.Mul(out[0], a, b)
		e.MulABT(out[1], a, bt)
		e.MulATB(out[2], a, y)
		e.SpMM(out[3], s, x)
		e.Tanh(out[4], a)
		return out
	}
	want := run(mat.Serial)
	for _, threads := range []int{0, 1, 2, 3, 5, 8} {
		e := mat.NewEngine(threads)
		if got := e.Threads(); got != max(threads, 1) {
			t.Errorf("an engine of %d threads has %d", threads, got)
		}
		for i, got := range run(e) {
			for j, v := range got.Data {
				if math.Float32bits(v) != math.Float32bits(want[i].Data[j]) {
					t.Fatalf("%d threads, product %d, value %d: %v, want %v", threads, i, j, v, want[i].Data[j])
				}
			}
		}
		e.Close()
	}
	if e := mat.NewEngine(-1); e.Threads() < 1 {
		t.Error("an engine without threads")
	} else {
		e.Close()
	}
}

func TestEngineDoesNotAllocate(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	a, b, c := normal(rng, 600, 64), normal(rng, 64, 48), normal(rng, 600, 48)
	bt := normal(rng, 48, 64)
	for _, threads := range []int{1, 2} {
		e := mat.NewEngine(threads)
		defer e.Close()
		if n := alloctest.Steady(threads, func() {
			e.Mul(c, a, b)
			e.MulABT(c, a, bt)
			e.Tanh(c, c)
		}); n > 0 {
			t.Errorf("%d threads: %v allocations", threads, n)
		}
	}
}

// Mistakes of the program panic with the name of the operation.
func TestMistakesPanicByName(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	a := normal(rng, 4, 4)
	s := sparse(t, rng, 4, 4, 0.5)
	other := mat.NewDense(4, 5, nil)
	e := mat.Serial
	byHand := func(rowPtr []int, col int32) func() {
		s := &mat.CSR{Rows: 4, Cols: 4, RowPtr: rowPtr, Col: []int32{col}, Val: []float32{1}}
		return func() { e.SpMM(normal(rng, 4, 4), s, a) }
	}
	for _, c := range []struct {
		want string
		f    func()
	}{
		{"mat: SpMM: 4×5 = 4×4 sparse times 4×4", func() { e.SpMM(other, s, a) }},
		{"mat: SpMM: column 268435456 of a sparse 4×4", byHand([]int{0, 1, 1, 1, 1}, 1<<28)},
		{"mat: SpMM: column -1 of a sparse 4×4", byHand([]int{0, 1, 1, 1, 1}, -1)},
		{"mat: SpMM: 5 offsets, 1 columns and 1 values", byHand([]int{0, 1 << 30, 1, 1, 1}, 0)},
		{"mat: SpMM: 5 offsets, 1 columns and 1 values", byHand([]int{0, 0, 0, 0, 2}, 0)},
		{"mat: SpMM: the destination shares memory", func() { e.SpMM(a, s, a) }},
		{"mat: Mul: 4×4 = 4×5 times 4×4", func() { e.Mul(normal(rng, 4, 4), other, a) }},
		{"mat: AddMul: the destination shares memory", func() { e.AddMul(a, normal(rng, 4, 4), a) }},
		{"mat: MulATB: 4×4 = (4×5)ᵀ times 4×4", func() { e.MulATB(normal(rng, 4, 4), other, a) }},
		{"mat: MulABT: 4×4 = 4×4 times (4×5)ᵀ", func() { e.MulABT(normal(rng, 4, 4), a, other) }},
		{"mat: Blend: 4×4 and 4×5", func() { e.Blend(a, 1, a, 1, other, 0) }},
		{"mat: Tanh: 4×4 and 4×5", func() { e.Tanh(a, other) }},
		{"mat: AddColumnSums: 3 sums of 4×4", func() { e.AddColumnSums(make([]float32, 3), a) }},
		{"mat: FillRows: a row of 3 into 4×4", func() { mat.FillRows(a, make([]float32, 3)) }},
		{"mat: GatherRows: the destination is 4×4, want 2×4", func() { mat.GatherRows(a, normal(rng, 4, 4), []int{1, 2}) }},
		{"mat: Softmax: 2 values into 3", func() { mat.Softmax(make([]float32, 3), make([]float32, 2)) }},
		{"mat: NewDense: 3 values for 2×2", func() { mat.NewDense(2, 2, make([]float32, 3)) }},
		{"mat: NewDense: negative shape -1×2", func() { mat.NewDense(-1, 2, nil) }},
		{"mat: At: (4,0) outside 4×4", func() { a.At(4, 0) }},
		{"mat: Row: 4 outside 4×4", func() { a.Row(4) }},
		{"mat: View: 2×2 at (3,0) outside 4×4", func() { a.View(3, 0, 2, 2) }},
		{"mat: Reshape: 2×2 with stride 4 to 1×4", func() { a.View(0, 0, 2, 2).Reshape(1, 4) }},
		{"mat: CopyFrom: 4×4 and 4×5", func() { a.CopyFrom(other) }},
		{"mat: At: (0,4) outside 4×4", func() { s.At(0, 4) }},
	} {
		func() {
			defer func() {
				if r := fmt.Sprint(recover()); !strings.HasPrefix(r, c.want) {
					t.Errorf("panic is %q, want %q", r, c.want)
				}
			}()
			c.f()
			t.Errorf("no panic where %q is due", c.want)
		}()
	}
}

// Rows of a block without columns are empty.
func TestRowsOfAnEmptyView(t *testing.T) {
	if got := mat.NewDense(3, 4, nil).View(0, 0, 3, 0).Row(1); len(got) != 0 {
		t.Errorf("got %v, want nothing", got)
	}
}

// Blocks of columns of one matrix may be operand and destination: they
// interleave in memory but share no element.
func TestColumnBlocksDoNotOverlap(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	z := normal(rng, 6, 9)
	s := sparse(t, rng, 6, 6, 0.5)
	mat.Serial.SpMM(z.View(0, 3, 6, 3), s, z.View(0, 0, 6, 3))
	mat.Serial.SpMM(z.View(0, 0, 6, 3), s, z.View(0, 3, 6, 3))
	mat.Serial.SpMM(z.View(0, 6, 6, 3), s, z.View(0, 0, 6, 3))
	for _, at := range []int{1, 2} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("columns 0-2 and %d-%d count as apart", at, at+2)
				}
			}()
			mat.Serial.SpMM(z.View(0, at, 6, 3), s, z.View(0, 0, 6, 3))
		}()
	}
}

func TestCSR(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	for range 50 {
		rows, cols := 1+rng.IntN(12), 1+rng.IntN(12)
		s := sparse(t, rng, rows, cols, rng.Float64())
		d, tr := s.Dense(), s.T()
		for i := range rows {
			for j := range cols {
				if s.At(i, j) != d.At(i, j) || tr.At(j, i) != d.At(i, j) {
					t.Fatalf("(%d,%d): sparse %v, dense %v, transposed %v", i, j, s.At(i, j), d.At(i, j), tr.At(j, i))
				}
			}
		}
		if !tr.T().Equal(s) {
			t.Fatal("the transpose of the transpose is another matrix")
		}
		if _, err := mat.NewCSR(tr.Rows, tr.Cols, tr.RowPtr, tr.Col, tr.Val); err != nil {
			t.Fatal(err)
		}
	}
	a, b := sparse(t, rng, 2, 3, 0.8), sparse(t, rng, 4, 1, 0.8)
	block := mat.BlockDiagonal(a, b)
	if _, err := mat.NewCSR(6, 4, block.RowPtr, block.Col, block.Val); err != nil {
		t.Fatal(err)
	}
	for i := range 6 {
		for j := range 4 {
			want := float32(0)
			switch {
			case i < 2 && j < 3:
				want = a.At(i, j)
			case i >= 2 && j >= 3:
				want = b.At(i-2, j-3)
			}
			if got := block.At(i, j); got != want {
				t.Errorf("block diagonal (%d,%d) is %v, want %v", i, j, got, want)
			}
		}
	}
}

func TestBadCSRIsAnError(t *testing.T) {
	nan := float32(math.NaN())
	for want, c := range map[string]struct {
		rowPtr []int
		col    []int32
		val    []float32
	}{
		"do not fit together":   {[]int{0, 1}, []int32{0}, []float32{1}},
		"row 0: offsets 0 to 3": {[]int{0, 3, 2}, []int32{0, 1}, []float32{1, 1}},
		"row 1: column 0 after": {[]int{0, 0, 2}, []int32{1, 0}, []float32{1, 1}},
		"row 0: column 2 after": {[]int{0, 1, 1}, []int32{2}, []float32{1}},
		"value NaN":             {[]int{0, 1, 1}, []int32{0}, []float32{nan}},
	} {
		if _, err := mat.NewCSR(2, 2, c.rowPtr, c.col, c.val); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want one about %q", err, want)
		}
	}
	for want, entries := range map[string][]mat.Entry{
		"outside 2×2":           {{Row: 2}},
		"outside 2×2 ":          {{Col: -1}},
		"two entries for (1,0)": {{Row: 1}, {Row: 0}, {Row: 1, Val: 3}},
		"value":                 {{Val: float32(math.Inf(1))}},
	} {
		if _, err := mat.FromEntries(2, 2, entries); err == nil || !strings.Contains(err.Error(), strings.TrimSpace(want)) {
			t.Errorf("error is %v, want one about %q", err, want)
		}
	}
}

// Whatever the entries, the result is an error or a valid matrix.
func FuzzFromEntries(f *testing.F) {
	f.Add(3, 4, []byte{0, 1, 2, 2, 3, 4})
	f.Fuzz(func(t *testing.T, rows, cols int, raw []byte) {
		if rows > 1000 || cols > 1000 {
			return
		}
		var entries []mat.Entry
		for ; len(raw) >= 3; raw = raw[3:] {
			entries = append(entries, mat.Entry{Row: int(int8(raw[0])), Col: int(int8(raw[1])), Val: float32(raw[2])})
		}
		s, err := mat.FromEntries(rows, cols, entries)
		if err != nil {
			return
		}
		for _, e := range entries {
			if s.At(e.Row, e.Col) != e.Val {
				t.Fatalf("entry %+v became %v", e, s.At(e.Row, e.Col))
			}
		}
	})
}

func ExampleEngine_SpMM() {
	// Node 1 hears node 0 and node 2.
	s, err := mat.FromEntries(3, 3, []mat.Entry{{Row: 1, Col: 0, Val: 1}, {Row: 1, Col: 2, Val: 0.5}})
	if err != nil {
		fmt.Println(err)
		return
	}
	x := mat.NewDense(3, 1, []float32{10, 20, 30})
	y := mat.NewDense(3, 1, nil)
	mat.Serial.SpMM(y, s, x)
	fmt.Println(y.Data)
	// Output: [0 25 0]
}

func BenchmarkMul(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	x, w, y := normal(rng, 2500, 192), normal(rng, 192, 32), mat.NewDense(2500, 32, nil)
	for _, threads := range []int{1, 2} {
		b.Run(fmt.Sprintf("2500x192x32/threads=%d", threads), func(b *testing.B) {
			e := mat.NewEngine(threads)
			defer e.Close()
			b.ReportAllocs()
			for b.Loop() {
				e.Mul(y, x, w)
			}
			b.ReportMetric(2*2500*192*32*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
		})
	}
}
