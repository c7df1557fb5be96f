package rule

import (
	"errors"
	"fmt"

	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
)

// ErrDiverged says that an update would have left the range of numbers, or the
// limit of the configuration. The parameters are those before it.
var ErrDiverged = errors.New("online learning diverged: the parameters are those of the last good step; try a smaller step size")

// Node is the learner of one node, or, with several rows of observations and
// nobody to hear, of a whole network. A step is Give, Tell, Step, and Commit or Refuse;
// see the package comment. It is not safe for concurrent use.
type Node struct {
	basis    *Basis
	config   *Config
	rule     Rule
	observed *observed
	now      Vectors
	next     Vectors
	step     Step
	newton   *newton  // nil unless it learns by second derivatives
	number   int      // see NodeConfig
	answers  *Answers // nil before it gives one, if it always answers with what it learned

	told     bool   // something was, since the last Step
	leftOut  int    // neighbours of the last Step
	believed *Heard // what was heard, without them; nil until there is one
	self     *Heard // nil until it hears nobody

	local   local // the cost of the current step, if it is no loss.Targeted
	scratch []float64
	adapted []float32
	row     [1]int32
	steps   int
}

// NodeConfig says what a node is made of.
type NodeConfig struct {
	Basis  *Basis
	Config *Config // valid; not changed
	Rows   int     // observed per step at most
	Number int     // of the node, by which what it heard in training is found

	// Answers says that the node gives answers that its gate, sets and intervals are
	// about, or that are judged late, if Config has any of that. Scores are how earlier
	// ones turned out; see conformal.Node.Begin. Lists of another number are passed over.
	Answers bool
	Scores  [][]float64

	// Now and Next are the memory of the node's vectors, both of Vectors(config)
	// vectors of Basis.Len values; nil makes them.
	Now, Next Vectors

	// Scratch is shared with other nodes that never update at the same time; nil
	// makes one.
	Scratch *Scratch
}

// NewNode returns a learner at 𝒜†.
func NewNode(c NodeConfig) *Node {
	f := c.Basis
	n := &Node{
		basis: f, config: c.Config, rule: c.Config.rule(), now: c.Now, next: c.Next, number: c.Number,
	}
	s := c.Scratch
	if s == nil {
		s = new(Scratch)
	}
	s.share(n, c.Rows)
	if c.Now == nil {
		n.now, n.next = s.states(f, c.Config)
	}
	n.step.Cost = n.observed
	if n.newton = n.unlearned(); c.Answers {
		n.answers = NewAnswers(f, c.Config, c.Scores)
	}
	return n
}

// unlearned returns the part that learns by second derivatives as it begins, nil if there is none.
func (n *Node) unlearned() *newton {
	g := n.basis.frame
	if n.config.Newton == nil {
		return nil
	}
	if e := n.basis.ears[n.number]; e != nil {
		g = g.hearing(e)
	}
	return newNewton(g, n.config)
}

// rule returns the rule that c asks for.
func (c *Config) rule() Rule {
	if c.Rule != nil {
		return c.Rule
	}
	return Descent{StepSize: c.StepSize}
}

// Vectors returns how many vectors a node sends and keeps under c. The first is
// x_i; one that learns by second derivatives keeps it to itself.
func (c *Config) Vectors() (sent, kept int) {
	if c.Newton != nil {
		return 0, 1
	}
	r := c.rule()
	return r.Sent(), r.Kept()
}

// Answers returns what the node answers with; nil before it gives an answer, if it
// always answers with what it learned.
func (n *Node) Answers() *Answers { return n.answers }

// Basis returns the coordinates of Params.
func (n *Node) Basis() *Basis { return n.basis }

// Vectors returns those of the node, to which they belong.
func (n *Node) Vectors() Vectors { return n.now }

// Steps returns how many updates the node made.
func (n *Node) Steps() int { return n.steps }

// Learned says whether the node has learned from an answer.
func (n *Node) Learned() bool {
	if n.newton != nil {
		return n.newton.knows()
	}
	return n.steps > 0
}

// Params returns x_i. It belongs to the node.
func (n *Node) Params() []float32 { return n.now[0] }

