//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// group makes a process and all that it starts end together.
func group(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// end ends a process and what it started.
func end(cmd *exec.Cmd) { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
