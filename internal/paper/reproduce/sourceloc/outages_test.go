package sourceloc

import (
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/recipe"
)

// Links are lost at a third of 1500 signals and others at two thirds: nodes that
// weight their neighbours one by one, and begin again when their links change, are
// ahead of own taps in all, not far behind right after the second outage and ahead
// at the end. WDGNN_PROBLEMS=all plays all networks.
func TestHeardThroughOutages(t *testing.T) {
	if testing.Short() {
		t.Skipf("SKIPPED %s: it trains a model; it runs without -short", t.Name())
	}
	all := problems(t)
	names := slices.Sorted(maps.Keys(all))
	if os.Getenv("WDGNN_PROBLEMS") != "all" {
		names = names[:1]
	}
	restart := heardSpec()
	restart.Config.Newton.Restart, restart.ID = true, "neighbours, links: outages"
	specs := []recipe.LearnerSpec{WideDeepFrozen, WideDeepOwn, heardSpec(), restart}
	sums, count := make([]outcome, len(specs)), 0.0
	for number, name := range names {
		b := newBench(t, number, all[name])
		b.signals, b.labels = b.source.Net.Draw(1500, b.source.Stream("drift"))
		var graphs []*graph.Graph
		for _, l := range slices.Sorted(maps.Keys(b.network.Lost)) {
			graphs = append(graphs, b.network.without(t, b.network.Lost[l]))
		}
		for k, g := range graphs {
			for s, o := range b.play(specs, []*graph.Graph{b.source.Net.Graph, g, graphs[(k+1)%len(graphs)]}, 0) {
				sums[s].all, sums[s].after, sums[s].last = sums[s].all+o.all, sums[s].after+o.after, sums[s].last+o.last
			}
			count++
		}
	}
	for k, s := range sums {
		t.Logf("%-36s all %5.1f, 50 after the second outage %5.1f, last 100 %5.1f", specs[k].ID, s.all/count, s.after/count, s.last/count)
	}
	least := 1.0 // of all problems; the first network leaves less to be gained
	if len(names) == 1 {
		least = 0.5
	}
	own, heard := sums[1], sums[3]
	overall, after, last := (heard.all-own.all)/count, (heard.after-own.after)/count, (heard.last-own.last)/count
	if overall < least || after < -3 || last < least {
		t.Errorf("neighbours is ahead of own by %.1f, %.1f after the second outage and %.1f at the end; want %v, -3 and %v",
			overall, after, last, least, least)
	}
}
