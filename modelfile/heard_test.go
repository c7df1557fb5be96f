package modelfile

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
)

// What single nodes heard comes back to the last bit; moments are kept as
// triangles.
func TestHeard(t *testing.T) {
	third := 1.0 / 3
	want := map[int]Heard{ // one input, and one value of each neighbour
		2: {Neighbors: []int{0, 7}, Moment: []float64{1, 2, third, -4, 2, 5, 6, 7, third, 6, 8, 9, -4, 7, 9, 10}},
		9: {Neighbors: []int{}, Moment: []float64{3, 1, 1, 1}},
	}
	for name, c := range architectures {
		m := randomModel(t, c)
		m.SetHeard(want)
		file := encoded(t, m)
		back, err := Decode(bytes.NewReader(file), int64(len(file)))
		if err != nil {
			t.Fatal(err)
		}
		got, err := back.Heard(1, 1)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
}

// A file without them has none, and one whose lists do not fit each other is
// refused.
func TestHeardRefused(t *testing.T) {
	m := &Model{}
	if got, err := m.Heard(1, 1); got != nil || err != nil {
		t.Errorf("an older file: got %v and %v, want nothing", got, err)
	}
	row := func(v ...float64) Float64s { return Float64s{1, len(v), v} }
	for _, c := range []struct {
		precise map[string]Float64s
		want    string
	}{
		{map[string]Float64s{heardNodeName: row(0.5)}, "whole numbers"},
		{map[string]Float64s{heardNodeName: row(-1)}, "whole numbers"},
		{map[string]Float64s{heardNodeName: row(1)}, "has 0 numbers"},
		{map[string]Float64s{heardNodeName: row(1), heardCountName: row(2), heardNeighborName: row(1)}, "too short"},
		{map[string]Float64s{
			heardNodeName: row(1), heardCountName: row(1), heardNeighborName: row(1, 2), heardMomentName: row(1, 2, 3, 4, 5, 6),
		}, "more than"},
		{map[string]Float64s{heardNodeName: row(1, 1), heardCountName: row(0, 0), heardMomentName: row(1, 2, 3, 1, 2, 3)}, "more than"},
		{map[string]Float64s{heardNodeName: row(1), heardCountName: row(1<<31 - 1), heardNeighborName: row(1)}, "too short"},
		{map[string]Float64s{heardNodeName: row(1), heardCountName: row(0), heardMomentName: row(1, 2)}, "too short"},
		{map[string]Float64s{heardNodeName: row(1), heardCountName: row(0), heardMomentName: row(1, 2, 3, 4)}, "more than"},
	} {
		m := &Model{Precise: c.precise}
		if _, err := m.Heard(1, 1); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: got %v, want %q", c.precise, err, c.want)
		}
	}
}

// Networks too large for it are left without.
func TestHeardIsBounded(t *testing.T) {
	const p = 64
	nodes := map[int]Heard{}
	for i := range MostHeard/(p*(p+1)/2) + 1 {
		nodes[i] = Heard{Moment: make([]float64, p*p)}
	}
	m := &Model{}
	if m.SetHeard(nodes); len(m.Precise) != 0 {
		t.Errorf("got %d tensors, want none for %d nodes", len(m.Precise), len(nodes))
	}
}
