package recipe

// Kind is an architecture of the paper's tables.
type Kind string

// The architectures.
const (
	Filter   Kind = "filter"
	GNN      Kind = "gnn"
	WideDeep Kind = "wd-gnn"
	SGNN     Kind = "sgnn" // a GNN that is trained while links fail
)
