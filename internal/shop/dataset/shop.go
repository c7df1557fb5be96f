package dataset

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/wdgnn/wdgnn/internal/data"
	"github.com/wdgnn/wdgnn/internal/shop/movies"
)

// Shop is a table of ratings of anything, with ids as its owner writes them.
type Shop struct {
	Ratings      *movies.Ratings
	Users, Items *IDs   // nil where ids are whole numbers
	Word         string // what is rated, in words: "movie" or "item"
	Replaced     int    // ratings of the file that a later one of the same user and item replaced
}

// LoadMovies is Load as a Shop, whose ids are numbers.
func LoadMovies(dir string) (*Shop, error) {
	r, err := Load(dir)
	if err != nil {
		return nil, err
	}
	return &Shop{Ratings: r, Word: "movie"}, nil
}

// LoadShop reads a file of ratings in any scale and, unless its name is empty, one of
// titles; see [ReadShop].
func LoadShop(ratings, items string) (*Shop, error) {
	var titles map[string]string
	var err error
	if items != "" {
		if titles, err = read(items, readItems); err != nil {
			return nil, missing(err, items, "item,title")
		}
	}
	s, err := read(ratings, func(r io.Reader) (*Shop, error) { return ReadShop(r, titles) })
	return s, missing(err, ratings, "user,item,rating")
}

// missing says what file is wanted where there is none.
func missing(err error, path, header string) error {
	if errors.Is(err, fs.ErrNotExist) {
		return &Problem{err, fmt.Sprintf("a CSV file at %s whose first line is %s", path, header)}
	}
	return err
}

// ReadShop reads lines of comma-separated values:
//
//	user,item,rating[,time][,title]
//
// The first line may name the columns, which are then in any order, and others are
// passed over; without it they are in this one. Values may be quoted as in RFC 4180;
// semicolons or tabs may stand for commas. Ids are any text up to MaxID bytes,
// without the spaces around it; upper and lower case differ. Ratings are numbers in any
// scale between -[movies.MaxRating] and [movies.MaxRating]. Times are whole
// numbers that grow, or those of series, which [data.ParseTime] reads. Empty lines are passed over.
//
// If a user rated an item twice, the later time counts, of equal times the later
// line. An entry of titles goes before a title in the file. An error names the line.
func ReadShop(r io.Reader, titles map[string]string) (*Shop, error) {
	var lines []shopLine
	err := eachRecord(r, shopColumns, func(line int, field []string) error {
		one, err := parseShopLine(field)
		one.rating.Line = line
		lines = append(lines, one)
		return err
	})
	if err != nil {
		return nil, err
	}
	if len(lines) == 0 {
		return nil, errors.New("no ratings; want lines of user,item,rating")
	}
	return newShop(lines, titles)
}

// shopLine is a line of a file of ratings.
type shopLine struct {
	user, item, title string
	rating            movies.Rating
}

func newShop(lines []shopLine, titles map[string]string) (*Shop, error) {
	var users, items []string
	for _, l := range lines {
		users, items = append(users, l.user), append(items, l.item)
	}
	s := &Shop{Users: newIDs(users), Items: newIDs(items), Word: "item"}
	byID, at := map[int]string{}, map[[2]int]int{}
	var list []movies.Rating
	for _, l := range lines {
		l.rating.User, _ = s.Users.Find(l.user)
		l.rating.Item, _ = s.Items.Find(l.item)
		if title, ok := titles[l.item]; ok {
			byID[l.rating.Item] = title
		} else if l.title != "" {
			byID[l.rating.Item] = l.title
		}
		key := [2]int{l.rating.User, l.rating.Item}
		if k, again := at[key]; !again {
			at[key] = len(list)
			list = append(list, l.rating)
		} else if s.Replaced++; l.rating.Time >= list[k].Time {
			list[k] = l.rating
		}
	}
	var err error
	if s.Ratings, err = movies.NewRatings(list, byID); err != nil {
		return nil, err
	}
	if least, most := s.Ratings.Range(); least == most {
		return nil, fmt.Errorf("all ratings are %v, so there is nothing to tell items apart; want at least two different ones", least)
	}
	return s, nil
}

// parseNumber reads a number, also one with a decimal comma, as spreadsheets of many countries
// write them into files with semicolons.
func parseNumber(text string) (float64, error) {
	return strconv.ParseFloat(strings.Replace(text, ",", ".", 1), 64)
}

func isNumber(text string) bool {
	_, err := parseNumber(text)
	return err == nil
}

func parseShopLine(field []string) (l shopLine, err error) {
	l.user, l.item, l.title = field[0], field[1], Tidy(field[4])
	for k, what := range []string{"user", "item"} {
		if err := CheckID(field[k]); err != nil {
			return l, fmt.Errorf("%s: %w", what, err)
		}
	}
	l.rating.Value, err = parseNumber(field[2])
	if err != nil || !(math.Abs(l.rating.Value) <= movies.MaxRating) {
		return l, fmt.Errorf("rating %.40q; want a number from %d to %d", field[2], -movies.MaxRating, movies.MaxRating)
	}
	l.rating.Time, err = parseTime(field[3])
	return l, err
}

