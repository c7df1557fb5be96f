package main

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/wdgnn/wdgnn/internal/paper/reproduce/study"
)

// The pages and their figures are what the raw results say.
func TestResultsAreCurrent(t *testing.T) {
	files, err := report("../..")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 2 {
		t.Fatal("there are no raw results")
	}
	for name, want := range files {
		if runtime.GOARCH != "amd64" && filepath.Ext(name) == ".svg" {
			continue // the last digit of a coordinate depends on fused multiply-adds
		}
		got, err := os.ReadFile(filepath.Join("../..", name))
		if err != nil {
			t.Error(err)
		} else if !bytes.Equal(got, want) {
			t.Errorf("%s is not what the raw results give; run go run ./doc/report", name)
		}
	}
}

// A claim comes out or does not by numbers alone.
func TestVerdict(t *testing.T) {
	v := func(mean, spread float64) study.Value { return study.Value{Mean: mean, Spread: spread} }
	for _, c := range []struct {
		ours, paper study.Value
		want        string
	}{
		{v(82.4, 2.6), v(77.5, 4.3), "yes"}, // within the deviations
		{v(105, 0), v(100, 0), "yes"},       // within a tenth
		{v(-0.06, 0.01), v(-0.1, 0), "in part"},
		{v(0.9, 0.3), v(9, 0), "no"},
		{v(-5, 0.3), v(9, 0), "no"},
	} {
		if got := verdict(c.ours, c.paper); got != c.want {
			t.Errorf("%v of us, %v of the paper: got %s, want %s", c.ours, c.paper, got, c.want)
		}
	}
}

// A name that no result has is an error that says which.
func TestSummaryNamesWhatIsMissing(t *testing.T) {
	r := results{"table1": {Tables: []study.Table{{Title: "Accuracy, %", Columns: []string{"same"}, Rows: []study.Row{{Name: "GNN"}}}}}}
	if _, err := r.value("table1", "Accuracy", "WD-GNN", "same"); err == nil {
		t.Error("got no error of a row that is not there, want one")
	}
	if _, err := r.write("summary.md"); err == nil {
		t.Error("got no error of tables that are not there, want one")
	}
	if got, want := anchor("What a shift costs, or gains: α_W (a)"), "what-a-shift-costs-or-gains-α_w-a"; got != want {
		t.Errorf("got the anchor %s, want %s", got, want)
	}
}
