package movies

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
)

// maxLine bounds the length of a line, in bytes.
const maxLine = 1 << 16

// ReadUData reads the ratings of MovieLens 100k, the file u.data:
//
//	user TAB movie TAB rating TAB time
//
// Ids are at least 1, ratings go from 1 to 5, times are seconds since 1970.
// Empty lines are passed over. An error names the line.
func ReadUData(r io.Reader) ([]Rating, error) {
	return ratingsFile{
		kind: "u.data", separator: "\t", layout: "user, movie, rating and time separated by tabs",
		leastFields: 4, leastID: 1, least: 1, most: 5,
	}.read(r)
}

// ReadRatingsDat reads the ratings of MovieLens 1M, the file ratings.dat, with
// or without times:
//
//	user::movie::rating[::time]
//
// Ids are at least 1, ratings go from 1 to 5, times are seconds since 1970.
// Empty lines are passed over. An error names the line.
func ReadRatingsDat(r io.Reader) ([]Rating, error) {
	return ratingsFile{
		kind: "ratings.dat", separator: "::", layout: "user::movie::rating, and ::time if there are times",
		leastFields: 3, leastID: 1, least: 1, most: 5,
	}.read(r)
}

// ReadCSV reads plain ratings, with or without times:
//
//	user,movie,rating[,time]
//
// A first line that does not begin with a digit is a header and passed over,
// as are empty lines and a byte order mark. Ids are whole numbers from 0 to
// MaxID, ratings are more than 0 and at most 100, times are whole
// seconds. Numbers may be quoted. An error names the line.
func ReadCSV(r io.Reader) ([]Rating, error) {
	return ratingsFile{
		kind: "CSV of ratings", separator: ",", layout: "user,movie,rating, and ,time if there are times",
		leastFields: 3, most: 100, header: true,
	}.read(r)
}

// ratingsFile is a kind of file with one rating per line.
type ratingsFile struct {
	kind        string
	separator   string
	layout      string // what a line looks like
	leastFields int    // 3, or 4 if times must be there
	leastID     int
	least, most float64 // a least of 0 is excluded
	header      bool    // the first line may be one
}

func (f ratingsFile) read(r io.Reader) ([]Rating, error) {
	var list []Rating
	err := eachLine(r, f.kind, func(number int, line []byte) error {
		if f.header && number == 1 {
			line = bytes.TrimPrefix(line, []byte("\ufeff"))
			if first := bytes.TrimLeft(line, " \t\""); len(first) > 0 && !('0' <= first[0] && first[0] <= '9') &&
				!bytes.ContainsAny(first[:1], "+-.") {
				return nil
			}
		}
		rating, err := f.parse(line)
		if err != nil {
			return err
		}
		rating.Line = number
		list = append(list, rating)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("movies: %s: no ratings; want lines of %s", f.kind, f.layout)
	}
	return list, nil
}

// parse reads one line, which is not empty.
func (f ratingsFile) parse(line []byte) (Rating, error) {
	var field [4][]byte
	count, rest, more := 0, line, true
	for ; more; count++ {
		if count == len(field) {
			return Rating{}, fmt.Errorf("more than 4 fields; want %s", f.layout)
		}
		field[count], rest, more = bytes.Cut(rest, []byte(f.separator))
		field[count] = unquoted(bytes.TrimSpace(field[count]))
	}
	if count < f.leastFields {
		return Rating{}, fmt.Errorf("%d of %d fields, is the line cut off? want %s", count, f.leastFields, f.layout)
	}
	user, err := f.id("user", field[0])
	if err != nil {
		return Rating{}, err
	}
	item, err := f.id("movie", field[1])
	if err != nil {
		return Rating{}, err
	}
	value, err := strconv.ParseFloat(string(field[2]), 64)
	if err != nil || math.IsNaN(value) {
		return Rating{}, fmt.Errorf("rating %s; want a number", shown(field[2]))
	}
	if value < f.least || value <= 0 || value > f.most {
		return Rating{}, fmt.Errorf("rating %s; want %s", shown(field[2]), f.scale())
	}
	var time int64
	if count == 4 && len(field[3]) > 0 {
		if time, err = strconv.ParseInt(string(field[3]), 10, 64); err != nil {
			return Rating{}, fmt.Errorf("time %s; want whole seconds", shown(field[3]))
		}
	} else if f.leastFields == 4 {
		return Rating{}, fmt.Errorf("no time, is the line cut off? want %s", f.layout)
	}
	return Rating{User: user, Item: item, Value: value, Time: time}, nil
}

func (f ratingsFile) scale() string {
	if f.least > 0 {
		return fmt.Sprintf("%v to %v", f.least, f.most)
	}
	return fmt.Sprintf("more than 0, which stands for unrated, and at most %v; scale the ratings if need be", f.most)
}

func (f ratingsFile) id(what string, text []byte) (int, error) {
	v, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil || v < int64(f.leastID) || v > MaxID {
		return 0, fmt.Errorf("%s %s; want a whole number from %d to %d", what, shown(text), f.leastID, MaxID)
	}
	return int(v), nil
}

// unquoted returns text without a pair of quotation marks around it.
func unquoted(text []byte) []byte {
	if n := len(text); n >= 2 && text[0] == '"' && text[n-1] == '"' {
		return text[1 : n-1]
	}
	return text
}

// shown returns text for an error message, cut if it is long.
func shown(text []byte) string {
	const most = 40
	if len(text) > most {
		return strconv.QuoteToASCII(string(text[:most])) + " …"
	}
	return strconv.QuoteToASCII(string(text))
}

// eachLine calls do with every line that is not empty, counted from 1, without
// its end. It says in which kind of file and which line an error occurred.
func eachLine(r io.Reader, kind string, do func(number int, line []byte) error) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 1<<14), maxLine)
	number := 0
	for lines.Scan() {
		number++
		line := lines.Bytes()
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if err := do(number, line); err != nil {
			if !lines.Scan() && lines.Err() != nil { // the line is cut off because reading failed
				err = lines.Err()
			}
			return fmt.Errorf("movies: %s: line %d: %w", kind, number, err)
		}
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return fmt.Errorf("movies: %s: line %d: longer than %d bytes; is this the right file?", kind, number+1, maxLine)
	case err != nil:
		return fmt.Errorf("movies: %s: line %d: %w", kind, number+1, err)
	}
	return nil
}
