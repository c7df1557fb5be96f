package flock

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/random"
)

// The bound of features comes back from the file, from the description beside
// it, or from the caller; a name that speaks of one is not passed over.
func TestLoad(t *testing.T) {
	c, dir := someController(t), t.TempDir()
	save := func(name string, m *modelfile.Model) string {
		path := filepath.Join(dir, name)
		if err := modelfile.Save(path, m); err != nil {
			t.Fatal(err)
		}
		return path
	}
	capped := *c
	capped.NearCap = 30
	plain, own := save("plain.safetensors", c.File(1, "v")), save("own.safetensors", capped.File(1, "v"))
	table, lost := save("wd-gnn-cap30-dagger-data0.safetensors", c.File(1, "v")), save("wd-gnn-cap30-data0.safetensors", c.File(1, "v"))
	if err := os.WriteFile(table+".json", []byte(`{"model":{"near_cap":30}}`), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		path  string
		given float64
		want  float64
	}{{plain, -1, 0}, {plain, 7, 7}, {own, -1, 30}, {own, 0, 0}, {table, -1, 30}, {lost, 30, 30}} {
		got, err := Load(x.path, x.given)
		if err != nil || got.NearCap != x.want || got.Shift != c.Shift {
			t.Errorf("%s, %v: got %+v, %v, want a bound of %v", filepath.Base(x.path), x.given, got, err, x.want)
		}
	}
	still := c.File(1, "v")
	still.Meta.Delayed = false
	other, err := gnn.NewRandom(gnn.Config{In: 1, Features: 4, Outputs: 2, Wide: &gnn.WideConfig{Order: 1}}, random.Stream(1, "other"))
	if err != nil {
		t.Fatal(err)
	}
	unfit := &modelfile.Model{Network: other, Meta: modelfile.Meta{Delayed: true}}
	for _, x := range []struct{ path, want string }{
		{lost, "give the bound with --near-cap 30"},
		{save("still.safetensors", still), "not trained with delayed filters"},
		{save("other.safetensors", unfit), "from 1 features to 2 outputs cannot fly robots"},
		{filepath.Join(dir, "none"), "no such file"},
	} {
		if _, err := Load(x.path, -1); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: got %v, want %q", filepath.Base(x.path), err, x.want)
		}
	}
}
