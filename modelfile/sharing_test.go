package modelfile_test

import (
	"bytes"
	"math"
	"reflect"
	"testing"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/modelfile"
)

// What training measured of sharing is in the file, and the cheapest strength is
// what is taken; files of earlier versions, and those that make no sense, have none.
func TestSharing(t *testing.T) {
	net, err := gnn.New(gnn.Config{In: 1, Features: 1, Wide: &gnn.WideConfig{Order: 1}})
	if err != nil {
		t.Fatal(err)
	}
	m := &modelfile.Model{Network: net}
	if _, err := m.MeasuredMixing(); err == nil {
		t.Error("a model without a measurement has a strength, want an error")
	}
	pooled := 0.25
	want := &modelfile.Sharing{
		Steps: 40, Frozen: 0.5, Pooled: &pooled,
		Trials: []modelfile.SharingTrial{{Mixing: 0, Cost: 0.4}, {Mixing: 0.03, Cost: 0.3}, {Mixing: 1, Cost: 0.3}},
	}
	m.SetSharing(want)
	var file bytes.Buffer
	if err := modelfile.Encode(&file, m); err != nil {
		t.Fatal(err)
	}
	read, err := modelfile.Decode(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		t.Fatal(err)
	}
	if got, found := read.Sharing(); !found || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if eta, err := read.MeasuredMixing(); err != nil || eta != 0.03 {
		t.Errorf("a strength of %v (%v), want 0.03, the smaller of two that cost the same", eta, err)
	}
	for name, bad := range map[string]float64{"a strength of 2": 2, "none": math.NaN()} {
		want.Trials[0].Mixing = bad
		m.SetSharing(want)
		if _, found := m.Sharing(); found {
			t.Errorf("%s is read, want none", name)
		}
	}
}
