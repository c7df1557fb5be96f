package kernel

import (
	"math"
	"math/rand/v2"
	"testing"
)

// fma32 is a·b + c rounded once to float32. The product is exact in float64;
// the sum is rounded to odd there, which makes the second rounding harmless.
func fma32(a, b, c float32) float32 {
	p := float64(a) * float64(b)
	z := float64(c)
	s := p + z
	if math.IsNaN(s) || math.IsInf(s, 0) {
		return float32(s)
	}
	back := s - p
	lost := (p - (s - back)) + (z - back) // what rounding took from p + z
	if lost != 0 && math.Float64bits(s)&1 == 0 {
		if (lost > 0) == (s > 0) {
			s = math.Float64frombits(math.Float64bits(s) + 1)
		} else {
			s = math.Float64frombits(math.Float64bits(s) - 1)
		}
	}
	return float32(s)
}

// madd is the multiply-add of a set: fused for the assembly, two roundings for
// the portable loops. With it each reference loop below is exact for both.
func madd(s *Set) func(a, b, c float32) float32 {
	if s.Family == Portable {
		return func(a, b, c float32) float32 { return float32(a*b) + c }
	}
	return fma32
}

// guarded is a slice with NaN before, after and between its rows: a loop that
// reads or writes outside its operand shows.
type guarded struct {
	all    []float32
	data   []float32
	rows   int
	cols   int
	stride int
}

const guard = 9

func newGuarded(rng *rand.Rand, rows, cols, gap int) guarded {
	g := guarded{rows: rows, cols: cols, stride: cols + gap}
	n := rows * g.stride
	g.all = make([]float32, n+2*guard)
	for i := range g.all {
		g.all[i] = float32(math.NaN())
	}
	g.data = g.all[guard : guard+n : guard+n]
	for i := range rows {
		for j := range cols {
			g.data[i*g.stride+j] = float32(rng.NormFloat64())
		}
	}
	return g
}

func (g guarded) at(i, j int) float32 { return g.data[i*g.stride+j] }

func (g guarded) checkGuards(t *testing.T, what string) {
	t.Helper()
	for k, v := range g.all {
		i := k - guard
		inside := i >= 0 && i < len(g.data) && i%g.stride < g.cols
		if !inside && v == v {
			t.Fatalf("%s: wrote %v outside the matrix, at %d of %d×%d", what, v, i, g.rows, g.cols)
		}
	}
}

func same(a, b float32) bool {
	return math.Float32bits(a) == math.Float32bits(b) || a != a && b != b
}

func eachSet(t *testing.T, f func(t *testing.T, s *Set)) {
	for _, o := range list {
		t.Run(o.name, func(t *testing.T) {
			if o.set == nil {
				t.Skipf("SKIPPED %s: %s", t.Name(), o.why)
			}
			f(t, o.set)
		})
	}
}

// sizes lie around every block size of the kernels.
var sizes = []int{0, 1, 2, 3, 5, 6, 7, 8, 9, 11, 12, 13, 15, 16, 17, 24, 31, 32, 33, 40, 48, 49, 63, 64, 65, 100}

func pick(rng *rand.Rand) int { return sizes[rng.IntN(len(sizes))] }

// fewer is n, or a twentieth of it in a short run: under an emulator, sums that
// are rounded once without the instruction for it take long.
func fewer(n int) int {
	if testing.Short() {
		return n / 20
	}
	return n
}

// A product equals its reference loop bit for bit, with or without FMA: no
// kernel regroups a sum.
func TestGemm(t *testing.T) {
	eachSet(t, func(t *testing.T, s *Set) {
		rng := rand.New(rand.NewPCG(1, 2))
		for m := 1; m <= 13; m++ { // every tile of rows, every rest of columns
			for n := 1; n <= 20; n++ {
				checkGemm(t, s, rng, m, n, 1+rng.IntN(4), 1+rng.IntN(2), rng.IntN(2))
			}
		}
		for range fewer(600) {
			checkGemm(t, s, rng, pick(rng), pick(rng), pick(rng), 1+rng.IntN(3), rng.IntN(4))
		}
		for n := 1; n <= 6; n++ { // few columns, in blocks of 16 rows or through memory of 1024 values
			for range fewer(20) {
				checkGemm(t, s, rng, 14+rng.IntN(80), n, 4*(3+rng.IntN(14)), 1, rng.IntN(2))
			}
			checkGemm(t, s, rng, 1100/n+rng.IntN(40), n, 16, 1, 1)
		}
		checkGemm(t, s, rng, 7, 33, 600, 1, 1) // inner index in several blocks
		checkGemm(t, s, rng, 120, 5, 257, 1, 0)
		checkGemm(t, s, rng, 50, 256+rng.IntN(40), 128+rng.IntN(200), 1, 1) // rows of B far apart
	})
}

