package swarm

import (
	"flag"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/internal/box"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/transport"
)

var (
	soak     = flag.Duration("soak", 0, "how long TestSoak breaks things; 0 skips it")
	soakSeed = flag.Uint64("soak-seed", 1, "what it breaks, and when")
)

// soakRound is how long one swarm of the soak lives, at least.
const soakRound = 20 * time.Second

// Swarms of processes live through whatever can go wrong, drawn at random: kills
// with and without checkpoints, partitions, losses, delays, restarts of the
// server. At the end of each everybody hears everybody, and nothing is left of
// it: no goroutine, no open file.
func TestSoak(t *testing.T) {
	if *soak == 0 {
		t.Skipf("SKIPPED %s: it takes long; try make soak", t.Name())
	}
	goroutines, files := 0, 0
	for round, began := 0, time.Now(); time.Since(began) < *soak; round++ {
		rng := random.Stream(*soakSeed, "soak", round)
		span := max(min(soakRound, *soak-time.Since(began)), 2*time.Second)
		moment := func() time.Duration { return time.Duration(rng.Float64() * float64(span)) }
		o, w := observe(t, &settings[rng.IntN(len(settings))], Options{
			Program: program(t), Bus: []string{box.BusNATS, box.BusTCP}[rng.IntN(2)], Lines: rng.IntN(2) == 0,
			Keep: rng.IntN(4) > 0, CheckpointEvery: 50 * time.Millisecond, Pace: short, Dir: t.TempDir(),
			Faults: transport.Faults{
				Seed: rng.Uint64(), Loss: 0.1 * rng.Float64(), Duplicate: 0.1 * rng.Float64(), Reorder: 0.1 * rng.Float64(),
				Jitter: time.Duration(rng.IntN(int(3 * time.Millisecond))),
			},
		})
		if o.Bus == box.BusNATS {
			o.Restart = moment()
		}
		for id := range transport.HostID(fieldHosts) { // each is killed now and then
			for at := moment(); at < span; at += moment() {
				to := at + 50*time.Millisecond + time.Duration(rng.IntN(int(2*time.Second)))
				o.Kills = append(o.Kills, Kill{Host: id, From: at, To: to})
				at = to + time.Second
			}
		}
		for range rng.IntN(4) {
			from := moment()
			cut := transport.Partition{From: from, To: from + time.Duration(rng.IntN(int(3*time.Second))) + time.Millisecond}
			for _, id := range rng.Perm(fieldHosts)[:1+rng.IntN(2)] {
				cut.Hosts = append(cut.Hosts, transport.HostID(id))
			}
			o.Faults.Partitions = append(o.Faults.Partitions, cut)
		}
		last := span
		for _, k := range o.Kills {
			last = max(last, k.To)
		}
		for _, p := range o.Faults.Partitions {
			last = max(last, p.To)
		}
		w.then = func() { w.enough = w.since() > last+2*time.Second && w.calm >= healSteps }
		w.up(o, sane)
		if most := 2*o.Pace.Deadline + 3*time.Second; w.longest > most {
			t.Errorf("round %d: a step took %v, want at most %v", round, w.longest, most)
		}
		if w.steps < 100 {
			t.Errorf("round %d: %d steps in %v, want progress", round, w.steps, w.since())
		}
		n, f := runtime.NumGoroutine(), openFiles()
		if round == 0 {
			goroutines, files = n, f
		} else if n > goroutines+10 || f > files+10 {
			t.Errorf("round %d: %d goroutines and %d open files, after the first round %d and %d", round, n, f, goroutines, files)
		}
		if t.Failed() {
			t.Fatalf("round %d of seed %d, %+v", round, *soakSeed, o)
		}
	}
}

// openFiles counts the open files of this process, 0 where that cannot be seen.
func openFiles() int {
	entries, _ := os.ReadDir("/proc/self/fd")
	return len(entries)
}
