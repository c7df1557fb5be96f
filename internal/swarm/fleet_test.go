package swarm

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/internal/box"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/transport"
)

// robotProgram builds the program wdgnn-agent for arm64, once.
var robotProgram = sync.OnceValues(func() (string, error) {
	dir, err := programs()
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "wdgnn-agent-arm64")
	cmd := exec.Command("go", "build", "-o", path, "github.com/wdgnn/wdgnn/cmd/wdgnn-agent")
	cmd.Env = append(os.Environ(), "GOARCH=arm64", "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return path, nil
})

// robot returns the command that runs an agent of arm64 with the given kernel set
// under an emulator.
func robot(t *testing.T, kernels string) []string {
	t.Helper()
	emulator, err := exec.LookPath("qemu-aarch64")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skipf("SKIPPED %s: %v; Debian's package qemu-user has it", t.Name(), err)
	}
	return []string{emulator, "-E", "WDGNN_KERNELS=" + kernels, started(t, robotProgram)}
}

// fleet runs a task on four hosts, of which the emulated ones are 1 and 3, and
// compares them with one process. Nobody looks at the time that an emulated host
// takes; there is no deadline to miss.
func fleet(t *testing.T, task *Task, bus string, emulated map[transport.HostID][]string) *Result {
	t.Helper()
	r, err := Up(t.Context(), Options{
		Task: task, Run: "fleet", Hosts: 4, Bus: bus, Dir: t.TempDir(), Verify: true, Program: program(t), Programs: emulated,
		Pace: host.Pace{Deadline: 5 * time.Minute, Retry: 2 * time.Second},
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Boxes of amd64 and of arm64 are one fleet: with every second host another kind
// of processor, with assembly or plain Go, agents end with the bits of the learner
// in one process.
func TestMixedFleet(t *testing.T) {
	neon, plain, foreign := "neon", "fusedgo", "portable"
	if mat.Family() == "portable" {
		neon, plain, foreign = "portable", "portable", "neon"
	}
	emulated := map[transport.HostID][]string{1: robot(t, neon), 3: robot(t, plain)}
	for _, c := range []struct {
		name, bus string
		task      func(t *testing.T) *Task
	}{
		{"paper, TCP", box.BusTCP, func(t *testing.T) *Task { return toyTask(t, &settings[1], 12) }},
		{"own, NATS", box.BusNATS, func(t *testing.T) *Task { return toyTask(t, &settings[3], 12) }},
		{"flocking, NATS", box.BusNATS, robots},
	} {
		t.Run(c.name, func(t *testing.T) {
			if r := fleet(t, c.task(t), c.bus, emulated); !r.Verified.Same() || r.Missing != 0 || r.Steps == 0 {
				t.Errorf("%+v; %d answers missing, want the same bits", *r.Verified, r.Missing)
			}
		})
	}
	t.Run("another family", func(t *testing.T) { // what a fleet is that is none, so that the test is one
		r := fleet(t, toyTask(t, &settings[1], 4), box.BusTCP, map[transport.HostID][]string{1: robot(t, foreign)})
		if r.Verified.Same() || r.Missing != 0 {
			t.Errorf("%+v; %d answers missing, want other bits from %s kernels", *r.Verified, r.Missing, foreign)
		}
	})
}
