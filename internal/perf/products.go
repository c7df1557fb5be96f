package perf

import (
	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/mat"
)

var gemm = Task{
	Name:   "gemm_2500_192_32",
	Doc:    "the dense product 2500×192 by 192×32",
	Skips:  "nothing",
	Peer:   "nothing",
	Wanted: 0.95,
	Flops:  2 * 2500 * 192 * 32,
	New: func(env Env) (func(), map[string]any, error) {
		rng := env.stream("gemm")
		a, b, c := normal(rng, 2500, 192), normal(rng, 192, 32), mat.NewDense(2500, 32, nil)
		return func() { env.Engine.Mul(c, a, b) }, nil, nil
	},
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
	Wanted:      6,
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
