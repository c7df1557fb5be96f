package rule

import (
	"math"

	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
)

// Crowd takes the steps of many nodes that learn by [Descent], each from one answer:
//
//	x_{i,t+1} = Σ_j [W_t]_ij x_{j,t} - γ_t ∇J_{i,t}(x_{i,t})
//
// A step is Observe, Node.Step, and Commit or Refuse of a node at once, to the same
// bits. It remembers nothing between two of them: what nodes have in common is looked
// up once, and what a step needs stays near. It is not safe for concurrent use.
type Crowd struct {
	basis  *Basis
	config *Config
	single bool // there is one output, one column of x, and a step is plain

	z         []float64 // [z 1] or z, as the basis has it
	effect, g []float64 // rows×C: x R, and zᵀdy
	row       []float64 // of C values
	projected []float64 // of Len values
	y, dy     []float32
	down      []float32 // of Len values: the direction of steepest ascent
	next      []float32
}

// NewCrowd returns a crowd of nodes that learn under a configuration, nil if they do
// more than one step of Descent on the newest answer that needs no curvature, or mix
// with nobody, or less of some than of others.
func NewCrowd(f *Basis, c *Config) *Crowd {
	if c.Rule != nil || c.Newton != nil || c.Season != nil || c.Window > 1 || c.Delay > 0 ||
		c.Mixing == 0 || c.Clip != ClipOff || c.StepSize.Schedule == Automatic || f.common != nil {
		return nil
	}
	effect := f.rows * f.outputs
	return &Crowd{
		basis: f, config: c, single: f.outputs == 1 && f.width == 1 && f.whitening == nil && c.ClipNorm == 0,
		z: make([]float64, f.rows), effect: make([]float64, effect), g: make([]float64, effect),
		row: make([]float64, f.outputs), projected: make([]float64, f.Len()),
		y: make([]float32, f.outputs), dy: make([]float32, f.outputs),
		down: make([]float32, f.Len()), next: make([]float32, f.Len()),
	}
}

// Step takes the step of one node. x is a copy of its parameters, and mixed Σ_j W_ij x_j,
// of which nobody was left out; z and base are what the answer was made with, and target
// what it should have been, by the cost j. A nil target says that nothing was told: then
// j is not looked at. An error says that the node stays where it was.
//
//	x, mixed: Len   z: Inputs   base: C   target: j.TargetLen(C)
func (c *Crowd) Step(n *Node, x, mixed, z, base, target []float32, j loss.Targeted) error {
	next := c.next
	n.leftOut, n.clipped = 0, 0
	copy(next, mixed)
	if target != nil || c.config.Ridge != 0 {
		clear(c.down)
		if target != nil {
			c.descend(x, z, base, target, j)
		}
		if ridge := float32(c.config.Ridge); ridge != 0 {
			for e, v := range x {
				c.down[e] += float32(ridge * v)
			}
		}
		gamma := c.config.StepSize.At(n.steps, nil, 1)
		for e, g := range c.down {
			next[e] = float32(float64(next[e]) - float64(gamma*float64(g)))
		}
	}
	sum := 0.0
	for _, v := range next {
		sum += float64(float64(v) * float64(v))
	}
	if !mat.Finite(next...) || math.Sqrt(sum) > c.config.limit() {
		return ErrDiverged
	}
	copy(n.now[0], next)
	n.steps++
	return nil
}

// descend writes the direction of steepest ascent at x to down, as Window.Gradient
// does for an answer alone.
func (c *Crowd) descend(x, z, base, target []float32, j loss.Targeted) {
	f := c.basis
	outputs := f.outputs
	c.z[f.rows-1] = 1 // of the bias; an input overwrites it if that is not retrained
	for k, v := range z[:f.inputs] {
		c.z[k] = float64(v)
	}
	if c.single {
		c.descendSingle(x, base[0], target, j)
		return
	}
	f.Effect(c.effect, x)
	for o, b := range base {
		sum := float64(b)
		for k, v := range c.z {
			sum += float64(v * c.effect[k*outputs+o])
		}
		c.y[o] = float32(sum)
	}
	j.EvalTarget(c.dy, c.y, target)
	for k, v := range c.z {
		for o, d := range c.dy {
			c.g[k*outputs+o] = 0 + float64(v*float64(d))
		}
	}
	f.ascent(c.down, c.g, c.config.ClipNorm, c.row, c.projected)
}

// descendSingle is descend where matrices are single numbers. Sums of one term begin
// at 0, as there: a product may be -0.
func (c *Crowd) descendSingle(x []float32, base float32, target []float32, j loss.Targeted) {
	root, right := c.basis.root[0], c.basis.right[0]
	sum := float64(base)
	for k, v := range c.z {
		sum += float64(v * (0 + float64(float64(x[k])*root)))
	}
	c.y[0] = float32(sum)
	j.EvalTarget(c.dy, c.y, target)
	d := float64(c.dy[0])
	for k, v := range c.z {
		c.down[k] = float32(0 + float64((0+float64(v*d))*right))
	}
}