// checkGemm checks the three forms of a product, for each way to start.
func checkGemm(t *testing.T, s *Set, rng *rand.Rand, m, n, k, panels, gap int) {
	t.Helper()
	m, n, k = max(m, 1), max(n, 1), max(k, 1)
	fma := madd(s)
	a, at := newGuarded(rng, panels*m, k, gap), newGuarded(rng, panels*k, m, gap)
	b, bt := newGuarded(rng, panels*k, n, gap), newGuarded(rng, n, k, gap)
	for p := range panels * k {
		for i := range m {
			at.data[p*at.stride+i] = a.at(p/k*m+i, p%k)
		}
		for j := range n {
			if p < k {
				bt.data[j*bt.stride+p] = b.at(p, j)
			}
		}
	}
	before, bias := newGuarded(rng, m, n, gap), line(rng, n)
	starts := map[string]func(i, j int) float32{
		"zeros": func(int, int) float32 { return 0 },
		"C":     before.at,
		"bias":  func(_, j int) float32 { return bias.data[j] },
	}
	for how, start := range starts {
		c := newGuarded(rng, m, n, gap)
		check := func(form string, panels int) {
			t.Helper()
			c.checkGuards(t, form)
			for i := range m {
				for j := range n {
					want := start(i, j)
					for p := range panels * k {
						want = fma(a.at(p/k*m+i, p%k), b.at(p, j), want)
					}
					if got := c.at(i, j); !same(got, want) {
						t.Fatalf("%s %d×%d×%d in %d panels from %s: element (%d,%d) is %v, want %v", form, m, k, n, panels, how, i, j, got, want)
					}
				}
			}
			copy(c.data, before.data)
		}
		copy(c.data, before.data)
		g := Product{C: c.data, LDC: c.stride, B: b.data, LDB: b.stride, M: m, N: n, K: k, Panels: panels}
		switch how {
		case "C":
			g.Start, g.StartLD = g.C, g.LDC
		case "bias":
			g.Start = bias.data
		}
		g.A, g.ARow, g.ACol, g.APanel = a.data, a.stride, 1, m*a.stride
		s.Gemm(g)
		check("A·B", panels)
		g.A, g.ARow, g.ACol, g.APanel = at.data, 1, at.stride, k*at.stride
		s.Gemm(g)
		check("Aᵀ·B", panels)
		if how != "bias" {
			s.GemmBT(c.data, c.stride, a.data, a.stride, bt.data, bt.stride, m, n, k, how == "C")
			check("A·Bᵀ", 1)
		}
	}
}

func randomCSR(rng *rand.Rand, rows, cols int, density float64) (rowPtr []int, col []int32, val []float32) {
	rowPtr = []int{0}
	for range rows {
		for j := range cols {
			if rng.Float64() < density {
				col = append(col, int32(j))
				val = append(val, float32(rng.NormFloat64()))
			}
		}
		rowPtr = append(rowPtr, len(col))
	}
	return rowPtr, col, val
}

func TestSpMM(t *testing.T) {
	eachSet(t, func(t *testing.T, s *Set) {
		rng := rand.New(rand.NewPCG(3, 4))
		for range 300 {
			checkSpMM(t, s, rng, 1+rng.IntN(30), 1+rng.IntN(30), max(pick(rng), 1)+rng.IntN(2)*64, rng.Float64(), rng.IntN(3))
		}
		for _, n := range []int{5, 13, 21, 30, 45, 48, 96, 124} { // X beyond the cache: prefetching kernels
			checkSpMM(t, s, rng, 40, 1<<18/n+1, n, 1e-4*float64(n), 0)
		}
		checkSpMM(t, s, rng, 5, 5, 20, 0, 0) // no entries at all
	})
}

