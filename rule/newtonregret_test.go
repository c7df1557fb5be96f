package rule_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/rule"
)

// whiteMoment is the moment of inputs that whitening leaves as they are.
func whiteMoment(inputs int) *rule.SecondMoment {
	n := inputs + 1
	m := &rule.SecondMoment{Inputs: inputs, Count: 1, Mean: make([]float64, n*n)}
	for a := range n {
		m.Mean[a*n+a] = 1 / 1.0001
	}
	return m
}

// identityReadout hands n features on as n outputs.
func identityReadout(n int) mat.Dense {
	r := mat.NewDense(n, n, nil)
	for a := range n {
		r.Set(a, a, 1)
	}
	return r
}

// covariance is P of one output, as textbooks have it.
type covariance struct {
	n int
	p []float64
}

func newCovariance(n int, tau float64) *covariance {
	c := &covariance{n: n, p: make([]float64, n*n)}
	for a := range n {
		c.p[a*n+a] = tau
	}
	return c
}

// observe returns s = zᵀPz, and shrinks P by it.
func (c *covariance) observe(z []float64) (s float64) {
	v := make([]float64, c.n)
	for a := range v {
		for b, zb := range z {
			v[a] += c.p[a*c.n+b] * zb
		}
		s += z[a] * v[a]
	}
	for a := range v {
		for b := range v {
			c.p[a*c.n+b] -= v[a] * v[b] / (1 + s)
		}
	}
	return s
}

// For squared errors the costs of the answers that were given, each divided by
// 1 + s, add up to what the best fixed parameters cost with their ridge, whatever
// the stream; regret is within (k) and (l) of doc/theory.md. The stream has errors
// that are not noise, and a jump.
func TestNewtonRegret(t *testing.T) {
	const inputs, steps, tau = 5, 400, 4.0
	rng := rand.New(rand.NewPCG(24, 25))
	p := newPupil(t, inputs, false, identityReadout(1), whiteMoment(inputs), rule.Newton{Prior: tau / 2}) // the cost is e², not ½e²
	cov := newCovariance(inputs, tau)
	var zs [][]float64
	var ys []float64
	paid, shared, most, longest, largest := 0.0, 0.0, 0.0, 0.0, 0.0
	for k := range steps {
		p.draw(rng)
		p.base.Zero()
		z, y := make([]float64, inputs), 0.3*math.Sin(float64(k)/20)
		length := 0.0
		for a, v := range p.z.Data {
			z[a] = float64(v)
			y += z[a] * float64(1+a%3)
			length += z[a] * z[a]
		}
		if k > steps/2 {
			y -= 2 * z[0]
		}
		y = float64(float32(y))
		p.node.Predict(p.y.Row(0), p.base.Row(0), p.z.Row(0))
		e := y - float64(p.y.Data[0])
		s := cov.observe(z)
		paid, shared = paid+e*e/2, shared+e*e/2/(1+s)
		most, longest, largest = max(most, s), max(longest, length), max(largest, e*e)
		zs, ys = append(zs, z), append(ys, y)
		p.learn(loss.MSE{Target: mat.NewDense(1, 1, []float32{float32(y)})})
	}
	best, ridge := 0.0, 0.0 // what the last parameters cost, which are those of least squares
	for k, z := range zs {
		e := ys[k]
		for a, v := range z {
			e -= v * float64(p.node.Params()[a])
		}
		best += e * e / 2
	}
	for _, v := range p.node.Params() {
		ridge += float64(v) * float64(v) / (2 * tau)
	}
	t.Logf("paid %.2f, best fixed %.2f and its ridge %.2f; Σ½e²/(1+s) %.4f, s at most %.2f", paid, best, ridge, shared, most)
	if math.Abs(shared-(best+ridge)) > 1e-4*shared {
		t.Errorf("(j): Σ½e²/(1+s) is %v, want %v", shared, best+ridge)
	}
	if bound := (1 + most) * (best + ridge); paid > bound {
		t.Errorf("(k): %v was paid, at most %v", paid, bound)
	}
	if bound := ridge + largest/2*inputs*math.Log(1+steps*tau*longest/inputs); paid-best > bound {
		t.Errorf("(l): regret %v, at most %v", paid-best, bound)
	}
}

