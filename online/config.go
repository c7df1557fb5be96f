package online

import (
	"errors"
	"fmt"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/rule"
)

// Config says how a model is observed.
type Config struct {
	// Nodes is N of the network that the model runs on, at least 1.
	Nodes int

	// Read names the nodes whose outputs are wanted and may carry a cost, in
	// ascending order; none means all. Rows of other nodes are predicted as 0.
	Read []int

	// HopByHop computes as nodes that exchange messages do, to the same bits,
	// even if only a few are read.
	HopByHop bool

	// Delayed runs the model with one exchange per step, eq. (24).
	Delayed bool

	// Moment is the second moment of the model's inputs in training, see
	// InputMoment; model files hold it. Rules that learn by second derivatives are better with it.
	Moment *rule.SecondMoment

	// Scores, if not nil, returns how earlier answers of a node turned out, with
	// which its sets or intervals begin; see rule.NodeConfig. Model files hold
	// some.
	Scores func(node int) [][]float64

	// Engine computes; nil is the calling goroutine alone.
	Engine *mat.Engine
}

// Validate reports what is wrong with c.
func (c *Config) Validate() error {
	if c.Nodes < 1 {
		return fmt.Errorf("online: a network of %d nodes, want at least 1", c.Nodes)
	}
	last := -1
	for _, i := range c.Read {
		if i <= last || i >= c.Nodes {
			return fmt.Errorf("online: node %d to read, after %d, of a network of %d; name each once, in ascending order", i, last, c.Nodes)
		}
		last = i
	}
	return nil
}

// NewBasis returns what the nodes of a network with model m share if they learn
// by r, as an agent needs it. The moment is [Config.Moment], nil if nobody
// knows it. An error says everything that is wrong with r for m.
func NewBasis(m *gnn.WideDeep, r rule.Config, moment *rule.SecondMoment) (*rule.Basis, error) {
	if err := fits(m, &r, moment); err != nil {
		return nil, err
	}
	f := rule.BasisConfig{
		Inputs: (m.Config.Wide.Order + 1) * m.Config.In, Features: m.Config.Features, Gain: 1,
		Bias: r.Retrain == rule.RetrainTapsAndBias, Readout: m.Params.Readout.Weight,
	}
	if r.Retrain == rule.RetrainHeard {
		f.Bias = len(m.Params.Wide.Bias) > 0
		if f.Hearing = NewHearing(m, nil); moment != nil {
			f.Hearing.Scale = moment.CommonScale()
		}
	}
	f.Start = m.Params.Flat[:m.Params.WideTaps()]
	if f.Bias {
		f.Start = m.Params.Flat[:m.Params.WideLen()]
	}
	if len(m.Params.Gain) > 0 {
		f.Gain = m.Params.Gain[gnn.GainWide]
	}
	if r.Newton != nil {
		f.Newton, f.Moment = true, moment
	}
	if r.Newton != nil && moment != nil {
		if moment.Inputs != f.Inputs {
			return nil, fmt.Errorf("online: the second moment is of %d inputs, the wide part reads %d", moment.Inputs, f.Inputs)
		}
	}
	return rule.NewBasis(f)
}

// Facts returns what a model says to those who choose how its nodes learn: one for
// the given task, with the second moment of its inputs, whose loss read the given
// nodes in training, nil for all.
func Facts(m *gnn.WideDeep, task string, moment *rule.SecondMoment, read []int) rule.Facts {
	f := rule.Facts{Bias: m.Config.Wide != nil && len(m.Params.Wide.Bias) > 0}
	if task != "classify" || moment == nil || len(moment.Heard) == 0 {
		return f
	}
	f.Heard = true
	for _, i := range read {
		f.Heard = f.Heard && moment.Heard[i] != nil
	}
	if read == nil { // all there are: none is left out among the first so many
		for i := range len(moment.Heard) {
			f.Heard = f.Heard && moment.Heard[i] != nil
		}
	}
	return f
}

// fits reports everything that is wrong with a rule for the model m.
func fits(m *gnn.WideDeep, r *rule.Config, moment *rule.SecondMoment) error {
	errs := []error{r.Validate()}
	complain := func(format string, args ...any) { errs = append(errs, fmt.Errorf("online: "+format, args...)) }
	if r.Season != nil {
		complain("season is how forecasts learn, by a Forecaster; try another preset")
		return errors.Join(errs...)
	}
	if sent, kept := r.Vectors(); r.Newton == nil && sent < 1 || kept < 0 {
		complain("the rule sends %d vectors and keeps %d; it must send one at least", sent, kept)
	}
	if m.Config.Wide == nil {
		complain("the model has no wide part, and nothing else learns online; train one with a wide part")
	} else if r.Retrain == rule.RetrainTapsAndBias && len(m.Params.Wide.Bias) == 0 {
		complain("the wide part has no bias to retrain; retrain taps")
	} else if r.Retrain == rule.RetrainHeard && rule.HeardHops(m.Config.Wide.Order) == 0 {
		complain("the wide part has order %d, so that neighbours send inputs alone; the preset neighbours needs 2, try own", m.Config.Wide.Order)
	}
	return errors.Join(errs...)
}
