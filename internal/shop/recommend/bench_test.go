package recommend

import (
	"context"
	"testing"

	"github.com/wdgnn/wdgnn/internal/journal/faultdisk"
)

func benchmarked(b *testing.B) *Service {
	all := load(b, "data/ml-100k")
	m, err := Train(context.Background(), all, DefaultSetting(), TrainConfig{Epochs: 1})
	if err != nil {
		b.Fatal(err)
	}
	s, err := Open(m, all, faultdisk.New(), learning())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { s.Close() })
	return s
}

func BenchmarkTop(b *testing.B) {
	s, u := benchmarked(b), 0
	for b.Loop() {
		u = u%943 + 1
		if _, err := s.Top(u, 10); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkFeatures(b *testing.B) {
	s := benchmarked(b)
	p := s.profile(1)
	for b.Loop() {
		s.look.compute(p, nil)
	}
}

// A disk in memory: what learning costs without the sync.
func BenchmarkRate(b *testing.B) {
	s, i := benchmarked(b), 0
	for b.Loop() {
		i++
		if _, err := s.Rate(context.Background(), 1+i%943, s.world.ratings.MovieID(i%400), 1+float64(i%400)/100); err != nil {
			b.Fatal(err)
		}
	}
}
