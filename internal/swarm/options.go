package swarm

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/internal/box"
	"github.com/wdgnn/wdgnn/internal/live"
	"github.com/wdgnn/wdgnn/transport"
)

// BusMem is a bus between goroutines of this process, beside those of package
// box: box.BusNATS, here with an embedded server, and box.BusTCP.
const BusMem = "mem"

// Options say how a swarm runs.
type Options struct {
	Task  *Task
	Run   string // name of the run, a part of subjects
	Hosts int    // processes, or goroutines
	Bus   string // empty means box.BusNATS

	// Program runs an agent: its arguments are followed by --config FILE. Nil
	// means goroutines of this process.
	Program []string

	// Programs run the agents of some hosts in place of Program.
	Programs map[transport.HostID][]string

	// Places, if not nil, are where processes are, by host, for the bus box.BusTCP;
	// nil means this machine's loopback.
	Places map[transport.HostID]Place

	// Lines makes processes hear the world on their standard input even if
	// the bus is NATS.
	Lines bool

	Dir  string    // for configurations, keys, state and logs; must exist
	Pace host.Pace // of the hosts
	Keep bool      // hosts keep checkpoints, so that restarted ones rejoin

	// CheckpointEvery is the time between two; 0 means a second.
	CheckpointEvery time.Duration

	Period time.Duration // between two steps; 0 means lockstep
	Verify bool          // against online.Consensus

	Faults  transport.Faults
	Kills   []Kill
	Restart time.Duration // when the NATS server is restarted; 0 means never

	Watch func(*View) // sees how things are every second; nil means nobody
	Every time.Duration

	// Hub, if set, shows the run, and its commands are obeyed. It was made for
	// Scene of these options.
	Hub *live.Hub

	// OnStep, if set, sees every step; an error of its own ends the run.
	OnStep func(*Step) error
}

// Place is where a host's process is.
type Place struct {
	Address string   // host:port that others reach it at
	Enter   []string // a program and arguments that run there what follows them
}

// Kill is a host that is killed, and perhaps started again.
type Kill struct {
	Host transport.HostID `json:"host"`
	From time.Duration    `json:"from"`         // since the first step
	To   time.Duration    `json:"to,omitempty"` // when it is started again; 0 means never
}

// ParseKill reads 3@10s or 3@10s-15s.
func ParseKill(text string) (Kill, error) {
	bad := fmt.Errorf("%q: want HOST@TIME such as 3@10s, or 3@10s-15s to start it again", text)
	id, when, ok := strings.Cut(text, "@")
	if !ok {
		return Kill{}, bad
	}
	number, err := strconv.ParseUint(id, 10, 32)
	if err != nil {
		return Kill{}, bad
	}
	k := Kill{Host: transport.HostID(number)}
	from, to, again := strings.Cut(when, "-")
	if k.From, err = time.ParseDuration(from); err != nil || k.From < 0 {
		return Kill{}, bad
	}
	if again {
		if k.To, err = time.ParseDuration(to); err != nil || k.To <= k.From {
			return Kill{}, bad
		}
	}
	return k, nil
}

// Validate reports everything that is wrong with o. Without a task, which may take
// long to make, it looks at all the rest.
func (o *Options) Validate() error {
	errs := []error{o.Pace.Validate(), o.Faults.Validate()}
	complain := func(format string, args ...any) { errs = append(errs, fmt.Errorf("swarm: "+format, args...)) }
	if o.Hosts < 1 {
		complain("%d hosts, want 1 at least", o.Hosts)
	}
	if o.Task != nil && o.Hosts > o.Task.Nodes {
		complain("%d hosts for %d nodes; want one for each at most", o.Hosts, o.Task.Nodes)
	}
	switch o.Bus {
	case "", box.BusNATS, box.BusTCP:
	case BusMem:
		if o.Program != nil {
			complain("processes cannot hear each other in memory; try the bus %s or %s", box.BusNATS, box.BusTCP)
		}
	default:
		complain("no bus is called %q; try %s, %s or %s", o.Bus, box.BusNATS, box.BusTCP, BusMem)
	}
	if o.Places != nil && (len(o.Places) != o.Hosts || o.Bus != box.BusTCP || o.Program == nil) {
		complain("%d places for %d hosts over the bus %q; want one for each process, over %s", len(o.Places), o.Hosts, o.Bus, box.BusTCP)
	}
	for _, k := range o.Kills {
		if int(k.Host) >= o.Hosts && o.Hosts > 0 {
			complain("host %d is to be killed, there are 0 to %d", k.Host, o.Hosts-1)
		}
	}
	for _, p := range o.Faults.Partitions {
		if last := slices.Max(append(p.Hosts, 0)); int(last) >= o.Hosts && o.Hosts > 0 {
			complain("host %d is to be cut off, there are 0 to %d", last, o.Hosts-1)
		}
	}
	if o.Restart != 0 && o.Bus != "" && o.Bus != box.BusNATS {
		complain("there is no server to restart on the bus %s", o.Bus)
	}
	return errors.Join(errs...)
}
