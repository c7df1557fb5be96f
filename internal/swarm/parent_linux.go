package swarm

import (
	"os/exec"
	"syscall"
)

// dieWithParent makes a process end when this one does, whatever the reason,
// and keeps Ctrl-C on a terminal away from it: this process ends it in order.
func dieWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM, Setpgid: true}
}
