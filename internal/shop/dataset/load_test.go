package dataset

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// sharedPath is where the data sets lie, beside the checkout.
const sharedPath = "../../../../shared/data/"

// The files as published have the counts and fingerprints that Get asks for.
// At a desk without them the test is skipped; in CI that is a failure.
func TestKnownContent(t *testing.T) {
	for _, set := range sets() {
		dir := sharedPath + set.Folder
		if _, err := os.Stat(dir); os.IsNotExist(err) && os.Getenv("CI") != "true" {
			t.Skipf("SKIPPED %s: no %s at %s", t.Name(), set.Name, dir)
		}
		if err := set.check(dir); err != nil {
			t.Error(err)
		}
	}
}

func TestLoad(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  string // a part of the error; empty means two ratings
	}{
		"100k":           {map[string]string{"u.data": "1\t2\t3\t4\n1\t3\t4\t5\n", "u.item": "2|A" + strings.Repeat("|", 22)}, ""},
		"without titles": {map[string]string{"u.data": "1\t2\t3\t4\n1\t3\t4\t5\n"}, ""},
		"1M":             {map[string]string{"ratings.dat": "1::2::3\n1::3::4\n", "movies.dat": "2::A::B\n"}, ""},
		"CSV":            {map[string]string{"ratings.csv": "user,item,rating\n1,2,3\n1,3,4\n"}, ""},
		"empty folder":   {nil, "want one of the files u.data, ratings.dat, ratings.csv"},
		"two kinds":      {map[string]string{"u.data": "", "ratings.csv": ""}, "holds u.data and ratings.csv; keep one of them"},
		"broken titles":  {map[string]string{"ratings.dat": "1::2::3\n", "movies.dat": "2::A\n"}, "movies.dat: line 1: 2 fields"},
		"broken ratings": {map[string]string{"ratings.csv": "1,2\n"}, "CSV of ratings: line 1: 2 of 3 fields"},
		"repeated ratings": {
			map[string]string{"ratings.csv": "1,2,3\n1,2,3\n"},
			"ratings.csv: movies: line 2: user 1 rated movie 2 already in line 1",
		},
	} {
		dir := t.TempDir()
		for name, text := range c.files {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		r, err := Load(dir)
		if c.want == "" && (err != nil || r.Count() != 2) || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
	_, err := Load(filepath.Join(t.TempDir(), "none"))
	wantProblem(t, err, "none", "wdgnn data get movielens-100k --out ")
}

func TestFind(t *testing.T) {
	for _, name := range Names() {
		if s, err := Find(name); err != nil || s.Name != name || len(s.digest) != 64 {
			t.Errorf("%s: got %+v and %v", name, s, err)
		}
	}
	if _, err := Find("movielens"); err == nil || !strings.Contains(err.Error(), "movielens-100k and movielens-1m") {
		t.Errorf("got %v, want the names there are", err)
	}
}
