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

	// Far, by row of Vectors, is what Basis.Far says of the first ones.
	Far []bool

	// Mixed, if not nil, is what Mix gives, by sent vector: whoever has the
	// vectors of all nodes mixes them in one product, to the same bits.
	Mixed [][]float32

	row mat.CSR // the weights as a matrix of one row
	ptr [2]int
}

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
