package reproduce

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/internal/paper/reproduce/sourceloc"
	"github.com/wdgnn/wdgnn/internal/paper/reproduce/study"
	"github.com/wdgnn/wdgnn/internal/paper/reproduce/study/studytest"
)

// Every experiment runs at toy size, leaves its files, and gives the same
// numbers on one thread and on two, from stored realizations, and from its
// manifest.
func TestExperiments(t *testing.T) {
	for _, e := range Experiments() {
		t.Run(e.Name, func(t *testing.T) {
			if testing.Short() && e.Name != "fig2b" {
				t.Skipf("SKIPPED %s: with -short one experiment is enough; it runs without", t.Name())
			}
			dir := t.TempDir()
			o := smaller(e.Name, studytest.Options(dir))
			o.Data = studytest.Ratings(t)
			if e.Name == "traffic" {
				o.Data = studytest.Traffic(t)
			}
			share := 0.0
			o.OnProgress = func(p study.Progress) {
				if p.Done < share || p.Done > 1 {
					t.Errorf("progress %v after %v", p.Done, share)
				}
				share = p.Done
			}
			first, err := e.Run(context.Background(), o)
			if err != nil {
				t.Fatal(err)
			}
			if math.Abs(share-1) > 0.02 {
				t.Errorf("progress ended at %v, want 1", share)
			}
			if len(first.Tables) == 0 || len(first.Models) == 0 {
				t.Errorf("%d tables, %d models: want some of each", len(first.Tables), len(first.Models))
			}
			for _, name := range first.Models {
				if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
					t.Errorf("model: %v", err)
				}
			}
			files := []string{"result.json", "manifest.json", "table.md"}
			for _, c := range first.Charts {
				files = append(files, c.Name+".svg", c.Name+".png")
			}
			for _, name := range files {
				if _, err := os.Stat(filepath.Join(dir, e.Name, name)); err != nil {
					t.Error(err)
				}
			}
			m, err := ReadManifest(filepath.Join(dir, e.Name, "manifest.json"))
			if err != nil {
				t.Fatal(err)
			}
			again := m.Settings
			again.Threads, again.Out, again.Data, again.Version, again.CPU, again.Now = 1, t.TempDir(), o.Data, o.Version, o.CPU, o.Now
			second, err := e.Run(context.Background(), again)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := studytest.Text(t, second), studytest.Text(t, first); got != want {
				t.Errorf("one thread, from the manifest:\n%s\nwant as on two\n%s", got, want)
			}
			o.OnProgress = nil
			stored, err := e.Run(context.Background(), o)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := studytest.Text(t, stored), studytest.Text(t, first); got != want {
				t.Errorf("from stored realizations:\n%s\nwant\n%s", got, want)
			}
			read, err := study.ReadResult(filepath.Join(dir, e.Name, "result.json"))
			if err != nil {
				t.Fatal(err)
			}
			var a, b bytes.Buffer
			if err := errors.Join(e.WriteMarkdown(&a, read, ""), e.WriteMarkdown(&b, first, "")); err != nil || a.String() != b.String() {
				t.Errorf("the page of the result on disk is another: %v", err)
			}
		})
	}
}

// smaller takes from experiments that compare many trainings or many passes what
// their size does not add to the code that runs: the second network, and signals.
func smaller(experiment string, o study.Options) study.Options {
	switch experiment {
	case "lipschitz", "certify", "certified", "agents", "learners":
		o.Repeats, o.Test = 1, 20
	}
	return o
}

// A run that is interrupted keeps the realizations that were finished, and the
// next run goes on from there to the same result.
func TestInterrupted(t *testing.T) {
	want, err := sourceloc.Fig2b.Run(context.Background(), studytest.Options(t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	o := studytest.Options(dir)
	o.Threads = 1
	ctx, cancel := context.WithCancel(context.Background())
	o.OnProgress = func(p study.Progress) {
		if p.Done > 0.5 {
			cancel()
		}
	}
	if _, err := sourceloc.Fig2b.Run(ctx, o); !errors.Is(err, context.Canceled) {
		t.Fatalf("error is %v, want context.Canceled", err)
	}
	kept, err := os.ReadDir(filepath.Join(dir, "fig2b", "units"))
	if err != nil || len(kept) == 0 {
		t.Fatalf("%d realizations are kept, want some: %v", len(kept), err)
	}
	got, err := sourceloc.Fig2b.Run(context.Background(), studytest.Options(dir))
	if err != nil {
		t.Fatal(err)
	}
	if studytest.Text(t, got) != studytest.Text(t, want) {
		t.Error("the resumed run ends with another result")
	}
}

// Stored realizations of other settings are not taken for these.
func TestOtherSettingsComputeAnew(t *testing.T) {
	dir := t.TempDir()
	a, err := sourceloc.Fig2a.Run(context.Background(), studytest.Options(dir))
	if err != nil {
		t.Fatal(err)
	}
	o := studytest.Options(dir)
	o.Seed++
	b, err := sourceloc.Fig2a.Run(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	if slices.EqualFunc(a.Tables, b.Tables, func(x, y study.Table) bool { return slices.EqualFunc(x.Rows, y.Rows, equalRows) }) {
		t.Error("another seed gives the same numbers")
	}
}

func equalRows(a, b study.Row) bool {
	return slices.EqualFunc(a.Cells, b.Cells, func(x, y study.Cell) bool { return x.String() == y.String() })
}

func TestBadOptions(t *testing.T) {
	o := studytest.Options(t.TempDir())
	o.Repeats, o.Epochs = -1, -2
	_, err := sourceloc.Table1.Run(context.Background(), o)
	for _, want := range []string{"repeats is -1", "epochs is -2"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want it to say %q", err, want)
		}
	}
	o = studytest.Options(filepath.Join(t.TempDir(), "file"))
	if err := os.WriteFile(o.Out, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := sourceloc.Table1.Run(context.Background(), o); err == nil {
		t.Error("an output folder that is a file was accepted")
	}
}

func TestBadManifest(t *testing.T) {
	for name, content := range map[string]string{
		"not JSON":        "{",
		"no experiment":   `{"experiment":"table9"}`,
		"senseless":       `{"experiment":"table1","settings":{"repeats":-5}}`,
		"of another kind": `[]`,
	} {
		path := filepath.Join(t.TempDir(), "manifest.json")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadManifest(path); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
