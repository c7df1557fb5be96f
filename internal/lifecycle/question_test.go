package lifecycle

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/internal/data"
	"github.com/wdgnn/wdgnn/internal/robust"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/modelfile"
)

// What Lost says of a model whose nodes learned is what Predict says on every graph
// that has lost a link: with taps of the nodes' own, and with weights of neighbours.
func TestQuestionOfAdapted(t *testing.T) {
	for _, heard := range []bool{false, true} {
		f := newOnlineCase(t, config.Classify, false)
		var adapted *modelfile.Model
		if heard {
			_, adapted = f.playHeard(true)
		} else {
			r := f.start(f.model, "preset: literal, gate: off, coverage: 0, step_size: {value: 0.5}")
			f.play(r, -1)
			adapted = f.decode(f.bytes(r))
		}
		own, err := NodeTapsOf(adapted)
		if err != nil || own == nil || (own.Heard() > 0) != heard {
			t.Fatalf("heard %v: taps of %v, %v", heard, own, err)
		}
		links := []string{"0,1", "1,2", "2,3", "3,4", "4,5", "5,0"}
		q, err := QuestionOf(adapted, f.observed(links), nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := q.Lost(context.Background(), robust.LostConfig{Threads: 2})
		if err != nil {
			t.Fatal(err)
		}
		before := f.answers(adapted, links)
		flips, move := make([]int, len(got.Answers)), make([]float64, len(got.Answers))
		for k := range links {
			after := f.answers(adapted, slices.Delete(slices.Clone(links), k, k+1))
			for a := range after {
				if mat.Argmax(after[a]) != mat.Argmax(before[a]) {
					flips[a]++
				}
				for c, v := range after[a] {
					move[a] = max(move[a], max(float64(v)-float64(before[a][c]), float64(before[a][c])-float64(v)))
				}
			}
		}
		for a, v := range got.Answers {
			if !slices.Equal(v.Values, before[a]) || v.Flips != flips[a] || v.Worst[0].Move != move[a] {
				t.Fatalf("heard %v: answer %d is %v, %d losses flip it and move it by %v; want %v, %d, %v",
					heard, a, v.Values, v.Flips, v.Worst[0].Move, before[a], flips[a], move[a])
			}
		}
		if m := slices.Max(move); m == 0 {
			t.Errorf("heard %v: no loss moves any answer", heard)
		}
	}
}

// observed returns the samples of a case on a graph of the given links.
func (f *onlineCase) observed(links []string) *data.Observed {
	f.Helper()
	f.text("g.csv", strings.Join(links, "\n")+"\n")
	o, err := data.Load(data.Files{Graph: filepath.Join(f.dir, "g.csv"), Signals: filepath.Join(f.dir, "x.npy")})
	if err != nil {
		f.Fatal(err)
	}
	return o
}

// answers returns what Predict says on a graph of the given links.
func (f *onlineCase) answers(m *modelfile.Model, links []string) [][]float32 {
	f.Helper()
	p, err := Predict(context.Background(), m, f.observed(links), nil, 1)
	if err != nil {
		f.Fatal(err)
	}
	var out [][]float32
	for row := range slices.Chunk(p.Values, p.Shape[len(p.Shape)-1]) {
		out = append(out, row)
	}
	return out
}
