package host

import (
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"time"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/transport"
)

// Config describes a [Machine].
type Config struct {
	Run   string           // name of the run; frames of others are ignored
	Host  transport.HostID // this host
	Nodes []agent.NodeID   // its nodes, at least one, in any order

	Plan *agent.Plan // its Cost is not looked at
	Cost Cost        // what targets mean

	Directory *Directory // who runs which node; nil if all are here
	Pace      Pace

	// Hear names hosts that are listened to from the start to the end; others
	// are when a node has a neighbour there, which may be a moment too late
	// for the first frame of a step.
	Hear []transport.HostID

	// Losses, if set, puts the host on trial: the world may say how many frames
	// it loses, and reset its nodes. It belongs to the host.
	Losses *transport.Losses

	// Links are the neighbours of nodes of which the world says nothing.
	Links map[agent.NodeID][]agent.Link

	// Seed is what nodes remember of an earlier life, see [agent.Node.Seed]; those
	// that it does not name begin with the model. A checkpoint goes before it.
	Seed []agent.Memory

	// Names are those of sensors, by node, which lines may use in place of numbers;
	// answers and the log then have both. Nodes without a name go by their number.
	Names map[agent.NodeID]string

	// Model stands for the model in checkpoints and reports. Change is what the host
	// is armed with, or has gone over to; nil if nothing. Fence is the latest for which
	// earlier ones were dropped. Proof says why bytes do not prove that a change is
	// agreed on; nil means that nobody has to prove it.
	Model  string
	Change *Change
	Fence  uint64
	Proof  func(c *Change, proof []byte) error

	// Vouch returns what a record says that the authority of the run has signed, as
	// [ReadMember] reads it, and an error for all others; nil means that nobody can
	// join. Records are those that this host knows at the start: its own, if it
	// came later.
	Vouch   func(record []byte) ([]byte, error)
	Records [][]byte

	// Every is the time between two checkpoints; 0 means a second, less than 0
	// that none is ever due.
	Every time.Duration

	// Together is how many nodes a host must have to compute their steps as
	// matrices, see [agent.Batch]; 0 means 16, less than 0 that it never does.
	// What they compute is the same.
	Together int
}

// Pacing says what a step waits for.
type Pacing string

// The ways to pace.
const (
	Lockstep Pacing = "lockstep"  // for neighbours, up to a deadline
	RealTime Pacing = "real-time" // for the next tick at most
)

// DefaultDeadline is the deadline of a Pace that names none.
const DefaultDeadline = time.Second

// TickDeadline is the deadline of a step in real time, of a world that ticks with
// the given period, unless a configuration names one.
func TickDeadline(period time.Duration) time.Duration { return period * 8 / 10 }

// Pace says how time passes.
type Pace struct {
	Mode Pacing `json:"mode"` // empty means Lockstep

	// Deadline is how long a step waits for silent neighbours, from its
	// beginning; 0 means a second. In real time it should be well within the
	// period of the world's ticks.
	Deadline time.Duration `json:"deadline"`

	// First is the deadline of the first step after a start, when neighbours
	// may still be starting; 0 means Deadline.
	First time.Duration `json:"first,omitempty"`

	// Retry is when silent neighbours are asked to send again, and again; 0
	// means after three times what an exchange usually takes, then after twice
	// that and so on, at most a fifth of the deadline; less than 0 never. A host
	// of which frames were lost lately is asked after its round trip instead.
	// Nobody is asked in real time.
	Retry time.Duration `json:"retry"`

	// Suspect is how many steps in a row a neighbour must be silent to be
	// waited for no longer; 0 means 3.
	Suspect int `json:"suspect"`

	// Linger is how long a host stays after the end of its world, to answer
	// neighbours that missed something.
	Linger time.Duration `json:"linger"`

	adaptive bool // Retry follows what a step usually takes, up to its value
}

func (p *Pace) fill() {
	if p.Mode == "" {
		p.Mode = Lockstep
	}
	if p.Deadline == 0 {
		p.Deadline = DefaultDeadline
	}
	if p.First == 0 {
		p.First = p.Deadline
	}
	if p.Retry == 0 {
		p.Retry, p.adaptive = p.Deadline/5, true
	}
	if p.Mode == RealTime || p.Retry < 0 {
		p.Retry = 0
	}
	if p.Suspect == 0 {
		p.Suspect = 3
	}
}

// Validate reports everything that is wrong with p.
func (p *Pace) Validate() error {
	var errs []error
	if known := []Pacing{"", Lockstep, RealTime}; !slices.Contains(known, p.Mode) {
		errs = append(errs, fmt.Errorf("host: no pace is called %q; try %s or %s", p.Mode, Lockstep, RealTime))
	}
	if p.Deadline < 0 || p.First < 0 || p.Suspect < 0 || p.Linger < 0 {
		errs = append(errs, fmt.Errorf("host: deadline %v, first %v, suspect %d, linger %v: want 0 or more",
			p.Deadline, p.First, p.Suspect, p.Linger))
	}
	return errors.Join(errs...)
}

// Validate reports everything that is wrong with c.
func (c *Config) Validate() error {
	errs := []error{c.Pace.Validate(), c.Cost.Validate()}
	complain := func(format string, args ...any) { errs = append(errs, fmt.Errorf("host: "+format, args...)) }
	if len(c.Nodes) == 0 {
		complain("no nodes")
	}
	if c.Plan == nil {
		complain("a plan must be given")
	}
	c.checkNames(complain)
	sorted := slices.Sorted(slices.Values(c.Nodes))
	for k, n := range sorted {
		if k > 0 && n == sorted[k-1] {
			complain("node %d is named twice", n)
		}
		if c.Directory != nil {
			if owner, ok := c.Directory.Owner(n); !ok || owner != c.Host {
				complain("node %d is not in the directory as one of host %d", n, c.Host)
			}
		}
	}
	for n, list := range c.Links {
		if _, found := slices.BinarySearch(sorted, n); !found {
			complain("links of node %d, which is not here", n)
		}
		if err := agent.CheckLinks(n, list); err != nil {
			complain("%w", err)
		}
	}
	return errors.Join(errs...)
}

// RunHash returns what stands for a run's name in frames, [agent.Header.Run], for
// those who read or write them without a host.
func RunHash(run string) uint32 {
	h := fnv.New32a()
	h.Write([]byte(run))
	return h.Sum32()
}

// everybody returns the nodes of all hosts, ascending.
func (c *Config) everybody() []agent.NodeID {
	if c.Directory == nil {
		return slices.Sorted(slices.Values(c.Nodes))
	}
	return c.Directory.nodes()
}