// parseTime returns seconds since 1970, 0 for no time.
func parseTime(text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	if v, err := strconv.ParseInt(text, 10, 64); err == nil {
		return v, nil // of milliseconds, too, the later is the larger
	}
	t, err := data.ParseTime(text)
	if err != nil {
		return 0, fmt.Errorf("time: %w", err)
	}
	return t.Unix(), nil
}

// readItems reads titles: lines item,title.
func readItems(r io.Reader) (map[string]string, error) {
	titles := map[string]string{}
	err := eachRecord(r, itemColumns, func(_ int, field []string) error {
		if err := CheckID(field[0]); err != nil {
			return fmt.Errorf("item: %w", err)
		}
		titles[field[0]] = Tidy(field[1])
		return nil
	})
	return titles, err
}

// Tidy returns a title without control characters, cut if it is very long.
func Tidy(title string) string {
	const most = 500
	title = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, title)
	if len(title) > most {
		title = strings.ToValidUTF8(title[:most], "")
	}
	return title
}

// columns are those of a kind of file: what each may be called, and how many must be there.
type columns struct {
	names [][]string
	least int
	test  int // column that is a number in every line but a header; -1 if there is none
}

var (
	shopColumns = columns{least: 3, test: 2, names: [][]string{
		{"user", "user_id", "userid", "customer", "customer_id"},
		{"item", "item_id", "itemid", "movie", "movie_id", "movieid", "product", "product_id", "sku"},
		{"rating", "score", "stars", "value"},
		{"time", "timestamp", "date"},
		{"title", "name", "item_name", "product_name"},
	}}
	itemColumns = columns{least: 2, test: -1, names: [][]string{
		{"item", "item_id", "itemid", "movie", "movie_id", "movieid", "product", "product_id", "sku", "id"},
		{"title", "name", "item_name", "product_name"},
	}}
)

// header returns where a first line says that the columns are, -1 for those that are not there.
// False means that it is no header.
func (c columns) header(first []string) (at []int, ok bool, err error) {
	found := 0
	for k, names := range c.names {
		at = append(at, slices.IndexFunc(first, func(f string) bool { return slices.Contains(names, strings.ToLower(f)) }))
		if at[k] >= 0 && k < c.least {
			found++
		}
	}
	if found == c.least {
		return at, true, nil
	}
	if c.test >= 0 && (c.test < len(first) || found > 0) {
		if c.test >= len(first) || !isNumber(first[c.test]) {
			return nil, false, fmt.Errorf("the first line names the columns %.80q; want among them %s, %s and %s",
				strings.Join(first, ","), c.names[0][0], c.names[1][0], c.names[2][0])
		}
	}
	for k := range at {
		at[k] = k
	}
	return at, false, nil
}

// eachRecord calls do with the fields of every line, by column, without spaces around them.
func eachRecord(r io.Reader, c columns, do func(line int, field []string) error) error {
	buffer := bufio.NewReaderSize(r, 1<<16)
	lines := csv.NewReader(buffer)
	lines.FieldsPerRecord, lines.TrimLeadingSpace, lines.ReuseRecord = -1, true, true
	lines.Comma = separator(buffer)
	var at []int
	for {
		record, err := lines.Read()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%w; want values as CSV, those with commas or quotes in quotes", err)
		}
		line, _ := lines.FieldPos(0)
		for k := range record {
			record[k] = strings.TrimSpace(record[k])
			if !utf8.ValidString(record[k]) {
				return fmt.Errorf("line %d: %.40q is not UTF-8 text; save the file as UTF-8", line, record[k])
			}
		}
		if len(strings.Join(record, "")) == 0 {
			continue
		}
		if at == nil {
			first := false
			if at, first, err = c.header(record); err != nil {
				return fmt.Errorf("line %d: %w", line, err)
			}
			if first {
				continue
			}
		}
		field := make([]string, len(c.names))
		for k, from := range at {
			if from >= 0 && from < len(record) {
				field[k] = strings.Clone(record[from])
			} else if k < c.least {
				return fmt.Errorf("line %d: %d fields and no %s; is the line cut off?", line, len(record), c.names[k][0])
			}
		}
		if err := do(line, field); err != nil {
			return fmt.Errorf("line %d: %w", line, err)
		}
	}
}

// separator passes over a byte order mark and returns what separates the values of the first line.
func separator(r *bufio.Reader) rune {
	if mark, _ := r.Peek(3); bytes.Equal(mark, []byte("\ufeff")) {
		_, _ = r.Discard(3) // they are there
	}
	front, _ := r.Peek(4096)
	front = bytes.TrimLeft(front, "\r\n")
	first, _, _ := bytes.Cut(front, []byte("\n"))
	commas := bytes.Count(first, []byte(","))
	for _, other := range []rune{';', '\t'} {
		count := bytes.Count(first, []byte(string(other)))
		if commas == 0 && count > 0 || commas == 1 && count > 1 { // a single comma may be that of a number
			return other
		}
	}
	return ','
}
