package liveweb

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/wdgnn/wdgnn/internal/live"
	"github.com/wdgnn/wdgnn/internal/livepage"
)

// kinds are the files that the page consists of.
var kinds = map[string]string{
	".html":    "text/html; charset=utf-8",
	".css":     "text/css; charset=utf-8",
	".js":      "text/javascript; charset=utf-8",
	".svg":     "image/svg+xml",
	".LICENSE": "text/plain; charset=utf-8",
}

func (v *Live) index(w http.ResponseWriter, r *http.Request) error {
	return sendFile(w, r, "index.html")
}

func (v *Live) file(w http.ResponseWriter, r *http.Request) error {
	return sendFile(w, r, r.PathValue("name"))
}

// sendFile sends a file of the page. A browser asks every time whether it
// changed: the program may have been replaced.
func sendFile(w http.ResponseWriter, r *http.Request, name string) error {
	text, err := fs.ReadFile(livepage.Files(), path.Base(name))
	kind := kinds[path.Ext(name)]
	if err != nil || kind == "" {
		return Problemf(http.StatusNotFound, "no_such_path", "the page has no file %.80q", name)
	}
	sum := sha256.Sum256(text)
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("Cache-Control", "no-cache")
	h.Set("ETag", `"`+hex.EncodeToString(sum[:8])+`"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(text))
	return nil
}

// describe tells the page what this process has to show.
func (v *Live) describe(w http.ResponseWriter, _ *http.Request) error {
	about := struct {
		Run     string `json:"run"`     // another one for every process
		Mode    string `json:"mode"`    // live, replay or tables
		Control bool   `json:"control"` // commands are accepted
		Tables  bool   `json:"tables"`
		Ratings any    `json:"ratings,omitempty"`
	}{v.run, "tables", v.config.Hub != nil && v.config.Control, v.config.Results != nil, nil}
	if v.config.Ratings != nil {
		about.Ratings = v.config.Ratings()
	}
	switch {
	case v.config.Hub != nil:
		about.Mode = "live"
	case v.config.Recording != nil:
		about.Mode = "replay"
	}
	Send(w, http.StatusOK, about)
	return nil
}

// tables sends the results of wdgnn reproduce.
func (v *Live) tables(w http.ResponseWriter, _ *http.Request) error {
	if v.config.Results == nil {
		return Problemf(http.StatusNotFound, "no_tables", "this process shows no tables").
			Hint("wdgnn view FOLDER, where FOLDER is what wdgnn reproduce wrote")
	}
	list, err := v.config.Results.List()
	if err != nil {
		return err
	}
	Send(w, http.StatusOK, struct {
		Results []live.Result `json:"results"`
	}{list})
	return nil
}

// figure sends a picture. Its own policy lets it have styles and nothing else.
func (v *Live) figure(w http.ResponseWriter, r *http.Request) error {
	if v.config.Results == nil {
		return Problemf(http.StatusNotFound, "no_tables", "this process shows no figures")
	}
	text, err := v.config.Results.Figure(r.PathValue("path"))
	if err != nil {
		return Problemf(http.StatusNotFound, "no_such_path", "there is no figure %.80q", strings.TrimPrefix(r.PathValue("path"), "/"))
	}
	h := w.Header()
	h.Set("Content-Type", kinds[".svg"])
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; sandbox")
	h.Set("Cache-Control", "no-cache")
	_, _ = w.Write(text) // a browser that is gone needs no answer
	return nil
}
