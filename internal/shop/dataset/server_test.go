package dataset

import (
	"archive/zip"
	"bytes"
	"crypto/md5"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/internal/shop/movies"
)

// small returns a data set of 40 ratings and what its archive holds.
func small(t *testing.T) (Set, map[string]string) {
	t.Helper()
	var ratings, titles strings.Builder
	for u := 1; u <= 8; u++ {
		for m := 1; m <= 5; m++ {
			fmt.Fprintf(&ratings, "%d\t%d\t%d\t%d\n", u, m, 1+(u*m)%5, 1000*u+m)
		}
	}
	for m := 1; m <= 6; m++ {
		fmt.Fprintf(&titles, "%d|Movie %d (1990)%s\n", m, m, strings.Repeat("|", 22))
	}
	list, err := movies.ReadUData(strings.NewReader(ratings.String()))
	if err != nil {
		t.Fatal(err)
	}
	r, err := movies.NewRatings(list, nil)
	if err != nil {
		t.Fatal(err)
	}
	set := sets()[0]
	set.Name, set.Archive = "small", "small.zip"
	set.Ratings, set.Users, set.Movies, set.digest = 40, 8, 6, Fingerprint(r)
	return set, map[string]string{
		"ml-100k/u.data": ratings.String(), "ml-100k/u.item": titles.String(), "ml-100k/README": "terms",
		"ml-100k/mku.sh": "exit 1", "ml-100k/filler": string(noise(200_000)),
	}
}

// noise returns bytes that do not compress.
func noise(n int) []byte {
	b, state := make([]byte, n), uint64(1)
	for i := range b {
		state = state*6364136223846793005 + 1442695040888963407
		b[i] = byte(state >> 56)
	}
	return b
}

func zipped(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for name, text := range files {
		f, err := w.Create(name)
		if err == nil {
			_, err = f.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// server serves one archive, badly if told so.
type server struct {
	*httptest.Server
	archive  []byte
	md5      string // text of the .md5 file; empty means 404
	cutAfter int    // bytes of one answer; 0 means all
	noRange  bool
	requests []string // "GET small.zip bytes=10-"
}

func serve(t *testing.T, archive []byte) *server {
	t.Helper()
	s := &server{archive: archive, md5: fmt.Sprintf("MD5 (small.zip) = %x\n", md5.Sum(archive))}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := path.Base(r.URL.Path)
	s.requests = append(s.requests, strings.TrimSpace(name+" "+r.Header.Get("Range")))
	switch {
	case strings.HasSuffix(name, ".md5") && s.md5 != "":
		fmt.Fprint(w, s.md5)
		return
	case name != "small.zip":
		http.NotFound(w, r)
		return
	}
	if s.noRange {
		r.Header.Del("Range")
	}
	if s.cutAfter > 0 {
		w = &cutter{w, s.cutAfter}
	}
	if s.noRange {
		w.Header().Set("Content-Length", strconv.Itoa(len(s.archive)))
		w.Write(s.archive)
		return
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(s.archive))
}

// cutter ends the connection after so many bytes.
type cutter struct {
	http.ResponseWriter
	left int
}

func (c *cutter) Write(b []byte) (int, error) {
	n, _ := c.ResponseWriter.Write(b[:min(len(b), c.left)])
	if c.left -= n; c.left == 0 {
		c.ResponseWriter.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
	return n, nil
}
