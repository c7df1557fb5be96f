//go:build unix

package mqtttest

import "syscall"

// save is what has mosquitto save what it knows.
const save = syscall.SIGUSR1
