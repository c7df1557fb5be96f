//go:build amd64 && !purego

package kernel

import (
	"os"
	"strings"
	"testing"
)

// Where 512-bit instructions do not pay, the choice says why.
func TestWideUnits(t *testing.T) {
	const intel, amd = "GenuineIntel", "AuthenticAMD"
	for _, c := range []struct {
		p      processor
		passed bool
		why    string
	}{
		{processor{intel, 6, 207, "Xeon"}, false, "two 512-bit units expected (Xeon)"},
		{processor{intel, 6, 106, "Xeon"}, false, "two 512-bit units expected"},
		{processor{intel, 6, 85, "Xeon"}, true, "lowers its clock"},
		{processor{intel, 6, 140, "Core"}, true, "one 512-bit unit"},
		{processor{amd, 25, 17, "EPYC 9354"}, true, "Zen 4 runs 512-bit instructions in two halves (EPYC 9354)"},
		{processor{amd, 26, 2, "EPYC 9575F"}, false, "two 512-bit units expected"},
	} {
		if why, passed := wideUnits(c.p); passed != c.passed || !strings.Contains(why, c.why) {
			t.Errorf("%+v: got %v because %q, want %v because %q", c.p, passed, why, c.passed, c.why)
		}
	}
}

// The processor's own words are those that the system reports.
func TestIdentity(t *testing.T) {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		t.Skipf("SKIPPED %s: %v", t.Name(), err)
	}
	p := identity()
	for _, want := range []string{": " + p.vendor + "\n", "model name\t: " + p.name} {
		if !strings.Contains(string(text), want) {
			t.Errorf("got %+v, want what /proc/cpuinfo says: no %q there", p, want)
		}
	}
}
