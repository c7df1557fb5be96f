package sim

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/host"
)

// kind is what goes wrong.
type kind int

// The kinds of faults.
const (
	faultLoss      kind = iota // frames are lost, a share of them
	faultDelay                 // frames take longer
	faultReorder               // some frames overtake others
	faultDuplicate             // some frames come twice
	faultPartition             // some hosts do not hear the others
	faultServer                // nobody hears anybody: the server restarts
	faultKill                  // a box dies, and is started again with what its disk holds
	faultStop                  // a box stands still
	faultSlow                  // a box takes long for everything
	faultDrift                 // a box's clock runs fast or slow
	faultJump                  // a box's wall clock jumps
	faultLate                  // a box's world says nothing
	faultDisk                  // a box's disk takes no checkpoint
	faultNonsense              // what a box sends is damaged or a lie
	faultDeploy                // somebody brings another model
	faultJoin                  // a box comes later, or a box gets a node
	kinds
)

var kindNames = [kinds]string{
	"loss", "delay", "reorder", "duplicate", "partition",
	"server restarts", "kill", "stop", "slow", "drift", "jump", "late world", "full disk", "nonsense", "deploy", "join",
}

// String returns the kind in words.
func (k kind) String() string { return kindNames[k] }

// Fault is one thing that goes wrong for a while.
type Fault struct {
	Kind     kind
	From, To time.Duration
	Host     int     // that it happens to; -1 if it is the network's
	Size     float64 // how much of it: a probability, a factor, a share of a deadline
	Side     uint64  // of a partition: a bit for each host on one side
	Lie      lie     // of nonsense: what is said

	Whole bool           // of a join: it is a host that does, and not a node of one
	Nodes []agent.NodeID // those that join
}

// String describes the fault.
func (f Fault) String() string {
	s := fmt.Sprintf("%v to %v: %s", f.From.Round(time.Millisecond), f.To.Round(time.Millisecond), f.Kind)
	if f.Host >= 0 {
		s += fmt.Sprintf(" at host %d", f.Host)
	}
	switch f.Kind {
	case faultNonsense:
		s += ", " + f.Lie.String()
	case faultJoin:
		s += ", nodes " + host.FormatNodes(f.Nodes)
	case faultPartition:
		s += fmt.Sprintf(", sides %b", f.Side)
	case faultLoss, faultDuplicate, faultReorder, faultDelay, faultSlow, faultDrift, faultJump:
		s += fmt.Sprintf(", %.3g", f.Size)
	}
	return s
}

// harmless kinds lose nothing if nothing else goes wrong.
var harmless = []kind{faultDelay, faultReorder, faultDuplicate, faultDrift, faultSlow, faultDisk, faultDeploy}

// drawFaults draws what goes wrong. In a quarter of all trials nothing is lost,
// so that the end must be that of one process; in an eighth somebody lies and nothing
// else is lost, so that all others must shut it out and run on.
func (t *Trial) drawFaults(rng *rand.Rand) {
	d := t.pace.Deadline
	mood := rng.IntN(8)
	for n := range leastFaults + rng.IntN(mostFaults-leastFaults+1) {
		k := kind(rng.IntN(int(kinds)))
		if mood < 3 {
			k = harmless[rng.IntN(len(harmless))]
		}
		if mood == 0 && n == 0 {
			k = faultNonsense
		}
		if k == faultJoin && t.lateHost && t.lateNode {
			k = faultKill // of somebody, perhaps of who joined
		}
		f := Fault{Kind: k, From: d + time.Duration(rng.Int64N(int64(8*d))), Host: -1, Size: rng.Float64()}
		f.To = f.From + d/2 + time.Duration(rng.Int64N(int64(6*d)))
		if k >= faultKill && k != faultDeploy {
			f.Host = rng.IntN(len(t.hosts))
		}
		switch k {
		case faultDelay:
			f.Size = 1 + 4*f.Size // times the usual
		case faultSlow:
			f.Size = 1 + 10*f.Size
		case faultDrift:
			f.From, f.To = 0, d // from the start to the end; nothing heals
			f.Size = 0.9 + 0.2*f.Size
		case faultJump:
			f.Size = 20*f.Size - 10 // deadlines
		case faultDeploy:
			f.To = f.From + 4*d
		case faultPartition:
			f.Side = 1 + rng.Uint64N(1<<len(t.hosts)-2)
		case faultJoin:
			t.drawJoin(&f, rng)
		case faultNonsense:
			f.Lie = lie(rng.IntN(int(lies)))
			f.To = f.From + 8*d + time.Duration(rng.Int64N(int64(12*d)))
		}
		t.Faults = append(t.Faults, f)
		if k == faultKill || k == faultStop {
			t.takeAlong(f, rng)
		}
	}
	slices.SortStableFunc(t.Faults, func(a, b Fault) int { return cmp.Compare(a.From, b.From) })
}

// takeAlong has up to two more hosts meet the fault that was drawn last, and half of
// these groups for so long that hosts which run as fast as their answers come go far
// ahead meanwhile.
func (t *Trial) takeAlong(f Fault, rng *rand.Rand) {
	others := rng.IntN(3)
	if others > 0 && t.think > 0 && rng.IntN(2) == 0 {
		f.To += 16 * t.pace.Deadline
		t.Faults[len(t.Faults)-1] = f
	}
	for range others {
		f.Host = rng.IntN(len(t.hosts))
		t.Faults = append(t.Faults, f)
	}
}

// active says whether a fault is under way.
func (f *Fault) active(now time.Duration) bool { return f.From <= now && now < f.To }
