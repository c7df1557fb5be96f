package box

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/internal/journal"
)

// Of the models that were deployed a box keeps the one that runs, the one before, what it
// is armed with, what was staged since and what its checkpoints are of, and removes older
// ones. Where a checkpoint cannot be read it removes nothing.
func TestOldModels(t *testing.T) {
	dir := t.TempDir()
	sum := func(letter string) string { return strings.Repeat(letter, 64) }
	checkpoints, err := journal.OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer checkpoints.Close()
	save := func(model string) {
		t.Helper()
		if err := checkpoints.Write(fmt.Appendf(nil, `{"version":2,"model":%q}`, model)); err != nil {
			t.Fatal(err)
		}
	}
	box := &Box{Config: &Config{State: dir}, log: slog.New(slog.DiscardHandler), runs: sum("a")}
	d := &deployer{
		box:  box,
		d:    &deployment{First: sum("1"), Model: sum("d"), Since: 50, Before: sum("c"), Armed: &armed{Model: sum("e")}},
		made: map[string]*successor{sum("f"): {after: 50}, sum("b"): {after: 40}},
	}
	models := filepath.Join(dir, modelsName)
	if err := os.Mkdir(models, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range strings.Split("1 2 3 a b c d e f", " ") {
		for _, suffix := range []string{modelSuffix, modelSuffix + partSuffix} {
			if err := os.WriteFile(filepath.Join(models, sum(name)+suffix), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.WriteFile(filepath.Join(models, "mine.safetensors"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	left := func() string {
		t.Helper()
		entries, err := os.ReadDir(models)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, e := range entries {
			names = append(names, e.Name()[:1])
		}
		return strings.Join(slices.Compact(names), "")
	}
	forget := func(want string) {
		t.Helper()
		err := d.forget()
		if got := left(); got != want || err != nil {
			t.Errorf("got models %s, %v, want %s", got, err, want)
		}
	}
	save("") // of before the first deployment
	save(sum("3"))
	forget("13acdefm")
	if d.made[sum("b")] != nil || d.made[sum("f")] == nil {
		t.Error("staged before the last change: got it still armed with, want it gone, and what was staged since kept")
	}
	save(sum("d"))
	forget("3acdefm")
	d.d = &deployment{Model: sum("e"), Since: 60, Before: sum("d"), Armed: &armed{Model: sum("e")}}
	found, err := filepath.Glob(filepath.Join(dir, "snapshot-*"))
	if err != nil || len(found) != 2 {
		t.Fatalf("got checkpoints %v, %v, want two", found, err)
	}
	if err := os.WriteFile(found[0], []byte("no checkpoint"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := d.forget(); err == nil || left() != "3acdefm" {
		t.Errorf("a damaged checkpoint: got models %s, %v, want all of them and an error", left(), err)
	}
	save(sum("e"))
	forget("adem")
}
