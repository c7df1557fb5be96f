package kernel

// Set is one implementation of every loop. Its functions keep no state, may
// be called concurrently, and allocate nothing.
type Set struct {
	Name   string // "avx512", "avx2" or "portable"
	Family string // whose bits these are: Fused or Portable

	// Gemm computes a product; see Product.
	Gemm func(p Product)

	// GemmBT computes C = A Bᵀ, or C += A Bᵀ if accumulate is set:
	//
	//	c[i,j] (+)= Σ_{p<k} a[i*lda + p] · b[j*ldb + p]            p ascending
	//
	//	C: m×n   A: m×k   B: n×k
	GemmBT func(c []float32, ldc int, a []float32, lda int, b []float32, ldb, m, n, k int, accumulate bool)

	// ColumnSums computes y[j] += Σ_i x[i*ldx + j], i ascending, for n
	// columns and rows rows.
	ColumnSums func(y, x []float32, ldx, rows, n int)

	// SpMM computes rows lo ≤ i < hi of Y = S X, S in compressed rows:
	//
	//	y[i,j] = Σ_{e in row i} val[e] · x[col[e],j]               e ascending
	//
	// Y and X have n columns.
	SpMM func(y []float32, ldy int, rowPtr []int, col []int32, val []float32, x []float32, ldx, lo, hi, n int)

	// Axpy computes y[i] += a·x[i].
	Axpy func(y []float32, a float32, x []float32)

	// Scale computes x[i] *= a.
	Scale func(x []float32, a float32)

	// Dot returns Σ x[i]·y[i]. Sets may regroup the sum, each in its own
	// fixed way.
	Dot func(x, y []float32) float32

	// Blend computes y[i] = a·u[i] + (b·v[i] + c), eq. (2) of the paper.
	Blend func(y []float32, a float32, u []float32, b float32, v []float32, c float32)

	// LeakyReLU computes y[i] = x[i] if x[i] ≥ 0, slope·x[i] if x[i] < 0.
	// NaN stays NaN. A slope of exactly 0 is the ReLU.
	LeakyReLU func(y, x []float32, slope float32)

	// LeakyReLUBack computes dx[i] = scale·dy[i], times slope unless y[i] > 0.
	LeakyReLUBack func(dx, dy, y []float32, slope, scale float32)

	// Tanh computes y[i] = tanh x[i] within tanhULP units in the last place.
	// NaN stays NaN.
	Tanh func(y, x []float32)

	// TanhBack computes dx[i] = scale·dy[i]·(1 - y[i]²).
	TanhBack func(dx, dy, y []float32, scale float32)

	// Softmax writes p[i] = exp(x[i] - max x) and returns max x and Σ p[i].
	// The exponential is within expULP units in the last place. Sets may
	// regroup the sum.
	Softmax func(p, x []float32) (max, sum float32)

	// Adam takes one step of Adam on p, with gradient g and moments m, v:
	//
	//	m = β₁·m + (1-β₁)·g
	//	v = β₂·v + (1-β₂)·g²
	//	p = p - rate·m / (√(v·unbias) + ε)
	//
	// Means below the smallest normal number become 0: those of a parameter
	// without gradient decay for ever, and denormal numbers are slow.
	Adam func(p, g, m, v []float32, s AdamStep)
}

// Product is C = start + Σ_t A_t B_t, all matrices in one pass:
//
//	c[i*LDC + j] = start[i*StartLD + j] + Σ_{t<Panels} Σ_{p<K} a[t*APanel + i*ARow + p*ACol] · b[(t*K+p)*LDB + j]
//
// with t, and p within it, ascending. C is M×N, each A_t is M×K, and the B_t,
// K×N each, follow each other. M, N, K and Panels are at least 1.
//
//	ARow = lda, ACol = 1     A as it is
//	ARow = 1, ACol = lda     A transposed
//	Start nil                zeros
//	Start = C                add to what is there
//	StartLD = 0              the same row for all, a bias
type Product struct {
	C     []float32
	Start []float32
	A     []float32
	B     []float32

	LDC, StartLD, LDB  int
	ARow, ACol, APanel int
	M, N, K, Panels    int
}

// AdamStep holds the scalars of one Adam step.
type AdamStep struct {
	Beta1, Rest1 float32 // β₁, 1-β₁
	Beta2, Rest2 float32 // β₂, 1-β₂
	Rate         float32 // step size divided by 1-β₁ᵗ
	Unbias       float32 // 1/(1-β₂ᵗ)
	Epsilon      float32 // ε
}

// tanhULP and expULP bound the error of Tanh and of the exponential inside
// Softmax, in units in the last place of the exact result, for all sets.
const (
	tanhULP = 4
	expULP  = 2
)
