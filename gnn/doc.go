// Package gnn holds the paper's models, forward and backward by hand: graph
// filters, graph neural networks, and both in one, the wide and deep graph
// neural network with a local readout. They are eq. (3), delayed eq. (24), eq.
// (4) and eq. (2). [WideDeep.Predict] is the answer to a signal; what training
// and learning need stands behind it.
//
// Letters: N nodes, F input features, G output features, K the order of a
// filter (it has K+1 taps), L layers, C readout outputs, B samples in a batch,
// S the graph shift, Z_k = SᵏX a shifted signal, A_k and B_ℓk taps of the wide
// part and of layer ℓ. A gradient is called d and the name of what it is of.
//
// # Batches
//
// B signals on one graph are one matrix of N·B rows, node by node: row i·B+b
// is node i of sample b. Read as N×(B·F) the same memory is what one graph
// shift of the whole batch needs; read as (N·B)×F it is what the taps need. A
// batch of samples that each have a graph of their own is one block-diagonal
// shift ([mat.BlockDiagonal]) and B = 1; a trajectory on a graph that changes
// at every step is one space-time shift ([graph.SpaceTime]) and B = 1. Every
// pass finds B as the number of rows of the signal over that of the shift.
//
// # Compute only what is read
//
// The wide part and the first layer read the same shifted inputs, which do not
// depend on parameters: an [Input] holds them, computed once per dataset if
// the graph is fixed. If a loss reads few nodes, [Rows] makes the last filter
// produce those rows alone. That regroups sums and agrees with the full pass
// within 1e-5; without Rows every product is the one a node computes alone,
// bit for bit.
//
// # Memory
//
// Models hold parameters and nothing else. What a pass must remember lives in
// a tape, which grows to the largest pass it has seen and allocates nothing
// after that. Passes over one model may run concurrently, a tape each.
package gnn
