package rule

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/wdgnn/wdgnn/conformal"
	"github.com/wdgnn/wdgnn/mat"
)

// State is everything that one node remembers between two steps: what its learner
// knows, how its gates and its sets or intervals did, and the answers that wait for
// their truth. It is one list of numbers, the same in checkpoints, in adapted models
// and in what is gathered from boxes:
//
//	1 (the form), the lengths of four parts, and the parts: learner, gates, sets, waiting answers
//
// A part of which there is nothing has length 0. A node restored from its state goes
// on with the same bits. Times are relative to a step that whoever stores a state
// names, the next one as a rule.
type State []float64

const stateForm = 1

// The parts of a State.
const (
	learnerPart = iota
	gatesPart
	setsPart
	waitingPart
	stateParts
)

// newState returns the state of these parts.
func newState(parts [stateParts][]float64) State {
	s := State{stateForm}
	for _, p := range parts {
		s = append(s, float64(len(p)))
	}
	for _, p := range parts {
		s = append(s, p...)
	}
	return s
}

// NewState returns the state of a node that knows its vectors alone, after so many updates.
func NewState(steps int, vectors Vectors) State {
	return newState([stateParts][]float64{learnerPart: vectorsOf(steps, vectors)})
}

// parts returns the parts of s, empty if there is no s. They are not copies.
func (s State) parts() (parts [stateParts][]float64, err error) {
	switch {
	case len(s) == 0:
		return parts, nil
	case s[0] != stateForm:
		return parts, fmt.Errorf("rule: state: the form is %v, this program reads %d; whoever wrote it is newer or older", s[0], stateForm)
	case !mat.Finite(s...):
		return parts, errors.New("rule: state: a number is not finite")
	}
	r := reader{rest: s[1:]}
	var lengths [stateParts]int
	for k := range lengths {
		lengths[k] = r.count()
	}
	for k, n := range lengths {
		parts[k] = r.take(n)
	}
	return parts, r.end("the parts of a state")
}

// part returns one of them, empty if s is none.
func (s State) part(k int) []float64 {
	parts, _ := s.parts()
	return parts[k]
}

// Gate returns what the first gate remembers; false if there is none.
func (s State) Gate() (GateState, bool) {
	r := reader{rest: s.part(gatesPart)}
	if len(r.rest) < gateNumbers {
		return GateState{}, false
	}
	return r.gate(0), true
}

// Steps returns how many updates a node made that has vectors.
func (s State) Steps() int {
	r := reader{rest: s.part(learnerPart)}
	return r.count()
}

// Params returns the first vector of a node that has vectors, its parameters; they
// belong to s.
func (s State) Params() []float64 {
	r := reader{rest: s.part(learnerPart)}
	r.take(2)
	return r.take(r.count())
}

// Scores returns how earlier answers of a node with so many sets or intervals turned
// out, see [conformal.Scores]; nil if it does not say.
func (s State) Scores(outputs int) [][]float64 { return conformal.Scores(s.part(setsPart), outputs) }

// MarshalText writes s as base64 of its numbers, 8 bytes each, little-endian.
func (s State) MarshalText() ([]byte, error) {
	raw := make([]byte, 0, 8*len(s))
	for _, v := range s {
		raw = binary.LittleEndian.AppendUint64(raw, math.Float64bits(v))
	}
	return base64.StdEncoding.AppendEncode(nil, raw), nil
}

// UnmarshalText reads what MarshalText writes. Whether it fits a node, Fits says.
func (s *State) UnmarshalText(text []byte) error {
	raw, err := base64.StdEncoding.DecodeString(string(text))
	if err == nil && len(raw)%8 != 0 {
		err = fmt.Errorf("%d bytes, want 8 for each number", len(raw))
	}
	if err != nil {
		return fmt.Errorf("rule: state: %w", err)
	}
	*s = make(State, len(raw)/8)
	for k := range *s {
		(*s)[k] = math.Float64frombits(binary.LittleEndian.Uint64(raw[8*k:]))
	}
	return nil
}

// reader hands out numbers until there are none.
type reader struct {
	rest []float64
	bad  bool
}

func (r *reader) next() float64 {
	if v := r.take(1); v != nil {
		return v[0]
	}
	return 0
}

// whole returns a whole number, 0 or more.
func (r *reader) whole() uint64 {
	v := r.next()
	if !(v >= 0 && v <= 1<<53) || v != math.Trunc(v) {
		r.bad = true
		return 0
	}
	return uint64(v)
}