func checkSpMM(t *testing.T, s *Set, rng *rand.Rand, rows, cols, n int, density float64, gap int) {
	t.Helper()
	fma := madd(s)
	rowPtr, col, val := randomCSR(rng, rows, cols, density)
	x := newGuarded(rng, cols, n, gap)
	y := newGuarded(rng, rows, n, gap)
	for i := range y.data {
		y.data[i] = float32(math.NaN())
	}
	lo := rng.IntN(rows + 1)
	hi := lo + rng.IntN(rows-lo+1)
	s.SpMM(y.data, y.stride, rowPtr, col, val, x.data, x.stride, lo, hi, n)
	y.checkGuards(t, "SpMM")
	for i := range rows {
		for j := range n {
			got := y.at(i, j)
			if i < lo || i >= hi {
				if got == got {
					t.Fatalf("SpMM wrote row %d, asked for rows %d to %d", i, lo, hi)
				}
				continue
			}
			want := float32(0)
			for e := rowPtr[i]; e < rowPtr[i+1]; e++ {
				want = fma(val[e], x.at(int(col[e]), j), want)
			}
			if !same(got, want) {
				t.Fatalf("SpMM %d×%d times %d columns: element (%d,%d) is %v, want %v", rows, cols, n, i, j, got, want)
			}
		}
	}
}

// line is one guarded row.
func line(rng *rand.Rand, n int) guarded { return newGuarded(rng, 1, n, 0) }

// Elementwise loops equal their reference expression bit for bit.
func TestElementwise(t *testing.T) {
	eachSet(t, func(t *testing.T, s *Set) {
		rng := rand.New(rand.NewPCG(5, 6))
		for _, n := range sizes {
			checkElementwise(t, s, rng, n)
		}
	})
}

func checkElementwise(t *testing.T, s *Set, rng *rand.Rand, n int) {
	t.Helper()
	fma := madd(s)
	a, b, c := float32(rng.NormFloat64()), float32(rng.NormFloat64()), float32(rng.NormFloat64())
	u, v := line(rng, n), line(rng, n)
	special := []float32{0, float32(math.Copysign(0, -1)), float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), 1e-40}
	for i, x := range special {
		if i < n/2 {
			u.data[i], v.data[n-1-i] = x, x
		}
	}
	check := func(name string, y guarded, want func(i int) float32) {
		t.Helper()
		y.checkGuards(t, name)
		for i, got := range y.data {
			if w := want(i); !same(got, w) {
				t.Fatalf("%s n=%d: element %d is %v, want %v", name, n, i, got, w)
			}
		}
	}
	y := line(rng, n)
	before := append([]float32(nil), y.data...)
	s.Axpy(y.data, a, u.data)
	check("Axpy", y, func(i int) float32 { return fma(a, u.data[i], before[i]) })

	y = line(rng, n)
	copy(before, y.data)
	s.Scale(y.data, a)
	check("Scale", y, func(i int) float32 { return before[i] * a })

	y = line(rng, n)
	s.Blend(y.data, a, u.data, b, v.data, c)
	check("Blend", y, func(i int) float32 { return fma(a, u.data[i], fma(b, v.data[i], c)) })

	for _, slope := range []float32{0, 0.1} {
		y = line(rng, n)
		s.LeakyReLU(y.data, u.data, slope)
		check("LeakyReLU", y, func(i int) float32 {
			switch x := u.data[i]; {
			case !(x < 0):
				return x
			case slope == 0:
				return 0
			default:
				return slope * x
			}
		})
		y = line(rng, n)
		s.LeakyReLUBack(y.data, u.data, v.data, slope, a)
		check("LeakyReLUBack", y, func(i int) float32 {
			switch {
			case v.data[i] > 0:
				return a * u.data[i]
			case slope == 0:
				return 0
			default:
				return slope * float32(a*u.data[i])
			}
		})
	}

	y = line(rng, n)
	s.TanhBack(y.data, u.data, v.data, a)
	check("TanhBack", y, func(i int) float32 { return float32(a*u.data[i]) * fma(-v.data[i], v.data[i], 1) })

	p, m, w := line(rng, n), line(rng, n), line(rng, n)
	for i := range w.data {
		w.data[i] *= w.data[i]
	}
	if n > 20 { // denormal means
		u.data[9], m.data[9], w.data[9] = 0, 1.1e-38, 1e-40
		u.data[10], m.data[10], w.data[10] = 0, -1e-39, 1.18e-38
	}
	p0, m0, w0 := append([]float32(nil), p.data...), append([]float32(nil), m.data...), append([]float32(nil), w.data...)
	step := AdamStep{Beta1: 0.9, Rest1: 0.1, Beta2: 0.999, Rest2: 0.001, Rate: 0.01, Unbias: 10, Epsilon: 1e-8}
	s.Adam(p.data, u.data, m.data, w.data, step)
	wantM := func(i int) float32 { return normal(fma(step.Beta1, m0[i], step.Rest1*u.data[i])) }
	wantV := func(i int) float32 {
		return normal(fma(step.Beta2, w0[i], step.Rest2*float32(u.data[i]*u.data[i])))
	}
	check("Adam m", m, wantM)
	check("Adam v", w, wantV)
	check("Adam p", p, func(i int) float32 {
		root := float32(math.Sqrt(float64(float32(wantV(i) * step.Unbias))))
		return p0[i] - float32(step.Rate*wantM(i))/(root+step.Epsilon)
	})
}

