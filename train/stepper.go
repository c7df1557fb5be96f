package train

import "github.com/wdgnn/wdgnn/gnn"

// Stepper takes the steps of Run one at a time, for those who have a loop, an
// order of samples or a clock of their own: the same passes on the same threads,
// the same sums, the same optimiser.
type Stepper struct{ runner *runner }

// NewStepper prepares steps on m. What a job says of epochs, batches, validation
// and callbacks is left to the caller.
func NewStepper(m *gnn.WideDeep, job Job) (*Stepper, error) {
	r, err := newRunner(m, job)
	if err != nil {
		return nil, err
	}
	return &Stepper{r}, nil
}

// Step takes one step of the optimiser on the mean loss of the given samples. It
// allocates nothing, once batches of that size have passed, unless its Data or the With of its loss does.
func (s *Stepper) Step(batch []int) error { return s.runner.step(batch) }
