package kernel

import "math"

// portable is the specification of every loop. The conversions float32(a*b)
// are not decoration: without them the compiler may fuse a multiply with the
// add that follows on some architectures, and bits would differ.
var portable = Set{
	Name:          "portable",
	Family:        Portable,
	Gemm:          gemm,
	GemmBT:        gemmBT,
	ColumnSums:    columnSums,
	SpMM:          spmm,
	Axpy:          axpy,
	Scale:         scale,
	Dot:           dot,
	Blend:         blend,
	LeakyReLU:     leakyReLU,
	LeakyReLUBack: leakyReLUBack,
	Tanh:          tanh,
	TanhBack:      tanhBack,
	Softmax:       softmax,
	Adam:          adam,
}

func gemm(g Product) {
	for i := range g.M {
		c := g.C[i*g.LDC : i*g.LDC+g.N]
		if g.Start == nil {
			clear(c)
		} else {
			copy(c, g.Start[i*g.StartLD:])
		}
		for t := range g.Panels {
			for p := range g.K {
				axpy(c, g.A[t*g.APanel+i*g.ARow+p*g.ACol], g.B[(t*g.K+p)*g.LDB:])
			}
		}
	}
}

func columnSums(y, x []float32, ldx, rows, n int) {
	for i := range rows {
		for j, v := range x[i*ldx : i*ldx+n] {
			y[j] += v
		}
	}
}

func gemmBT(c []float32, ldc int, a []float32, lda int, b []float32, ldb, m, n, k int, accumulate bool) {
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
				sum += float32(v * bj[p])
			}
			ci[j] = sum
		}
	}
}

func spmm(y []float32, ldy int, rowPtr []int, col []int32, val []float32, x []float32, ldx, lo, hi, n int) {
	for i := lo; i < hi; i++ {
		yi := y[i*ldy : i*ldy+n]
		clear(yi)
		for e := rowPtr[i]; e < rowPtr[i+1]; e++ {
			j := int(col[e])
			axpy(yi, val[e], x[j*ldx:j*ldx+n])
		}
	}
}

func axpy(y []float32, a float32, x []float32) {
	x = x[:len(y)]
	for i := range y {
		y[i] += float32(a * x[i])
	}
}

func scale(x []float32, a float32) {
	for i := range x {
		x[i] *= a
	}
}

func dot(x, y []float32) float32 {
	y = y[:len(x)]
	sum := float32(0)
	for i := range x {
		sum += float32(x[i] * y[i])
	}
	return sum
}

func blend(y []float32, a float32, u []float32, b float32, v []float32, c float32) {
	u, v = u[:len(y)], v[:len(y)]
	for i := range y {
		t := float32(b*v[i]) + c
		y[i] = float32(a*u[i]) + t
	}
}

func leakyReLU(y, x []float32, slope float32) {
	x = x[:len(y)]
	for i, v := range x {
		if v < 0 {
			v = leak(v, slope)
		}
		y[i] = v
	}
}

func leakyReLUBack(dx, dy, y []float32, slope, scale float32) {
	dy, y = dy[:len(dx)], y[:len(dx)]
	for i := range dx {
		d := scale * dy[i]
		if !(y[i] > 0) {
			d = leak(d, slope)
		}
		dx[i] = d
	}
}

// leak is slope·v, and exactly +0 for the ReLU, even where v is infinite.
func leak(v, slope float32) float32 {
	if slope == 0 {
		return 0
	}
	return slope * v
}

func tanh(y, x []float32) {
	x = x[:len(y)]
	for i, v := range x {
		y[i] = tanh1(v)
	}
}

func tanhBack(dx, dy, y []float32, scale float32) {
	dy, y = dy[:len(dx)], y[:len(dx)]
	for i := range dx {
		dx[i] = float32(scale*dy[i]) * (1 - float32(y[i]*y[i]))
	}
}

func softmax(p, x []float32) (max, sum float32) {
	x = x[:len(p)]
	max = x[0]
	for _, v := range x[1:] {
		if v > max {
			max = v
		}
	}
	for i, v := range x {
		p[i] = exp1(v - max)
		sum += p[i]
	}
	return max, sum
}

func adam(p, g, m, v []float32, s AdamStep) {
	g, m, v = g[:len(p)], m[:len(p)], v[:len(p)]
	for i := range p {
		gi := g[i]
		mi := float32(s.Beta1*m[i]) + float32(s.Rest1*gi)
		vi := float32(s.Beta2*v[i]) + float32(s.Rest2*float32(gi*gi))
		mi, vi = normal(mi), normal(vi)
		m[i], v[i] = mi, vi
		root := float32(math.Sqrt(float64(float32(vi * s.Unbias))))
		p[i] -= float32(s.Rate*mi) / (root + s.Epsilon)
	}
}

// normal is x, or 0 if x is denormal.
func normal(x float32) float32 {
	if -minNormal < x && x < minNormal {
		return 0
	}
	return x
}

const minNormal = 0x1p-126