// Answer writes what the node answers at step t to y, overwritten, and changes nothing:
// what it learned makes of z and y†, as far as its gate lets it.
func (n *Node) Answer(y []float32, t uint64, base, z []float32) {
	if n.answers == nil {
		n.Predict(y, base, z)
		return
	}
	n.Predict(n.adapted, base, z)
	n.answers.Answer(t, y, n.adapted, base)
}

// Give is Answer, and keeps what the answer was made with until Tell says what it cost.
// A y of nil is for those who do not want to know. Steps ascend.
func (n *Node) Give(y []float32, t uint64, base, z []float32) {
	if n.answers == nil {
		n.answers = plainAnswers(n.basis, 0)
	}
	if y != nil || n.answers.Gated() {
		n.Predict(n.adapted, base, z)
	}
	n.answers.Give(t, y, n.adapted, base, z)
}

// Tell says what the answer that was given at step t cost, row of j, which must have
// passed Check. The node learns from it in the next Step. It is false if no such answer
// waits, or the row carries no cost.
func (n *Node) Tell(t uint64, j loss.Loss, row int) bool {
	g, ok := n.answers.Judge(t, j.(loss.Local), row)
	switch {
	case !ok:
	case n.told:
		n.ObserveMore(g.Inputs, g.Base, row, j)
	default:
		n.row[0], n.told = int32(row), true
		n.Observe(mat.NewDense(1, len(g.Inputs), g.Inputs), mat.NewDense(1, len(g.Base), g.Base), n.row[:], j)
	}
	return ok
}

// Predict writes what the node would answer with what it learned to y, overwritten;
// see [Basis.Predict].
func (n *Node) Predict(y, base, z []float32) {
	if n.newton != nil && n.newton.knows() {
		n.newton.predict(y, base, z)
		return
	}
	n.basis.Predict(y, base, z, n.now[0], n.scratch)
}

// Check reports whether a node under this configuration can learn from j.
func (n *Node) Check(j loss.Loss) error {
	if j == nil {
		return errors.New("rule: no cost; a step that costs nothing is a cost of 0")
	}
	if _, ok := j.(loss.Local); n.newton != nil && !ok {
		return fmt.Errorf("rule: newton needs the cost of every node, and a %T has none: it must be a loss.Local", j)
	}
	return nil
}

// Observe takes in what the step brought: the shifted inputs and base outputs
// of the rows that the node answers for, none if it has no output, and their
// cost. Row r is row rows[r] of the loss, which must have passed Check and be a
// [loss.Local].
func (n *Node) Observe(z, base mat.Dense, rows []int32, j loss.Loss) {
	if n.newton != nil {
		n.newton.observe(z, base, rows, j)
		return
	}
	if z.Rows == 0 {
		n.observed.begin(0)
		return
	}
	if t, ok := j.(loss.Targeted); ok {
		n.observed.begin(t.TargetLen(n.basis.outputs))
		for r := range z.Rows {
			n.observed.take(z.Row(r), base.Row(r), int(rows[r]), t)
		}
		return
	}
	n.local = local{j.(loss.Local), rows}
	n.ObserveAll(z, base, &n.local)
}

// ObserveMore takes in one more row of the step that Observe began, row of a cost
// of the same kind: answers of several steps may be judged at once. At most as many
// rows as the node was made for fit. Gradient steps take one row of a cost that is
// no [loss.Targeted], and leave more out.
func (n *Node) ObserveMore(z, base []float32, row int, j loss.Loss) {
	if n.newton != nil {
		n.newton.observeMore(z, base, row, j)
		return
	}
	if t, ok := j.(loss.Targeted); ok {
		n.observed.take(z, base, row, t)
	}
}

// ObserveAll is Observe for a cost that is evaluated on all rows together.
func (n *Node) ObserveAll(z, base mat.Dense, j loss.Loss) {
	n.observed.begin(0)
	for r := range z.Rows {
		n.observed.add(z.Row(r), base.Row(r))
	}
	n.observed.current = j
}

// local is a cost at some nodes as a cost of their rows.
type local struct {
	cost loss.Local
	rows []int32
}

func (l *local) Eval(dy, y mat.Dense) float64 {
	sum := 0.0
	for r := range y.Rows {
		sum += l.cost.EvalNode(int(l.rows[r]), dy.Row(r), y.Row(r))
	}
	return sum
}

