package movies

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ReadUItem reads the titles of MovieLens 100k, the file u.item: 24 fields
// separated by |, the first the id of a movie, the second its title.
//
// The file is Latin-1; titles are returned as UTF-8. A line that is valid
// UTF-8 already is taken as such: an accented letter of Latin-1 with an ASCII
// letter or a space beside it never is. Control characters become U+FFFD.
// An error names the line.
func ReadUItem(r io.Reader) (map[int]string, error) {
	return titlesFile{kind: "u.item", separator: "|", fields: 24, layout: "id|title|…, 24 fields"}.read(r)
}

// ReadMoviesDat reads the titles of MovieLens 1M, the file movies.dat:
//
//	id::title::genres
//
// Characters are handled as by ReadUItem. An error names the line.
func ReadMoviesDat(r io.Reader) (map[int]string, error) {
	return titlesFile{kind: "movies.dat", separator: "::", fields: 3, layout: "id::title::genres"}.read(r)
}

// titlesFile is a kind of file with one movie per line.
type titlesFile struct {
	kind      string
	separator string
	fields    int
	layout    string
}

func (f titlesFile) read(r io.Reader) (map[int]string, error) {
	titles := map[int]string{}
	err := eachLine(r, f.kind, func(_ int, line []byte) error {
		fields := bytes.Split(line, []byte(f.separator))
		if len(fields) != f.fields {
			return fmt.Errorf("%d fields, is the line cut off? want %s", len(fields), f.layout)
		}
		id, err := strconv.ParseInt(string(fields[0]), 10, 64)
		if err != nil || id < 1 || id > MaxID {
			return fmt.Errorf("movie %s; want a whole number from 1 to %d", shown(fields[0]), MaxID)
		}
		if _, again := titles[int(id)]; again {
			return fmt.Errorf("movie %d has a title already; keep one of the two", id)
		}
		titles[int(id)] = text(bytes.TrimSpace(fields[1]), utf8.Valid(line))
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(titles) == 0 {
		return nil, fmt.Errorf("movies: %s: no titles; want lines of %s", f.kind, f.layout)
	}
	return titles, nil
}

// text returns raw, in UTF-8 or else in Latin-1, without control characters.
func text(raw []byte, isUTF8 bool) string {
	var b strings.Builder
	put := func(r rune) {
		if unicode.IsControl(r) {
			r = unicode.ReplacementChar
		}
		b.WriteRune(r)
	}
	if isUTF8 {
		for _, r := range string(raw) {
			put(r)
		}
	} else {
		for _, c := range raw {
			put(rune(c)) // the first 256 characters of Unicode are those of Latin-1
		}
	}
	return b.String()
}
