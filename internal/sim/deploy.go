package sim

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/rule"
)

// mostMargin is how many steps ahead a deployment is at most, beside one for each host.
const mostMargin = 20

// secret is what proves an agreement.
var secret = []byte("agreed")

// errand is what somebody does who brings a model.
type errand int

const (
	begin  errand = iota // looks whether all are there, and has them drop what they are armed with
	clean                // a host hears that
	choose               // if all have, a step is chosen, and they are armed
	arm                  // a host hears that
	decide               // if all are armed it is agreed on
	agree                // a host hears that
	cancel               // a host hears that it is not
	follow               // a host hears that others have gone over
)

// tool brings a model to all hosts. It may die at any point.
type tool struct {
	run   *run
	fault *Fault
	id    uint64 // of the agreement
	model int    // that it brings: what hosts run alternates between two plans
	step  uint64 // T
	armed int    // hosts
	ready int    // hosts that are armed with nothing
	said  bool   // that it is agreed on, to somebody
	lives int    // how many errands it has left

	went map[int]uint64 // the step in which a host went over
}

// drawOther makes the model that a deployment brings: of the same inputs and outputs,
// in one of two trials with other layers.
func (t *Trial) drawOther() error {
	rng := random.Stream(t.Seed, "other")
	c := t.plan.Model.Config
	if rng.IntN(2) == 0 {
		c.Deep = append(slices.Clone(c.Deep), gnn.LayerConfig{Order: 1 + rng.IntN(2), Features: 2})
	}
	m, err := gnn.NewRandom(c, rng)
	if err != nil {
		return err
	}
	p := t.plan.PlanConfig
	p.Model = m
	if p.Basis, err = online.NewBasis(m, t.rule, nil); err != nil {
		return err
	}
	if t.plan.MaxRows != nil {
		p.MaxRows = slices.Repeat([]float64{mostRow}, agent.Hops(m))
	}
	t.other, err = agent.NewPlan(p)
	return err
}

// planOf returns the plan of a model.
func (t *Trial) planOf(model int) *agent.Plan {
	if model%2 == 1 {
		return t.other
	}
	return t.plan
}

// bring has somebody bring another model.
func (r *run) bring(f *Fault) {
	t := &tool{run: r, fault: f, id: uint64(len(r.tools) + 1), lives: 1 << 20, went: map[int]uint64{}}
	if f.Size < 0.4 { // it dies at some point
		t.lives = 1 + int(f.Size/0.4*float64(2*len(r.boxes)))
	}
	r.tools = append(r.tools, t)
	t.later(f.From, 0, begin)
}

// later has something done at a time.
func (t *tool) later(at time.Duration, h int, e errand) {
	t.run.push(event{at: at, kind: order, host: int32(h), life: int32(t.id - 1), load: t.run.carry(load{errand: e})})
}

// soon is a moment from now.
func (t *tool) soon() time.Duration {
	return t.run.now + time.Duration(t.run.rng.Int64N(int64(t.run.trial.pace.Deadline/2)))
}

// all has something done to every host, in any order, until the tool dies.
func (t *tool) all(e errand) {
	for h := range t.run.boxes {
		t.later(t.soon(), h, e)
	}
}

// act does an errand.
func (t *tool) act(h int, e errand) {
	r, d := t.run, t.run.trial.pace.Deadline
	if t.lives--; t.lives < 0 {
		return
	}
	switch e {
	case begin:
		t.all(clean)
		t.later(r.now+d/2, 0, choose)
	case choose:
		if t.ready < len(r.boxes) || !t.look() {
			return
		}
		t.all(arm)
		t.later(r.now+d, 0, decide)
	case decide:
		if t.armed < len(r.boxes) {
			t.all(cancel)
			return
		}
		t.all(agree)
		t.later(r.now+2*d, 0, follow)
	case follow:
		if slices.ContainsFunc(r.boxes, func(b *box) bool { return b.agreedOn(t.id) }) {
			for h := range r.boxes {
				r.boxes[h].hear(t, follow)
			}
		}
	default:
		r.boxes[h].hear(t, e)
	}
}

// look looks whether all hosts are there and run the same, and chooses the step.
func (t *tool) look() bool {
	r := t.run
	for _, b := range r.boxes {
		if !b.reachable() || b.model != r.boxes[0].model {
			return false
		}
		if c := b.report().Change; c != nil && c.State == host.ChangeAgreed {
			return false
		}
		t.step = max(t.step, b.machine.Next())
	}
	t.model = r.boxes[0].model + 1
	t.step += uint64(len(r.boxes)+2+r.rng.IntN(mostMargin-10)) + r.trial.within(2*r.trial.pace.Deadline)
	return true
}

