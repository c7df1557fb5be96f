package sim

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/transport"
)

// row writes what a node observes at a step, or the answer that it should give.
// Numbers depend on seed, node and step alone, so that a box that leaves steps out
// sees the same.
func (t *Trial) row(dst []float32, node agent.NodeID, step, what uint64) []float32 {
	g := rand.NewPCG(t.Seed^what<<32^uint64(node)<<40, step)
	for i := range dst {
		dst[i] = float32(int64(g.Uint64()>>11))/(1<<52)*2 - 1 // from -1 to 1
	}
	return dst
}

// line returns what a host's world says at a step: what its nodes observe, and
// what two of three should have answered.
func (r *run) line(h int, step uint64) *host.Line {
	t := r.trial
	nodes := t.hosts[h]
	if r.boxes[h].record == nil {
		nodes = t.first(h)
	}
	l := &host.Line{Time: step, Nodes: r.lines.take(len(nodes), 64)}
	m := t.plan.Model
	for k, node := range nodes {
		n := &l.Nodes[k]
		n.Node, n.Row = node, t.row(r.values.take(m.Config.In, 1<<10), node, step, 1)
		if t.told(node, step) {
			n.Target = t.row(r.values.take(m.Outputs(), 1<<10), node, step, 2)
		}
	}
	return l
}

// told says whether the world tells a node what its answer should have been.
func (t *Trial) told(node agent.NodeID, step uint64) bool { return (uint64(node)+step)%3 > 0 }

// faults calls do for every fault of a kind that is under way.
func (r *run) faults(k kind, do func(f *Fault)) {
	if r.occurs>>k&1 == 0 {
		return
	}
	for i := range r.trial.Faults {
		if f := &r.trial.Faults[i]; f.Kind == k && f.active(r.now) {
			do(f)
		}
	}
}

// send carries a frame to all who hear its sender.
func (r *run) send(from int, frame []byte) {
	data := r.bytes.take(len(frame), 8<<10)
	copy(data, frame)
	sender := r.boxes[from]
	if r.occurs>>faultNonsense&1 > 0 && len(sender.past) < recorded {
		sender.past = append(sender.past, data)
	}
	frames := [][]byte{data}
	r.faults(faultNonsense, func(f *Fault) {
		if f.Host != from {
			return
		}
		r.honest = false
		var told [][]byte
		for _, data := range frames {
			told = append(told, f.Lie.tell(data, sender.past, r.rng)...)
		}
		if !slices.EqualFunc(told, frames, bytes.Equal) { // one without rows, as a deployment brings, may hold nothing to lie about
			sender.lied++
		}
		frames = told
	})
	for _, data := range frames {
		r.carryFrame(from, data)
	}
}

// carryFrame carries bytes to all who hear their sender.
func (r *run) carryFrame(from int, data []byte) {
	for to, b := range r.boxes {
		if to == from || b.machine == nil || !slices.Contains(b.hears, transport.HostID(from)) {
			continue
		}
		r.outcome.Frames++
		if r.cut(from, to) {
			continue
		}
		copies := 1
		r.faults(faultDuplicate, func(f *Fault) {
			if r.rng.Float64() < f.Size {
				copies++
			}
		})
		for range copies {
			frame := transport.Frame{From: transport.HostID(from), Data: data}
			r.push(event{at: r.now + r.travel(), kind: arrive, host: int32(to), load: r.carry(load{frame: frame})})
		}
	}
}

// cut says whether a frame is lost between two hosts.
func (r *run) cut(from, to int) (lost bool) {
	r.faults(faultServer, func(*Fault) { lost = true })
	r.faults(faultPartition, func(f *Fault) { lost = lost || f.Side>>from&1 != f.Side>>to&1 })
	r.faults(faultLoss, func(f *Fault) { lost = lost || r.rng.Float64() < f.Size })
	return lost
}

// travel returns how long a frame takes.
func (r *run) travel() time.Duration {
	usual := float64(r.trial.delay)
	d := usual * (0.7 + 0.6*r.rng.Float64())
	r.faults(faultDelay, func(f *Fault) { d += usual * (f.Size - 1) })
	r.faults(faultReorder, func(f *Fault) {
		if r.rng.Float64() < f.Size {
			d += usual * 4 * r.rng.Float64()
		}
	})
	return time.Duration(d)
}

// arrived puts a frame into a host's inbox, which has room for some.
func (r *run) arrived(b *box, f transport.Frame) {
	const room = 1 << 10
	if b.machine == nil || len(b.inbox) >= room {
		return
	}
	b.inbox = append(b.inbox, f)
	b.poke()
}

// jump returns by how much a host's wall clock is wrong.
func (r *run) jump(h int) (d time.Duration) {
	r.faults(faultJump, func(f *Fault) {
		if f.Host == h {
			d += time.Duration(f.Size * float64(r.trial.pace.Deadline))
		}
	})
	return d
}

// late returns until when a host's world says nothing.
func (r *run) late(h int) (until time.Duration) {
	r.faults(faultLate, func(f *Fault) {
		if f.Host == h {
			until = max(until, f.To)
		}
	})
	return until
}

// stall returns until when a host stands still, and how slow it is.
func (r *run) stall(h int) (until time.Duration, factor float64) {
	r.faults(faultStop, func(f *Fault) {
		if f.Host == h {
			until = max(until, f.To)
		}
	})
	r.faults(faultSlow, func(f *Fault) {
		if f.Host == h {
			factor = max(factor, f.Size)
		}
	})
	return until, factor
}

// diskFull says whether a host's disk takes nothing.
func (r *run) diskFull(h int) (full bool) {
	r.faults(faultDisk, func(f *Fault) { full = full || f.Host == h })
	return full
}
