// Package studytest has what tests of experiments share: a size that takes
// seconds, and data that are made up.
package studytest

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/internal/paper/reproduce/study"
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
	write(t, dir, map[string]string{"u.data": ratings.String(), "u.item": items.String()})
	return dir
}

// Traffic writes a data set in the form of METR-LA, of made-up speeds: 8 sensors on a
// ring road with a rush hour in the morning, three days and a bit of every 5 minutes.
func Traffic(t testing.TB) string {
	t.Helper()
	const sensors, steps, day = 8, 920, 288
	rng := random.Stream(1, "toy traffic")
	var speeds, weights strings.Builder
	for i := range sensors {
		fmt.Fprintf(&speeds, "%s%d", []string{",", ""}[btoi(i == 0)], 100+i)
		for j := range sensors {
			near := (i-j+sensors)%sensors == 1 || (j-i+sensors)%sensors == 1
			fmt.Fprintf(&weights, "%s%d", []string{",", ""}[btoi(j == 0)], btoi(near || i == j))
		}
		weights.WriteByte('\n')
	}
	wave := 0.0
	for k := range steps {
		speeds.WriteByte('\n')
		wave = 0.9*wave + rng.NormFloat64()
		rush := 25 * math.Exp(-math.Pow(float64(k%day-96)/24, 2))
		for i := range sensors {
			fmt.Fprintf(&speeds, "%s%.3f", []string{",", ""}[btoi(i == 0)], 60+float64(i)-rush+wave+rng.NormFloat64())
		}
	}
	speeds.WriteByte('\n')
	dir := t.TempDir()
	write(t, dir, map[string]string{"speed.csv": speeds.String(), "adjacency.csv": weights.String()})
	return dir
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func write(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
