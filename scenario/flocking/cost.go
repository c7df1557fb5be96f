package flocking

import (
	"fmt"

	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
)

// The costs serve learners of the whole graph; Neighborhood, and Clearance, also
// serve a robot on its own.
var (
	_ loss.Loss  = (*Variation)(nil)
	_ loss.Loss  = (*Neighborhood)(nil)
	_ loss.Local = (*Neighborhood)(nil)
)

// Variation is the cost J_t of centralized online learning: the velocity
// variation of all robots after the action u, the output of a model.
//
//	v'_i = v_i + T_s clamp(u_i)                                    eq. (21)
//	J    = (1/N) Σ_i ‖v'_i - v̄'‖²
//	∂J/∂u_i = (2 T_s/N) (v'_i - v̄')    0 where the clamp is active
//
//	u: N×2
//
// The gradient is 0 as well for a robot whose actuator is out. Reset takes the
// velocities; until the next Reset any number of goroutines may use it.
type Variation struct{ motion }

// Reset makes j the cost of acting on s in its present state. It keeps no
// reference to s and reuses its memory.
func (j *Variation) Reset(s *Swarm) { j.reset(s) }

// Eval returns J and overwrites du with its gradient; see [loss.Loss].
func (j *Variation) Eval(du, u mat.Dense) float64 {
	j.check("Variation", du, u)
	n := float64(len(j.velocity))
	var mean [2]float64
	for i := range j.velocity {
		v := j.after(i, u.Row(i))
		mean[0] += v[0]
		mean[1] += v[1]
	}
	mean[0] /= n
	mean[1] /= n
	squares := 0.0
	for i := range j.velocity {
		v := j.after(i, u.Row(i))
		squares += squaredDistance(&v, &mean)
		if !du.Empty() {
			j.slope(i, du.Row(i), u.Row(i), v, mean, 2/n)
		}
	}
	return squares / n
}

// Neighborhood is the local cost J_i of distributed online learning: the
// variance of velocities, after the action, of robot i and the n_i - 1 robots
// that it hears. It is differentiated through robot i's own action only;
// the next velocities of its neighbours are given.
//
//	J_i = (1/n_i) Σ_j ‖v'_j - m_i‖²             j = i and j ∈ 𝒩_i, m_i their mean
//	∂J_i/∂u_i = (2 T_s/n_i) (v'_i - m_i)        0 where the clamp is active
//	J   = (1/N) Σ_i J_i
//
// A robot that hears nobody has J_i = 0. Reset takes velocities, links and the
// neighbours' actions; until the next Reset any number of goroutines may use
// it.
//
// Deviation: the paper says "velocity variance over neighboring robots". Here
// the robot itself is among them, for else its action would not matter.
type Neighborhood struct {
	motion
	next   [][2]float64 // v' of all robots, read for neighbours
	rowPtr []int        // of Heard
	col    []int32
}

// Reset makes j the costs of acting on s in its present state, with next
// velocities of neighbours as the actions u make them. It keeps no reference
// to s or u and reuses its memory.
//
//	u: N×2, read
func (j *Neighborhood) Reset(s *Swarm, u mat.Dense) {
	mustFit("Neighborhood", u, len(s.velocity), 2)
	j.coast(s)
	for i := range j.next {
		j.next[i] = j.after(i, u.Row(i))
	}
}

// coast is Reset for neighbours that keep their velocity.
func (j *Neighborhood) coast(s *Swarm) {
	j.reset(s)
	heard := s.Heard().Adjacency()
	j.rowPtr = append(j.rowPtr[:0], heard.RowPtr...)
	j.col = append(j.col[:0], heard.Col...)
	j.next = append(j.next[:0], s.velocity...)
}

// Eval returns J, the mean of J_i over all robots, and overwrites du with its
// gradient; see [loss.Loss]. Row i of u is the action of robot i; that of its
// neighbours is the one that Reset was given.
func (j *Neighborhood) Eval(du, u mat.Dense) float64 {
	j.check("Neighborhood", du, u)
	n, sum := float64(len(j.velocity)), 0.0
	for i := range j.velocity {
		var di []float32
		if !du.Empty() {
			di = du.Row(i)
		}
		sum += j.eval(i, di, u.Row(i), 1/n)
	}
	return sum / n
}

// EvalNode returns J_i and overwrites du with its gradient; see [loss.Local].
func (j *Neighborhood) EvalNode(i int, du, u []float32) float64 {
	if uint(i) >= uint(len(j.velocity)) || len(u) != 2 || du != nil && len(du) != 2 {
		panic(fmt.Sprintf("flocking: Neighborhood: robot %d of %d, action of %d values, gradient of %d", i, len(j.velocity), len(u), len(du)))
	}
	return j.eval(i, du, u, 1)
}

// eval returns J_i and, unless du is nil, overwrites it with the gradient times
// share.
func (j *Neighborhood) eval(i int, du, u []float32, share float64) float64 {
	v, mean, n := j.around(i, u)
	squares := squaredDistance(&v, &mean)
	for _, k := range j.heard(i) {
		squares += squaredDistance(&j.next[k], &mean)
	}
	if du != nil {
		j.slope(i, du, u, v, mean, 2*share/n)
	}
	return squares / n
}

// heard returns 𝒩_i.
func (j *Neighborhood) heard(i int) []int32 { return j.col[j.rowPtr[i]:j.rowPtr[i+1]] }

// around returns v'_i, m_i and n_i.
func (j *Neighborhood) around(i int, u []float32) (v, mean [2]float64, n float64) {
	v = j.after(i, u)
	neighbors := j.heard(i)
	n = float64(len(neighbors) + 1)
	x, y := v[0], v[1]
	for _, k := range neighbors {
		w := &j.next[k]
		x += w[0]
		y += w[1]
	}
	return v, [2]float64{x / n, y / n}, n
}

// motion is how actions change velocities from one state of a swarm.
type motion struct {
	velocity       [][2]float64
	idle           []bool // robots whose actuator is out
	seconds, limit float64
}

func (m *motion) reset(s *Swarm) {
	m.velocity = append(m.velocity[:0], s.velocity...)
	m.idle = append(m.idle[:0], s.idle...)
	m.seconds, m.limit = s.config.SampleSeconds, s.config.MaxAccelMPS2
}

// after returns v'_i = v_i + T_s clamp(u).
func (m *motion) after(i int, u []float32) [2]float64 {
	v := m.velocity[i]
	if !m.idle[i] {
		v[0] += float64(clamp(float64(u[0]), m.limit) * m.seconds)
		v[1] += float64(clamp(float64(u[1]), m.limit) * m.seconds)
	}
	return v
}

// slope overwrites du with factor·T_s (v - mean), 0 where u does not move v.
func (m *motion) slope(i int, du, u []float32, v, mean [2]float64, factor float64) {
	for d := range du {
		du[d] = 0
		if a := float64(u[d]); !m.idle[i] && a >= -m.limit && a <= m.limit {
			du[d] = float32(factor * m.seconds * (v[d] - mean[d]))
		}
	}
}

// check panics unless u is an action of every robot and du is empty or of its
// shape.
func (m *motion) check(op string, du, u mat.Dense) {
	mustFit(op, u, len(m.velocity), 2)
	if !du.Empty() {
		mustFit(op, du, len(m.velocity), 2)
	}
}
