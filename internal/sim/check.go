package sim

import (
	"slices"
	"time"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/online"
)

const (
	mostRow = 60.0 // norm of a neighbour's row; more is refused

	// mostDistance is how far parameters may go. A neighbour that lies within
	// 10‖𝒜†‖ may pull them some way, and rows with lies make gradients long: the
	// farthest of 6,000 histories was 9.5.
	mostDistance = 1e4

	mostKept = 16 << 20 // bytes of frames for later steps
	mostSlow = 10       // steps that wait for somebody who talks nonsense
	mostShut = 100      // deadlines after the last lie that a quarantine may last
	leastLie = 40       // frames with lies after which somebody must be in quarantine
	mostHeld = 3        // steps that wait for somebody who joins
)

// waited looks at how long a step took until its answer.
func (r *run) waited(b *box, step uint64) {
	p, e := r.trial.pace, max(r.trial.plan.Exchanges(), r.trial.other.Exchanges())
	took := r.now - b.began - b.idle
	most := time.Duration(float64(p.Deadline)*(1+0.1*float64(e))/b.rate) + 40*r.cost
	if p.Mode == host.RealTime {
		most = time.Duration(float64(p.Deadline)/b.rate) + 40*r.cost
	}
	if took > most {
		r.fail("host %d: step %d took %v, want %v at most", b.id, step, took, most)
	}
	slow := took > time.Duration(0.9*float64(p.Deadline)/b.rate)
	if slow && r.only(faultNonsense) && !r.lies(b.id) && r.company(b.id) {
		if b.account.slow++; b.account.slow == mostSlow {
			r.fail("host %d: in %d steps it waited for somebody who talks nonsense", b.id, mostSlow)
		}
	}
	if slow && r.only(faultJoin) && b.id < r.trial.base && r.company(b.id) {
		if b.account.held++; b.account.held == mostHeld {
			r.fail("host %d: in %d steps it waited for somebody who joins", b.id, mostHeld)
		}
	}
}

// only says whether there is a fault of a kind, and nothing else makes hosts silent or
// did within the last deadlines.
func (r *run) only(kind kind) bool {
	any := false
	for k := range r.trial.Faults {
		f := &r.trial.Faults[k]
		switch {
		case slices.Contains(harmless, f.Kind) || f.Kind == faultJump && r.trial.period == 0:
		case f.Kind == kind:
			any = any || f.active(r.now)
		case f.From <= r.now && r.now < r.trial.aftermath(f)+4*r.trial.pace.Deadline:
			return false
		}
	}
	return any
}

// company says whether a host has a neighbour elsewhere that talks sense, and is not in
// quarantine for what it said before: with nobody else to hear, a host waits for who
// runs another model, as the other may be its own.
func (r *run) company(h int) bool {
	for _, node := range r.trial.hosts[h] {
		for _, l := range r.trial.links[node] {
			if o := r.trial.owner[l.Node]; o != h && !r.lies(o) && !r.boxes[h].out[o] {
				return true
			}
		}
	}
	return false
}

func (r *run) lies(h int) (any bool) {
	r.faults(faultNonsense, func(f *Fault) { any = any || f.Host == h })
	return any
}

// accused looks at whom a host puts in quarantine: only who talks nonsense, or did.
func (r *run) accused(b *box, whom int, why string) {
	b.shut[whom], b.out[whom] = true, true
	r.outcome.Shut++
	for _, f := range r.trial.Faults {
		if f.Kind == faultNonsense && f.Host == whom && f.From <= r.now {
			return
		}
	}
	r.fail("host %d puts host %d in quarantine, which is honest: %s", b.id, whom, why)
}

// heal sets the time when all must be together again after the last fault, once
// nobody is in quarantine any more: until then some are not waited for.
func (r *run) heal() {
	d := r.trial.pace.Deadline
	for _, b := range r.boxes {
		if b.machine == nil || b.ended {
			continue
		}
		if list := b.report().Quarantine; len(list) > 0 {
			if r.now > r.trial.healed+mostShut*d {
				r.fail("host %d keeps host %d in quarantine, %v after the last fault: %+v", b.id, list[0].Host, r.now-r.trial.healed, list[0])
			}
			r.push(event{at: r.now + d, kind: heal})
			return
		}
	}
	r.push(event{at: r.now + together*d, kind: inspect})
}

// caught looks whether those were put in quarantine who told blatant lies for long
// while nothing else went wrong, by all whose nodes hear theirs.
func (r *run) caught() {
	for k := range r.trial.Faults {
		f := &r.trial.Faults[k]
		if f.Kind != faultNonsense || !slices.Contains(blatant, f.Lie) || !r.alone(f) || r.boxes[f.Host].lied < leastLie {
			continue
		}
		r.trial.neighbours(func(a, b int) {
			if b == f.Host {
				a, b = b, a
			}
			if a == f.Host && !r.boxes[b].shut[a] {
				r.fail("host %d tells lies (%s) for %v, and host %d does not put it in quarantine", a, f.Lie, f.To-f.From, b)
			}
		})
	}
}

// alone says whether nothing but a fault makes anybody silent.
func (r *run) alone(f *Fault) bool {
	for k := range r.trial.Faults {
		if o := &r.trial.Faults[k]; o != f && !slices.Contains(harmless, o.Kind) {
			return false
		}
	}
	return true
}

// neighbours calls do for all pairs of hosts with a link between them.
func (t *Trial) neighbours(do func(a, b int)) {
	for i, links := range t.links {
		for _, l := range links {
			if !t.here(agent.NodeID(i)) || !t.here(l.Node) {
				continue
			}
			if a, b := t.owner[i], t.owner[l.Node]; a < b {
				do(a, b)
			}
		}
	}
}

