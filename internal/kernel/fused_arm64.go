//go:build !purego

package kernel

import "math"

// fusedGo is the fused family in plain Go: the portable loops with every
// a*b + c fused, and with sums in eight lanes where the assembly has them.
var fusedGo = Set{
	Name:          "fusedgo",
	Family:        Fused,
	Gemm:          gemmFused,
	GemmBT:        gemmBTFused,
	ColumnSums:    columnSums,
	SpMM:          spmmFused,
	Axpy:          axpyFused,
	Scale:         scale,
	Dot:           dotFused,
	Blend:         blendFused,
	LeakyReLU:     leakyReLU,
	LeakyReLUBack: leakyReLUBack,
	Tanh:          tanhFused,
	TanhBack:      tanhBackFused,
	Softmax:       softmaxFused,
	Adam:          adamFused,
}

// fma is a·b + c rounded once. The language permits a compiler to fuse the two
// operations and does not oblige it to; on arm64 it does, wherever this is
// inlined. Tests compare every loop with sums that are rounded once by other
// means. An operand that is a product itself must be written float32(x*y), or
// the compiler may take it for the one to fuse.
func fma(a, b, c float32) float32 { return a*b + c }

// probe is 1 + 2⁻¹², whose square needs 25 bits.
var probe float32 = 1 + 0x1p-12

// fuses says whether this program was compiled so that fma rounds once.
func fuses() bool { return fma(probe, probe, -1) == 0x1p-11+0x1p-24 }

func gemmFused(g Product) {
	for i := range g.M {
		c := g.C[i*g.LDC : i*g.LDC+g.N]
		if g.Start == nil {
			clear(c)
		} else {
			copy(c, g.Start[i*g.StartLD:])
		}
		for t := range g.Panels {
			for p := range g.K {
				axpyFused(c, g.A[t*g.APanel+i*g.ARow+p*g.ACol], g.B[(t*g.K+p)*g.LDB:])
			}
		}
	}
}

func gemmBTFused(c []float32, ldc int, a []float32, lda int, b []float32, ldb, m, n, k int, accumulate bool) {
	for i := range m {
		ai := a[i*lda : i*lda+k]
		ci := c[i*ldc : i*ldc+n]
		for j := range ci {
			bj := b[j*ldb : j*ldb+k]
			sum := float32(0)
			if accumulate {
				sum = ci[j]
			}
			for p, v := range ai {
				sum = fma(v, bj[p], sum)
			}
			ci[j] = sum
		}
	}
}

func spmmFused(y []float32, ldy int, rowPtr []int, col []int32, val []float32, x []float32, ldx, lo, hi, n int) {
	for i := lo; i < hi; i++ {
		yi := y[i*ldy : i*ldy+n]
		clear(yi)
		for e := rowPtr[i]; e < rowPtr[i+1]; e++ {
			j := int(col[e])
			axpyFused(yi, val[e], x[j*ldx:j*ldx+n])
		}
	}
}

func axpyFused(y []float32, a float32, x []float32) {
	x = x[:len(y)]
	for i := range y {
		y[i] = fma(a, x[i], y[i])
	}
}

// lanes is how many sums a reduction keeps side by side.
const lanes = 8

// octet holds one value per lane.
type octet [lanes]float32

// madd computes s += x·y in each lane.
func (s *octet) madd(x, y []float32) {
	x, y = x[:lanes], y[:lanes]
	for l := range s {
		s[l] = fma(x[l], y[l], s[l])
	}
}

func (s *octet) add(x *octet) {
	for l := range s {
		s[l] += x[l]
	}
}

// sum adds halves of the lanes, then quarters, then the last two.
func (s *octet) sum() float32 {
	return (s[0] + s[4] + (s[2] + s[6])) + (s[1] + s[5] + (s[3] + s[7]))
}

