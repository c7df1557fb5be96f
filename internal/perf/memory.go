package perf

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/wdgnn/wdgnn/mat"
)

// Tasks whose time is that of moving memory: the triad of STREAM, and one shift
// Y = S X on graphs of a million nodes, 32 features and ten million edges, whose
// neighbours lie anywhere, nearby, or mostly at a few hubs.

// triadValues is the length of each of the three arrays: 256 MiB, several times
// any cache.
const triadValues = 64 << 20

var streamTriad = Task{
	Name:  "stream_triad",
	Doc:   "the triad of STREAM, a = b + s·c, in float32, arrays of 256 MiB; bytes are counted as STREAM does, three arrays",
	Skips: "nothing: plain stores, each of which reads its line first",
	Peer:  "nothing: torch.add with alpha into an array that is there",
	New: func(env Env) (func(), map[string]any, error) {
		const cols = 1 << 10
		a, b, c := wide(cols), wide(cols), wide(cols)
		return func() { env.Engine.Blend(a, 1, b, 3, c, 0) }, map[string]any{"bytes": 3. * 4 * triadValues}, nil
	},
}

// wide returns an array of the triad, every page of it written.
func wide(cols int) mat.Dense {
	a := mat.NewDense(triadValues/cols, cols, nil)
	for i := range a.Data {
		a.Data[i] = 1
	}
	return a
}

// A shift of a large graph, with its bytes: every edge has an index and a value of
// four bytes each and reads a row of X, or every row of X is read once; offsets of
// the rows are eight bytes each, and every row of Y is written.
func shiftTask(name, doc string, columns func(rng *rand.Rand) (rowPtr []int, col []int32), once bool) Task {
	return Task{
		Name: name, Doc: doc,
		Skips: "nothing", Peer: "nothing: a sparse tensor in compressed rows with indices of 32 bits",
		New: func(env Env) (func(), map[string]any, error) {
			rng := env.stream("spmm")
			rowPtr, col := columns(rng)
			val := make([]float32, len(col))
			for e := range val {
				val[e] = rng.Float32() / largeDegree
			}
			s, err := mat.NewCSR(largeNodes, largeNodes, rowPtr, col, val)
			if err != nil {
				return nil, nil, err
			}
			const row = 4 * largeFeatures
			bytes := float64(s.NNZ()*(4+4+row) + largeNodes*(8+row))
			if once {
				bytes -= float64((s.NNZ() - largeNodes) * row)
			}
			x, y := normal(rng, largeNodes, largeFeatures), mat.NewDense(largeNodes, largeFeatures, nil)
			return func() { env.Engine.SpMM(y, s, x) },
				map[string]any{"nodes": largeNodes, "edges": s.NNZ(), "features": largeFeatures, "bytes": bytes}, nil
		},
	}
}

var spmmRandom = shiftTask("spmm_random",
	"one shift of 32 features on 1 M nodes and 10 M edges, neighbours anywhere; bytes are counted as gathered, a row of X an edge",
	regular(func(rng *rand.Rand, _, k int) int {
		return k*(largeNodes/largeDegree) + rng.IntN(largeNodes/largeDegree)
	}), false)

// spmmBand is how far away, in rows, neighbours of the banded graph may lie.
const spmmBand = 1000

var spmmBanded = shiftTask("spmm_banded",
	"the same, neighbours within 1000 rows; bytes are counted with each row of X once",
	regular(func(rng *rand.Rand, i, k int) int {
		const step = 2 * spmmBand / largeDegree
		first := min(max(i-spmmBand, 0), largeNodes-2*spmmBand)
		return first + k*step + rng.IntN(step)
	}), true)

var spmmScaleFree = shiftTask("spmm_scalefree",
	"the same, neighbours drawn by a power law of exponent 2.1 among shuffled rows; bytes are counted as gathered",
	scaleFree, false)

// regular draws ten ascending neighbours a row.
func regular(neighbor func(rng *rand.Rand, i, k int) int) func(rng *rand.Rand) ([]int, []int32) {
	return func(rng *rand.Rand) ([]int, []int32) {
		rowPtr, col := make([]int, largeNodes+1), make([]int32, largeNodes*largeDegree)
		for i := range largeNodes {
			rowPtr[i+1] = (i + 1) * largeDegree
			for k := range largeDegree {
				col[i*largeDegree+k] = int32(neighbor(rng, i, k))
			}
		}
		return rowPtr, col
	}
}

// scaleFree draws some ten million edges whose ends both follow a power law: the
// largest hub has tens of thousands of neighbours, most nodes have a few.
func scaleFree(rng *rand.Rand) ([]int, []int32) {
	const (
		first = 10.0            // rank of the largest hub
		rest  = 1 - 1/(2.1-1.0) // 1 less the exponent of the weights of ranks
	)
	low, high := math.Pow(first, rest), math.Pow(first+largeNodes, rest)
	place := rng.Perm(largeNodes)
	draw := func() int32 {
		rank := math.Pow(low+rng.Float64()*(high-low), 1/rest) - first
		return int32(place[min(int(rank), largeNodes-1)])
	}
	degree := make([]int, largeNodes)
	for rank := range largeNodes {
		share := (math.Pow(first+float64(rank+1), rest) - math.Pow(first+float64(rank), rest)) / (high - low)
		degree[place[rank]] = int(math.Round(share * largeNodes * largeDegree))
	}
	rowPtr, col := make([]int, largeNodes+1), make([]int32, 0, largeNodes*largeDegree)
	for i, n := range degree {
		from := len(col)
		for range n {
			col = append(col, draw())
		}
		slices.Sort(col[from:])
		col = col[:from+len(slices.Compact(col[from:]))]
		rowPtr[i+1] = len(col)
	}
	return rowPtr, col
}
