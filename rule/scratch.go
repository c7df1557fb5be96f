package rule

// Scratch is memory that nodes which never update at the same time may share: what
// an update needs and none remembers. Nodes of a large network are then small, and
// what they work in stays near. The zero Scratch works.
type Scratch struct {
	observed *observed
	spare    []float32
	outputs  []float64
	adapted  []float32 // what a node would answer with what it learned
	vectors  []float32 // not handed out yet
	nodes    int       // for how many nodes they were made last
}

// scratchNodes is for how many nodes vectors are made at once, where there are many.
const scratchNodes = 256

// share gives a node what it can share with others.
func (s *Scratch) share(n *Node, rows int) {
	f := n.basis
	if s.spare == nil || len(s.spare) != f.Len() || len(s.outputs) != f.outputs {
		s.spare, s.outputs = make([]float32, f.Len()), make([]float64, f.outputs)
		s.adapted = make([]float32, f.outputs)
	}
	n.step.Spare, n.scratch, n.adapted = s.spare, s.outputs, s.adapted
	if o := s.observed; o == nil || o.basis != f || o.config != n.config || o.per != rows {
		s.observed = newObserved(f, n.config, rows)
	}
	n.observed = s.observed
}

// states returns memory for the vectors of a node, now and next.
func (s *Scratch) states(f *Basis, c *Config) (now, next Vectors) {
	sent, kept := c.Vectors()
	count, length := sent+kept, f.Len()
	all := make(Vectors, 2*count)
	if need := 2 * count * length; len(s.vectors) < need {
		s.nodes = min(max(1, 2*s.nodes), scratchNodes)
		s.vectors = make([]float32, s.nodes*need)
	}
	for v := range all {
		all[v], s.vectors = s.vectors[:length:length], s.vectors[length:]
	}
	return all[:count:count], all[count:]
}
