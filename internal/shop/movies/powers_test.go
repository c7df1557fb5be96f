package movies

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/wdgnn/wdgnn/mat"
)

// shiftOf draws a matrix that is not symmetric.
func shiftOf(t *testing.T, n int, rng *rand.Rand) *mat.CSR {
	t.Helper()
	var entries []mat.Entry
	for i := range n {
		for j := range n {
			if rng.Float64() < .3 {
				entries = append(entries, mat.Entry{Row: i, Col: j, Val: float32(rng.NormFloat64() / 2)})
			}
		}
	}
	s, err := mat.FromEntries(n, n, entries)
	return must(t, s, err)
}

// A user matters only through z_k = [Sᵏ x]_n: features by rows e_nᵀ Sᵏ, and
// for all targets at once, against explicit powers.
// Reference: Section 6.3, eq. (3) read out at one node.
func TestFeaturesAgainstPowers(t *testing.T) {
	const order, unknown = 4, 3.3
	rng := rand.New(rand.NewPCG(7, 8))
	r := draw(t, 30, 15, .4, halfStars, rng)
	list := []Rating{{User: 1, Item: r.MovieID(2), Value: 4}} // one rating, of a target
	for u := range r.Users() {
		movie, rating := r.User(u)
		for e, n := range movie {
			list = append(list, Rating{User: r.UserID(u), Item: r.MovieID(int(n)), Value: rating[e]})
		}
	}
	r, err := NewRatings(list, nil)
	must(t, r, err)
	n := r.Movies()
	s := shiftOf(t, n, rng)
	everywhere := NewEverywhere(s, order)
	x, y, z := make([]float64, n), make([]float64, n), make([]float64, order+1)
	all, means := make([]float64, n*(order+1)), make([]float64, n)
	for _, signal := range []Signal{SignalRaw, SignalCentered} {
		for u := range r.Users() {
			movie, rating := r.User(u)
			everywhere.Features(all, means, movie, rating, signal, unknown)
			for target := range n {
				p := NewPowers(s, target, order)
				mean := p.Features(z, movie, rating, signal, unknown)
				if want := signal.Fill(x, movie, rating, target, unknown); mean != want || math.Abs(means[target]-want) > 1e-14 {
					t.Fatalf("user %d, target %d: got means %v and %v, want %v", u, target, mean, means[target], want)
				}
				for k := range order + 1 {
					if math.Abs(z[k]-x[target]) > 1e-13*float64(1+k*k) || math.Abs(all[target*(order+1)+k]-x[target]) > 1e-12*float64(1+k*k) {
						t.Fatalf("%v signal, user %d, target %d, k = %d: got %v by rows and %v everywhere, want %v",
							signal, u, target, k, z[k], all[target*(order+1)+k], x[target])
					}
					multiply(y, s, x)
					x, y = y, x
				}
			}
		}
	}
}

// The target's own rating changes nothing, neither signal nor mean.
func TestTargetIsHidden(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	s := shiftOf(t, 4, rng)
	for _, signal := range []Signal{SignalRaw, SignalCentered} {
		p := NewPowers(s, 1, 3)
		a, b, c := make([]float64, 4), make([]float64, 4), make([]float64, 4)
		meanA := p.Features(a, []int32{0, 1, 3}, []float64{5, 1, 2}, signal, 0)
		meanB := p.Features(b, []int32{0, 1, 3}, []float64{5, 4, 2}, signal, 0)
		meanC := p.Features(c, []int32{0, 3}, []float64{5, 2}, signal, 0)
		for k := range a {
			if a[k] != b[k] || a[k] != c[k] || a[0] != 0 {
				t.Errorf("%v: got %v, %v and %v, want the same with z_0 = 0", signal, a, b, c)
			}
		}
		if want := map[Signal]float64{SignalRaw: 0, SignalCentered: 3.5}[signal]; meanA != want || meanB != want || meanC != want {
			t.Errorf("%v: got means %v, %v, %v, want %v", signal, meanA, meanB, meanC, want)
		}
	}
}

func TestSamples(t *testing.T) {
	r := draw(t, 20, 6, .5, stars, rand.New(rand.NewPCG(2, 2)))
	p := NewPowers(shiftOf(t, 6, rand.New(rand.NewPCG(2, 3))), 0, 2)
	users := raters(r, 0)
	got, err := p.Samples(r, users, SignalCentered, 3)
	must(t, got, err)
	if len(got.Features) != 3*len(users) || p.Order() != 2 || p.Target() != 0 {
		t.Errorf("got %d features for %d users", len(got.Features), len(users))
	}
	for k, u := range users {
		if want, _ := r.Rating(u, 0); got.Ratings[k] != want {
			t.Errorf("user %d: got rating %v, want %v", u, got.Ratings[k], want)
		}
	}
	if _, err := p.Samples(r, without(r.Users(), users)[:1], SignalRaw, 0); err == nil {
		t.Error("a user without a rating of the target: no error")
	}
}