// reachable says whether a box hears somebody who brings a model.
func (b *box) reachable() bool {
	down := false
	b.run.faults(faultServer, func(*Fault) { down = true })
	until, _ := b.run.stall(b.id)
	return b.machine != nil && !down && until <= b.run.now
}

// agreedOn says whether a box knows that a model is agreed on.
func (b *box) agreedOn(id uint64) bool {
	if b.machine == nil {
		return false
	}
	c := b.report().Change
	return c != nil && c.ID == id && (c.State == host.ChangeAgreed || c.State == host.ChangeMade)
}

// promise is what a box keeps on disk of a change.
type promise struct {
	ID    uint64     `json:"id"`
	Model int        `json:"model"`
	Step  uint64     `json:"step"`
	Done  *host.Word `json:"done,omitempty"`

	Dropped bool   `json:"dropped,omitempty"`
	Fence   uint64 `json:"fence,omitempty"`
}

// fence is the latest deployment for which earlier ones were dropped.
func (p *promise) fence() uint64 {
	if p == nil {
		return 0
	}
	return p.Fence
}

// change returns it as a host wants it.
func (b *box) change(p *promise) *host.Change {
	t := b.run.trial
	return &host.Change{
		ID: p.ID, Step: p.Step, Model: strconv.Itoa(p.Model), Plan: t.planOf(p.Model), Done: p.Done, Dropped: p.Dropped,
		Before: t.planOf(p.Model - 1).Digest(),
	}
}

// hear does what somebody orders who brings a model: what is promised is on disk first.
func (b *box) hear(t *tool, e errand) {
	if !b.reachable() {
		return
	}
	was := b.promised()
	p := &promise{ID: t.id, Model: t.model, Step: t.step, Fence: was.fence()}
	switch e {
	case arm:
		if was != nil && (was.ID == t.id || t.id < was.Fence) || b.promise(p) != nil {
			return
		}
		if b.order(host.Arm{Change: b.change(p)}) != nil {
			b.keep(was)
			return
		}
		t.armed++
	case clean:
		if b.drop(was, t.id) {
			t.ready++
		}
	case cancel:
		if was != nil && was.ID == t.id {
			b.drop(was, t.id)
		}
	case agree, follow:
		t.said = true
		b.step(host.Agree{ID: t.id, Proof: secret, Gone: e == follow})
		b.poke()
	}
}

// drop lets a box forget what it is armed with, and says whether it did.
func (b *box) drop(was *promise, id uint64) bool {
	p := promise{}
	if was != nil {
		p = *was
	}
	if b.order(host.Drop{ID: id}) != nil {
		return false
	}
	p.Fence = max(p.Fence, id)
	p.Dropped = p.ID != 0 && p.Done == nil
	return b.promise(&p) == nil
}

// order tells the machine, and returns why it refuses.
func (b *box) order(ev host.Event) error {
	b.step(ev)
	b.poke()
	return b.refused
}

// changed keeps what the machine says of a change.
func (b *box) changed(c *host.Changed) {
	model, err := strconv.Atoi(c.Change.Model)
	if err != nil {
		b.run.fail("host %d: %v", b.id, err)
		return
	}
	t := b.run.tools[c.Change.ID-1]
	if !t.said {
		b.run.fail("host %d: agreement %d, which nobody made", b.id, t.id)
	}
	if !c.Gone {
		return
	}
	b.keep(&promise{ID: c.Change.ID, Model: model, Step: c.Change.Step, Done: &c.Word, Fence: b.promised().fence()})
	b.model = model
	if c.Time < t.step {
		b.run.fail("host %d: went over at step %d, agreed was %d", b.id, c.Time, t.step)
	}
	if _, again := t.went[b.id]; !again {
		t.went[b.id] = c.Time
	}
}

const promiseFile = "change"

// promise writes to the disk what a box has promised.
func (b *box) promise(p *promise) error {
	text, err := json.Marshal(p)
	if err != nil {
		return err
	}
	b.disk.SetRoom(-1)
	if b.run.diskFull(b.id) {
		b.disk.SetRoom(10)
	}
	f, err := b.disk.Append(promiseFile + ".new")
	if err != nil {
		return err
	}
	if err = f.Truncate(0); err == nil {
		_, err = f.Write(text)
	}
	if err == nil {
		err = f.Sync()
	}
	f.Close()
	if err == nil {
		err = b.disk.Rename(promiseFile+".new", promiseFile)
	}
	if err == nil {
		err = b.disk.Sync()
	}
	return err
}

