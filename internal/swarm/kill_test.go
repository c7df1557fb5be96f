package swarm

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/internal/box"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/transport"
)

// short is a pace that gives silent neighbours up soon.
var short = host.Pace{Deadline: 200 * time.Millisecond}

// rejoinSteps is after how many steps of its own a host that came back is heard
// by everybody.
const rejoinSteps = 10

// Processes are killed at any point, one after the other, and started again. The
// others wait a deadline for them and no longer; the killed ones go on from
// their checkpoints and are heard again within rejoinSteps.
func TestKilledProcessesRejoin(t *testing.T) {
	for _, c := range []struct {
		bus  string
		seed uint64
	}{{box.BusNATS, 1}, {box.BusTCP, 2}} {
		t.Run(c.bus, func(t *testing.T) {
			o, w := observe(t, &settings[0], Options{
				Program: program(t), Bus: c.bus, Keep: true, CheckpointEvery: 20 * time.Millisecond, Pace: short,
			})
			rng := random.Stream(c.seed, "kills")
			at := time.Duration(0)
			for _, id := range rng.Perm(fieldHosts)[:2] {
				at += 150*time.Millisecond + time.Duration(rng.IntN(int(200*time.Millisecond)))
				k := Kill{Host: transport.HostID(id), From: at, To: at + 100*time.Millisecond}
				o.Kills, at = append(o.Kills, k), k.To
			}
			w.then = func() { w.enough = w.since() > at && w.calm >= rejoinSteps }
			r := w.up(o, sane)
			w.prompt(o.Pace)
			heard(t, r)
			if len(r.Events) != 4 || strings.Contains(strings.Join(r.Events, " "), "failed") {
				t.Errorf("events %q, want two kills and two starts", r.Events)
			}
			if n := &r.Counters; n.Agents.Expired == 0 || n.Host.Checkpoints == 0 {
				t.Errorf("counters %+v, want links given up and checkpoints", *n)
			}
			if text := logs(o.Dir); !strings.Contains(text, "goes on from a checkpoint") {
				t.Errorf("nobody says that it goes on from a checkpoint: %s", text)
			}
		})
	}
}

// When one is killed for good, the flock holds: all others answer every step but
// the few in which it is missed.
func TestKilledForGood(t *testing.T) {
	o, w := observe(t, &settings[0], Options{
		Program: program(t), Bus: box.BusTCP, Pace: short, Kills: []Kill{{Host: 1, From: 100 * time.Millisecond}},
	})
	w.then = func() { w.enough = w.lost[1] == 100 }
	r, err := Up(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	w.prompt(o.Pace)
	for id, lost := range w.lost {
		if id != 1 && lost > 0 {
			t.Errorf("host %d missed %d steps, want none", id, lost)
		}
	}
	if r.Counters.Host.Suspected == 0 || r.Steps < 100 {
		t.Errorf("%d steps, counters %+v, want at least 100 and a silent neighbour", r.Steps, r.Counters)
	}
	for _, report := range r.Reports {
		if report.Host != 1 && report.Final != true {
			t.Errorf("host %d did not end in order", report.Host)
		}
	}
}

// A process that stands still is waited for a few times and then no longer. When
// it wakes, it skips what it missed and takes part again.
func TestStuckProcess(t *testing.T) {
	for _, bus := range []string{box.BusNATS, box.BusTCP} {
		t.Run(bus, func(t *testing.T) {
			t.Parallel() // most of it is waiting
			o, w := observe(t, &settings[0], Options{Program: program(t), Bus: bus, Pace: short})
			var pid int
			w.then = func() {
				switch {
				case w.steps == 20:
					pid = pidOf(t, o.Dir, 2)
					syscall.Kill(pid, syscall.SIGSTOP)
				case w.lost[2] == 200 && pid > 0:
					syscall.Kill(pid, syscall.SIGCONT)
					pid = -1
				case pid < 0:
					w.enough = w.calm >= rejoinSteps
				}
			}
			r := w.up(o, sane)
			// The world waits for an answer, too: twice a deadline and a second.
			w.within(2*o.Pace.Deadline + 1500*time.Millisecond)
			heard(t, r)
		})
	}
}

// pidOf finds the process of a host.
func pidOf(t *testing.T, dir string, id transport.HostID) int {
	t.Helper()
	config := filepath.Join(dir, fmt.Sprintf("host-%d.yaml", id))
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil || len(files) == 0 {
		t.Skipf("SKIPPED %s: no /proc to find processes in", t.Name())
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err == nil && slices.Contains(strings.Split(string(text), "\x00"), config) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(f)))
			return pid
		}
	}
	t.Fatalf("host %d has no process", id)
	return 0
}

// A host that is a goroutine can be killed and started again as well.
func TestKilledGoroutineRejoins(t *testing.T) {
	o, w := observe(t, &settings[2], Options{
		Bus: BusMem, Keep: true, Pace: short, Kills: []Kill{{Host: 3, From: 30 * time.Millisecond, To: 60 * time.Millisecond}},
	})
	w.then = func() { w.enough = w.since() > o.Kills[0].To && w.calm >= rejoinSteps }
	r := w.up(o, sane)
	w.prompt(o.Pace)
	heard(t, r)
}
