package lifecycle

import (
	"context"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/internal/data"
	"github.com/wdgnn/wdgnn/internal/recipe"
	"github.com/wdgnn/wdgnn/internal/snapshot"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/online"
)

// playHeard lets the nodes of a case weight their neighbours one by one, and
// returns the learner and the file that the run leaves. The file of the model says
// what its nodes heard, if known.
func (f *onlineCase) playHeard(known bool) (*OnlineRun, *modelfile.Model) {
	f.Helper()
	if known {
		x := f.floats("x.npy")
		s, err := graph.ShiftSymmetric.Of(graph.Ring(6))
		if err != nil {
			f.Fatal(err)
		}
		moment, err := recipe.MomentOf(f.model)
		if err != nil {
			f.Fatal(err)
		}
		online.HearEach(moment, f.model.Network, s, mat.NewDense(len(x)/2, 2, x), f.model.Meta.Nodes, nil)
		recipe.PutMoment(f.model, moment)
	}
	r := f.start(f.model, "preset: neighbours, newton: {fresh: 6}, gate: off, coverage: 0")
	f.play(r, -1)
	return r, f.decode(f.bytes(r))
}

// A file of nodes that weight their neighbours one by one holds all that they
// remember. Predict and Evaluate answer as the learner would, also over a graph
// that has lost a link; Inspect counts the nodes.
func TestHeardNodes(t *testing.T) {
	for _, known := range []bool{true, false} {
		for _, graphText := range []string{"0,1\n1,2\n2,3\n3,4\n4,5\n5,0\n", "0,1\n1,2\n2,3\n4,5\n5,0\n"} {
			f := newOnlineCase(t, config.Classify, false)
			r, adapted := f.playHeard(known)
			s, found, err := snapshot.Of(adapted)
			if err != nil || !found {
				t.Fatalf("the snapshot: found %v, %v", found, err)
			}
			if want := r.learner.Snapshot(); !reflect.DeepEqual(s, want) {
				t.Errorf("known %v: the file remembers %+v, want %+v", known, s, want)
			}
			f.text("g.csv", graphText)
			observed, err := data.Load(data.Files{Graph: filepath.Join(f.dir, "g.csv"), Signals: filepath.Join(f.dir, "x.npy")})
			if err != nil {
				t.Fatal(err)
			}
			var want []float32
			shift, err := graph.ShiftSymmetric.Of(observed.Graph)
			if err != nil {
				t.Fatal(err)
			}
			y := mat.NewDense(6, 3, nil)
			for k := range 20 {
				if err := r.learner.Observe(graph.Sample{Time: k, Shift: shift, Signal: observed.Rows.View(k*6, 0, 6, 2)}); err != nil {
					t.Fatal(err)
				}
				if err := r.learner.Predict(y); err != nil {
					t.Fatal(err)
				}
				want = append(append(want, y.Row(4)...), y.Row(1)...)
			}
			p, err := Predict(context.Background(), adapted, observed, []int{4, 1}, 1)
			if err != nil {
				t.Fatal(err)
			}
			near(t, "neighbours", p.Values, want, 2e-5)
			trained, err := Predict(context.Background(), f.model, observed, []int{4, 1}, 1)
			if err != nil {
				t.Fatal(err)
			}
			if slices.Equal(p.Values, trained.Values) {
				t.Error("the adapted model predicts as the trained one does")
			}
			f.checkScore(adapted, p)
			in, err := Inspect(adapted)
			if err != nil {
				t.Fatal(err)
			}
			if hearings := map[bool]int{true: 2}[known]; in.Heard != 2 || in.NodeTaps != 0 || in.Hearings != hearings {
				t.Errorf("inspect: %d nodes with weights, %d with taps, %d that training knew; want 2, 0 and %d",
					in.Heard, in.NodeTaps, in.Hearings, hearings)
			}
		}
	}
}

// What nodes know can be damaged like anything else in a file.
func TestHeardNodesDamaged(t *testing.T) {
	f := newOnlineCase(t, config.Classify, false)
	_, whole := f.playHeard(false)
	for _, name := range []string{"online.state.values", "online.state.length"} {
		for _, how := range []string{"missing", "short"} {
			m := *whole
			m.Precise = map[string]modelfile.Float64s{}
			for k, v := range whole.Precise {
				m.Precise[k] = modelfile.Float64s{Rows: v.Rows, Cols: v.Cols, Data: slices.Clone(v.Data)}
			}
			damage(&m, name, how)
			if _, err := NodeTapsOf(&m); err == nil {
				t.Errorf("%s is %s: no error", name, how)
			}
		}
	}
}