// keep is promise where nobody asked: a full disk does not stop a box.
func (b *box) keep(p *promise) { _ = b.promise(p) }

// promised reads it, nil if there is nothing.
func (b *box) promised() *promise {
	text, err := b.disk.ReadFile(promiseFile)
	if err != nil {
		return nil
	}
	var p *promise
	if err := json.Unmarshal(text, &p); err != nil {
		b.run.fail("host %d: %v", b.id, err)
	}
	return p
}

// awake makes the machine of a box that is started, with the model that its checkpoint
// is of, and with what it has promised.
func (b *box) awake(last []byte) (*host.Machine, error) {
	b.model = 0
	if last != nil {
		c, err := host.ReadCheckpoint(last)
		if err != nil {
			return nil, err
		}
		if c.Model != "" {
			if b.model, err = strconv.Atoi(c.Model); err != nil {
				return nil, err
			}
		}
	}
	c, err := b.config()
	if err != nil {
		return nil, err
	}
	c.Plan, c.Model = b.run.trial.planOf(b.model), strconv.Itoa(b.model)
	c.Proof = func(_ *host.Change, proof []byte) error {
		if string(proof) != string(secret) {
			return fmt.Errorf("proof %q", proof)
		}
		return nil
	}
	if p := b.promised(); p != nil {
		if c.Fence = p.Fence; p.ID > 0 && p.Model >= b.model {
			c.Change = b.change(p)
		}
	}
	return host.NewMachine(c, last)
}

// deployed looks whether a model is everywhere or nowhere.
func (r *run) deployed() {
	for _, b := range r.boxes {
		if b.model != r.boxes[0].model && b.machine.Next() > r.lastStep()+uint64(len(r.boxes)) && !b.ended {
			r.fail("host %d runs model %d, host 0 model %d, %v after the last fault", b.id, b.model, r.boxes[0].model, r.now-r.trial.healed)
		}
	}
	for _, t := range r.tools {
		if t.said && r.calm() {
			r.together(t)
		}
	}
}

// lastStep is the last that somebody agreed on.
func (r *run) lastStep() (step uint64) {
	for _, t := range r.tools {
		step = max(step, t.step)
	}
	return step
}

// calm says whether nothing was lost, and nobody cut off, in a trial: a full disk alone
// keeps a host from promising.
func (r *run) calm() bool {
	for k := range r.trial.Faults {
		if !slices.Contains(harmless, r.trial.Faults[k].Kind) {
			return false
		}
	}
	return true
}

// together looks whether all hosts went over at step T, or none did.
func (r *run) together(t *tool) {
	for h, at := range t.went {
		if at != t.step {
			r.fail("host %d went over at step %d, agreed was %d, and nothing was lost", h, at, t.step)
		}
	}
	if n := len(t.went); n > 0 && n < len(r.boxes) && r.reached(t.step) {
		r.fail("%d of %d hosts went over at step %d, and nothing was lost", n, len(r.boxes), t.step)
	}
}

// reached says whether all hosts have begun a step.
func (r *run) reached(step uint64) bool {
	return !slices.ContainsFunc(r.boxes, func(b *box) bool { return b.machine == nil || b.machine.Next() <= step })
}

// carry gives a learner of one process what one of another plan remembers.
func (t *Trial) carry(to *online.Consensus, s online.Snapshot, from, plan *agent.Plan) error {
	next := to.Snapshot()
	if sameLines(from.Model, plan.Model) {
		next.Delay = s.Delay
	}
	for i, m := range s.Nodes {
		c := rule.NodeConfig{Basis: from.Basis, Config: &t.rule, Rows: 1, Number: i, Answers: true}
		old := rule.NewNode(c)
		if err := old.Restore(m, s.Given); err != nil {
			return err
		}
		c.Basis = plan.Basis
		if kept, ok := rule.NewNode(c).Carry(old, s.Given); ok {
			next.Nodes[i] = kept
		}
	}
	next.Given = s.Given
	return to.Restore(next)
}

// sameLines says whether the delay lines of two models have the same places.
func sameLines(a, b *gnn.WideDeep) bool {
	x, y := a.Params.Deep, b.Params.Deep
	if max(len(x), 1) != max(len(y), 1) || a.InputOrder() != b.InputOrder() {
		return false
	}
	for l := 1; l < len(x); l++ {
		if x[l].Order() != y[l].Order() {
			return false
		}
	}
	return true
}

// made returns the model of a step, if nothing was lost.
func (r *run) made(step uint64) (model int) {
	for _, t := range r.tools {
		if len(t.went) == len(r.boxes) && step >= t.step {
			model = max(model, t.model)
		}
	}
	return model
}
