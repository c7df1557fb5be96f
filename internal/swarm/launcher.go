package swarm

import (
	"time"

	"github.com/wdgnn/wdgnn/transport"
)

// launcher starts the hosts of a swarm and ends them, however they run.
type launcher interface {
	// start starts a host, kill ends it without warning. A host may be
	// started again.
	start(id transport.HostID) error
	kill(id transport.HostID) error

	// ports returns how to reach the hosts that hear their world. running
	// returns how many there are, with those that are still starting.
	ports() map[transport.HostID]port
	running() int

	// pids returns the operating system's numbers of processes by host.
	pids() map[transport.HostID]int

	// close ends the world of all hosts and waits for them, at most so long.
	close(wait time.Duration) error
}
