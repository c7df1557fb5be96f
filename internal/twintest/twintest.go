// Package twintest reads what a twin wrote: golden numbers of testdata/twin.py, an
// independent program in NumPy that computes in float64 what a package computes. They
// are committed beside it as testdata/twin.json. With the flag -twin, tests read
// numbers that the script wrote just now, and compare these with the committed ones.
package twintest

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/wdgnn/wdgnn/internal/strictjson"
)

const committed = "testdata/twin.json"

var file = flag.String("twin", committed,
	"`file` that testdata/twin.py wrote; another than the committed one is compared with that too")

// Cases returns what the twin wrote, by name. Keys that T does not know are an error.
func Cases[T any](t testing.TB) map[string]T {
	t.Helper()
	text, err := os.ReadFile(*file)
	if err != nil {
		t.Fatal(err)
	}
	var cases map[string]T
	if err := strictjson.Unmarshal(text, &cases); err != nil {
		t.Fatalf("%s: %v", *file, err)
	}
	if len(cases) == 0 {
		t.Fatalf("%s: no case", *file)
	}
	return cases
}

// Committed fails the test where the numbers of the file that is read are not the
// committed ones. Another NumPy may sum in another order, hence 1e-9.
func Committed(t testing.TB) {
	t.Helper()
	read := func(name string) (v any) {
		text, err := os.ReadFile(name)
		if err == nil {
			err = json.Unmarshal(text, &v)
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return v
	}
	same(t, "", read(*file), read(committed))
}

func same(t testing.TB, path string, got, want any) {
	t.Helper()
	switch want := want.(type) {
	case map[string]any:
		got, ok := got.(map[string]any)
		if !ok || !slices.Equal(slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want))) {
			t.Errorf("%s: got keys %v, want %v", path, slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
			return
		}
		for _, k := range slices.Sorted(maps.Keys(want)) {
			same(t, path+"/"+k, got[k], want[k])
		}
	case []any:
		got, ok := got.([]any)
		if !ok || len(got) != len(want) {
			t.Errorf("%s: got %d elements, want %d", path, len(got), len(want))
			return
		}
		for i := range want {
			same(t, fmt.Sprintf("%s[%d]", path, i), got[i], want[i])
		}
	case float64:
		got, ok := got.(float64)
		if !ok || !(math.Abs(got-want) <= 1e-9*max(math.Abs(want), 1e-6)) { // below 1e-6 sums that cancel
			t.Errorf("%s: got %v, want %v", path, got, want)
		}
	default:
		if got != want {
			t.Errorf("%s: got %v, want %v", path, got, want)
		}
	}
}
