package sourceloc

import (
	"context"
	"encoding/json"
	"os"
	"testing"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/paper/reproduce/study"
	"github.com/wdgnn/wdgnn/internal/recipe"
	"github.com/wdgnn/wdgnn/rule"
	"github.com/wdgnn/wdgnn/scenario/sourceloc"
)

// referencePath holds networks that independent code drew, with its results.
const referencePath = "../../../../../shared/reference/sourceloc_graphs.json"

// referenceWorld returns one of them. At a desk without the file the test is
// skipped, loudly; in CI that is a failure.
func referenceWorld(t *testing.T, name string) *sourceloc.World {
	t.Helper()
	text, err := os.ReadFile(referencePath)
	if os.IsNotExist(err) && os.Getenv("CI") != "true" {
		t.Skipf("SKIPPED %s: no reference networks at %s", t.Name(), referencePath)
	}
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Graphs map[string]struct {
			Edges     [][2]int
			Sources   []int
			Detectors []int
		}
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	r := file.Graphs[name]
	var edges []graph.Edge
	for _, e := range r.Edges {
		edges = append(edges, graph.Edge{From: e[0], To: e[1], Weight: 1})
	}
	g, err := graph.FromEdges(50, edges, false)
	if err != nil {
		t.Fatal(err)
	}
	w, err := sourceloc.Given(sourceloc.Default(), g, r.Sources, r.Detectors)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// referenceModels trains models on a reference network for 40 epochs.
func referenceModels(t *testing.T, name string, kinds ...recipe.Kind) *Realization {
	t.Helper()
	s := From(study.Options{Seed: 1, Quick: true})
	source := &recipe.Source{Sourceloc: s, Net: referenceWorld(t, name), Models: map[recipe.Kind]*recipe.SourceModel{}}
	z := &Realization{source, &study.Run{}}
	for _, k := range kinds {
		if _, err := z.Fit(context.Background(), k, nil); err != nil {
			t.Fatal(err)
		}
	}
	return z
}

// accuracy runs a learner over the test signals.
func (z *Realization) accuracy(t *testing.T, spec recipe.LearnerSpec, subgraph int, p float64) float64 {
	t.Helper()
	stream, err := z.TestStream(subgraph, p)
	if err != nil {
		t.Fatal(err)
	}
	out, err := z.PlayOne(context.Background(), spec, stream, false)
	if err != nil {
		t.Fatal(err)
	}
	return out.Accuracy
}

// What independent code found on the first reference network, offline and
// online, comes out here.
// Reference: Section 6.1, Table 1.
func TestReferenceNetwork(t *testing.T) {
	if testing.Short() {
		t.Skipf("SKIPPED %s: it trains three models; it runs without -short", t.Name())
	}
	z := referenceModels(t, "0", recipe.Filter, recipe.GNN, recipe.WideDeep)
	within := func(what string, got, low, high float64) {
		t.Helper()
		t.Logf("%s: %.2f", what, got)
		if !(got >= low && got <= high) {
			t.Errorf("%s is %.2f, want %v to %v", what, got, low, high)
		}
	}
	filter, gnn, wd := z.accuracy(t, filterFrozen, -1, 0), z.accuracy(t, gnnFrozen, -1, 0), z.accuracy(t, WideDeepFrozen, -1, 0)
	within("filter, same", filter, 40, 46)
	within("GNN, same", gnn, 95, 98)
	within("WD-GNN, same", wd, gnn-0.5, 98.5)

	matched := recipe.LearnerSpec{ID: "matched", Kind: recipe.WideDeep, Mode: recipe.Distributed, Config: rule.Paper(false).Ungated()}
	matched.Config.StepSize.Value = WideDeepCentral.Config.StepSize.Value * 50 / 5
	specs := []recipe.LearnerSpec{
		WideDeepCentral, WideDeepPaper, matched, WideDeepOwn, WideDeepNeighbours,
	}
	const subgraphs = 8
	frozen, got := 0.0, map[string]float64{}
	for sub := range subgraphs {
		before := z.accuracy(t, WideDeepFrozen, sub, 0.3)
		frozen += before / subgraphs
		for _, spec := range specs {
			after := z.accuracy(t, spec, sub, 0.3)
			got[spec.ID] += after / subgraphs
			if spec.Config.Newton != nil && after <= before {
				t.Errorf("subgraph %d: %s takes %.2f to %.2f, want a gain on every subgraph", sub, spec.ID, before, after)
			}
		}
	}
	within("WD-GNN, links lost", frozen, 75, 85)
	within("gain of the paper's centralized learning", got[WideDeepCentral.ID]-frozen, -2, 3)
	within("gain of the paper's distributed learning", got[WideDeepPaper.ID]-frozen, -2, 3)
	within("distributed - centralized at matched step sizes", got[matched.ID]-got[WideDeepCentral.ID], -1, 1)
	within("gain of own", got[WideDeepOwn.ID]-frozen, 10, 24)
	within("gain of neighbours", got[WideDeepNeighbours.ID]-frozen, 12, 24)
	for _, spec := range []recipe.LearnerSpec{WideDeepCentral, WideDeepPaper, WideDeepOwn, WideDeepNeighbours} {
		within(spec.ID+" on the whole network, gain", z.accuracy(t, spec, -1, 0)-wd, -0.5, 2)
	}
}

// Nested subgraphs make the curve of Figure 2 (a) fall.
// Reference: Section 6.4.
func TestStabilityFallsWithOutage(t *testing.T) {
	if testing.Short() {
		t.Skipf("SKIPPED %s: it trains a model; it runs without -short", t.Name())
	}
	z := referenceModels(t, "1", recipe.WideDeep)
	last := 101.0
	for _, p := range []float64{0, 0.1, 0.3, 0.5} {
		sum := 0.0
		for sub := range 20 {
			sum += z.accuracy(t, WideDeepFrozen, sub, p) / 20
		}
		t.Logf("p = %v: %.2f", p, sum)
		if sum >= last {
			t.Errorf("p = %v: accuracy %.2f after %.2f: want it to fall", p, sum, last)
		}
		last = sum
	}
}
