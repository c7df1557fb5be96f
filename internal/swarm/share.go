package swarm

import (
	"os"
	"os/exec"
	"runtime"
	"strconv"
)

// Share makes cmd, which has not started, one of so many processes that share
// this machine. It ends when this process does, and computes on as many threads
// as there are cores for each, at least one: threads that look for work where
// there is none would take the cores from processes that have some. A GOMAXPROCS
// that the user set stays.
func Share(cmd *exec.Cmd, processes int) {
	dieWithParent(cmd)
	if os.Getenv("GOMAXPROCS") == "" {
		cmd.Env = append(cmd.Environ(), "GOMAXPROCS="+strconv.Itoa(max(1, runtime.NumCPU()/max(processes, 1))))
	}
}