func TestColumnSums(t *testing.T) {
	eachSet(t, func(t *testing.T, s *Set) {
		rng := rand.New(rand.NewPCG(15, 16))
		for _, n := range sizes[1:] {
			checkColumnSums(t, s, rng, 1+rng.IntN(20), n)
		}
	})
}

func checkColumnSums(t *testing.T, s *Set, rng *rand.Rand, rows, n int) {
	t.Helper()
	x, y := newGuarded(rng, rows, n, rng.IntN(3)), line(rng, n)
	want := append([]float32(nil), y.data...)
	for i := range x.rows {
		for j := range want {
			want[j] += x.at(i, j)
		}
	}
	s.ColumnSums(y.data, x.data, x.stride, x.rows, n)
	y.checkGuards(t, "ColumnSums")
	for j, got := range y.data {
		if !same(got, want[j]) {
			t.Fatalf("sum of column %d of %d is %v, want %v", j, n, got, want[j])
		}
	}
}

func TestDot(t *testing.T) {
	eachSet(t, func(t *testing.T, s *Set) {
		rng := rand.New(rand.NewPCG(7, 8))
		for _, n := range append(sizes, 4096) {
			checkDot(t, s, rng, n)
		}
	})
}

func checkDot(t *testing.T, s *Set, rng *rand.Rand, n int) {
	t.Helper()
	x, y := line(rng, n), line(rng, n)
	want, scale := 0.0, 0.0
	for i := range n {
		p := float64(x.data[i]) * float64(y.data[i])
		want += p
		scale += math.Abs(p)
	}
	// Each of n multiply-adds rounds at most twice, by half a unit each time.
	if got := float64(s.Dot(x.data, y.data)); math.Abs(got-want) > float64(2*n)*0x1p-24*scale {
		t.Errorf("Dot of %d values is %v, want %v", n, got, want)
	}
}

// ulps returns |got - want| in units in the last place of want.
func ulps(got float32, want float64) float64 {
	if float64(got) == want {
		return 0
	}
	_, e := math.Frexp(want)
	return math.Abs(float64(got)-want) / math.Ldexp(1, max(e-24, -149))
}

// The stated error of tanh holds on a fine grid of all float32 values.
func TestTanhError(t *testing.T) {
	eachSet(t, func(t *testing.T, s *Set) {
		worst, at := 0.0, float32(0)
		x, y := make([]float32, 4099), make([]float32, 4099)
		step := 977 * uint32(600/fewer(600))
		for bits := uint32(0); bits < 0x7f800000; {
			for i := range x {
				x[i] = math.Float32frombits(bits | uint32(i&1)<<31)
				bits = min(bits+step, 0x7f800000)
			}
			s.Tanh(y, x)
			for i := range x {
				if u := ulps(y[i], math.Tanh(float64(x[i]))); u > worst {
					worst, at = u, x[i]
				}
			}
		}
		t.Logf("largest error of tanh: %.2f ulp, at %v", worst, at)
		if worst > tanhULP {
			t.Errorf("tanh(%v) is off by %.2f ulp, stated are %d", at, worst, tanhULP)
		}
		for _, c := range []struct{ x, want float32 }{{0, 0}, {float32(math.Inf(1)), 1}, {float32(math.Inf(-1)), -1}, {20, 1}, {-3e38, -1}} {
			s.Tanh(y[:1], []float32{c.x})
			if y[0] != c.want {
				t.Errorf("tanh(%v) = %v, want %v", c.x, y[0], c.want)
			}
		}
		nan := []float32{float32(math.NaN()), 1}
		s.Tanh(nan, nan)
		if nan[0] == nan[0] {
			t.Errorf("tanh(NaN) = %v", nan[0])
		}
	})
}

func checkTanh(t *testing.T, s *Set, rng *rand.Rand, n int, spread float32) {
	t.Helper()
	x, y := line(rng, n), line(rng, n)
	for i := range x.data {
		x.data[i] *= spread
	}
	s.Tanh(y.data, x.data)
	y.checkGuards(t, "Tanh")
	for i, got := range y.data {
		if u := ulps(got, math.Tanh(float64(x.data[i]))); u > tanhULP {
			t.Fatalf("tanh(%v) = %v is off by %.2f ulp", x.data[i], got, u)
		}
	}
}

