package movies

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// sizes of the report's table: 525 and 58 raters of Star Wars, of the 525 52
// validate; 51 raters of each other movie test, 400 pass by.
func TestSplitSizes(t *testing.T) {
	all := load100k(t)
	r := all.Select(all.Top(400))
	others := []int{titled(t, r, contact), titled(t, r, jedi)}
	s, err := NewSplit(r, titled(t, r, starWars), others, DefaultSplit(), rand.New(rand.NewPCG(1, 1)))
	must(t, s, err)
	if len(s.Train) != 473 || len(s.Validation) != 52 || len(s.Test) != 58 || len(s.Graph) != 885 {
		t.Errorf("got %d train, %d validate, %d test, %d graph, want 473, 52, 58, 885",
			len(s.Train), len(s.Validation), len(s.Test), len(s.Graph))
	}
	for _, o := range s.Others {
		if len(o.Test) != 51 || len(o.Stream) != 400 {
			t.Errorf("%s: got %d test, stream of %d, want 51 and 400", r.Title(o.Movie), len(o.Test), len(o.Stream))
		}
	}
}

// What every protocol promises, and what by-user promises beyond.
func TestProtocols(t *testing.T) {
	r := draw(t, 200, 5, .6, stars, rand.New(rand.NewPCG(4, 4)))
	for p := range protocolNames {
		c := DefaultSplit()
		c.Protocol, c.Stream = Protocol(p), 30
		t.Run(c.Protocol.String(), func(t *testing.T) {
			s, err := NewSplit(r, 2, []int{0, 4}, c, rand.New(rand.NewPCG(5, 5)))
			must(t, s, err)
			again, err := NewSplit(r, 2, []int{0, 4}, c, rand.New(rand.NewPCG(5, 5)))
			must(t, again, err)
			if !slices.Equal(s.Test, again.Test) || !slices.Equal(s.Others[1].Stream, again.Others[1].Stream) {
				t.Error("the same seed gives another split")
			}
			disjoint(t, s.Train, s.Validation, s.Test)
			disjoint(t, s.Graph, s.Test)
			rated(t, r, s.Target, s.Train, s.Validation, s.Test)
			if got := len(s.Train) + len(s.Validation) + len(s.Test); got != len(raters(r, 2)) {
				t.Errorf("got %d users in all, want every rater of the target, %d", got, len(raters(r, 2)))
			}
			if !slices.IsSorted(s.Graph) {
				t.Error("the users of the graph are not sorted")
			}
			for _, o := range s.Others {
				disjoint(t, o.Stream, o.Test)
				rated(t, r, o.Movie, o.Stream, o.Test)
				if len(o.Stream) != 30 {
					t.Errorf("got a stream of %d, want 30", len(o.Stream))
				}
				if c.Protocol == ProtocolByUser {
					disjoint(t, o.Test, s.Graph)
					disjoint(t, o.Test, s.Train, s.Validation)
					disjoint(t, o.Test, s.Others[0].Stream)
					disjoint(t, o.Test, s.Others[1].Stream)
				}
			}
		})
	}
}

func disjoint(t *testing.T, groups ...[]int) {
	t.Helper()
	in := map[int]int{}
	for g, users := range groups {
		for _, u := range users {
			if before, ok := in[u]; ok {
				t.Errorf("user %d is in group %d and in group %d", u, before, g)
			}
			in[u] = g
		}
	}
}

func rated(t *testing.T, r *Ratings, movie int, groups ...[]int) {
	t.Helper()
	for _, u := range slices.Concat(groups...) {
		if _, ok := r.Rating(u, movie); !ok {
			t.Errorf("user %d did not rate movie %d", u, movie)
		}
	}
}

func TestSplitTooSmall(t *testing.T) {
	r := draw(t, 4, 2, 1, stars, rand.New(rand.NewPCG(1, 1)))
	for p := range protocolNames {
		c := DefaultSplit()
		c.Protocol = Protocol(p)
		if _, err := NewSplit(r, 0, nil, c, rand.New(rand.NewPCG(1, 1))); err == nil ||
			!strings.Contains(err.Error(), "nobody is left to test on movie 7") {
			t.Errorf("%v: got %v, want word of nobody being left", c.Protocol, err)
		}
	}
}
