package snapshot_test

import (
	"math"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/conformal"
	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/internal/snapshot"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/rule"
)

// learned returns what a node of two horizons remembers after some steps.
func learned(t *testing.T) rule.SeasonMemory {
	t.Helper()
	c := rule.Seasonal()
	c.Gate, c.Conformal = &rule.Gate{}, &conformal.Config{}
	plan, err := rule.NewSeasonPlan(&c, rule.SeasonTask{
		Season: 5, Horizons: []int{1, 3}, Lagged: []int{0}, Moment: &rule.SecondMoment{Inputs: 1, Mean: []float64{1, 0, 0, 1}},
	})
	if err != nil {
		t.Fatal(err)
	}
	n := rule.NewSeasonNode(plan, []float64{0.3, 0.4})
	for s := range uint64(30) {
		n.Tell(s, float32(math.Sin(float64(s))))
		n.Give(make([]float32, 2), s, []float32{0.1, 0.2}, []float32{float32(s % 4)})
	}
	return n.Memory()
}

// What the nodes of a forecaster remember goes through a model file to the last bit,
// those that have not joined too; files in which it is damaged say so.
func TestSeasonInAFile(t *testing.T) {
	m := learned(t)
	want := online.Snapshot{Given: 30, Season: []rule.SeasonMemory{m, {}, m}}
	model, err := gnn.New(gnn.Config{In: 1, Features: 2, Wide: &gnn.WideConfig{Order: 1}, Outputs: 2})
	if err != nil {
		t.Fatal(err)
	}
	file := &modelfile.Model{Network: model}
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
		"too short":                        func(f *modelfile.Model) { f.Precise["online.season.length"].Data[2]++ },
		"holds more":                       func(f *modelfile.Model) { f.Precise["online.season.length"].Data[2] = 0 },
		"one number":                       func(f *modelfile.Model) { delete(f.Precise, "online.season.steps") },
		"which this version does not know": func(f *modelfile.Model) { f.Precise["online.season.values"].Data[0] = 9 },
	} {
		file := &modelfile.Model{Network: model}
		snapshot.Put(file, want)
		spoil(file)
		if _, _, err := snapshot.Of(file); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("got %v, want %q", err, name)
		}
	}
}
