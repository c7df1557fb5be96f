package snapshot_test

import (
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/internal/snapshot"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/rule"
)

// What nodes remember goes through a model file to the last bit, those that have not
// begun too, and delay lines; files in which it is damaged say so.
func TestStatesInAFile(t *testing.T) {
	n := rule.NewState(3, rule.Vectors{{1, 2, 0.1}})
	want := online.Snapshot{Given: 30, Nodes: []rule.State{n, nil, n}, Delay: [][]float32{{0.5, 2}}}
	model, err := gnn.New(gnn.Config{In: 1, Features: 2, Wide: &gnn.WideConfig{Order: 1}, Outputs: 2})
	if err != nil {
		t.Fatal(err)
	}
	file := &modelfile.Model{Network: model, Meta: modelfile.Meta{Delayed: true}}
	if _, found, err := snapshot.Of(file); found || err != nil {
		t.Errorf("a file as trained: found %t, error %v, want nothing", found, err)
	}
	snapshot.Put(file, online.Snapshot{Nodes: slices.Repeat([]rule.State{n}, 9), Delay: [][]float32{{1, 2, 3}}}) // it is replaced
	snapshot.Put(file, want)
	path := filepath.Join(t.TempDir(), "m.safetensors")
	if err := modelfile.Save(path, file); err != nil {
		t.Fatal(err)
	}
	back, err := modelfile.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if got, found, err := snapshot.Of(back); err != nil || !found || !reflect.DeepEqual(got, want) {
		t.Fatalf("got %+v, %t and %v, want %+v", got, found, err, want)
	}
	for name, spoil := range map[string]func(f *modelfile.Model){
		"says 12 of node 2":  func(f *modelfile.Model) { f.Precise["online.state.length"].Data[2]++ },
		"says 0.5 of node 0": func(f *modelfile.Model) { f.Precise["online.state.length"].Data[0] = 0.5 },
		"holds more":         func(f *modelfile.Model) { f.Precise["online.state.length"].Data[2] = 0 },
		"one whole number":   func(f *modelfile.Model) { f.Precise["online.given"].Data[0] = -1 },
		"has 2 rows":         func(f *modelfile.Model) { f.Extra["online.delay.0"] = mat.NewDense(2, 1, nil) },
	} {
		snapshot.Put(file, want)
		spoil(file)
		if _, _, err := snapshot.Of(file); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("got %v, want %q", err, name)
		}
	}
}
