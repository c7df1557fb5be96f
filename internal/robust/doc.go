// Package robust says which answers of a model survive what may happen to its
// network, and which link or node is the weak one.
//
// A [Question] is a model with signals on a graph and the nodes that answer.
// [Question.Lost] tries every lost link or node, or every two: exact, for what it
// says holds for the graphs that it ran and there are no others. [Question.Drop]
// draws outages and bounds, with a stated confidence, how often an answer stays as
// it is.
//
// # How a loss is tried
//
// The shift S' of the graph that remains is built as the model builds it, and every
// row of it is compared with that of S, bit for bit. Where rows differ, and at nodes
// that hear such nodes, hop by hop, values are computed anew; everywhere else they
// are what they were. Each row is the same sum in the same order as in a pass over
// the whole network, so answers have the bits of [gnn.WideDeep.Predict] on the graph
// that remains. Where S' differs everywhere, as with λmax of the spectral shift, that
// is a pass over the whole network, less what no answer reads.
//
// # Letters
//
//	N      rows of the shift: nodes, or nodes at the T steps of delayed filters
//	B      signals of a block, which are computed together
//	Z_k    Sᵏ X, kept as N×(B·F): all signals of a row side by side
//	R      rows that answer
package robust
