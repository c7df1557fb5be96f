package serve

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/wdgnn/wdgnn/internal/journal"
	"github.com/wdgnn/wdgnn/internal/journal/faultdisk"
	"github.com/wdgnn/wdgnn/internal/shop/dataset"
	"github.com/wdgnn/wdgnn/internal/shop/movies"
	"github.com/wdgnn/wdgnn/internal/shop/recommend"
	"github.com/wdgnn/wdgnn/random"
)

// ratingsCSV returns generated ratings of users 1 … users and movies 1 … count.
func ratingsCSV(users, count int) []byte {
	var b bytes.Buffer
	rng := random.Stream(1, "ratings")
	b.WriteString("user,movie,rating\n")
	for u := range users {
		taste, mood := rng.IntN(2), rng.NormFloat64()*0.4
		for n := range count {
			r := 3 + mood + 0.5*math.Sin(float64(n)) + rng.NormFloat64()*0.5
			if n%2 == taste {
				r++
			} else {
				r--
			}
			if rng.IntN(100) < 45 {
				fmt.Fprintf(&b, "%d,%d,%v\n", u+1, n+1, min(5, max(1, math.Round(r))))
			}
		}
	}
	return b.Bytes()
}

// written makes a folder of generated ratings.
func written(t testing.TB, users, count int) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "ratings.csv"), ratingsCSV(users, count), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

var small = sync.OnceValues(func() (*movies.Ratings, *recommend.Model) {
	dir, err := os.MkdirTemp("", "wdgnn-serve")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "ratings.csv"), ratingsCSV(100, 40), 0o644); err != nil {
		panic(err)
	}
	all, err := dataset.Load(dir)
	if err != nil {
		panic(err)
	}
	if all, err = titled(all); err != nil {
		panic(err)
	}
	s := recommend.DefaultSetting()
	s.Movies, s.Neighbors, s.Features, s.Order = 30, 5, 16, 3
	m, err := recommend.Train(context.Background(), all, s, recommend.TrainConfig{Epochs: 5, BatchSize: 64})
	if err != nil {
		panic(err)
	}
	return all, m
})

// titled gives every movie a title, with HTML in it.
func titled(all *movies.Ratings) (*movies.Ratings, error) {
	var list []movies.Rating
	titles := map[int]string{}
	for u := range all.Users() {
		movie, rating := all.User(u)
		for k, n := range movie {
			id := all.MovieID(int(n))
			list = append(list, movies.Rating{User: all.UserID(u), Item: id, Value: rating[k]})
			titles[id] = fmt.Sprintf("<b>No. %d</b>", id)
		}
	}
	return movies.NewRatings(list, titles)
}

// running is a server under test.
type running struct {
	*httptest.Server
	service *recommend.Service
	known   int // a movie of the model
	missing int // a movie that the model leaves out
}

func start(t testing.TB, d journal.Disk, c Config) *running {
	t.Helper()
	if d == nil {
		d = faultdisk.New()
	}
	all, m := small()
	config := recommend.Config{Rule: recommend.Paper(0.01)}
	s, err := recommend.Open(m, all, d, config)
	if err != nil {
		t.Fatal(err)
	}
	v := New(s, c)
	r := &running{Server: httptest.NewServer(v), service: s}
	t.Cleanup(func() {
		v.live.Close()
		r.Server.Close()
		s.Close()
	})
	top := all.Top(31)
	r.known, r.missing = all.MovieID(top[0]), all.MovieID(top[30])
	return r
}

// answer is what came back.
type answer struct {
	status int
	header http.Header
	body   string
}

// do sends a request. Headers are lines "Name: value".
func (r *running) do(t testing.TB, method, path, body string, headers ...string) answer {
	t.Helper()
	if body != "" {
		headers = append([]string{"Content-Type: application/json"}, headers...)
	}
	return ask(t, method, r.URL+path, body, headers...)
}

// ask makes a request with headers "Name: value".
func ask(t testing.TB, method, url, body string, headers ...string) answer {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		if name == "Host" {
			r.Host = value
		}
		r.Header.Set(name, value)
	}
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	return answer{a.StatusCode, a.Header, string(readBody(t, a))}
}

// readBody reads what was answered.
func readBody(t testing.TB, a *http.Response) []byte {
	t.Helper()
	defer a.Body.Close()
	text, err := io.ReadAll(a.Body)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
