package flocking

import (
	"fmt"
	"math"

	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
)

var (
	_ loss.Loss  = (*Clearance)(nil)
	_ loss.Local = (*Clearance)(nil)
)

// What Clearance asks of a robot, chosen on flights of one seed.
const (
	clearanceWeight  = 10  // κ
	clearanceSeconds = 0.3 // h
)

// Clearance is the local cost J_i of distributed online learning that knows
// distances: the variance of velocities around robot i, and the square of what
// it comes closer to a neighbour faster than it may.
//
//	V_i = (1/n_i) (‖v'_i - m_i‖² + Σ_j ‖v_j - m_i‖²)       j ∈ 𝒩_i, m_i the mean of v'_i and the v_j
//	c_j = -(p_i - p_j)ᵀ(v'_i - v_j) / d_j                  closing speed after the action
//	e_j = max(0, c_j - (d_j - ρ)/h)
//	J_i = V_i + (κ/n_i) Σ_j e_j²                           κ = 10
//	∂J_i/∂u_i = (2 T_s/n_i) (v'_i - m_i - κ Σ_j e_j (p_i - p_j)/d_j)    0 where the clamp is active
//	J   = (1/N) Σ_i J_i
//
// A neighbour costs nothing as long as it is on a way that keeps it farther than
// ρ for the next h = 0.3 s; ρ is half of RepulsionRadiusMeters. Closer than ρ, two
// robots are asked to part.
//
// All of it is what a robot senses at time t of those it hears, and its own
// action: neighbours are taken to keep their velocity. J_i is convex in u_i within
// the clamp, and its gradient continuous. A robot that hears nobody has J_i = 0.
// Robots in one place, whose direction from each other is not defined, do not ask
// each other to part. Reset takes positions, velocities and links; until the next
// Reset any number of goroutines may use it.
//
// Deviation: the paper learns in flight from velocities alone, see Neighborhood,
// which makes robots that are too close stay so.
type Clearance struct {
	velocities Neighborhood // with neighbours that keep theirs
	position   [][2]float64
	margin     float64 // ρ
}

// Reset makes j the costs of acting on s in its present state. It keeps no
// reference to s and reuses its memory.
func (j *Clearance) Reset(s *Swarm) {
	j.velocities.coast(s)
	j.position = append(j.position[:0], s.position...)
	j.margin = s.config.RepulsionRadiusMeters / 2
}

// Eval returns J, the mean of J_i over all robots, and overwrites du with its
// gradient, in which each robot answers for its own cost alone; see [loss.Loss].
func (j *Clearance) Eval(du, u mat.Dense) float64 {
	j.velocities.check("Clearance", du, u)
	n, sum := float64(len(j.position)), 0.0
	for i := range j.position {
		var di []float32
		if !du.Empty() {
			di = du.Row(i)
		}
		sum += j.eval(i, di, u.Row(i), 1/n)
	}
	return sum / n
}

// EvalNode returns J_i and overwrites du with its gradient; see [loss.Local].
func (j *Clearance) EvalNode(i int, du, u []float32) float64 {
	if uint(i) >= uint(len(j.position)) || len(u) != 2 || du != nil && len(du) != 2 {
		panic(fmt.Sprintf("flocking: Clearance: robot %d of %d, action of %d values, gradient of %d", i, len(j.position), len(u), len(du)))
	}
	return j.eval(i, du, u, 1)
}

// Curvature returns 2 T_s² (1 + κ), no less than the largest eigenvalue of the
// Hessian of any J_i: a robot has fewer neighbours than n_i. With it a gate knows
// what an action near another can cost, see [loss.Steep]; where the clamp is active
// actions are nearer to each other than they look.
func (j *Clearance) Curvature(int) float64 {
	return 2 * j.velocities.seconds * j.velocities.seconds * (1 + clearanceWeight)
}

// eval returns J_i and, unless du is nil, overwrites it with the gradient times
// share.
func (j *Clearance) eval(i int, du, u []float32, share float64) float64 {
	velocities := &j.velocities
	v, mean, n := velocities.around(i, u)
	neighbors := velocities.heard(i)
	cost := squaredDistance(&v, &mean)
	aim := mean // v' at which the gradient is 0 as far as it is known from here
	for _, k := range neighbors {
		w := velocities.next[k]
		cost += squaredDistance(&w, &mean)
		apart, excess := j.excess(i, int(k), v, w)
		cost += float64(clearanceWeight * excess * excess)
		aim[0] += float64(clearanceWeight * excess * apart[0])
		aim[1] += float64(clearanceWeight * excess * apart[1])
	}
	if du != nil {
		velocities.slope(i, du, u, v, aim, 2*share/n)
	}
	return cost / n
}

// excess returns the direction from robot k, whose velocity is w, to robot i,
// whose velocity will be v, and e_k, by how much they come closer too fast.
func (j *Clearance) excess(i, k int, v, w [2]float64) (apart [2]float64, speed float64) {
	dx, dy := j.position[i][0]-j.position[k][0], j.position[i][1]-j.position[k][1]
	d := math.Sqrt(float64(dx*dx) + float64(dy*dy))
	if d < floorMeters {
		return apart, 0
	}
	apart = [2]float64{dx / d, dy / d}
	closing := -(float64(apart[0]*(v[0]-w[0])) + float64(apart[1]*(v[1]-w[1])))
	return apart, max(0, closing-(d-j.margin)/clearanceSeconds)
}
