package livepage

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/wdgnn/wdgnn/internal/live"
)

// record writes frames of a scene and opens them.
func record(t *testing.T, s live.Scene, frames ...*live.Frame) *live.Recording {
	t.Helper()
	dir := t.TempDir()
	var b bytes.Buffer
	w, err := live.NewWriter(&b, s)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range frames {
		if err := w.Frame(f); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, live.EventsName), b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	r, err := live.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// inflate reads what squeeze wrote.
func inflate(t *testing.T, text string, to any) {
	t.Helper()
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	all, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(all, to); err != nil {
		t.Fatal(err)
	}
}

// piece is what a page finds in a piece.
type piece struct {
	Unit   map[string]float64
	Frames []map[string]json.RawMessage
}

// listOf reads a field of a frame.
func listOf[T any](t *testing.T, frame map[string]json.RawMessage, name string) (list []T) {
	t.Helper()
	if text, ok := frame[name]; ok {
		if err := json.Unmarshal(text, &list); err != nil {
			t.Fatal(err)
		}
	}
	return list
}

// Coordinates come back to within half a unit, however long the way; links are
// those of the frame; and what does not change is not repeated.
func TestPack(t *testing.T) {
	scene := live.Scene{
		Layout: live.LayoutMoving, Nodes: []string{"a", "b"},
		Curves: []live.Curve{{Name: "cost", Learner: -1}}, Counters: []live.Counter{{Name: "messages"}},
	}
	var frames []*live.Frame
	for k := range pieceFrames {
		x := float32(math.Sin(float64(k) / 7))
		f := &live.Frame{
			Time: float64(k) * 0.01, Positions: live.Floats{x, 100 * x, -x, 3}, Velocities: live.Floats{1, 2, 3, x}, Links: [][2]int32{},
			Down: []int32{}, Curves: live.Numbers{math.Pi * float64(k)}, Counters: live.Numbers{123_456_789},
		}
		if k%3 > 0 {
			f.Links = [][2]int32{{0, 1}}
		}
		if k == 5 {
			f.Pulses, f.Down = []int32{}, []int32{1}
		}
		frames = append(frames, f)
	}
	text, err := packPiece(record(t, scene, frames...), 0)
	if err != nil {
		t.Fatal(err)
	}
	var got piece
	inflate(t, text, &got)
	if want := map[string]float64{"pos": 0.01, "vel": 0.0001}; !reflect.DeepEqual(got.Unit, want) || len(got.Frames) != len(frames) {
		t.Fatalf("got units %v and %d frames, want %v and %d", got.Unit, len(got.Frames), want, len(frames))
	}
	sums, linked := make([]float64, 4), false
	for k, f := range got.Frames {
		for i, step := range listOf[float64](t, f, "pos") {
			sums[i] += step
			if at, want := sums[i]*got.Unit["pos"], float64(frames[k].Positions[i]); math.Abs(at-want) > 0.5001*got.Unit["pos"] {
				t.Errorf("frame %d, coordinate %d: got %v, want %v", k, i, at, want)
			}
		}
		if len(listOf[[2]int32](t, f, "links"))%2 == 1 {
			linked = !linked
		}
		if want := len(frames[k].Links) == 1; linked != want {
			t.Errorf("frame %d: linked is %v, want %v", k, linked, want)
		}
		if _, repeated := f["counters"]; repeated != (k == 0) {
			t.Errorf("frame %d: the counters, which never change, are there: %v", k, repeated)
		}
		if _, changed := f["down"]; changed != (k == 0 || k == 5 || k == 6) {
			t.Errorf("frame %d: the nodes that are down are there: %v", k, changed)
		}
	}
	if got := listOf[float64](t, got.Frames[0], "counters")[0]; got != 123_456_789 {
		t.Errorf("the counter is %v, want every digit of 123456789", got)
	}
	if got := listOf[float64](t, got.Frames[1], "curves")[0]; got != 3.1416 {
		t.Errorf("the cost is %v, want 3.1416", got)
	}
}

// A node without a value has none in the file, and a coordinate that is no
// number does not spoil the others.
func TestPackNotNumbers(t *testing.T) {
	scene := live.Scene{Layout: live.LayoutMoving, Nodes: []string{"a", "b"}, Quantities: []live.Quantity{{Name: "loss", Learner: -1}}}
	nan := float32(math.NaN())
	text, err := packPiece(record(t, scene,
		&live.Frame{Values: []live.Floats{{nan, 0.123456789}}, Positions: live.Floats{1, 2, 3, 4}},
		&live.Frame{Time: 1, Values: []live.Floats{{nan, 0.12345}}, Positions: live.Floats{1, 2, nan, 4}},
		&live.Frame{Time: 2, Positions: live.Floats{2, 2, 3, 4}}), 0)
	if err != nil {
		t.Fatal(err)
	}
	var got piece
	inflate(t, text, &got)
	if values := string(got.Frames[0]["values"]); values != "[[null,0.12346]]" {
		t.Errorf("got values %s, want [[null,0.12346]]", values)
	}
	if _, there := got.Frames[1]["pos"]; there {
		t.Error("a frame with a coordinate that is no number has positions")
	}
	if steps, want := listOf[float64](t, got.Frames[2], "pos"), []float64{1 / got.Unit["pos"], 0, 0, 0}; !reflect.DeepEqual(steps, want) {
		t.Errorf("the robots move by %v, want %v", steps, want)
	}
}
