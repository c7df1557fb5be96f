package perf

import (
	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/optim"
)

// learner takes training steps of a single pass with a model: begin, pass,
// finish.
type learner struct {
	model   *gnn.WideDeep
	grad    gnn.Params
	adam    *optim.Adam
	tape    gnn.Tape
	shifter gnn.Shifter
	y, dy   mat.Dense
}

func newLearner(env Env, c gnn.Config, stepSize float64) (*learner, error) {
	m, err := gnn.NewRandom(c, env.stream("init"))
	if err != nil {
		return nil, err
	}
	adam, err := optim.NewAdam(len(m.Params.Flat), optim.AdamConfig{StepSize: stepSize})
	if err != nil {
		return nil, err
	}
	return &learner{
		model: m, grad: gnn.NewParams(c, nil), adam: adam,
		tape: gnn.Tape{Engine: env.Engine}, shifter: gnn.Shifter{Engine: env.Engine},
	}, nil
}

// shifted returns memory for the shifts of a signal of that many rows.
func (l *learner) shifted(rows int) mat.Dense {
	return mat.NewDense(rows, (l.model.InputOrder()+1)*l.model.Config.In, nil)
}

func (l *learner) begin() { clear(l.grad.Flat) }

// pass runs the model forward and backward and adds share times the gradient
// of j to that of the step.
func (l *learner) pass(in *gnn.Input, rows int, j loss.Loss, share float32) {
	l.y, l.dy = l.y.Resize(rows, l.model.Outputs()), l.dy.Resize(rows, l.model.Outputs())
	l.model.Forward(l.y, in, &l.tape)
	j.Eval(l.dy, l.y)
	if share != 1 {
		l.tape.Engine.Scale(l.dy, share)
	}
	l.model.Backward(&l.grad, mat.Dense{}, l.dy, in, &l.tape)
}

func (l *learner) finish() { l.adam.Step(l.model.Params.Flat, l.grad.Flat) }
