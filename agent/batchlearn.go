package agent

import (
	"slices"

	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
)

// learn is Node.learn where all was heard together and nodes descend; it is false
// where they do not, and nothing happened. What was told is looked at as there.
func (b *Batch) learn(n *Node, ev Feedback) bool {
	if !b.descends {
		return false
	}
	kind, target, ok := b.told(n, ev)
	if !ok {
		return false
	}
	if !b.isMixed {
		b.mix()
	}
	if b.far != nil {
		return false
	}
	i := n.at
	if n.learner.Descend(b.mixed[0].Row(i), b.z[0].Row(i), b.base.Row(i), target, kind) != nil {
		n.stats.Diverged++
	}
	return true
}

// told returns what an answer should have been, and by which cost; no target if nobody
// says so. It is false if that is not how the cost is told, or it makes no sense.
func (b *Batch) told(n *Node, ev Feedback) (kind loss.Targeted, target []float32, ok bool) {
	if ev.Loss == nil {
		return nil, nil, true
	}
	if m, ok := ev.Loss.(*loss.MSE); ok && m.Mask == nil && m.Target.Rows == 1 && m.Target.Cols == len(n.output) && ev.Index == 0 {
		if target = m.Target.Row(0); mat.Finite(target...) { // by far the most
			return m, target, true
		}
	}
	if kind, ok = ev.Loss.(loss.Targeted); !ok || n.check(ev.Loss) != nil {
		return nil, nil, false
	}
	length := kind.TargetLen(b.plan.Basis.Outputs())
	b.target = slices.Grow(b.target[:0], length)[:length]
	if !kind.TargetOf(ev.Index, b.target) {
		return kind, nil, true
	}
	return kind, b.target, true
}

// listen is Node.listen where all was heard together.
func (b *Batch) listen(n *Node) {
	if !b.isMixed {
		b.mix()
	}
	h := &n.scratch.heard
	h.Vectors, h.Far, h.Mixed = b.vectors, nil, nil
	if !b.plan.Rule.Mixes() {
		n.scratch.weights, n.scratch.rows = append(n.scratch.weights[:0], 1), append(n.scratch.rows[:0], int32(n.at))
		h.Weights, h.Rows, h.Self = n.scratch.weights, n.scratch.rows, 0
		return
	}
	h.Rows, h.Weights = b.mixing.Row(n.at)
	h.Self = int(b.self[n.at])
	for v := range b.mixture {
		b.mixture[v] = b.mixed[v].Row(n.at)
	}
	h.Mixed = b.mixture
	h.Far = b.far
}

// mix mixes the vectors of all nodes of this step.
func (b *Batch) mix() {
	b.isMixed = true
	v := b.sent[b.time%2][0]
	for k := range b.vectors {
		b.vectors[k] = v.View(0, b.plan.stages[0].width+k*b.plan.Basis.Len(), b.mixing.Cols, b.plan.Basis.Len())
	}
	if !b.plan.Rule.Mixes() {
		return
	}
	for k, x := range b.vectors {
		b.mixed[k] = b.mixed[k].Resize(len(b.nodes), x.Cols)
		mat.Serial.SpMM(b.mixed[k], &b.mixing, x)
	}
	b.far = b.plan.Basis.Far(b.far, b.vectors[0])
}
