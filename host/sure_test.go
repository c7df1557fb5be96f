package host

import (
	"encoding/json"
	"math"
	"slices"
	"testing"
)

// An interval of which nothing is known is null.
func TestIntervalsInJSON(t *testing.T) {
	inf := float32(math.Inf(1))
	o := Output{Node: 3, Value: []float32{1, 2}, Intervals: []Interval{{-0.5, 1.25}, {-inf, inf}}}
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(text), `{"node":3,"output":[1,2],"intervals":[[-0.5,1.25],null]}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	var again Output
	if err := json.Unmarshal(text, &again); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(again.Intervals, o.Intervals) {
		t.Errorf("got %v, want %v", again.Intervals, o.Intervals)
	}
	for _, bad := range []string{`[1]`, `"x"`, `[1,2,3]`, `{}`} {
		if new(Interval).UnmarshalJSON([]byte(bad)) == nil {
			t.Errorf("%s: got no complaint", bad)
		}
	}
}
