package host

import (
	"fmt"
	"strings"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
)

// Cost says what a target means: the name of a loss that package loss knows, or
// Gradient.
type Cost string

// The costs that stand for the tasks, and that without targets: with Gradient
// the world tells the slope at the answer that was given, whatever cost is
// behind it.
const (
	CrossEntropy Cost = "cross-entropy" // target: a class, -1 for none
	MSE          Cost = "mse"           // target: what the outputs should have been
	Gradient     Cost = "gradient"
	Curved       Cost = "curved" // and how the cost bends there: as if it were a square
)

// costs returns the names of all costs.
func costs() []string { return append(loss.Names(false), string(Gradient), string(Curved)) }

// Validate reports a cost that does not exist.
func (c Cost) Validate() error {
	if c != Gradient && c != Curved && loss.Named(string(c)) == nil {
		return fmt.Errorf("host: no cost is called %q; try %s", c, strings.Join(costs(), ", "))
	}
	return nil
}

// Kind returns a cost of that kind without a target, for [agent.Plan].
func (c Cost) Kind() loss.Loss {
	if kind := loss.Named(string(c)); kind != nil {
		return kind
	}
	if c == Curved {
		return loss.MSE{}
	}
	return slope{}
}

// told returns what a line says of the cost of an answer of so many outputs, a
// loss of one row; nil if it says nothing. Target and gradient are kept.
func (c Cost) told(n *NodeLine, outputs int) (loss.Loss, error) {
	if n.Target == nil && n.Gradient == nil {
		return nil, nil
	}
	if c == Gradient || c == Curved {
		if len(n.Gradient) != outputs || !mat.Finite(n.Gradient...) || n.Target != nil {
			return nil, fmt.Errorf("host: node %d: a gradient of %d values and a target of %d, want %d finite values and no target",
				n.Node, len(n.Gradient), len(n.Target), outputs)
		}
		s := slope{n.Cost, n.Gradient}
		if c == Gradient {
			return s, nil
		}
		if !(n.Curvature > 0) || !mat.Finite(n.Curvature) {
			return nil, fmt.Errorf("host: node %d: a curvature of %v, want a number above 0", n.Node, n.Curvature)
		}
		return bent{s, n.Curvature}, nil
	}
	kind, values := c.Kind().(loss.Regression)
	if n.Gradient != nil || !values && !mat.Finite(n.Target...) {
		return nil, fmt.Errorf("host: node %d: want a finite target and no gradient for the cost %s", n.Node, c)
	}
	if !values {
		return class(n, outputs)
	}
	if len(n.Target) != outputs {
		return nil, fmt.Errorf("host: node %d: a target of %d values, want %d", n.Node, len(n.Target), outputs)
	}
	if !loss.Known(n.Target) {
		return nil, nil
	}
	j := kind.With(mat.NewDense(1, outputs, n.Target), nil)
	return j, j.Validate()
}

// square is a cost with memory of its own: that of all targets known, by far the
// most frequent, needs none for each answer.
type square struct{ loss.MSE }

// told sets the cost to what a line says, if it is as usual.
func (s *square) told(n *NodeLine, outputs int) bool {
	if n.Gradient != nil || len(n.Target) != outputs || !mat.Finite(n.Target...) {
		return false
	}
	s.Target = mat.Dense{Rows: 1, Cols: outputs, Stride: outputs, Data: n.Target}
	return true
}

// class is told for a line whose target is a class; nil for the class -1.
func class(n *NodeLine, outputs int) (loss.Loss, error) {
	if len(n.Target) != 1 {
		return nil, fmt.Errorf("host: node %d: a target of %d values, want the number of a class", n.Node, len(n.Target))
	}
	class := int32(n.Target[0])
	if float32(class) != n.Target[0] || class < loss.NoLabel || class >= int32(outputs) {
		return nil, fmt.Errorf("host: node %d: class %v of %d", n.Node, n.Target[0], outputs)
	}
	if class == loss.NoLabel {
		return nil, nil
	}
	return loss.CrossEntropy{Labels: []int32{class}}, nil
}

// slope is a cost of which the world told value and gradient at the answer.
type slope struct {
	value    float64
	gradient []float32
}

var _ loss.Local = slope{}

// Sloped says that what other answers would have cost is not known.
func (slope) Sloped() {}

// EvalNode implements [loss.Local].
func (s slope) EvalNode(_ int, dy, _ []float32) float64 {
	copy(dy, s.gradient)
	return s.value
}

// Eval implements [loss.Loss].
func (s slope) Eval(dy, _ mat.Dense) float64 {
	if !dy.Empty() {
		copy(dy.Row(0), s.gradient)
	}
	return s.value
}

// bent is a slope with the curvature c there: the answer that is best by both is y - g/c.
type bent struct {
	slope
	curvature float64
}

// about returns the squared error that says the same of an answer as told, if told is bent.
func about(told loss.Loss, answer []float32) loss.Loss {
	b, ok := told.(bent)
	if !ok {
		return told
	}
	target := mat.NewDense(1, len(answer), nil)
	for k, y := range answer {
		target.Data[k] = float32(float64(y) - float64(b.gradient[k])/b.curvature)
	}
	return loss.MSE{Target: target}
}

// links converts what a line says of neighbours.
func links(list []Link) []agent.Link {
	out := make([]agent.Link, len(list))
	for k, l := range list {
		out[k] = agent.Link(l)
	}
	return out
}
