package rule

import (
	"fmt"

	"github.com/wdgnn/wdgnn/conformal"
	"github.com/wdgnn/wdgnn/loss"
)

// conformal returns what s says of sets and intervals, nil for none.
func (s *Settings) conformal() *conformal.Config {
	switch {
	case s.Coverage == nil:
		return &conformal.Config{Coverage: conformal.DefaultCoverage}
	case *s.Coverage == 0:
		return nil
	}
	return &conformal.Config{Coverage: *s.Coverage}
}

// coverage returns how Conformal is written.
func (c *Config) coverage() *float64 {
	none := 0.0
	if c.Conformal == nil {
		return &none
	}
	return &c.Conformal.Coverage
}

// Begin gives the sets or intervals of the node's answers scores of earlier ones to
// begin with, such as those that a model file holds: a list for classes, otherwise
// one for each output. It keeps scores. Lists of another number are passed over,
// and so are all without a Config.Conformal.
func (a *Answers) Begin(scores [][]float64) {
	a.scores = scores
	if a.sure == nil || len(scores) != len(a.sure.Bounds()) {
		return
	}
	for k, list := range scores {
		a.sure.Begin(k, list)
	}
}

// Bounds returns those of the next answer, see [conformal.Bound]; nil without a
// Config.Conformal. They belong to the Answers, and hold until Judge.
func (a *Answers) Bounds() []conformal.Bound {
	if a.sure == nil {
		return nil
	}
	return a.sure.Bounds()
}

// Meter returns how often the sets or intervals of answers held the truth.
func (a *Answers) Meter() conformal.Meter {
	if a.sure == nil {
		return conformal.Meter{}
	}
	return a.sure.Meter()
}

// assess takes in the truth of an answer: a.one, the target of a row of j.
func (a *Answers) assess(g *Given, j loss.Targeted) {
	n := j.TargetLen(a.basis.outputs)
	if a.sure == nil || len(g.Bounds) != len(a.sure.Bounds()) || n != len(g.Bounds) {
		return
	}
	a.sure.Judge(g.Output(), g.Bounds, a.one[:n])
}

// unsure forgets how answers turned out, but for the scores that they began with.
func (a *Answers) unsure() {
	if a.config != nil {
		a.sure = conformal.New(*a.config, a.basis.outputs)
	}
	a.Begin(a.scores)
}

// fitsSure reports what keeps the part of m that is about sets and intervals from
// being restored.
func (a *Answers) fitsSure(m *AnswersMemory) error {
	for _, g := range m.Given {
		if n := len(g.Bounds); a.sure != nil && n != 0 && n != len(a.sure.Bounds()) {
			return fmt.Errorf("rule: memory: an answer with %d bounds, want %d", n, len(a.sure.Bounds()))
		}
	}
	if a.sure == nil || m.Conformal == nil {
		return nil
	}
	return a.sure.Fits(*m.Conformal)
}
