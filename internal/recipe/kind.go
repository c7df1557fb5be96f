package recipe

import "github.com/wdgnn/wdgnn/gnn"

// Kind is an architecture of the paper's tables.
type Kind string

// The architectures.
const (
	Filter   Kind = "filter"
	GNN      Kind = "gnn"
	WideDeep Kind = "wd-gnn"
	SGNN     Kind = "sgnn"  // a GNN that is trained while links fail
	Blank    Kind = "blank" // a linear map of the shifted inputs that knows nothing yet; see Source.Blank
)

// KindOf returns the architecture that a network has.
func KindOf(c gnn.Config) Kind {
	switch {
	case len(c.Deep) == 0:
		return Filter
	case c.Wide == nil:
		return GNN
	}
	return WideDeep
}
