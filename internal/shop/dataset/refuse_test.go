package dataset

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
)

func TestOffline(t *testing.T) {
	set, _ := small(t)
	gone := httptest.NewServer(nil)
	gone.Close()
	o := Options{Dir: filepath.Join(t.TempDir(), "d"), Base: gone.URL}
	_, err := set.Get(t.Context(), o)
	wantProblem(t, err, "cannot reach 127.0.0.1:", "fetch "+gone.URL+"/small.zip elsewhere, unpack it, and put u.data and u.item into "+o.Dir)
	for _, base := range []string{"files", "ftp://host/x", "http://", "http://[::1"} {
		o.Base = base
		_, err := set.Get(t.Context(), o)
		wantProblem(t, err, "is not the address of a folder on the web", "--url "+Base)
	}
	set.Archive = "other.zip"
	_, files := small(t)
	s := serve(t, zipped(t, files))
	_, err = set.Get(t.Context(), options(t, s))
	wantProblem(t, err, "the server answers 404", "a --url that holds other.zip")
	if names := left(t, o.Dir); names != "" {
		t.Errorf("got files %s, want none", names)
	}
}

// Folders that are in the way are left as they are.
func TestFolderInTheWay(t *testing.T) {
	set, files := small(t)
	s := serve(t, zipped(t, files))
	o := options(t, s)
	if err := os.Mkdir(o.Dir, 0o755); err != nil {
		t.Fatal(err)
	}
	mine := filepath.Join(o.Dir, "mine.txt")
	if err := os.WriteFile(mine, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := set.Get(t.Context(), o)
	wantProblem(t, err, "is not empty and does not hold small: dataset: no ratings in", "another folder")
	if len(s.requests) != 0 {
		t.Errorf("got requests %q, want none", s.requests)
	}
	if err := os.Remove(mine); err != nil {
		t.Fatal(err)
	}
	if _, err := set.Get(t.Context(), o); err != nil { // empty
		t.Error(err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	_, err = set.Get(t.Context(), Options{Dir: file, Base: s.URL})
	wantProblem(t, err, "file", "another folder")
	_, err = set.Get(t.Context(), Options{Dir: filepath.Join(file, "d"), Base: s.URL})
	wantProblem(t, err, "not a directory", "folder")
	_, err = set.Get(t.Context(), Options{Dir: ".", Base: s.URL})
	wantProblem(t, err, ". is not the name of a folder to make", "--out small")
}
