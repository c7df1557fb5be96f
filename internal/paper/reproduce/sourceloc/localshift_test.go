package sourceloc

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/paper/reproduce/study"
	"github.com/wdgnn/wdgnn/internal/paper/reproduce/study/studytest"
	"github.com/wdgnn/wdgnn/scenario/sourceloc"
)

// Models with other shifts hear the same signals over other numbers; the scale
// of the intact network leaves what remains of a link as it was.
func TestLocalShiftStreams(t *testing.T) {
	r := &study.Run{Options: studytest.Options(t.TempDir())}
	s := From(r.Options)
	sample := func(stream *sourceloc.Stream, err error) graph.Sample {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		for sample := range stream.Samples() {
			return sample
		}
		t.Fatal("no signals")
		return graph.Sample{}
	}
	z, err := New(r, s, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	paper := sample(z.TestStream(0, 0.3))
	fixed := sample(z.TestOver(scaledBy(graph.LargestEigenvalue(z.Net.Graph.Adjacency())), 0, 0.3))
	s.Shift = &localShifts[1]
	other, err := New(r, s, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	local := sample(other.TestStream(0, 0.3))
	for i := range z.Net.Graph.Nodes() {
		if paper.Signal.At(i, 0) != local.Signal.At(i, 0) || paper.Signal.At(i, 0) != fixed.Signal.At(i, 0) {
			t.Fatalf("node %d hears %v, %v and %v, want one signal", i, paper.Signal.At(i, 0), local.Signal.At(i, 0), fixed.Signal.At(i, 0))
		}
		sum := float32(0)
		col, val := local.Shift.Row(i)
		for e, j := range col {
			sum += val[e]
			if got, want := fixed.Shift.At(i, int(j)), z.Net.Shift.At(i, int(j)); got != want {
				t.Errorf("link %d-%d is %v at the fixed scale, want %v as before the loss", i, j, got, want)
			}
			if got, before := paper.Shift.At(i, int(j)), z.Net.Shift.At(i, int(j)); !(got > before) {
				t.Errorf("link %d-%d is %v after the loss, want more than %v: λmax fell", i, j, got, before)
			}
		}
		if len(col) > 0 && (sum < 0.9999 || sum > 1.0001) {
			t.Errorf("row %d sums to %v, want 1", i, sum)
		}
	}
}

// Settings without a shift are written as they were before there was one, so
// that models and realizations on disk are found.
func TestShiftIsOptional(t *testing.T) {
	text, err := json.Marshal(From(study.Options{}))
	if err != nil || strings.Contains(string(text), "shift") {
		t.Errorf("settings are %s, want no word of a shift: %v", text, err)
	}
}

// The table has a row per shift and one for the fixed scale, which is the same
// model on the intact network.
func TestLocalShiftTable(t *testing.T) {
	if testing.Short() {
		t.Skipf("SKIPPED %s: it trains models; it runs without -short", t.Name())
	}
	o := studytest.Options(t.TempDir())
	o.Epochs, o.Signals = 8, 1500 // enough to be better than chance
	result, err := LocalShift.Run(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	rows := result.Tables[0].Rows
	if len(rows) != 4 || len(rows[0].Cells) != 4 || len(result.Models) != 6 {
		t.Fatalf("%d rows, %d columns, %d models; want 4, 4, 6", len(rows), len(rows[0].Cells), len(result.Models))
	}
	if got, want := rows[1].Cells[0].Value.Mean, rows[0].Cells[0].Value.Mean; got != want {
		t.Errorf("with all links the fixed scale has %v, want %v: it is the same model", got, want)
	}
	t.Logf("%+v", result.Notes)
	if rows[2].Cells[0].Value.Mean == rows[0].Cells[0].Value.Mean && rows[3].Cells[0].Value.Mean == rows[0].Cells[0].Value.Mean {
		t.Error("all shifts have the same accuracy: were they used?")
	}
}
