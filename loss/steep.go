package loss

// Steep is a Local cost that changes no faster than a known number says. With it
// whoever answers something else than another answer knows beforehand what that
// can cost at most:
//
//	|J_i(y + d) - J_i(y)| ≤ s max_j |d_j|      for all y and d
//
// Where the slope is bounded by nothing, as that of a squared error, a cost is not
// Steep. What bounds it then is its curvature κ, see [Targeted]: of a cost that is
// never below 0
//
//	J_i(y + d) ≤ (1+δ) J_i(y) + (κ/2) (1 + 1/δ) |d|²      for all δ > 0
type Steep interface {
	// Steepness returns s for rows of C outputs.
	Steepness(outputs int) float64
}

// Steepness returns 2: log Σ exp y moves by max d at most, and y_c by -min d.
func (l CrossEntropy) Steepness(int) float64 { return 2 }

// Steepness returns 1, as every output has a slope of 1/C at most.
func (l SmoothL1) Steepness(int) float64 { return 1 }

// Steepness returns δ.
func (l Huber) Steepness(int) float64 { return l.delta() }

// Steepness returns 1.
func (l Hinge) Steepness(int) float64 { return 1 }
