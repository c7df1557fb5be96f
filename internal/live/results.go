package live

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

const (
	maxResult  = 4 << 20 // bytes of a file of results or of a figure
	maxResults = 64
	maxPlots   = 256
)

// Results are the tables and figures of wdgnn reproduce in a folder: files
// NAME.json or NAME/result.json, and figures beside them.
type Results struct {
	Titles map[string]string // what experiments are called on the page, by name; others have their names

	root *os.Root
}

// Result is one of them.
type Result struct {
	Name    string          `json:"name"`
	Title   string          `json:"title"`
	Tables  json.RawMessage `json:"tables"`
	Notes   []string        `json:"notes"`
	Figures []figure        `json:"figures"`
}

// figure is a picture of a result.
type figure struct {
	Title string `json:"title"`
	Note  string `json:"note,omitempty"`
	Path  string `json:"path"` // in the folder; see Results.Figure
}

// OpenResults opens a folder. The caller closes it.
func OpenResults(dir string) (*Results, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("live: results: %w", err)
	}
	return &Results{root: root}, nil
}

// Close closes the folder.
func (r *Results) Close() error { return r.root.Close() }

// List reads all results that make sense, by name.
func (r *Results) List() ([]Result, error) {
	entries, err := fs.ReadDir(r.root.FS(), ".")
	if err != nil {
		return nil, fmt.Errorf("live: results: %w", err)
	}
	list := []Result{}
	for _, e := range entries {
		name, file := strings.TrimSuffix(e.Name(), ".json"), e.Name()
		switch {
		case e.IsDir():
			file = path.Join(e.Name(), "result.json")
		case e.Name() == "result.json": // the folder of one experiment
			name = filepath.Base(r.root.Name())
		case name == e.Name():
			continue
		}
		if one, ok := r.result(name, file); ok && len(list) < maxResults {
			list = append(list, one)
		}
	}
	slices.SortFunc(list, func(a, b Result) int { return cmp.Compare(order(a.Name), order(b.Name)) })
	return list, nil
}

// order sorts tables before the rest.
func order(name string) string {
	if strings.HasPrefix(name, "table") {
		return "0" + name
	}
	return "1" + name
}

// result reads one file.
func (r *Results) result(name, file string) (out Result, ok bool) {
	text, err := r.read(file)
	if err != nil {
		return out, false
	}
	var in struct {
		Manifest *struct{}       `json:"manifest"`
		Tables   json.RawMessage `json:"tables"`
		Notes    []string        `json:"notes"`
		Charts   []struct {
			Name, Title, Note string
		} `json:"charts"`
	}
	if json.Unmarshal(text, &in) != nil || in.Manifest == nil {
		return out, false
	}
	out = Result{Name: name, Title: cmp.Or(r.Titles[name], name), Tables: in.Tables, Notes: in.Notes, Figures: []figure{}}
	if len(out.Tables) == 0 {
		out.Tables = json.RawMessage("[]")
	}
	for _, c := range in.Charts {
		picture := path.Join(path.Dir(file), c.Name+".svg")
		if _, err := r.root.Stat(picture); err == nil && len(out.Figures) < maxPlots {
			out.Figures = append(out.Figures, figure{c.Title, c.Note, picture})
		}
	}
	return out, true
}

// Figure returns the SVG picture at a path that List gave. Paths that lead out
// of the folder are an error.
func (r *Results) Figure(name string) ([]byte, error) {
	if !strings.HasSuffix(name, ".svg") || !fs.ValidPath(name) {
		return nil, fmt.Errorf("live: results: %.80q is not a figure: %w", name, fs.ErrNotExist)
	}
	return r.read(name)
}

var errLarge = errors.New("too large")

func (r *Results) read(name string) ([]byte, error) {
	f, err := r.root.Open(name)
	if err != nil {
		return nil, fmt.Errorf("live: results: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxResult+1))
	if err != nil || len(text) > maxResult {
		return nil, fmt.Errorf("live: results: %s: %w", name, cmp.Or(err, errLarge))
	}
	return text, nil
}
