package flock

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/internal/live"
	"github.com/wdgnn/wdgnn/scenario/flocking"
)

// A flight can be replayed: robots are where they were, and those that stopped
// are down.
func TestWriteEvents(t *testing.T) {
	p := somePlan()
	p.Online, p.Gamma = OnlineDistributed, 0.1
	p.World.Faults.Stops = []flocking.Stop{{Robot: 2, Step: 4}}
	r := fly(t, p)
	var b bytes.Buffer
	if err := r.Recording.WriteEvents(&b); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, live.EventsName), b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	run, err := live.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	last := r.Recording.Frames[len(r.Recording.Frames)-1]
	frames := len(r.Recording.Frames)
	if run.Frames() != frames || run.Skipped != 0 || run.Scene.Layout != live.LayoutMoving {
		t.Fatalf("%d frames, %d skipped, layout %s; want %d frames that move", run.Frames(), run.Skipped, run.Scene.Layout, frames)
	}
	list, err := run.Read(run.Frames()-1, 1, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	var f live.Frame
	if err := json.Unmarshal(list[0], &f); err != nil {
		t.Fatal(err)
	}
	if got, want := f.Positions[2], float32(last.Position[1][0]); got != want {
		t.Errorf("robot 1 is at %v, want %v", got, want)
	}
	if len(f.Down) != 1 || f.Down[0] != 2 || len(f.Links) != len(last.Links) {
		t.Errorf("down %v, %d links; want robot 2, %d links", f.Down, len(f.Links), len(last.Links))
	}
	stops := live.Words{Time: 4 * p.World.SampleSeconds, Text: "robot 2 stops; its neighbours carry on"}
	if !slices.Contains(run.Words, stops) {
		t.Errorf("got words %v, want %v among them", run.Words, stops)
	}
	v, end := r.Recording.Learned.Variation, run.Words[len(run.Words)-1] // what is said does not stay at the beginning
	want := fmt.Sprintf("The flight ends: the velocity variation is %.2g %% of that at the start, ", 100*v[last.Step]/v[0])
	if end.Time != f.Time || !strings.HasPrefix(end.Text, want) {
		t.Errorf("in the end it says %+v, want %q at %v", end, want, f.Time)
	}
}
