package movies

import (
	"errors"
	"fmt"
	"math"

	"github.com/wdgnn/wdgnn/graph"
)

// Guest is a movie that joins a graph which was made without it. It hears the movies
// most similar to it and speaks to them, but passes nothing on: with R_i the weight
// to movie i of the graph, a guest g has
//
//	z_k(g) = Σ_i R_i [v_{k-1}]_i      v_0 = r   v_1 = S r + Σ_h R_h r_h   v_k = S v_{k-1}
//
// over the guests h that the user rated. So the movies of the graph hear guests as
// they hear each other, what they see of a user who rated no guest keeps its bits, and
// guests hear each other through the movies between them. A Guest never changes.
type Guest struct {
	movie    []int32
	weight   []float64
	diagonal []float64 // [Rᵀ S^(k-2) R], what comes back after k steps
}

// Neighbor is a movie of a graph that is similar to another.
type Neighbor struct {
	Movie      int32
	Similarity float64
}

// Nearest returns the movies most similar to one that n movies of a graph do not
// know, most similar first, as its raters rated them: rating r by the rater of
// profile k, who rated movies as profile says. It is what [NewGraph] would count if all
// of them, and nobody else, were listed. Only Pearson's measure is known.
func Nearest(n int, c GraphConfig, ratings []float64, profile func(k int) (movie []int32, rating []float64)) ([]Neighbor, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if c.Similarity.Measure != SimilarityPearson {
		return nil, fmt.Errorf("movies: similarity %v needs all raters of the graph; want %v", c.Similarity.Measure, SimilarityPearson)
	}
	sums, mean := make([]coSums, n), 0.0
	for _, a := range ratings {
		mean += a / float64(len(ratings))
	}
	for k, a := range ratings {
		movie, rating := profile(k)
		for e, v := range movie {
			if int(v) >= n {
				continue
			}
			a, b := a-mean, rating[e]-mean
			s := &sums[v]
			s.n++
			s.a, s.b = s.a+a, s.b+b
			s.aa, s.bb, s.ab = s.aa+float64(a*a), s.bb+float64(b*b), s.ab+float64(a*b)
		}
	}
	best, enough := make(nearest, 0, min(c.Neighbors, n)), 0.0
	for v := range sums {
		m := sums[v].moments()
		if s := c.Similarity.similarity(&m, 0, 0); s > enough {
			enough = best.offer(similar{s, int32(v)})
		}
	}
	var list []Neighbor
	for _, b := range best {
		list = append(list, Neighbor{b.movie, b.similarity})
	}
	return list, nil
}

// Join returns a guest with the given neighbours in g, whose operator is
// D^-½ A D^-½. It chooses them and is chosen by none, so as in [NewGraph] an edge
// weighs half the similarity; degrees of the graph stay as they are:
//
//	R_i = a_i / √(d_i Σ_j a_j)      a_i = similarity of i / 2
func (e *Everywhere) Join(g *graph.Graph, list []Neighbor) (*Guest, error) {
	if g.Nodes() != e.shift.Rows {
		return nil, errors.New("movies: Join: another graph")
	}
	own := 0.0
	for _, b := range list {
		own += float64(b.Similarity / 2)
	}
	guest := &Guest{}
	for _, b := range list {
		d := g.WeightedDegree(int(b.Movie))
		if r := b.Similarity / 2 / math.Sqrt(d*own); d > 0 && r > 0 {
			guest.movie, guest.weight = append(guest.movie, b.Movie), append(guest.weight, r)
		}
	}
	guest.diagonal = make([]float64, e.order+1)
	guest.diagonal[0] = 1
	row := e.With([]*Guest{guest}).Row(e.shift.Rows)
	copy(guest.diagonal[1:], row[e.shift.Rows*(e.order+1)+1:])
	return guest, nil
}

// Neighbors returns how many movies of the graph the guest hears.
func (g *Guest) Neighbors() int { return len(g.movie) }

func (g *Guest) hears(x []float64) float64 {
	sum := 0.0
	for e, i := range g.movie {
		sum += float64(g.weight[e] * x[i])
	}
	return sum
}

func (g *Guest) speak(y []float64, value float64) {
	if value == 0 {
		return
	}
	for e, i := range g.movie {
		y[i] += float64(g.weight[e] * value)
	}
}

// Row returns by how much each movie's signal counts in z_k of a target, guests
// included: z_k = Σ_i row[i·(K+1)+k] x_i, where the target's own x is 0.
func (e *Everywhere) Row(target int) []float64 {
	n, width := e.shift.Rows, e.order+1
	mustHave("target", target, len(e.rated))
	row, now, next := make([]float64, len(e.rated)*width), make([]float64, n), make([]float64, n)
	row[target*width] = 1
	if target < n {
		now[target] = 1
	}
	for k := 1; k < width; k++ {
		for i, g := range e.guests {
			row[(n+i)*width+k] = g.hears(now)
		}
		clear(next)
		if k == 1 && target >= n {
			e.guests[target-n].speak(next, 1)
		}
		for i, v := range now { // r_{k+1} = Sᵀ r_k
			if v == 0 {
				continue
			}
			col, val := e.shift.Row(i)
			for j, c := range col {
				next[c] += float64(float64(val[j]) * v)
			}
		}
		now, next = next, now
		for i, v := range now {
			row[i*width+k] = v
		}
	}
	return row
}
