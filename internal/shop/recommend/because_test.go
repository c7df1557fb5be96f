package recommend

import (
	"context"
	"math"
	"testing"

	"github.com/wdgnn/wdgnn/internal/journal/faultdisk"
)

// What ratings add, and where they start from, sums up to the prediction, for items of
// the graph and new ones, after learning.
func TestBecause(t *testing.T) {
	s := service(t, faultdisk.New(), Config{Rule: Paper(0.01), Guard: GuardConfig{Margin: 10}})
	if _, err := s.Add(context.Background(), "555", "Newcomer"); err != nil {
		t.Fatal(err)
	}
	for u := range 30 {
		rate(t, s, 1+u, 555, float64(1+u%5))
		rate(t, s, 1+u, 10, float64(1+(u+2)%5))
	}
	if s.Status().Learned == 0 || s.Status().Serving != "online" {
		t.Fatal("nothing was learned; the test shows nothing")
	}
	for user := 1; user <= 60; user++ {
		out, err := s.Predict(user, []int{10, 20, 30, 555})
		if err != nil {
			t.Fatal(err)
		}
		s.Explain(out, 3)
		f, v := s.look.with(s.profile(user), s.version.Load().newcomers), s.version.Load()
		for _, p := range out.List {
			n, _ := s.world.locate(p.Movie, v.newcomers)
			got, want := p.Because.Start+p.Because.Others, s.raw(f, v, n)
			for k, voice := range p.Because.Ratings {
				got += voice.Adds
				if voice.Movie == p.Movie {
					t.Errorf("user %d: movie %d speaks for itself", user, p.Movie)
				}
				if k > 0 && math.Abs(voice.Adds) > math.Abs(p.Because.Ratings[k-1].Adds) {
					t.Errorf("user %d: voices %+v are not in order", user, p.Because.Ratings)
				}
			}
			if math.Abs(got-want) > 2e-6 {
				t.Errorf("user %d, movie %d: parts sum up to %v, want %v", user, p.Movie, got, want)
			}
			if len(p.Because.Ratings) == 0 || len(p.Because.Ratings) > 3 {
				t.Errorf("user %d: %d ratings speak, want 1 to 3", user, len(p.Because.Ratings))
			}
		}
	}
}

// In a model of two kinds of movies, it is ratings of the same kind that speak: those above
// the mean add.
func TestBecauseMakesSense(t *testing.T) {
	s := service(t, faultdisk.New(), Config{})
	right, all := 0, 0
	for user := 1; user <= 40; user++ {
		out, err := s.Predict(user, []int{10, 20})
		if err != nil {
			t.Fatal(err)
		}
		s.Explain(out, 2)
		for _, p := range out.List {
			for _, v := range p.Because.Ratings {
				if all++; v.Movie/10%2 == p.Movie/10%2 {
					right++
				}
			}
		}
	}
	if 10*right < 9*all {
		t.Errorf("%d of %d voices are of the kind of what is predicted, want nine of ten", right, all)
	}
}
