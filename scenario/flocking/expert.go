package flocking

import "fmt"

// Expert writes the action of the centralized controller, which knows the
// state of every robot:
//
//	u_i = -Σ_j (v_i - v_j) - Σ_j ∇V(p_i, p_j)                        eq. (22)
//	-∇V(p_i, p_j) = 2 (p_i - p_j) (1/d⁴ + 1/d²)   if d < R, else 0
//
// each component clamped to ±MaxAccelMPS2. The first sum is N (v_i - v̄), one
// pass over the robots; the second visits robots within R. Like Features, it
// takes d for 1 mm if it is less. Faults play no part: the expert sees
// everything.
//
// With N T_s > 2 the first term overshoots within one step; only the clamp
// keeps such a swarm together.
//
// Deviation: the paper does not state V. This one has the gradient of
// V = 1/d² - ln d² up to R; beyond it the force is zero.
//
//	accel: N values, overwritten
func (s *Swarm) Expert(accel [][2]float64) {
	if len(accel) != len(s.position) {
		panic(fmt.Sprintf("flocking: Expert: %d accelerations for %d robots", len(accel), len(s.position)))
	}
	n, limit := float64(len(s.position)), s.config.MaxAccelMPS2
	r2 := s.config.RepulsionRadiusMeters * s.config.RepulsionRadiusMeters
	sum := total(s.velocity)
	adj := s.reach.Adjacency()
	for i, p := range s.position {
		ux, uy := sum[0]-float64(n*s.velocity[i][0]), sum[1]-float64(n*s.velocity[i][1])
		col, _ := adj.Row(i)
		for _, j := range col {
			q := &s.position[j]
			dx, dy := p[0]-q[0], p[1]-q[1]
			if float64(dx*dx)+float64(dy*dy) < r2 {
				inv2 := inverseSquare(dx, dy)
				force := 2 * (float64(inv2*inv2) + inv2)
				ux += float64(dx * force)
				uy += float64(dy * force)
			}
		}
		accel[i] = [2]float64{clamp(ux, limit), clamp(uy, limit)}
	}
}

// total returns the sum of v.
func total(v [][2]float64) [2]float64 {
	var sum [2]float64
	for i := range v {
		sum[0] += v[i][0]
		sum[1] += v[i][1]
	}
	return sum
}
