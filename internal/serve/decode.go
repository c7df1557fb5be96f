package serve

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/wdgnn/wdgnn/scenario/movies"
)

// rating is the body of POST /v1/ratings.
type rating struct {
	user, movie int
	value       float64
}

// readRating reads the body of a request.
func readRating(w http.ResponseWriter, r *http.Request) (rating, error) {
	if err := checkJSON(r); err != nil {
		return rating{}, err
	}
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return rating{}, malformed("the body ends too early")
		}
		return rating{}, err
	}
	return parseRating(text)
}

func malformed(format string, args ...any) *problem {
	return problemf(http.StatusBadRequest, "malformed", format, args...).hint(`{"user": 1, "movie": 50, "rating": 4}`)
}

// parseRating reads {"user": 1, "movie": 50, "rating": 4}: every field once,
// under exactly this name, and nothing else.
func parseRating(text []byte) (rating, error) {
	if !utf8.Valid(text) {
		return rating{}, malformed("the body is not UTF-8 text")
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return rating{}, malformed("the body is not a JSON object")
	}
	fields := map[string]json.Number{"user": "", "movie": "", "rating": ""}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return rating{}, malformed("the body is not JSON: %v", err)
		}
		name := key.(string) // of an object
		before, known := fields[name]
		if !known {
			return rating{}, malformed("unknown field %.60q", name)
		}
		if before != "" {
			return rating{}, malformed("field %q twice", name)
		}
		value, err := dec.Token()
		if err != nil {
			return rating{}, malformed("field %q: %v", name, err)
		}
		number, ok := value.(json.Number)
		if !ok {
			return rating{}, malformed("field %q is not a number", name)
		}
		fields[name] = number
	}
	if _, err := dec.Token(); err != nil {
		return rating{}, malformed("the body is not a JSON object: it does not end")
	}
	if _, err := dec.Token(); err != io.EOF {
		return rating{}, malformed("more text follows the object")
	}
	for _, name := range []string{"user", "movie", "rating"} {
		if fields[name] == "" {
			return rating{}, malformed("no field %q", name)
		}
	}
	return convert(fields)
}

// convert turns the numbers of a rating into what they must be.
func convert(fields map[string]json.Number) (r rating, err error) {
	if r.user, err = parseID("user", fields["user"].String()); err != nil {
		return r, err
	}
	if r.movie, err = parseID("movie", fields["movie"].String()); err != nil {
		return r, err
	}
	if r.value, err = strconv.ParseFloat(fields["rating"].String(), 64); err != nil { // out of range
		return r, problemf(http.StatusUnprocessableEntity, "bad_rating", "rating %.40s is too large", fields["rating"])
	}
	return r, nil
}

// parseID reads the id of a user or a movie.
func parseID(what, text string) (int, error) {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id < 0 || id > movies.MaxID || strings.HasPrefix(text, "+") {
		return 0, problemf(http.StatusBadRequest, "bad_id", "%s %.40q is not a whole number from 0 to %d", what, text, movies.MaxID)
	}
	return int(id), nil
}

// asked is what GET /v1/users/{id}/predictions asks for.
type asked struct {
	movies []int
	top    int // if there are no movies
}

// readAsked reads the query of a request.
func readAsked(r *http.Request) (a asked, err error) {
	const try = "?movies=1,2,3 or ?top=10"
	query, err := parseQuery(r, "movies", "top")
	if err != nil {
		return a, err
	}
	list, top := query["movies"], query["top"]
	switch {
	case list != "" && top != "":
		return a, problemf(http.StatusBadRequest, "bad_query", "both movies and top are given").hint(try)
	case top != "":
		a.top, err = strconv.Atoi(top)
		if err != nil || a.top < 1 || a.top > maxMovies {
			return a, problemf(http.StatusBadRequest, "bad_query", "top is %.40q, want 1 to %d", top, maxMovies).hint(try)
		}
		return a, nil
	case list == "":
		return a, problemf(http.StatusBadRequest, "bad_query", "neither movies nor top is given").hint(try)
	}
	words := strings.Split(list, ",")
	if len(words) > maxMovies {
		return a, problemf(http.StatusBadRequest, "bad_query", "%d movies, want at most %d", len(words), maxMovies)
	}
	for _, word := range words {
		id, err := parseID("movie", strings.TrimSpace(word))
		if err != nil {
			return a, err
		}
		a.movies = append(a.movies, id)
	}
	return a, nil
}

// parseQuery returns the query of a request, every name once and none but
// those given.
func parseQuery(r *http.Request, names ...string) (map[string]string, error) {
	refuse := func(err error) error {
		return problemf(http.StatusBadRequest, "bad_query", "query: %v", err)
	}
	values, err := parseValues(r)
	if err != nil {
		return nil, refuse(err)
	}
	query := map[string]string{}
	for _, name := range names {
		if len(values[name]) > 1 {
			return nil, refuse(fmt.Errorf("%s is given twice", name))
		}
		query[name] = values.Get(name)
		delete(values, name)
	}
	for name := range values {
		return nil, refuse(fmt.Errorf("unknown parameter %.60q", name))
	}
	return query, nil
}
