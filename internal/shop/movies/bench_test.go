package movies

import (
	"runtime"
	"testing"

	"github.com/wdgnn/wdgnn/graph"
)

func BenchmarkNewGraph100k(b *testing.B) {
	all := load100k(b)
	benchmarkGraph(b, all.Select(all.Top(400)))
}

func BenchmarkNewGraph1M(b *testing.B) {
	all := load1M(b)
	benchmarkGraph(b, all.Select(all.Top(all.Movies())))
}

func benchmarkGraph(b *testing.B, r *Ratings) {
	users := without(r.Users(), []int{0})
	for _, measure := range []Similarity{SimilarityLibvar, SimilarityHuang, SimilarityPearson} {
		b.Run(measure.String(), func(b *testing.B) {
			c := DefaultGraph()
			c.Similarity.Measure, c.Threads = measure, runtime.GOMAXPROCS(0)
			for b.Loop() {
				if _, err := NewGraph(r, users, c); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkRead1M(b *testing.B) {
	for b.Loop() {
		load1M(b)
	}
}

func BenchmarkFeatures100k(b *testing.B) {
	all := load100k(b)
	r := all.Select(all.Top(400))
	g, err := NewGraph(r, nil, DefaultGraph())
	must(b, g, err)
	s, err := graph.ShiftSpectral.Of(g)
	must(b, s, err)
	p, z := NewPowers(s, 0, 5), make([]float64, 6)
	for b.Loop() { // all 943 users
		for u := range r.Users() {
			movie, rating := r.User(u)
			p.Features(z, movie, rating, SignalRaw, 0)
		}
	}
}

func BenchmarkEverywhere1M(b *testing.B) {
	all := load1M(b)
	r := all.Select(all.Top(all.Movies()))
	g, err := NewGraph(r, nil, DefaultGraph())
	must(b, g, err)
	s, err := graph.ShiftSymmetric.Of(g)
	must(b, s, err)
	e := NewEverywhere(s, 5)
	z, means := make([]float64, 6*r.Movies()), make([]float64, r.Movies())
	u := 0
	for b.Loop() { // one user, every movie as target
		movie, rating := r.User(u % r.Users())
		e.Features(z, means, movie, rating, SignalCentered, 3)
		u++
	}
}