// Learn is a whole step of a node that hears nobody and is told at once: Give, Tell row 0
// of j, Step and Commit. After an error the node is as it was.
func (n *Node) Learn(base, z []float32, j loss.Loss) error {
	if err := n.Check(j); err != nil {
		return err
	}
	n.Give(nil, uint64(n.steps), base, z)
	n.Tell(uint64(n.steps), j, 0)
	if err := n.Step(nil); err != nil {
		n.Cancel()
		return err
	}
	n.Commit()
	return nil
}

// alone returns what a node hears that hears nobody else.
func (n *Node) alone() *Heard {
	if n.self == nil {
		n.self = &Heard{Weights: []float32{1}, Rows: []int32{0}, Vectors: make([]mat.Dense, len(n.now))}
	}
	for v, x := range n.now {
		n.self.Vectors[v] = mat.NewDense(1, len(x), x)
	}
	return n.self
}

// Step computes the node's vectors at t+1 from its own, those it hears, nil for nobody,
// and what it observed. Nothing changes before Commit; after an error call Cancel
// in its place.
//
// All vectors must be finite, those of a user's own rule too: neighbours refuse
// others, and the node would be silent to them from then on.
func (n *Node) Step(heard *Heard) error {
	if heard == nil {
		heard = n.alone()
	}
	n.step.Time, n.step.Now, n.step.Heard = n.steps, n.now, n.near(heard)
	n.step.Flat = n.observed.rows == 0 && n.config.Ridge == 0
	if n.newton != nil {
		n.newton.step(n.next, &n.step)
	} else {
		n.rule.Step(n.next, &n.step)
	}
	n.step.Heard, n.told = nil, false
	n.observed.release()
	n.local = local{}
	check := n.next
	near := wellWithin(check[0], n.config.limit()) // then they are finite, too
	if near {
		check = check[1:]
	}
	for _, v := range check {
		if !mat.Finite(v...) {
			return ErrDiverged
		}
	}
	if !near && n.far() {
		return ErrDiverged
	}
	return nil
}

// far says whether the next parameters are beyond the limit, a ball around 𝒜†.
// Parameters that grow without bound are finite for a long time. A bound on their
// distance ends that earlier, while those of before are still good for something.
func (n *Node) far() bool { return n.basis.Distance(n.next[0], nil) > n.config.limit() }

// Cancel ends an update without a change: what the step observed is dropped.
func (n *Node) Cancel() {
	n.observed.release()
	if n.newton != nil {
		n.newton.release()
	}
	n.told = false
}

// Refuse ends an update like Cancel, at a node beside others that commit theirs:
// its vectors stay as they are, in the memory that Commit would have left them in. It
// says whether the node begins again; see [Answers.Losing].
func (n *Node) Refuse() (anew bool) {
	n.Cancel()
	for v, x := range n.now {
		copy(n.next[v], x)
	}
	n.now, n.next = n.next, n.now
	n.answers.Refuse()
	return n.again()
}

// Commit makes the vectors of the last Step the node's own. It says whether the node
// begins again; see [Answers.Losing].
func (n *Node) Commit() (anew bool) {
	n.now, n.next = n.next, n.now
	if n.newton != nil {
		n.newton.commit()
	}
	n.steps++
	return n.again()
}

// again lets the node begin again at 𝒜† if what it learned keeps losing.
func (n *Node) again() bool {
	if !n.answers.Losing() {
		return false
	}
	n.Reset()
	n.answers.Anew()
	return true
}

// Reset puts the node back to 𝒜† and forgets what it observed. How its answers did stays.
func (n *Node) Reset() {
	for _, v := range n.now {
		clear(v)
	}
	n.observed.release()
	if n.newton != nil {
		n.newton.reset()
	}
	n.steps = 0
}

// Relink tells the node whose messages it hears in this step, ascending. If they
// are others than at the step before and Newton.Restart is set, the node begins
// again from 𝒜†, and it is true. It belongs before Observe, in every step.
func (n *Node) Relink(links []int32) bool {
	if n.newton == nil || !n.config.Newton.Restart || !n.newton.relink(links) {
		return false
	}
	clear(n.now[0])
	return true
}

// Refused returns how many answers the last Step did not learn from, because no
// step was found that leads to a finite place within the limit. Only Newton
// refuses single answers.
func (n *Node) Refused() int {
	if n.newton == nil {
		return 0
	}
	return n.newton.refused
}
