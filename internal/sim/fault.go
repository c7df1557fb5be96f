package sim

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// Kind is what goes wrong.
type Kind int

// The kinds of faults.
const (
	Loss      Kind = iota // frames are lost, a share of them
	Delay                 // frames take longer
	Reorder               // some frames overtake others
	Duplicate             // some frames come twice
	Partition             // some hosts do not hear the others
	Server                // nobody hears anybody: the server restarts
	Kill                  // a box dies, and is started again with what its disk holds
	Stop                  // a box stands still
	Slow                  // a box takes long for everything
	Drift                 // a box's clock runs fast or slow
	Jump                  // a box's wall clock jumps
	Late                  // a box's world says nothing
	Disk                  // a box's disk takes no checkpoint
	Nonsense              // what a box sends is damaged or a lie
	kinds
)

var kindNames = [kinds]string{
	"loss", "delay", "reorder", "duplicate", "partition",
	"server restarts", "kill", "stop", "slow", "drift", "jump", "late world", "full disk", "nonsense",
}

// String returns the kind in words.
func (k Kind) String() string { return kindNames[k] }

// Fault is one thing that goes wrong for a while.
type Fault struct {
	Kind     Kind
	From, To time.Duration
	Host     int     // that it happens to; -1 if it is the network's
	Size     float64 // how much of it: a probability, a factor, a share of a deadline
	Side     uint64  // Partition: a bit for each host on one side
	Lie      lie     // Nonsense: what is said
}

// String describes the fault.
func (f Fault) String() string {
	s := fmt.Sprintf("%v to %v: %s", f.From.Round(time.Millisecond), f.To.Round(time.Millisecond), f.Kind)
	if f.Host >= 0 {
		s += fmt.Sprintf(" at host %d", f.Host)
	}
	switch f.Kind {
	case Nonsense:
		s += ", " + f.Lie.String()
	case Partition:
		s += fmt.Sprintf(", sides %b", f.Side)
	case Loss, Duplicate, Reorder, Delay, Slow, Drift, Jump:
		s += fmt.Sprintf(", %.3g", f.Size)
	}
	return s
}

// harmless kinds lose nothing if nothing else goes wrong.
var harmless = []Kind{Delay, Reorder, Duplicate, Drift, Slow, Disk}

// drawFaults draws what goes wrong. In a quarter of all trials nothing is lost,
// so that the end must be that of one process.
func (t *Trial) drawFaults(rng *rand.Rand) {
	d := t.pace.Deadline
	gentle := rng.IntN(4) == 0
	for range leastFaults + rng.IntN(mostFaults-leastFaults+1) {
		k := Kind(rng.IntN(int(kinds)))
		if gentle {
			k = harmless[rng.IntN(len(harmless))]
		}
		f := Fault{Kind: k, From: d + time.Duration(rng.Int64N(int64(8*d))), Host: -1, Size: rng.Float64()}
		f.To = f.From + d/2 + time.Duration(rng.Int64N(int64(6*d)))
		if k >= Kill {
			f.Host = rng.IntN(len(t.hosts))
		}
		switch k {
		case Delay:
			f.Size = 1 + 4*f.Size // times the usual
		case Slow:
			f.Size = 1 + 10*f.Size
		case Drift:
			f.From, f.To = 0, d // from the start to the end; nothing heals
			f.Size = 0.9 + 0.2*f.Size
		case Jump:
			f.Size = 20*f.Size - 10 // deadlines
		case Partition:
			f.Side = 1 + rng.Uint64N(1<<len(t.hosts)-2)
		case Nonsense:
			f.Lie = lie(rng.IntN(int(lies)))
			f.To = f.From + 8*d + time.Duration(rng.Int64N(int64(12*d)))
		}
		t.Faults = append(t.Faults, f)
	}
	slices.SortStableFunc(t.Faults, func(a, b Fault) int { return cmp.Compare(a.From, b.From) })
}

// active says whether a fault is under way.
func (f *Fault) active(now time.Duration) bool { return f.From <= now && now < f.To }
