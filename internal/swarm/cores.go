package swarm

import (
	"os"
	"runtime"
	"strconv"
)

// environment returns the environment of a process that shares this machine
// with others: it computes on as many threads as there are cores for each, at
// least one. Threads that look for work where there is none would take the
// cores from processes that have some. A GOMAXPROCS that the user set stays.
func environment(processes int) []string {
	env := os.Environ()
	if os.Getenv("GOMAXPROCS") != "" {
		return env
	}
	return append(env, "GOMAXPROCS="+strconv.Itoa(max(1, runtime.NumCPU()/max(processes, 1))))
}
