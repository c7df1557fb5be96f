package serve

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/wdgnn/wdgnn/internal/liveweb"
	"github.com/wdgnn/wdgnn/internal/shop/movies"
	"github.com/wdgnn/wdgnn/internal/shop/recommend"
)

// rating is the body of POST /v1/ratings.
type rating struct {
	user, item string
	value      float64
}

// naming says what users and items are called.
type naming struct {
	word         string // what is rated
	users, items bool   // ids are texts
}

func namingOf(s *recommend.Service) naming { return naming{s.Word(), s.NamedUsers(), s.NamedItems()} }

// example returns a body as it should be: an item, and what follows it.
func (n naming) example(before, after string) string {
	id := "50"
	if n.items {
		id = `"sku 50"`
	}
	return "{" + before + `"` + n.word + `": ` + id + ", " + after + "}"
}

// parseRating reads {"user": 1, "movie": 50, "rating": 4}, or what a shop calls them.
func (n naming) parseRating(text []byte) (out rating, err error) {
	user := `"user": 1, `
	if n.users {
		user = `"user": "Zoë", `
	}
	fields, err := parseObject(text, n.example(user, `"rating": 4`),
		field{name: "user", text: n.users, number: true},
		field{name: n.word, text: n.items, number: true},
		field{name: "rating", number: true})
	if err != nil {
		return out, err
	}
	out.user, out.item = fields["user"], fields[n.word]
	if err := n.checkUser(out.user); err != nil {
		return out, err
	}
	if err := n.checkItem(out.item); err != nil {
		return out, err
	}
	if out.value, err = strconv.ParseFloat(fields["rating"], 64); err != nil { // out of range
		return out, liveweb.Problemf(http.StatusUnprocessableEntity, "bad_rating", "rating %.40s is too large", fields["rating"])
	}
	return out, nil
}

// checkUser reports an id that no user can have.
func (n naming) checkUser(text string) (err error) {
	if !n.users {
		_, err = parseID("user", text)
	}
	return err
}

// checkItem is checkUser for items.
func (n naming) checkItem(text string) (err error) {
	if !n.items {
		_, err = parseID(n.word, text)
	}
	return err
}

// readJSON reads a small body of JSON.
func readJSON(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if err := liveweb.CheckJSON(r); err != nil {
		return nil, err
	}
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, liveweb.MaxBody))
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, malformed("the body ends too early")
	}
	return text, err
}

func malformed(format string, args ...any) *liveweb.Problem {
	return liveweb.Problemf(http.StatusBadRequest, "malformed", format, args...)
}

// field is one that an object may have.
type field struct {
	name     string
	text     bool // may be a text
	number   bool // may be a number
	optional bool
}

// parseObject reads an object of the given fields: every one once, under exactly its
// name, and nothing else. It returns them as they are written. Errors show an example.
func parseObject(body []byte, example string, known ...field) (map[string]string, error) {
	fields, err := parseFields(body, known)
	if err != nil {
		return nil, err.Hint(example)
	}
	return fields, nil
}

func parseFields(body []byte, known []field) (map[string]string, *liveweb.Problem) {
	if !utf8.Valid(body) {
		return nil, malformed("the body is not UTF-8 text")
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, malformed("the body is not a JSON object")
	}
	fields := map[string]string{}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, malformed("the body is not JSON: %v", err)
		}
		name := key.(string) // of an object
		at := slices.IndexFunc(known, func(f field) bool { return f.name == name })
		if at < 0 {
			return nil, malformed("unknown field %.60q", name)
		}
		if _, twice := fields[name]; twice {
			return nil, malformed("field %q twice", name)
		}
		value, err := dec.Token()
		if err != nil {
			return nil, malformed("field %q: %v", name, err)
		}
		var p *liveweb.Problem
		if fields[name], p = known[at].read(value); p != nil {
			return nil, p
		}
	}
	if _, err := dec.Token(); err != nil {
		return nil, malformed("the body is not a JSON object: it does not end")
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, malformed("more text follows the object")
	}
	for _, f := range known {
		if _, there := fields[f.name]; !there && !f.optional {
			return nil, malformed("no field %q", f.name)
		}
	}
	return fields, nil
}

// read returns a value as it is written.
func (f field) read(value json.Token) (string, *liveweb.Problem) {
	if number, ok := value.(json.Number); ok && f.number {
		return number.String(), nil
	}
	if text, ok := value.(string); ok && f.text {
		return text, nil
	}
	if f.text {
		return "", malformed("field %q is not a text", f.name)
	}
	return "", malformed("field %q is not a number", f.name)
}

// parseID reads the id of a user or a movie.
func parseID(what, text string) (int, error) {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id < 0 || id > movies.MaxID || strings.HasPrefix(text, "+") {
		return 0, liveweb.Problemf(http.StatusBadRequest, "bad_id", "%s %.40q is not a whole number from 0 to %d", what, text, movies.MaxID)
	}
	return int(id), nil
}

// asked is what GET /v1/users/{id}/predictions asks for.
type asked struct {
	items   []int
	top     int // if there are no items
	because int // ratings that each prediction names
}

// mostVoices is how many ratings a prediction names at most, and mostExplained how many
// predictions of an answer do.
const (
	mostVoices    = 20
	mostExplained = 100
)

// readAsked reads the query of a request.
func (v *Server) readAsked(r *http.Request) (a asked, err error) {
	items := v.service.Word() + "s"
	try := "?" + items + "=1,2,3 or ?top=10"
	query, err := liveweb.ParseQuery(r, items, "top", "because")
	if err != nil {
		return a, err
	}
	defer func() {
		if err == nil && a.because > 0 && max(a.top, len(a.items)) > mostExplained {
			err = liveweb.Problemf(http.StatusBadRequest, "bad_query", "because explains %d predictions at most", mostExplained)
		}
	}()
	if text := query["because"]; text != "" {
		if a.because, err = strconv.Atoi(text); err != nil || a.because < 1 || a.because > mostVoices {
			return a, liveweb.Problemf(http.StatusBadRequest, "bad_query", "because is %.40q, want 1 to %d ratings", text, mostVoices).
				Hint("?top=10&because=3")
		}
	}
	list, top := query[items], query["top"]
	switch {
	case list != "" && top != "":
		return a, liveweb.Problemf(http.StatusBadRequest, "bad_query", "both %s and top are given", items).Hint(try)
	case top != "":
		a.top, err = strconv.Atoi(top)
		if err != nil || a.top < 1 || a.top > maxMovies {
			return a, liveweb.Problemf(http.StatusBadRequest, "bad_query", "top is %.40q, want 1 to %d", top, maxMovies).Hint(try)
		}
		return a, nil
	case list == "":
		return a, liveweb.Problemf(http.StatusBadRequest, "bad_query", "neither %s nor top is given", items).Hint(try)
	}
	words, err := v.splitItems(list)
	if err != nil {
		return a, err
	}
	if len(words) > maxMovies {
		return a, liveweb.Problemf(http.StatusBadRequest, "bad_query", "%d %s, want at most %d", len(words), items, maxMovies)
	}
	for _, word := range words {
		id, err := v.findItem(strings.TrimSpace(word))
		if err != nil {
			return a, err
		}
		a.items = append(a.items, id)
	}
	return a, nil
}
