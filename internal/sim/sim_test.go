package sim

import (
	"context"
	"crypto/sha256"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Whatever goes wrong, no promise is broken. CI plays more seeds through the
// program.
func TestSeeds(t *testing.T) {
	seeds := uint64(1000)
	if testing.Short() {
		seeds = 60
	}
	s, err := Sweep(context.Background(), 1, seeds, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range s.Broken {
		t.Errorf("seed %d: %v", f.Seed, f.Broken)
	}
	if s.Deployed < s.Faults[faultDeploy.String()]/4 {
		t.Errorf("of %d deployments %d came to an end, want a quarter", s.Faults[faultDeploy.String()], s.Deployed)
	}
	if s.Exact < seeds/10 || s.Settled < seeds*8/10 || len(s.Faults) != int(kinds) {
		t.Errorf("of %d trials %d lost nothing, %d lasted until hosts were together again, and there were %d kinds of faults: "+
			"want a tenth, eight tenths, and %d", seeds, s.Exact, s.Settled, len(s.Faults), kinds)
	}
}

// One seed is one history, to the last line: nothing depends on the order in which a map
// is walked through.
func TestSameHistory(t *testing.T) {
	seeds := uint64(200)
	if testing.Short() {
		seeds = 20
	}
	history := func(seed uint64) [sha256.Size]byte {
		lines := sha256.New()
		trial, err := Draw(seed)
		if err == nil {
			_, err = trial.Run(lines)
		}
		if err != nil {
			t.Fatal(err)
		}
		return [sha256.Size]byte(lines.Sum(nil))
	}
	for seed := uint64(1); seed <= seeds; seed++ {
		if first, again := history(seed), history(seed); first != again {
			t.Errorf("seed %d: two histories, want the same", seed)
		}
	}
}

// Mistakes that were once made, put back, are found within a thousand seeds each:
// see defect.Number.
func TestFindsDefects(t *testing.T) {
	if testing.Short() {
		t.Skipf("SKIPPED %s: it builds the simulator with mistakes in it; it runs without -short", t.Name())
	}
	program := filepath.Join(t.TempDir(), "sim.test")
	if out, err := exec.Command("go", "test", "-c", "-vet=off", "-tags", "defects", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, defect := range []string{"4", "5", "6", "10", "11", "12"} {
		cmd := exec.Command(program, "-test.run", "^TestDefectIsFound$", "-test.v")
		cmd.Env = append(os.Environ(), "WDGNN_DEFECT="+defect)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("defect %s: %v\n%s", defect, err, out)
		}
		t.Logf("%s", out)
	}
}

// BenchmarkTrial plays one seed after the other.
func BenchmarkTrial(b *testing.B) {
	b.ReportAllocs()
	for k := range b.N {
		if _, _, err := play(uint64(k%500 + 1)); err != nil {
			b.Fatal(err)
		}
	}
}
