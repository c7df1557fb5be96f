//go:build !linux

package swarm

import "os/exec"

// dieWithParent does nothing here: a process ends when its standard input does.
func dieWithParent(*exec.Cmd) {}
