package transporttest_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/transport"
	"github.com/wdgnn/wdgnn/transport/mem"
	"github.com/wdgnn/wdgnn/transport/transporttest"
)

const faultVariable = "WDGNN_TRANSPORTTEST_FAULT"

// faults are ways to break the contract, and the clause that notices.
var faults = map[string]string{
	"hears at once":        "nobody is heard before Hear",
	"hears all":            "all who hear and nobody else",
	"wrong sender":         "all who hear and nobody else",
	"flips a bit":          "all who hear and nobody else",
	"doubles":              "each once and in order",
	"swaps":                "each once and in order",
	"Hear adds":            "Hear replaces",
	"hears once":           "Hear replaces",
	"hears itself":         "a host never hears itself",
	"cuts at 1 MiB":        "frames of all sizes",
	"no empty frames":      "frames of all sizes",
	"takes any size":       "too large is refused",
	"breaks on large ones": "too large is refused",
	"keeps the slice":      "Send keeps no reference",
	"shares data":          "the receiver owns the data",
	"stalls":               "a slow reader stalls nobody",
	"hides drops":          "a slow reader stalls nobody",
	"counts hearers":       "counts add up",
	"counts too few bytes": "counts add up",
	"sends when closed":    "all at once",
	"closes once":          "Close ends it",
	"leaves Frames open":   "Close ends it",
	"dies with others":     "others go on after Close",
}

// The suite passes a bus that keeps the contract.
func TestRun(t *testing.T) {
	fault := os.Getenv(faultVariable)
	if fault != "" && fault != "none" {
		transporttest.SetPatience(time.Second)
	}
	transporttest.Run(t, func(t *testing.T, hosts int) []transport.Bus {
		var (
			network mem.Network
			shared  sync.Map
			all     []*broken
			buses   []transport.Bus
		)
		for h := range hosts {
			b, err := network.Join(transport.HostID(h))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { b.Close() })
			if fault == "" {
				buses = append(buses, b)
				continue
			}
			all = append(all, &broken{Bus: b, fault: fault, self: transport.HostID(h), others: &all, shared: &shared})
			buses = append(buses, all[h])
		}
		for _, b := range all {
			b.start()
		}
		return buses
	})
}

// The suite notices every fault, and passes the same wrapper without one. A
// failing suite fails its test, so each runs in a process of its own.
func TestRunNoticesFaults(t *testing.T) {
	for fault, clause := range faults {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			name := strings.ReplaceAll(clause, " ", "_")
			for _, f := range []string{fault, "none"} {
				cmd := exec.Command(os.Args[0], "-test.v", "-test.short", "-test.run", "^TestRun$/^"+name+"$")
				cmd.Env = append(os.Environ(), faultVariable+"="+f)
				out, err := cmd.CombinedOutput()
				want := fmt.Sprintf("--- FAIL: TestRun/%s", name)
				if f == "none" {
					want = fmt.Sprintf("--- PASS: TestRun/%s", name)
				}
				if (err != nil) != (f == fault) || !strings.Contains(string(out), want) {
					t.Errorf("%s: got %v and %s, want %q", f, err, out, want)
				}
			}
		})
	}
}
