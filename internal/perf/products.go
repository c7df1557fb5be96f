package perf

import (
	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/mat"
)

// product is one of the three forms of a dense product.
type product struct {
	name, doc string
	m, k, n   int
	mul       func(e *mat.Engine, c, a, b mat.Dense)
	at, bt    bool // A, B are stored transposed
}

var (
	gemm = product{
		name: "gemm_2500_192_32", doc: "the dense product 2500×192 by 192×32", m: 2500, k: 192, n: 32,
		mul: (*mat.Engine).Mul,
	}.task(1)
	gemmBlock = product{
		name: "gemm_1000_24_32", doc: "the dense product 1000×24 by 24×32, as in a pass of flocking", m: 1000, k: 24, n: 32,
		mul: (*mat.Engine).Mul,
	}.task(0)
	gemmSquare = product{
		name: "gemm_1024_1024_1024", doc: "the dense product 1024×1024 by 1024×1024", m: 1024, k: 1024, n: 1024,
		mul: (*mat.Engine).Mul,
	}.task(0)
	gemmATB = product{
		name: "gemm_atb_192_2500_32", doc: "the dense product of (2500×192)ᵀ by 2500×32, the gradient of taps", m: 192, k: 2500, n: 32,
		mul: (*mat.Engine).MulATB, at: true,
	}.task(0)
	gemmABT = product{
		name: "gemm_abt_2500_32_192", doc: "the dense product 2500×32 by (192×32)ᵀ, the gradient of shifts", m: 2500, k: 32, n: 192,
		mul: (*mat.Engine).MulABT, bt: true,
	}.task(0)
)

func (p product) task(wanted float64) Task {
	return Task{
		Name: p.name, Doc: p.doc, Skips: "nothing", Peer: "nothing", Wanted: wanted,
		New: func(env Env) (func(), map[string]any, error) {
			rng := env.stream("gemm")
			shape := func(rows, cols int, transposed bool) mat.Dense {
				if transposed {
					rows, cols = cols, rows
				}
				return normal(rng, rows, cols)
			}
			a, b, c := shape(p.m, p.k, p.at), shape(p.k, p.n, p.bt), mat.NewDense(p.m, p.n, nil)
			return func() { p.mul(env.Engine, c, a, b) }, map[string]any{"flops": 2 * float64(p.m*p.k*p.n)}, nil
		},
	}
}

// A graph too large for any cache: ten neighbours a row, one from each of ten
// equal bands.
const (
	largeNodes    = 1_000_000
	largeDegree   = 10
	largeFeatures = 32
	largeOrder    = 3
)

var largeFilter = Task{
	Name:        "large_filter_forward",
	Doc:         "a filter of order 3 and 32 features on 1 M nodes and 10 M edges",
	Skips:       "keeps two shifted signals in memory, not all of them",
	Peer:        "keeps all shifted signals side by side for one product (usual way), or adds them one by one",
	Wanted:      3,
	WantedMany:  3,
	WantedBytes: 700e6,
	New: func(env Env) (func(), map[string]any, error) {
		const band = largeNodes / largeDegree
		rng := env.stream("large")
		rowPtr, col, val := make([]int, largeNodes+1), make([]int32, largeNodes*largeDegree), make([]float32, largeNodes*largeDegree)
		for i := range largeNodes {
			rowPtr[i+1] = (i + 1) * largeDegree
			for k := range largeDegree {
				col[i*largeDegree+k] = int32(k*band + rng.IntN(band))
				val[i*largeDegree+k] = rng.Float32() / largeDegree
			}
		}
		s, err := mat.NewCSR(largeNodes, largeNodes, rowPtr, col, val)
		if err != nil {
			return nil, nil, err
		}
		x, y := normal(rng, largeNodes, largeFeatures), mat.NewDense(largeNodes, largeFeatures, nil)
		f := gnn.NewFilter(largeFeatures, largeFeatures, largeOrder, false)
		for _, tap := range f.Taps {
			tap.CopyFrom(normal(rng, largeFeatures, largeFeatures))
		}
		tape := gnn.FilterTape{Engine: env.Engine}
		return func() { f.Apply(y, s, x, &tape) },
			map[string]any{"nodes": largeNodes, "edges": s.NNZ(), "features": largeFeatures, "order": largeOrder}, nil
	},
}
