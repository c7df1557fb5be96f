package dataset

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// left returns the names in the folder that a set was to go to, sorted.
func left(t *testing.T, dir string) string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(filepath.Dir(dir), func(path string, d fs.DirEntry, err error) error {
		if path != filepath.Dir(dir) {
			name, _ := filepath.Rel(filepath.Dir(dir), path)
			names = append(names, filepath.ToSlash(name))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

const whole = "d d/README d/u.data d/u.item"

func options(t *testing.T, s *server) Options {
	return Options{Dir: filepath.Join(t.TempDir(), "d"), Base: s.URL}
}

// wantProblem fails unless err says what, and what to try.
func wantProblem(t *testing.T, err error, what, try string) {
	t.Helper()
	var p *Problem
	if !errors.As(err, &p) || !strings.Contains(err.Error(), what) || !strings.Contains(p.Try, try) {
		t.Errorf("got %v (%+v), want word of %q and the advice %q", err, p, what, try)
	}
}

func TestGet(t *testing.T) {
	set, files := small(t)
	s := serve(t, zipped(t, files))
	o := options(t, s)
	var last Progress
	o.Progress = func(p Progress) { last = p }
	got, err := set.Get(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	size := int64(len(s.archive))
	if got.Bytes != size || got.Resumed != 0 || got.Present || !strings.Contains(s.md5, got.MD5) || got.MD5 == "" {
		t.Errorf("got %+v, want %d bytes and the MD5", got, size)
	}
	if last != (Progress{Done: size, Total: size}) {
		t.Errorf("got %+v as the last word on progress", last)
	}
	if names := left(t, o.Dir); names != whole {
		t.Errorf("got files %s, want %s", names, whole)
	}
	r, err := Load(o.Dir)
	if err != nil || r.Count() != 40 || r.Title(0) != "Movie 1 (1990)" {
		t.Errorf("got %v and %v, want 40 ratings with titles", r, err)
	}
	// A second time there is nothing to do, and nobody is asked.
	asked := len(s.requests)
	if got, err = set.Get(t.Context(), o); err != nil || !got.Present || len(s.requests) != asked {
		t.Errorf("got %+v and %v after %d requests, want it to be present", got, err, len(s.requests)-asked)
	}
}

// A connection that is cut again and again is taken up where it ended.
func TestCutConnection(t *testing.T) {
	set, files := small(t)
	s := serve(t, zipped(t, files))
	s.cutAfter = 60_000
	o := options(t, s)
	if _, err := set.Get(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	want := "small.zip.md5 small.zip small.zip bytes=60000- small.zip bytes=120000- small.zip bytes=180000-"
	if got := strings.Join(s.requests, " "); got != want {
		t.Errorf("got requests %s, want %s", got, want)
	}
	if names := left(t, o.Dir); names != whole {
		t.Errorf("got files %s, want %s", names, whole)
	}
}

// When a run gives up, the next one goes on.
func TestResume(t *testing.T) {
	set, files := small(t)
	s := serve(t, zipped(t, files))
	s.cutAfter = 20_000
	o := options(t, s)
	_, err := set.Get(t.Context(), o)
	wantProblem(t, err, "unexpected EOF", "the same command again")
	if names := left(t, o.Dir); names != "d.zip.part" {
		t.Errorf("got files %s, want the part alone", names)
	}
	s.cutAfter, s.requests = 0, nil
	got, err := set.Get(t.Context(), o)
	if err != nil || got.Resumed != 100_000 {
		t.Errorf("got %+v and %v, want 100000 bytes to be there already", got, err)
	}
	if want := []string{"small.zip.md5", "small.zip bytes=100000-"}; !slices.Equal(s.requests, want) {
		t.Errorf("got requests %q, want %q", s.requests, want)
	}
	if names := left(t, o.Dir); names != whole {
		t.Errorf("got files %s, want %s", names, whole)
	}
}

// An interrupt keeps what arrived, and a part that is complete is not fetched.
func TestInterrupt(t *testing.T) {
	set, files := small(t)
	s := serve(t, zipped(t, files))
	o := options(t, s)
	ctx, cancel := context.WithCancel(t.Context())
	o.Progress = func(Progress) { cancel() }
	_, err := set.Get(ctx, o)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want word of the interrupt", err)
	}
	wantProblem(t, err, "context canceled", "the same command again")
	if names := left(t, o.Dir); names != "d.zip.part" {
		t.Errorf("got files %s, want the part alone", names)
	}
	if err := os.WriteFile(o.Dir+".zip.part", s.archive, 0o644); err != nil {
		t.Fatal(err)
	}
	o.Progress = nil
	if got, err := set.Get(t.Context(), o); err != nil || got.Resumed != int64(len(s.archive)) {
		t.Errorf("got %+v and %v, want nothing to be missing", got, err)
	}
}

// What an earlier run left may belong to another archive, and a server may
// not know how to begin in the middle: both begin anew.
func TestBeginAnew(t *testing.T) {
	set, files := small(t)
	for name, prepare := range map[string]func(s *server) []byte{
		"another archive": func(s *server) []byte { return noise(1000) },
		"no ranges":       func(s *server) []byte { s.noRange = true; return s.archive[:1000] },
	} {
		s := serve(t, zipped(t, files))
		o := options(t, s)
		if err := os.WriteFile(o.Dir+".zip.part", prepare(s), 0o644); err != nil {
			t.Fatal(err)
		}
		got, err := set.Get(t.Context(), o)
		if err != nil || got.Resumed != 0 {
			t.Errorf("%s: got %+v and %v, want all of it", name, got, err)
		}
		if names := left(t, o.Dir); names != whole {
			t.Errorf("%s: got files %s, want %s", name, names, whole)
		}
	}
}

// A part that is longer than the archive is dropped.
func TestPartTooLong(t *testing.T) {
	set, files := small(t)
	s := serve(t, zipped(t, files))
	o := options(t, s)
	if err := os.WriteFile(o.Dir+".zip.part", noise(len(s.archive)+1), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := set.Get(t.Context(), o)
	wantProblem(t, err, "which is not the size on the server", "once more")
	if names := left(t, o.Dir); names != "" {
		t.Errorf("got files %s, want none", names)
	}
}

// Archives that must not be believed. Nothing of them stays.
func TestRefused(t *testing.T) {
	set, files := small(t)
	with := func(name, text string) map[string]string {
		m := maps.Clone(files)
		m[name] = text
		return m
	}
	without := maps.Clone(files)
	delete(without, "ml-100k/u.item")
	data := files["ml-100k/u.data"]
	for _, c := range []struct {
		name    string
		archive []byte
		md5     string // empty means the right one
		want    string
	}{
		{"wrong checksum", zipped(t, files), strings.Repeat("0", 32), "00000000000000000000000000000000 is published"},
		{"not an archive", noise(5000), "", "is not a zip archive"},
		{"zip slip", zipped(t, with("../evil", "x")), "", `"../evil", which leads out of its folder`},
		{"zip slip, Windows", zipped(t, with(`ml-100k\..\..\evil`, "x")), "", "which leads out of its folder"},
		{"zip slip, absolute", zipped(t, with("/etc/evil", "x")), "", "which leads out of its folder"},
		{"bomb", zipped(t, with("ml-100k/u.item", strings.Repeat("0", 2<<20))), "", "member u.item claims 2097152 bytes, want at most 1048576"},
		{"no titles", zipped(t, without), "", "has no member ml-100k/u.item"},
		{
			"too few ratings", zipped(t, with("ml-100k/u.data", strings.Join(strings.SplitAfter(data, "\n")[:35], ""))), "",
			"small has 35 ratings, want 40",
		},
		{"too few titles", zipped(t, with("ml-100k/u.item", "1|A"+strings.Repeat("|", 22))), "", "small has 1 movies with titles, want 6"},
		{
			"other ratings", zipped(t, with("ml-100k/u.data", strings.Replace(data, "1\t1\t2\t", "1\t1\t3\t", 1))), "",
			"its ratings are not the known ones",
		},
		{"binary ratings", zipped(t, with("ml-100k/u.data", "\x00\x01")), "", "u.data: line 1"},
	} {
		s := serve(t, c.archive)
		if c.md5 != "" {
			s.md5 = c.md5 + "  small.zip"
		}
		o := options(t, s)
		_, err := set.Get(t.Context(), o)
		t.Run(c.name, func(t *testing.T) { wantProblem(t, err, c.want, "once more, which begins anew") })
		if names := left(t, o.Dir); names != "" {
			t.Errorf("%s: got files %s, want none", c.name, names)
		}
	}
}

// Sizes are checked while bytes arrive: an answer that is shorter than it says
// is cut, and the part stays.
func TestWrongSize(t *testing.T) {
	set, files := small(t)
	s := serve(t, zipped(t, files))
	s.noRange, s.cutAfter = true, 50
	o := options(t, s)
	_, err := set.Get(t.Context(), o)
	wantProblem(t, err, "unexpected EOF", "the same command again")
	s.cutAfter = 0
	if _, err := set.Get(t.Context(), o); err != nil {
		t.Error(err)
	}
}

// Without a published checksum the content must do.
func TestNoChecksum(t *testing.T) {
	set, files := small(t)
	s := serve(t, zipped(t, files))
	s.md5 = ""
	got, err := set.Get(t.Context(), options(t, s))
	if err != nil || got.MD5 != "" {
		t.Errorf("got %+v and %v", got, err)
	}
	s.md5 = "<html>not a checksum</html>"
	_, err = set.Get(t.Context(), options(t, s))
	wantProblem(t, err, "is not a checksum", "a --url that holds small.zip")
}
