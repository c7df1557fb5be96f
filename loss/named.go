package loss

import "github.com/wdgnn/wdgnn/mat"

// Regression is a loss whose targets are values, one for each output. A value
// of it without targets is a kind of loss: With makes the loss of that kind for
// given targets. A loss of one's own that implements it can be trained with as
// those of this package are.
type Regression interface {
	Loss
	Targeted

	// With returns the loss with other targets and another mask; what else it
	// holds, such as a threshold, stays.
	//
	//	target: of the output's shape, NaN where it is not known   mask: one per row; nil means that every row carries a loss
	With(target mat.Dense, mask []bool) Regression

	// Validate reports targets that the loss cannot judge by.
	Validate() error
}

// named lists the losses that files and messages call by a name: the one place
// to enter another.
var named = []struct {
	name string
	kind Loss
}{
	{"cross-entropy", CrossEntropy{}},
	{"mse", MSE{}},
	{"l1", L1{}},
	{"smooth-l1", SmoothL1{}},
	{"hinge", Hinge{}},
	{"huber", Huber{}},
}

// Named returns the loss of that name without labels or targets, nil if there
// is none. It is [Targeted], and a [Regression] unless it judges classes.
func Named(name string) Loss {
	for _, n := range named {
		if n.name == name {
			return n.kind
		}
	}
	return nil
}

// Names returns the names that [Named] knows: all of them, or those of a
// [Regression] alone.
func Names(regression bool) []string {
	var names []string
	for _, n := range named {
		if _, ok := n.kind.(Regression); ok || !regression {
			names = append(names, n.name)
		}
	}
	return names
}
