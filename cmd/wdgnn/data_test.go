package main

import (
	"archive/zip"
	"bytes"
	"crypto/md5"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// sharedData is where the data sets lie, beside the checkout. They are not
// part of it: MovieLens may not be redistributed.
const sharedData = "../../../shared/data/"

// The program gets MovieLens from a server of this test. At a desk without the
// data the test is skipped; in CI that is a failure.
func TestDataGet(t *testing.T) {
	archive, err := archived("ml-100k", "u.data", "u.item", "README")
	if os.IsNotExist(err) && os.Getenv("CI") != "true" {
		t.Skipf("SKIPPED %s: no MovieLens at %s", t.Name(), sharedData)
	}
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/ml-100k.zip":
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(archive))
		case "/ml-100k.zip.md5":
			fmt.Fprintf(w, "MD5 (ml-100k.zip) = %x\n", md5.Sum(archive))
		case "/ml-1m.zip":
			fmt.Fprint(w, "not what it should be")
		case "/ml-1m.zip.md5":
			fmt.Fprintf(w, "%s  ml-1m.zip\n", strings.Repeat("0", 32))
		}
	}))
	t.Cleanup(server.Close)
	file := filepath.Join(t.TempDir(), "ml-100k.zip")
	if err := os.WriteFile(file, archive, 0o644); err != nil {
		t.Fatal(err)
	}
	t.Run("script", func(t *testing.T) {
		testscript.Run(t, testscript.Params{
			Dir: "testdata/movielens",
			Setup: func(e *testscript.Env) error {
				e.Setenv("URL", server.URL)
				e.Setenv("URLFILE", file)
				return nil
			},
			Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){"cut": cut},
		})
	})
}

// archived returns a zip of files of a shared data set.
func archived(folder string, names ...string) ([]byte, error) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range names {
		text, err := os.ReadFile(sharedData + folder + "/" + name)
		if err != nil {
			return nil, err
		}
		w, err := z.Create(folder + "/" + name)
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(text); err != nil {
			return nil, err
		}
	}
	err := z.Close()
	return b.Bytes(), err
}

func TestDataUsage(t *testing.T) {
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"data", exitOK, "Get public data sets"},
		{"data get -h", exitOK, "movielens-100k, movielens-1m"},
		{"data put", exitUsage, `wdgnn data has no command "put"`},
		{"data get", exitUsage, "wants NAME, got 0"},
		{"data get movielens", exitUsage, `no data set is called "movielens"; there are movielens-100k and movielens-1m`},
		{
			"data get movielens-1m --url ftp://x/", exitFailure,
			"is not the address of a folder on the web\nTry: --url https://files.grouplens.org/",
		},
	} {
		expect(t, c.args, c.code, c.want)
	}
}