// count is whole where an int has to hold it.
func (r *reader) count() int {
	v := r.whole()
	r.bad = r.bad || v > math.MaxInt
	return int(min(v, math.MaxInt))
}

// take returns the next n numbers, which are not a copy.
func (r *reader) take(n int) []float64 {
	if r.bad || n < 0 || n > len(r.rest) {
		r.bad = true
		return nil
	}
	v := r.rest[:n:n]
	r.rest = r.rest[n:]
	return v
}

// single writes the next numbers, which were float32, to dst.
func (r *reader) single(dst []float32) {
	for e, v := range r.take(len(dst)) {
		dst[e] = float32(v)
		r.bad = r.bad || math.Abs(v) > math.MaxFloat32
	}
}

// triangle writes the lower triangle of an n×n covariance, by rows, to dst, n×n.
func (r *reader) triangle(dst []float64, n int) {
	for a := range n {
		for c, v := range r.take(a + 1) {
			dst[a*n+c], dst[c*n+a] = v, v
		}
		r.bad = r.bad || !(dst[a*n+a] > 0)
	}
}

// end reports what kept everything from being read.
func (r *reader) end(what string) error {
	if r.bad || len(r.rest) > 0 {
		return fmt.Errorf("rule: state: the numbers are not those of %s", what)
	}
	return nil
}