// checkSoftmax returns the largest error of an exponential in ulp.
func checkSoftmax(t *testing.T, s *Set, rng *rand.Rand, n int, spread float32) (worst float64) {
	t.Helper()
	x, p := line(rng, n), line(rng, n)
	largest := float32(math.Inf(-1))
	for i := range x.data {
		x.data[i] *= spread
		largest = max(largest, x.data[i])
	}
	gotMax, gotSum := s.Softmax(p.data, x.data)
	p.checkGuards(t, "Softmax")
	if gotMax != largest {
		t.Fatalf("largest of %v is %v", x.data, gotMax)
	}
	sum := 0.0
	for i, v := range x.data {
		want := math.Exp(float64(v - largest))
		sum += want
		if want < 0x1p-126 {
			want = 0
		}
		worst = max(worst, ulps(p.data[i], want))
	}
	// Each of n terms has its own error, and each addition rounds once.
	if math.Abs(float64(gotSum)-sum) > (2*expULP+float64(n))*0x1p-24*sum {
		t.Fatalf("sum of %v is %v, want %v", x.data, gotSum, sum)
	}
	if worst > expULP {
		t.Errorf("exp is off by %.2f ulp, stated are %d", worst, expULP)
	}
	return worst
}

func TestSoftmax(t *testing.T) {
	eachSet(t, func(t *testing.T, s *Set) {
		rng := rand.New(rand.NewPCG(9, 10))
		worst := 0.0
		for range 3000 {
			worst = max(worst, checkSoftmax(t, s, rng, 1+rng.IntN(40), float32(math.Exp(rng.Float64()*5))))
		}
		t.Logf("largest error of exp: %.2f ulp", worst)
		for _, bad := range []float32{float32(math.NaN()), float32(math.Inf(1))} {
			for at := range 11 {
				x := make([]float32, 11)
				x[at] = bad
				if _, sum := s.Softmax(make([]float32, 11), x); sum == sum {
					t.Errorf("Softmax with %v at %d sums to %v, want NaN", bad, at, sum)
				}
			}
		}
	})
}

func TestLog(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	for range 10000 {
		x := float32(math.Exp(rng.NormFloat64() * 20))
		if x < 0x1p-126 || math.IsInf(float64(x), 0) {
			continue
		}
		if got, want := Log(x), math.Log(float64(x)); math.Abs(got-want) > 1e-15*max(1, math.Abs(want)) {
			t.Fatalf("Log(%v) = %v, want %v", x, got, want)
		}
	}
}

// The portable set gives the same bits on every architecture: this hash was
// not computed on one of them only, CI runs the test on amd64 and arm64.
func TestPortableBits(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	hash := fnv(14695981039346656037)
	add := hash.add
	draw := func(n int) []float32 {
		x := make([]float32, n)
		for i := range x {
			x[i] = float32(rng.Float64()*4 - 2)
		}
		return x
	}
	a, b, c := draw(7*9), draw(9*11), draw(7*11)
	portable.Gemm(Product{C: c, Start: c, A: a, B: b, LDC: 11, StartLD: 11, LDB: 11, ARow: 9, ACol: 1, M: 7, N: 11, K: 9, Panels: 1})
	add(c...)
	portable.GemmBT(c, 11, a, 9, draw(11*9), 9, 7, 11, 9, false)
	add(c...)
	rowPtr, col, val := randomCSR(rng, 20, 20, 0.3)
	y := draw(20 * 6)
	portable.SpMM(y, 6, rowPtr, col, val, draw(20*6), 6, 0, 20, 6)
	add(y...)
	portable.Tanh(y, y)
	add(y...)
	_, sum := portable.Softmax(y, y)
	add(sum)
	add(y...)
	logBits := math.Float64bits(Log(sum))
	add(math.Float32frombits(uint32(logBits)), math.Float32frombits(uint32(logBits>>32)))
	add(portable.Dot(y, draw(len(y))))
	m, v := draw(len(y)), make([]float32, len(y))
	portable.Adam(y, draw(len(y)), m, v, AdamStep{0.9, 0.1, 0.999, 0.001, 0.01, 10, 1e-8})
	add(y...)
	portable.Blend(y, 0.3, draw(len(y)), 0.7, m, 0.1)
	portable.TanhBack(y, m, y, 1)
	add(y...)
	if hash != portableBits {
		t.Errorf("hash of the portable results is %#x, want %#x", uint64(hash), uint64(portableBits))
	}
}

const portableBits = 0x89375db917eba1ae