// dotFused has four accumulators of eight lanes for blocks of 32 values; what
// is left goes to the first, with zeros behind the end.
func dotFused(x, y []float32) float32 {
	var acc [4]octet
	y = y[:len(x)]
	for ; len(x) >= len(acc)*lanes; x, y = x[len(acc)*lanes:], y[len(acc)*lanes:] {
		for a := range acc {
			acc[a].madd(x[a*lanes:], y[a*lanes:])
		}
	}
	for ; len(x) >= lanes; x, y = x[lanes:], y[lanes:] {
		acc[0].madd(x, y)
	}
	if len(x) > 0 {
		var tx, ty octet
		copy(tx[:], x)
		copy(ty[:], y)
		acc[0].madd(tx[:], ty[:])
	}
	acc[0].add(&acc[1])
	acc[2].add(&acc[3])
	acc[0].add(&acc[2])
	return acc[0].sum()
}

func blendFused(y []float32, a float32, u []float32, b float32, v []float32, c float32) {
	u, v = u[:len(y)], v[:len(y)]
	for i := range y {
		y[i] = fma(a, u[i], fma(b, v[i], c))
	}
}

// reduceFused returns n and expm1 r for x = n·ln 2 + r; see reduce.
func reduceFused(x float32) (n, expm1 float32) {
	n = fma(x, log2E, roundMagic) - roundMagic
	r := fma(-n, ln2Lo, fma(-n, ln2Hi, x))
	q := fma(taylor[0], r, taylor[1])
	q = fma(q, r, taylor[2])
	q = fma(q, r, taylor[3])
	q = fma(q, r, taylor[4])
	q = fma(q, r, taylor[5])
	return n, fma(float32(r*r), q, r)
}

func tanhFused(y, x []float32) {
	const sign = 1 << 31
	x = x[:len(y)]
	for i, v := range x {
		bits := math.Float32bits(v)
		a := min(math.Float32frombits(bits&^sign), tanhMax) // |x|
		n, e := reduceFused(2 * a)
		s := pow2(n)
		e = fma(s, e, s-1)
		y[i] = math.Float32frombits(math.Float32bits(e/(e+2)) | bits&sign)
	}
}

func tanhBackFused(dx, dy, y []float32, scale float32) {
	dy, y = dy[:len(dx)], y[:len(dx)]
	for i := range dx {
		dx[i] = float32(scale*dy[i]) * fma(-y[i], y[i], 1)
	}
}

// softmaxFused finds the largest value and adds the exponentials in eight
// lanes. Of two values that do not compare, the later one is taken as larger,
// as the instruction of amd64 does.
func softmaxFused(p, x []float32) (max, sum float32) {
	var top, total octet
	for l := range top {
		top[l] = float32(math.Inf(-1))
	}
	x = x[:len(p)]
	for at := 0; at < len(x); at += lanes {
		for l := range top {
			v := float32(math.Inf(-1))
			if at+l < len(x) {
				v = x[at+l]
			}
			top[l] = larger(top[l], v)
		}
	}
	for half := lanes / 2; half > 0; half /= 2 {
		for l := range half {
			top[l] = larger(top[l], top[l+half])
		}
	}
	max = top[0]
	for i, v := range x {
		n, e := reduceFused(v - max)
		if s := pow2(n); n < -126 {
			e = 0
		} else {
			e = fma(s, e, s)
		}
		p[i] = e
		total[i%lanes] += e
	}
	return max, total.sum()
}

// larger is a if a > b, otherwise b.
func larger(a, b float32) float32 {
	if a > b {
		return a
	}
	return b
}

func adamFused(p, g, m, v []float32, s AdamStep) {
	g, m, v = g[:len(p)], m[:len(p)], v[:len(p)]
	for i := range p {
		gi := g[i]
		mi := normal(fma(s.Beta1, m[i], float32(s.Rest1*gi)))
		vi := normal(fma(s.Beta2, v[i], float32(s.Rest2*float32(gi*gi))))
		m[i], v[i] = mi, vi
		root := float32(math.Sqrt(float64(float32(vi * s.Unbias))))
		p[i] -= float32(s.Rate*mi) / (root + s.Epsilon)
	}
}
