package dataset

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/wdgnn/wdgnn/internal/shop/movies"
)

// format is a kind of folder that holds ratings.
type format struct {
	ratings, titles string // names of files; no titles if empty
	readRatings     func(io.Reader) ([]movies.Rating, error)
	readTitles      func(io.Reader) (map[int]string, error)
}

var formats = []format{
	{"u.data", "u.item", movies.ReadUData, movies.ReadUItem},
	{"ratings.dat", "movies.dat", movies.ReadRatingsDat, movies.ReadMoviesDat},
	{"ratings.csv", "", movies.ReadCSV, nil},
}

// Load reads the ratings in a folder, which holds u.data and u.item
// (MovieLens 100k), or ratings.dat and movies.dat (MovieLens 1M), or
// ratings.csv with lines user,movie,rating[,time]. The files of titles may be
// missing. A folder with the ratings of two kinds is an error; one that does
// not exist or holds no ratings is a *Problem.
func Load(dir string) (*movies.Ratings, error) {
	r, _, err := load(dir)
	return r, err
}

// load also returns how many movies have titles.
func load(dir string) (r *movies.Ratings, titled int, err error) {
	f, err := recognize(dir)
	if err != nil {
		return nil, 0, err
	}
	list, err := read(filepath.Join(dir, f.ratings), f.readRatings)
	if err != nil {
		return nil, 0, err
	}
	var titles map[int]string
	if f.titles != "" {
		titles, err = read(filepath.Join(dir, f.titles), f.readTitles)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, 0, err
		}
	}
	if r, err = movies.NewRatings(list, titles); err != nil {
		return nil, 0, fmt.Errorf("dataset: %s: %w", filepath.Join(dir, f.ratings), err)
	}
	return r, len(titles), nil
}

// recognize returns the format of the only file of ratings in dir.
func recognize(dir string) (format, error) {
	var found []format
	var names, seen []string
	if info, err := os.Stat(dir); err != nil {
		return format{}, &Problem{fmt.Errorf("dataset: %w", err), "wdgnn data get movielens-100k --out " + dir}
	} else if !info.IsDir() {
		return format{}, fmt.Errorf("dataset: %s is not a folder; name the folder that holds it", dir)
	}
	for _, f := range formats {
		names = append(names, f.ratings)
		if _, err := os.Stat(filepath.Join(dir, f.ratings)); err == nil {
			found, seen = append(found, f), append(seen, f.ratings)
		}
	}
	switch len(found) {
	case 0:
		return format{}, &Problem{
			fmt.Errorf("dataset: no ratings in %s: want one of the files %s", dir, strings.Join(names, ", ")),
			"wdgnn data get movielens-100k, and --data data/ml-100k",
		}
	case 1:
		return found[0], nil
	}
	return format{}, fmt.Errorf("dataset: %s holds %s; keep one of them", dir, strings.Join(seen, " and "))
}

func read[T any](path string, from func(io.Reader) (T, error)) (T, error) {
	var none T
	file, err := os.Open(path)
	if err != nil {
		return none, fmt.Errorf("dataset: %w", err)
	}
	defer file.Close()
	v, err := from(file)
	if err != nil {
		return none, fmt.Errorf("dataset: %s: %w", path, err)
	}
	return v, nil
}

// Fingerprint returns the SHA-256 of the ratings, as hexadecimal digits. It
// depends neither on the order of lines nor on times nor on the format:
// hashed are the lines
//
//	user movie rating\n
//
// by ascending user id and then in the order of the table's movies, with
// ratings in their shortest decimal form.
func Fingerprint(r *movies.Ratings) string {
	sum := sha256.New()
	line := make([]byte, 0, 64)
	for u := range r.Users() {
		movie, rating := r.User(u)
		for e, n := range movie {
			line = strconv.AppendInt(line[:0], int64(r.UserID(u)), 10)
			line = strconv.AppendInt(append(line, ' '), int64(r.MovieID(int(n))), 10)
			line = strconv.AppendFloat(append(line, ' '), rating[e], 'g', -1, 64)
			line = append(line, '\n')
			sum.Write(line)
		}
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// check reports how the content of dir differs from s.
func (s Set) check(dir string) error {
	r, titled, err := load(dir)
	if err != nil {
		return err
	}
	for _, c := range []struct {
		what      string
		got, want int
	}{{"ratings", r.Count(), s.Ratings}, {"users", r.Users(), s.Users}, {"movies with titles", titled, s.Movies}} {
		if c.got != c.want {
			return fmt.Errorf("dataset: %s has %d %s, want %d", s.Name, c.got, c.what, c.want)
		}
	}
	if got := Fingerprint(r); got != s.digest {
		return fmt.Errorf("dataset: %s counts right but its ratings are not the known ones: fingerprint %s, want %s", s.Name, got, s.digest)
	}
	return nil
}
