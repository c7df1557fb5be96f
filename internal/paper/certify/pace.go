package certify

import (
	"context"
)

// Stage is how far Run is.
type Stage struct {
	Name  string // what is being computed
	Done  int    // steps of the run
	Steps int    // of so many; 0 while the run is played and nobody knows
}

// pace lies between the steps of what takes long: it tells somebody who watches,
// and ends where the context does.
type pace struct {
	ctx   context.Context
	watch func(Stage) // nil if nobody does
}

// at begins step done of a stage.
func (p *pace) at(stage string, done, steps int) error {
	if err := p.ctx.Err(); err != nil {
		return err
	}
	if p.watch != nil {
		p.watch(Stage{stage, done, steps})
	}
	return nil
}