// inspect looks whether boxes are together again, and once they must be, whether
// they stay together and nobody is given up any more.
func (r *run) inspect() {
	reports := make([]*host.Report, len(r.boxes))
	expired := uint64(0)
	for h, b := range r.boxes {
		if b.machine == nil {
			r.fail("host %d is not there", h)
			return
		}
		reports[h] = b.report()
		expired += reports[h].Agents.Expired
		r.bounded(b, reports[h])
		for _, q := range reports[h].Quarantine {
			r.fail("host %d keeps host %d in quarantine, %v after the last fault: %+v", h, q.Host, r.now-r.trial.healed, q)
		}
	}
	r.trial.neighbours(func(a, b int) {
		if r.boxes[a].ended || r.boxes[b].ended {
			return
		}
		if x, y := reports[a].Time, reports[b].Time; max(x, y)-min(x, y) > 1 {
			r.fail("hosts %d and %d are neighbours and at steps %d and %d, %v after the last fault", a, b, x, y, r.now-r.trial.healed)
		}
	})
	r.deployed()
	r.known(reports)
	ended := slices.ContainsFunc(r.boxes, func(b *box) bool { return b.ended })
	r.outcome.Settled = r.outcome.Settled || !ended
	if r.checked && !ended && expired > r.expired {
		r.fail("%d rows were given up, %v after the last fault", expired-r.expired, r.now-r.trial.healed)
	}
	r.expired, r.checked = expired, true
	if !ended {
		r.push(event{at: r.now + r.trial.pace.Deadline + r.trial.period, kind: inspect})
	}
}

// bounded looks at what a host keeps.
func (r *run) bounded(b *box, report *host.Report) {
	for node, x := range report.Params {
		if d := r.trial.planOf(b.model).Basis.Distance(x, nil); !mat.Finite(x...) || d > mostDistance {
			r.fail("host %d: the parameters of node %d are %v away from where they began", b.id, node, d)
		}
	}
	if report.Kept > mostKept {
		r.fail("host %d keeps %d bytes of frames", b.id, report.Kept)
	}
}

// finish looks at what is left at the end.
func (r *run) finish() {
	r.outcome.Time = r.now
	if !slices.ContainsFunc(r.boxes, func(b *box) bool { return b.machine == nil }) {
		r.deployed()
	}
	for _, t := range r.tools {
		if len(t.went) == len(r.boxes) {
			r.outcome.Deployed++
		}
	}
	clean := r.honest && len(r.outcome.Broken) == 0
	r.caught()
	for _, b := range r.boxes {
		if b.machine == nil {
			continue
		}
		b.closeAccount(false)
		report := b.report()
		r.bounded(b, report)
		r.outcome.Steps += report.Stats.Steps
		s := report.Stats
		clean = clean && report.Agents.Expired+s.Skipped+s.Unanswered == 0 && s.Steps == r.trial.steps
	}
	if clean {
		r.outcome.Exact = true
		r.compare()
	}
}

// alone returns learners of all nodes in one process.
func (t *Trial) alone(p *agent.Plan) (*online.Observer, *online.Consensus, error) {
	o, err := online.NewObserver(p.Model, online.Config{Nodes: len(t.owner), Delayed: p.Delayed, HopByHop: true})
	if err != nil {
		return nil, nil, err
	}
	l, err := online.NewConsensus(o, t.rule)
	return o, l, err
}

// compare runs the same steps in one process, and compares parameters bit for
// bit.
func (r *run) compare() {
	t := r.trial
	n, m := len(t.owner), t.plan.Model
	o, l, err := t.alone(t.plan)
	if err != nil {
		r.fail("one process: %v", err)
		return
	}
	shift, err := t.plan.Operator.Of(t.graph)
	if err != nil {
		r.fail("one process: %v", err)
		return
	}
	mixing, err := graph.Metropolis(t.graph)
	if err != nil {
		r.fail("one process: %v", err)
		return
	}
	x, y, target := mat.NewDense(n, m.Config.In, nil), mat.NewDense(n, m.Outputs(), nil), mat.NewDense(n, m.Outputs(), nil)
	mask, model := make([]bool, n), 0
	for step := range t.steps {
		if now := r.made(step); now != model {
			was := l.Snapshot()
			if o, l, err = t.alone(t.planOf(now)); err == nil {
				err = t.carry(l, was, t.planOf(model), t.planOf(now))
			}
			if model = now; err != nil {
				r.fail("one process: %v", err)
				return
			}
		}
		for i := range n {
			t.row(x.Row(i), agent.NodeID(i), step, 1)
			t.row(target.Row(i), agent.NodeID(i), step, 2)
			mask[i] = t.told(agent.NodeID(i), step)
		}
		err := o.Observe(graph.Sample{Time: int(step), Shift: shift, Mixing: mixing, Signal: x})
		if err == nil {
			err = l.Predict(y)
		}
		if err == nil {
			err = l.Update(loss.MSE{Target: target, Mask: mask})
		}
		if err != nil {
			r.fail("one process: step %d: %v", step, err)
			return
		}
	}
	for _, b := range r.boxes {
		params := b.report().Params
		for _, node := range t.hosts[b.id] {
			if !slices.Equal(params[node], l.Params(int(node))) {
				r.fail("host %d: nothing was lost, and the parameters of node %d are not those of one process", b.id, node)
			}
		}
	}
}
