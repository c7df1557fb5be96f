// Package loss gives the cost J of an output and its gradient, for a whole
// graph and for one node.
//
// A [Loss] is J of eq. (5): it looks at the output of all nodes. A [Local] is
// J_i of eq. (8): it looks at one node, so that an agent can learn from what
// it knows itself. The losses of this package are both, and the two views
// agree: J is the mean of the J_i over the rows that carry a loss.
//
//	y, t     output and target
//	R        rows that carry a loss
//	C        columns of the output
//	λ, θ     strength of a penalty, parameters
//
// Deviation: eq. (8) averages over all N nodes. Here the mean runs over the
// rows that carry a loss, so that the size of a step does not depend on how
// many nodes happen to have no label.
//
// A target may be known in part: an element that is NaN costs nothing and has
// gradient 0, and a row of nothing else carries no loss.
//
// An output holds one row per node, and per sample in a batch of B: node i of
// sample b is row i·B+b. A loss knows nothing of that order; its labels or
// targets follow the rows of the output.
//
// Values are float64 and gradients float32. Sums run over rows and columns in
// ascending order and round after every operation, so [MSE], [L1], [SmoothL1],
// [Huber], [Hinge] and [Ridge] give the same bits on every architecture.
// [CrossEntropy] goes through the softmax of package mat, whose bits are
// promised per family of kernel sets.
//
// Shapes that disagree and labels that no column stands for are mistakes of
// the program and panic by name. Data from outside goes through the Validate
// method of its loss first. Numbers going bad are no mistake: a NaN in an
// output that carries a loss makes J NaN, and the gradient in that row means
// nothing then.
//
// Losses allocate nothing in steady state, keep no reference to the output,
// and may be used by any number of goroutines as long as nobody changes their
// labels or targets.
package loss
