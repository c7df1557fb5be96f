package movies

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/wdgnn/wdgnn/graph"
)

// party returns a graph of seven movies and a calculator on it with two guests.
func party(t *testing.T, order int) (base, with *Everywhere, guests []*Guest) {
	t.Helper()
	r := draw(t, 60, 7, .6, stars, rand.New(rand.NewPCG(4, 4)))
	g, err := NewGraph(r, nil, GraphConfig{Similarity: SimilarityConfig{Measure: SimilarityPearson}, Neighbors: 3})
	must(t, g, err)
	s, err := graph.ShiftSymmetric.Of(g)
	must(t, s, err)
	base = NewEverywhere(s, order)
	for _, list := range [][]Neighbor{{{2, .5}, {5, .25}}, {{5, .75}, {0, .5}, {1, .125}}} {
		guest, err := base.Join(g, list)
		guests = append(guests, must(t, guest, err))
	}
	return base, base.With(guests), guests
}

// Features of every target, guests too, are sums over walks that no guest passes on,
// of signals without the target's; Row has the weights of those sums.
func TestGuestFeatures(t *testing.T) {
	const n, order = 7, 4
	base, with, guests := party(t, order)
	movie, rating := []int32{1, 2, 5, 7, 8}, []float64{5, 2, 4, 1, 3}
	z, means := make([]float64, (n+2)*(order+1)), make([]float64, n+2)
	with.Features(z, means, movie, rating, SignalCentered, 0)
	for target := range n + 2 {
		x := make([]float64, n+2)
		SignalCentered.Fill(x, movie, rating, target, 0)
		row := with.Row(target)
		v, y := slices.Clone(x[:n]), make([]float64, n)
		for k := range order + 1 {
			want := x[target]
			if k > 0 {
				before := slices.Clone(v)
				multiply(y, base.shift, v)
				for i, g := range guests {
					if k == 1 {
						g.speak(y, x[n+i])
					}
				}
				copy(v, y)
				if want = 0; target < n {
					want = v[target]
				} else {
					want = guests[target-n].hears(before)
				}
			}
			sum := 0.0
			for i, xi := range x {
				sum += row[i*(order+1)+k] * xi
			}
			if got := z[target*(order+1)+k]; math.Abs(got-want) > 1e-12 || math.Abs(sum-want) > 1e-12 {
				t.Errorf("target %d, k = %d: got %v, %v by its row, want %v", target, k, got, sum, want)
			}
		}
	}
}

// What the movies of the graph see of a user who rated no guest keeps its bits.
func TestGuestsAreQuiet(t *testing.T) {
	const n, order = 7, 4
	base, with, _ := party(t, order)
	movie, rating := []int32{0, 3, 5, 6}, []float64{5, 2, 4, 1}
	alone, means := make([]float64, n*(order+1)), make([]float64, n)
	base.Features(alone, means, movie, rating, SignalCentered, 3)
	z, all := make([]float64, (n+2)*(order+1)), make([]float64, n+2)
	with.Features(z, all, movie, rating, SignalCentered, 3)
	if !slices.Equal(z[:len(alone)], alone) || !slices.Equal(all[:n], means) {
		t.Errorf("with guests %v, want %v", z[:len(alone)], alone)
	}
	if z[n*(order+1)+1] == 0 {
		t.Error("a guest hears nothing")
	}
}

// The neighbours of a newcomer are those that a graph of its raters would give it.
func TestNearest(t *testing.T) {
	r := draw(t, 80, 9, .5, odd, rand.New(rand.NewPCG(6, 6)))
	c := GraphConfig{Similarity: SimilarityConfig{Measure: SimilarityPearson, Shrinkage: 10}, Neighbors: 4}
	matrix, err := Similarities(r, nil, c.Similarity)
	must(t, &matrix, err)
	user, rating := r.Movie(8) // the newcomer
	got, err := Nearest(8, c, rating, func(k int) ([]int32, []float64) { return r.User(int(user[k])) })
	must(t, &got, err)
	best := make(nearest, 0, 4)
	for v, s := range matrix[8][:8] {
		if s > 0 {
			best.offer(similar{s, int32(v)})
		}
	}
	if len(got) != len(best) || len(got) == 0 {
		t.Fatalf("got %v, want %v", got, best)
	}
	for k, b := range best {
		if got[k].Movie != b.movie || math.Abs(got[k].Similarity-b.similarity) > 1e-12 {
			t.Errorf("neighbour %d: got %v, want %v", k, got[k], b)
		}
	}
	c.Similarity.Measure = SimilarityHuang
	if _, err := Nearest(8, c, rating, nil); err == nil {
		t.Error("a measure that needs all raters: no error")
	}
}