func number(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

func widen(list []float64, values []float32) []float64 {
	for _, v := range values {
		list = append(list, float64(v))
	}
	return list
}

// State returns what the node remembers. Times are relative to the step next.
func (n *Node) State(next uint64) State {
	var parts [stateParts][]float64
	if n.answers != nil {
		parts = n.answers.parts(next)
	}
	list := vectorsOf(n.steps, n.now)
	if n.newton != nil {
		list = n.newton.state(list)
	}
	parts[learnerPart] = list
	return newState(parts)
}

// vectorsOf returns how many updates a node made, the number of its vectors, their
// length, and the vectors.
func vectorsOf(steps int, vectors Vectors) []float64 {
	list := []float64{float64(steps), float64(len(vectors)), float64(len(vectors[0]))}
	for _, v := range vectors {
		list = widen(list, v)
	}
	return list
}

// Restore gives the node a state, which may come from outside: an error says what does
// not fit, and leaves the node as it was. Of what the state does not speak begins anew.
func (n *Node) Restore(s State, next uint64) error {
	to, err := n.read(s, next)
	if err != nil {
		return err
	}
	for v, x := range to.now {
		copy(n.now[v], x)
	}
	n.observed.release()
	n.newton, n.steps = to.newton, to.steps
	if n.answers != nil {
		*n.answers = *to.answers
	}
	return nil
}

// Fits reports what keeps a state from being restored.
func (n *Node) Fits(s State) error {
	_, err := n.read(s, 0)
	return err
}

// read returns what Restore puts in the place of what the node has.
func (n *Node) read(s State, next uint64) (to Node, err error) {
	parts, err := s.parts()
	if err != nil {
		return to, err
	}
	if n.answers != nil {
		if to.answers, err = n.answers.restored(parts, next); err != nil {
			return to, err
		}
	}
	for range n.now {
		to.now = append(to.now, make([]float32, n.basis.Len()))
	}
	to.newton = n.unlearned()
	if len(parts[learnerPart]) == 0 {
		return to, nil
	}
	r := reader{rest: parts[learnerPart]}
	steps, vectors, length := r.count(), r.count(), r.count()
	if vectors != len(to.now) || length != n.basis.Len() {
		return to, fmt.Errorf("rule: state: %d×%d parameters, this node has %d×%d", vectors, length, len(to.now), n.basis.Len())
	}
	for _, x := range to.now {
		r.single(x)
	}
	to.steps = steps
	if n.newton != nil {
		if to.newton, err = n.newtonOf(&r); err != nil {
			return to, err
		}
	}
	return to, r.end("a node that learns " + n.config.how())
}

// how says by what a node learns, for an error.
func (c *Config) how() string {
	if c.Newton != nil {
		return "by second derivatives"
	}
	return "by its rule"
}

// Carry returns the state with which this node can go on from what a node of another
// basis learned, and false if nothing of it means anything here: it had other inputs,
// other outputs, another rank, or other neighbours that it weights one by one.
//
// What is kept is by how much the node's outputs differ from the trained ones, z x R:
//
//	x' = x R R'⁺      R, R': width×C of the two bases
//
// and, where features and outputs are written in the same coordinates, how sure it is
// of that; answers that wait for their truth stay where they fit. Where x' would be
// far longer than x, the taps hardly reach what was learned, and it is not kept.
func (n *Node) Carry(old *Node, next uint64) (State, bool) {
	f, from := n.basis, old.basis
	if len(old.now) != len(n.now) || f.inputs != from.inputs || f.rows != from.rows || f.outputs != from.outputs || f.width != from.width {
		return nil, false
	}
	same, hears := slices.Equal(f.root, from.root), old.Hearing() != nil || n.Hearing() != nil
	if hears && !(f.frame.reaches(from.frame) && f.ears[n.number].like(from.ears[n.number])) {
		return nil, false
	}
	var vectors Vectors
	for k, v := range old.now {
		vectors = append(vectors, f.rewrite(v, from, same))
		if f.Distance(vectors[k], nil) > mostStretch*from.Distance(v, nil) {
			return nil, false
		}
	}
	list := vectorsOf(old.steps, vectors)
	switch {
	case n.newton == nil:
	case old.newton != nil && f.frame.reaches(from.frame) && (hears || slices.Equal(f.frame.lower, from.frame.lower)):
		list = old.newton.state(list)
	default:
		list = n.unlearned().state(list)
	}
	was, err := old.State(next).parts()
	if err != nil {
		return nil, false
	}
	was[learnerPart] = list
	if s := newState(was); n.Fits(s) == nil {
		return s, true
	}
	s := newState([stateParts][]float64{learnerPart: list})
	return s, n.Fits(s) == nil
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

// What a second-order learner knows, in a State:
//
//	neighbours that it weights one by one and their number before; scale, τ, answers, age,
//	its two costs, links known (0 or 1), their number, links…
//	n, and unless that is 0: main, and fresh if age ≥ 0, each as
//	answers, mean (r·p numbers), lower triangle of P (n×n) by rows

// state appends what the learner knows to list.
func (n *newton) state(list []float64) []float64 {
	var heard []int
	if n.frame.ear != nil {
		heard = n.frame.ear.Neighbors
	}
	list = append(list, float64(len(heard)))
	for _, j := range heard {
		list = append(list, float64(j))
	}
	l := n.now
	list = append(list, l.scale, l.tau, float64(l.told), float64(l.age), l.costs[0], l.costs[1], number(l.linked), float64(len(l.links)))
	for _, j := range l.links {
		list = append(list, float64(j))
	}
	size := side(l.main.cov)
	list = append(list, float64(size))
	if size > 0 {
		list = l.main.state(list, size)
	}
	if l.age >= 0 {
		list = l.fresh.state(list, size)
	}
	return list
}

func (b *belief) state(list []float64, n int) []float64 {
	list = append(append(list, float64(b.told)), b.mean...)
	for a := range n {
		list = append(list, b.cov[a*n:a*n+a+1]...)
	}
	return list
}

// newtonOf returns what state wrote of a learner of this node.
func (n *Node) newtonOf(r *reader) (*newton, error) {
	var heard []int
	for range min(r.count(), len(r.rest)) {
		heard = append(heard, r.count())
	}
	g, err := n.frameFor(heard)
	if err != nil {
		return nil, err
	}
	to := newNewton(g, n.config)
	l := to.now
	l.scale, l.tau, l.told, l.age = r.next(), r.next(), r.count(), int(r.next())
	l.costs = [2]float64{r.next(), r.next()}
	l.linked = r.next() != 0
	for range min(r.count(), len(r.rest)) {
		l.links = append(l.links, int32(r.next()))
	}
	size := r.count()
	if size != 0 && size != g.p && size != g.p*g.r || size == 0 && l.age >= 0 || size != 0 && !(l.scale > 0 && l.tau > 0) {
		r.bad = true
	}
	if r.bad || size == 0 {
		return to, nil
	}
	for k, l := range []*learnt{l, to.next} {
		l.main = belief{mean: make([]float64, g.r*g.p), cov: make([]float64, size*size)}
		l.fresh = belief{mean: make([]float64, g.r*g.p), cov: make([]float64, size*size)}
		if k > 0 {
			break
		}
		if l.main.read(r, size); l.age >= 0 {
			l.fresh.read(r, size)
		}
	}
	return to, nil
}

func (b *belief) read(r *reader, n int) {
	b.told = r.count()
	copy(b.mean, r.take(len(b.mean)))
	r.triangle(b.cov, n)
}