// For labels the regret against the best fixed parameters stands below the bound
// of the Bayesian mixture, (m) of doc/theory.md, which newton approximates.
func TestNewtonRegretOfLabels(t *testing.T) {
	const inputs, classes, steps, tau = 4, 3, 300, 10.0
	rng := rand.New(rand.NewPCG(26, 27))
	p := newPupil(t, inputs, false, identityReadout(classes), whiteMoment(inputs), rule.Newton{Prior: tau})
	truth := make([]float64, inputs*classes)
	for e := range truth {
		truth[e] = 1.5 * rng.NormFloat64()
	}
	var zs [][]float64
	var labels []int
	paid, longest := 0.0, 0.0
	for range steps {
		p.draw(rng)
		p.base.Zero()
		z, length := make([]float64, inputs), 0.0
		for a, v := range p.z.Data {
			z[a] = float64(v)
			length += z[a] * z[a]
		}
		label := drawLabel(rng, logits(truth, z, classes))
		p.node.Predict(p.y.Row(0), p.base.Row(0), p.z.Row(0))
		j := loss.CrossEntropy{Labels: []int32{int32(label)}}
		paid += j.EvalNode(0, nil, p.y.Row(0))
		longest = max(longest, length)
		zs, labels = append(zs, z), append(labels, label)
		p.learn(j)
	}
	x, best := bestLabels(zs, labels, inputs, classes, tau)
	ridge := 0.0
	for _, v := range x {
		ridge += v * v / (2 * tau)
	}
	const n = inputs * classes
	bound := ridge + n/2*math.Log(1+steps*0.5*tau*longest/n)
	t.Logf("paid %.1f, best fixed %.1f: regret %.1f, the bound of the mixture %.1f", paid, best, paid-best, bound)
	if regret := paid - best; regret > bound || regret < 0 {
		t.Errorf("(m): regret %v, want 0 to %v", regret, bound)
	}
}

// logits returns Xᵀz.
func logits(x, z []float64, classes int) []float64 {
	y := make([]float64, classes)
	for a, v := range z {
		for c := range y {
			y[c] += v * x[a*classes+c]
		}
	}
	return y
}

// probabilities returns softmax(y) and the logarithm of the sum.
func probabilities(y []float64) (q []float64, logSum float64) {
	sum := 0.0
	for _, v := range y {
		q = append(q, math.Exp(v))
		sum += math.Exp(v)
	}
	for c := range q {
		q[c] /= sum
	}
	return q, math.Log(sum)
}

func drawLabel(rng *rand.Rand, y []float64) int {
	q, _ := probabilities(y)
	u := rng.Float64()
	for c, v := range q {
		if u -= v; u < 0 {
			return c
		}
	}
	return len(q) - 1
}

// bestLabels returns the X that minimises the sum of log losses with its ridge, by
// gradient descent, and the sum without it.
func bestLabels(zs [][]float64, labels []int, inputs, classes int, tau float64) (x []float64, cost float64) {
	x = make([]float64, inputs*classes)
	g := make([]float64, len(x))
	for range 3000 {
		cost = 0
		for e, v := range x {
			g[e] = v / tau
		}
		for k, z := range zs {
			y := logits(x, z, classes)
			q, logSum := probabilities(y)
			cost += logSum - y[labels[k]]
			q[labels[k]]--
			for a, v := range z {
				for c := range q {
					g[a*classes+c] += v * q[c]
				}
			}
		}
		for e := range x {
			x[e] -= g[e] / float64(len(zs))
		}
	}
	return x, cost
}
