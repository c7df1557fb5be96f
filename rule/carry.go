package rule

import (
	"reflect"
	"slices"
)

// Carry returns what a node remembers that learned in another basis, as a node of
// this one can go on from it, and false if nothing of it means anything here: it had
// other inputs, other outputs, another rank, or other neighbours that it weights one
// by one.
//
// What is kept is by how much the node's outputs differ from the trained ones, z x R:
//
//	x' = x R R'⁺      R, R': width×C of the two bases
//
// and, where features and outputs are written in the same coordinates, how sure it is
// of that.
// Where x' would be far longer than x, the taps hardly reach what was learned, and it is
// not kept.
func (n *Node) Carry(m Memory, from *Basis) (Memory, bool) {
	f := n.basis
	if from == nil || len(m.Vectors) != len(n.now) ||
		f.inputs != from.inputs || f.rows != from.rows || f.outputs != from.outputs || f.width != from.width {
		return Memory{}, false
	}
	same, hears := slices.Equal(f.root, from.root), len(m.Heard) > 0 || n.Hearing() != nil
	if hears && !(f.frame.reaches(from.frame) && reflect.DeepEqual(f.ears[n.number], from.ears[n.number])) {
		return Memory{}, false
	}
	c := Memory{Steps: m.Steps, Heard: slices.Clone(m.Heard)}
	for _, v := range m.Vectors {
		x := f.rewrite(v, from, same)
		if f.Distance(x, nil) > mostStretch*from.Distance(v, nil) {
			return Memory{}, false
		}
		c.Vectors = append(c.Vectors, x)
	}
	if n.newton != nil && f.frame.reaches(from.frame) && (hears || slices.Equal(f.frame.lower, from.frame.lower)) {
		c.Newton = slices.Clone(m.Newton)
	}
	return c, n.Fits(c) == nil
}

// mostStretch is how many times as long as before a vector in other coordinates may be.
const mostStretch = 10

// rewrite returns a vector of another basis in the coordinates of this one.
func (f *Basis) rewrite(x []float32, from *Basis, same bool) []float32 {
	if same || len(x) != from.Len() {
		return slices.Clone(x)
	}
	effect := make([]float64, f.rows*f.outputs)
	from.Effect(effect, x)
	back := (&factors{m: f.outputs, r: f.width, root: f.root}).inverse() // 0 where the taps reach no output
	out := make([]float32, f.Len())
	for k := range f.rows {
		for w := range f.width {
			sum := 0.0
			for c, v := range effect[k*f.outputs : (k+1)*f.outputs] {
				sum += float64(v * back[c*f.width+w])
			}
			out[k*f.width+w] = float32(sum)
		}
	}
	return out
}

// reaches says whether outputs in both frames are in the same coordinates.
func (g *frame) reaches(o *frame) bool {
	return g != nil && o != nil && g.r == o.r && slices.Equal(g.reach, o.reach)
}
