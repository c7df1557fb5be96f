package rule_test

import (
	"testing"

	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/rule"
)

// gatedRun is what a gated node made of a problem.
type gatedRun struct {
	cost, learned float64 // of what was answered, and of what was learned
	within        bool    // the bound held at every step
	gate          rule.GateState
}

// playGated lets a node learn a problem behind a gate.
func playGated(t *testing.T, p *problem, config rule.Config) gatedRun {
	t.Helper()
	moment, z := new(rule.SecondMoment), mat.NewDense(len(p.moment), p.inputs, nil)
	for r, row := range p.moment {
		copy(z.Row(r), row)
	}
	moment.Add(z, p.inputs)
	fc := rule.BasisConfig{Inputs: p.inputs, Features: 1, Gain: 1, Newton: config.Newton != nil, Moment: moment}
	f := must[*rule.Basis](t)(rule.NewBasis(fc))
	config.Gate = &rule.Gate{}
	n, a := rule.NewNode(rule.NodeConfig{Basis: f, Config: &config, Rows: 1}), rule.NewAnswers(f, &config, nil)
	run, adapted, y := gatedRun{within: true}, make([]float32, 1), make([]float32, 1)
	for s := range gateSteps {
		base := p.base[s : s+1]
		j := loss.MSE{Target: mat.NewDense(1, 1, p.target[s:s+1])}
		n.Predict(adapted, base, p.z[s])
		a.Give(uint64(s), y, adapted, base, p.z[s])
		run.cost += j.EvalNode(0, nil, y)
		run.learned += j.EvalNode(0, nil, adapted)
		a.Judge(uint64(s), j, 0)
		run.gate = a.Gate()
		run.within = run.within && run.cost <= config.Gate.Bound(&run.gate)*(1+1e-9)
		n.Observe(mat.NewDense(1, p.inputs, p.z[s]), mat.NewDense(1, 1, base), []int32{0}, j)
		if err := n.Step(alone(n)); err != nil {
			n.Cancel()
			a.Refuse()
		} else {
			n.Commit()
		}
		if a.Losing() {
			n.Reset()
			a.Anew()
		}
	}
	return run
}

// On a thousand random problems, of scales from 1e-3 to 1e3, with constant and
// dead sensors, targets far off and worlds that change, a gated node never pays
// more than the bound; and where the best fixed taps, chosen in hindsight, save
// 30 % or more of what the model as trained pays, it gets at least half of that.
// Reference: doc/theory.md, "A gate that bounds harm".
func TestGateOnAThousandProblems(t *testing.T) {
	problems := 1000
	if testing.Short() {
		problems = 100
	}
	able, half, over, dearest, sum := 0, 0, 0, 0.0, 0.0
	for k := range problems {
		p := drawProblem(k)
		run := playGated(t, p, rule.Config{Newton: &rule.Newton{Prior: 0.02, Fresh: 100}})
		if !run.within {
			over++
			t.Errorf("problem %d: the answers cost %v, want at most %v", k, run.cost, (&rule.Gate{}).Bound(&run.gate))
		}
		frozen, best := p.frozen(), p.best()
		dearest = max(dearest, run.cost/frozen)
		if best > 0.7*frozen {
			continue
		}
		able++
		saved := (frozen - run.cost) / (frozen - best)
		sum += saved
		if saved >= 0.5 {
			half++
		} else {
			t.Errorf("problem %d: the best taps save %.2f of %.3g, what was answered %.2f of that, what was learned %.2f",
				k, 1-best/frozen, frozen, saved, (frozen-run.learned)/(frozen-best))
		}
	}
	t.Logf("%d of %d beyond the bound; %d where much can be saved, half of it in %d, %.2f on the mean; "+
		"at most %.3f of what the model as trained pays",
		over, problems, able, half, sum/float64(able), dearest)
}

// Gradient steps that are far too long learn nothing, and the bound holds all the
// same.
func TestGateOnLearnersThatDiverge(t *testing.T) {
	for k := range 100 {
		if run := playGated(t, drawProblem(k), rule.Paper(false).Ungated()); !run.within {
			t.Errorf("problem %d: the answers cost %v, want at most %v", k, run.cost, (&rule.Gate{}).Bound(&run.gate))
		}
	}
}
