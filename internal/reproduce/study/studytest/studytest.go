// Package studytest has what tests of experiments share: a size that takes
// seconds, and ratings that are made up.
package studytest

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/internal/reproduce/study"
	"github.com/wdgnn/wdgnn/random"
)

// Options are options that take seconds.
func Options(dir string) study.Options {
	return study.Options{
		Seed: 3, Repeats: 2, Epochs: 2, Subgraphs: 1, Signals: 500, Test: 60, Flights: 8, Robots: 12, Threads: 2,
		Out: dir, Version: "test", CPU: "a processor",
		Now: func() float64 { return 0 },
	}
}

// Text is a result without what depends on the clock.
func Text(t testing.TB, r *study.Result) string {
	t.Helper()
	same := *r
	same.Machine = study.Machine{}
	b, err := json.Marshal(same)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// titles are the movies of Table 4, which everybody rates.
var titles = []string{"Star Wars (1977)", "Contact (1997)", "Return of the Jedi (1983)"}

// Ratings writes a data set in the form of MovieLens 100k, of made-up
// ratings: 150 users with tastes of two dimensions rate half of 40 movies.
func Ratings(t testing.TB) string {
	t.Helper()
	const users, films = 150, 40
	rng := random.Stream(1, "toy ratings")
	var taste [users + films][2]float64
	for i := range taste {
		taste[i] = [2]float64{rng.NormFloat64(), rng.NormFloat64()}
	}
	var ratings, items strings.Builder
	for n := range films {
		title := fmt.Sprintf("Movie %d", n)
		if n < len(titles) {
			title = titles[n]
		}
		fmt.Fprintf(&items, "%d|%s%s\n", n+1, title, strings.Repeat("|", 22))
		for u := range users {
			if n >= len(titles) && rng.IntN(2) == 0 {
				continue
			}
			a, b := taste[u], taste[users+n]
			v := min(5, max(1, math.Round(3.5+0.7*(a[0]*b[0]+a[1]*b[1])+0.3*rng.NormFloat64())))
			fmt.Fprintf(&ratings, "%d\t%d\t%d\t%d\n", u+1, n+1, int(v), 1)
		}
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"u.data": ratings.String(), "u.item": items.String()} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
