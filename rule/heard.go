package rule

import "github.com/wdgnn/wdgnn/mat"

// Heard is what a node has of itself and of the neighbours that it hears at
// step t: their vectors of step t, before anybody's update, in ascending order
// of nodes.
type Heard struct {
	Weights []float32   // [W_t]_ij
	Rows    []int32     // where node j's vectors stand in Vectors, ascending
	Vectors []mat.Dense // by sent vector; a row per node
	Self    int         // which of them is the node itself

	// Sizes, by row of Vectors, are what Basis.Sizes says of the first ones; nil
	// if none may stand out. Those of nodes that were not heard do not matter.
	Sizes []float64

	// Points, by row of Vectors, are what Basis.Points says of the first ones; nil
	// if nobody asks how far apart they are.
	Points []float64

	// Mixed, if not nil, is what Mix gives, by sent vector: whoever has the
	// vectors of all nodes mixes them in one product, to the same bits.
	Mixed [][]float32

	row mat.CSR // the weights as a matrix of one row
	ptr [2]int
}

// own returns [W_t]_ii, the weight that the node gives to itself: 1 if it hears
// nobody else, and within 0 and 1 whatever the weights are.
func (h *Heard) own() float64 { return min(max(float64(h.Weights[h.Self]), 0), 1) }

// Len returns how many nodes were heard, the node itself included.
func (h *Heard) Len() int { return len(h.Weights) }

// Vector returns sent vector v of the e-th node heard. It must not be changed.
func (h *Heard) Vector(e, v int) []float32 { return h.Vectors[v].Row(int(h.Rows[e])) }

// Mix writes Σ_j W_ij v_j to dst, overwritten: the mixture of the nodes' v-th
// vectors, summed in ascending order.
func (h *Heard) Mix(dst []float32, v int) {
	if h.Mixed != nil {
		copy(dst, h.Mixed[v])
		return
	}
	x := h.Vectors[v]
	h.ptr[1] = len(h.Weights)
	h.row = mat.CSR{Rows: 1, Cols: x.Rows, RowPtr: h.ptr[:], Col: h.Rows, Val: h.Weights}
	mat.Serial.SpMM(mat.NewDense(1, len(dst), dst), &h.row, x)
}

// Weights writes row i of (1-η)I + ηW to dst, given row i of W; self is the
// place of node i itself in it. dst may be w.
//
// The strength η says how much nodes are to agree, and keeps what W promises:
// rows still sum to 1, and columns if those of W do, so that mixing keeps the mean
// of all nodes whatever η. 1 draws all nodes to one set of taps. With a small one
// each has taps of its own, and hears of what others found where it has seen
// nothing itself.
func (c *Config) Weights(dst, w []float32, self int) {
	own := float64(w[self])
	for e, v := range w {
		dst[e] = float32(c.Mixing * float64(v))
	}
	dst[self] = float32((1 - c.Mixing) + float64(c.Mixing*own))
}
