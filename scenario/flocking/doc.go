// Package flocking is the robot swarm of Section 6.2: robots in the plane that
// begin with random velocities and are to fly at one velocity without
// colliding. The package moves robots, says what they sense and whom they
// hear, and what an expert who sees everything would do. It knows nothing
// about models.
//
// A [Swarm] is one flight. At every step it offers what a controller may look
// at, takes an acceleration per robot and moves on:
//
//	swarm, err := flocking.New(flocking.Default(), rng)
//	for swarm.Time() < swarm.Config().Steps() {
//		swarm.Signal(x)                                // X_t, eq. (23)
//		shift, err := swarm.Shift(graph.ShiftSpectral) // S_t
//		…                                              // a controller computes u from x and shift
//		err = swarm.StepDense(u)                       // eq. (21)
//	}
//
// [Fly] is that loop with a [Flight] that records velocity variation,
// collisions and connectivity. [Variation] and [Neighborhood] are the paper's costs
// of online learning, [Clearance] is one that knows distances, and a [Stream] plays
// a flight with them to a learner. [Faults] break robots, lose messages and delay
// them.
//
// # Letters
//
//	N            number of robots
//	t, T         time step, number of steps
//	T_s          sampling time in seconds
//	p_i, v_i     position in metres and velocity in metres per second of robot i
//	u_i          acceleration of robot i in metres per second squared, its action
//	d            distance of two robots in metres
//	r            communication radius in metres
//	R            distance in metres below which the expert's robots repel each other
//	𝒩_i          the robots that i hears
//	v̄            mean velocity
//	X, x_i       the six local features of all robots and of robot i
//	S            graph shift operator, N×N
//	W            mixing matrix, N×N
//	λmax         largest eigenvalue of the adjacency matrix
//	J, J_i       cost of all robots and of robot i
//
// # Arithmetic
//
// Everything is computed in float64: features reach 1e7 when two robots nearly
// collide. Outputs of a model come in and signals go out as float32. Sums over
// robots run in ascending order. The same configuration and generator give the
// same flight to the last bit on one architecture.
//
// Configurations and states come from outside and give errors; slices of the
// wrong length are mistakes of the program and panic. Stepping and sensing
// allocate nothing in steady state. A Swarm is not safe for concurrent use; fly many
// trajectories at once with a Swarm each.
package flocking
