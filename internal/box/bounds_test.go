package box

import (
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/random"
)

// Bounds of rows come from what training left in the model file. Of an older
// file they are guessed from the second moment of the inputs, and without one
// they only keep numbers finite.
func TestBoundsOfRows(t *testing.T) {
	net, err := gnn.NewRandom(gnn.Config{
		In: 1, Features: 2, Outputs: 1, Wide: &gnn.WideConfig{Order: 2},
		Deep: []gnn.LayerConfig{{Order: 1, Features: 2}, {Order: 1, Features: 2}},
	}, random.Stream(1, "model"))
	if err != nil {
		t.Fatal(err)
	}
	trained := &modelfile.Model{Network: net, Meta: modelfile.Meta{Shift: graph.ShiftRowStochastic}}
	trained.SetRowNorms([]float64{1, 0.5, 3})
	older := &modelfile.Model{Network: net, Meta: trained.Meta}
	older.SetMoment(modelfile.Float64s{Rows: 4, Cols: 4, Data: []float64{4, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}}, 10_000)
	strange := &modelfile.Model{Network: net, Meta: trained.Meta}
	for name, c := range map[string]struct {
		model *modelfile.Model
		want  []float64 // 0 means more than that of the input
		words string
	}{
		"trained":     {trained, []float64{4, 4, 12}, "4 times as long as in training"}, // as the inputs at least
		"older":       {older, []float64{800, 800, 0}, "train the model again"},         // 4·√(10000·4)
		"not of ours": {strange, []float64{1e9, 1e9, 1e9}, "train the model again"},
		"with an order": {
			&modelfile.Model{Network: net, Meta: modelfile.Meta{Shift: graph.ShiftAdjacency}, Precise: older.Precise},
			[]float64{800, 800, 1e9},
			"again",
		},
	} {
		got, words, err := maxRows(c.model)
		if err != nil || len(got) != len(c.want) || !strings.Contains(words, c.words) {
			t.Fatalf("%s: %v, %q, %v; want %v, %q", name, got, words, err, c.want, c.words)
		}
		for k, want := range c.want {
			if want == 0 && !(got[k] > 100 && got[k] < 1e5) || want != 0 && got[k] != want {
				t.Errorf("%s: bound %d is %v, want %v", name, k, got[k], want)
			}
		}
	}
	trained.SetRowNorms([]float64{1, 2})
	if _, _, err := maxRows(trained); err == nil || !strings.Contains(err.Error(), "train the model again") {
		t.Errorf("two norms for three rows: %v, want an error with what to try", err)
	}
}
