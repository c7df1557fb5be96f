package movies

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

func TestReadRatings(t *testing.T) {
	want := []Rating{{User: 1, Item: 2, Value: 3, Time: 10, Line: 1}, {User: 4, Item: 5, Value: 1, Time: 11, Line: 3}}
	untimed := []Rating{{User: 1, Item: 2, Value: 3, Line: 1}, {User: 4, Item: 5, Value: 1, Line: 3}}
	shifted := []Rating{{User: 1, Item: 2, Value: 3, Time: 10, Line: 2}, {User: 4, Item: 5, Value: 0.5, Time: 11, Line: 3}}
	for _, c := range []struct {
		name string
		read func(io.Reader) ([]Rating, error)
		text string
		want []Rating
	}{
		{"u.data", ReadUData, "1\t2\t3\t10\n\n4\t5\t1\t11\n", want},
		{"u.data with carriage returns, unfinished", ReadUData, "1\t2\t3\t10\r\n\r\n4\t5\t1\t11", want},
		{"ratings.dat", ReadRatingsDat, "1::2::3::10\n\n4::5::1::11\n", want},
		{"ratings.dat without times", ReadRatingsDat, "1::2::3\n\n4::5::1\n", untimed},
		{"CSV", ReadCSV, "1,2,3,10\n\n4, 5 ,1,11\n", want},
		{"CSV without times", ReadCSV, "1,2,3\n\n4,5,1\n", untimed},
		{"CSV with header", ReadCSV, "\ufeff\"userId\",movieId,rating,timestamp\n1,2,3.0,10\n\"4\",\"5\",0.5,11\n", shifted},
	} {
		got, err := c.read(strings.NewReader(c.text))
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: got %+v and %v, want %+v", c.name, got, err, c.want)
		}
	}
}

func TestReadRatingsErrors(t *testing.T) {
	for _, c := range []struct {
		read func(io.Reader) ([]Rating, error)
		text string
		want string
	}{
		{ReadUData, "", "u.data: no ratings; want lines of user, movie, rating and time"},
		{ReadUData, "1\t2\t3\t4\n1\t2", "u.data: line 2: 2 of 4 fields, is the line cut off?"},
		{ReadUData, "1\t2\t3\t", "line 1: no time, is the line cut off?"},
		{ReadUData, "1\t2\t6\t4", `line 1: rating "6"; want 1 to 5`},
		{ReadUData, "1\t2\t0\t4", `rating "0"; want 1 to 5`},
		{ReadUData, "0\t2\t1\t4", `user "0"; want a whole number from 1 to 2147483647`},
		{ReadUData, "1\t2\tNaN\t4", `rating "NaN"; want a number`},
		{ReadUData, "1\t2\t3\tsoon", `time "soon"; want whole seconds`},
		{ReadUData, "1,2,3,4", "1 of 4 fields"},
		{ReadUData, strings.Repeat("9", 70_000), "line 1: longer than 65536 bytes; is this the right file?"},
		{ReadRatingsDat, "1::2::3::4::5", "ratings.dat: line 1: more than 4 fields"},
		{ReadRatingsDat, "1::99999999999::3", `movie "99999999999"; want a whole number`},
		{ReadRatingsDat, "1::-2::3", `movie "-2"; want`},
		{ReadRatingsDat, "1::2::+Inf", `rating "+Inf"; want 1 to 5`},
		{ReadCSV, "user,item,rating\n", "CSV of ratings: no ratings"},
		{ReadCSV, "user,item,rating\nme,2,3", `line 2: user "me"; want a whole number from 0`},
		{ReadCSV, "1,2,0", `rating "0"; want more than 0, which stands for unrated, and at most 100; scale`},
		{ReadCSV, "1,2,101", "at most 100"},
		{ReadCSV, "1,2,-3", `rating "-3"`},
		{ReadCSV, "1,2,nan", `rating "nan"; want a number`},
		{ReadCSV, "1,2," + strings.Repeat("x", 99), " …; want a number"},
	} {
		list, err := c.read(strings.NewReader(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "movies: ") || list != nil {
			t.Errorf("%.40q: got %v, want %q", c.text, err, c.want)
		}
	}
	broken := io.MultiReader(strings.NewReader("1,2,3\n1,"), iotest.ErrReader(io.ErrUnexpectedEOF))
	if _, err := ReadCSV(broken); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("got %v, want the reader's own error", err)
	}
}

func TestReadTitles(t *testing.T) {
	item := func(id, title string) string { return id + "|" + title + strings.Repeat("|", 22) + "\n" }
	for _, c := range []struct {
		name string
		read func(io.Reader) (map[int]string, error)
		text string
		want map[int]string
		err  string
	}{
		{"Latin-1", ReadUItem, item("7", "Mis\xe9rables, Les (1995)"), map[int]string{7: "Misérables, Les (1995)"}, ""},
		{"UTF-8", ReadUItem, item("7", "Misérables, Les (1995)"), map[int]string{7: "Misérables, Les (1995)"}, ""},
		{"control characters", ReadUItem, item("7", "a\x1b[31m\x00"), map[int]string{7: "a\ufffd[31m\ufffd"}, ""},
		{
			"1M", ReadMoviesDat, "73::Mis\xe9rables, Les (1995)::Drama\n9::A: B::X|Y\n",
			map[int]string{73: "Misérables, Les (1995)", 9: "A: B"},
			"",
		},
		{"cut", ReadUItem, "7|Mis", nil, "u.item: line 1: 2 fields, is the line cut off? want id|title|…, 24 fields"},
		{"twice", ReadMoviesDat, "1::A::X\n1::B::X\n", nil, "movies.dat: line 2: movie 1 has a title already"},
		{"no id", ReadMoviesDat, "one::A::X\n", nil, `line 1: movie "one"`},
		{"empty", ReadMoviesDat, "", nil, "movies.dat: no titles"},
	} {
		got, err := c.read(strings.NewReader(c.text))
		if !maps.Equal(got, c.want) || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: got %v and %v, want %v and %q", c.name, got, err, c.want, c.err)
		}
	}
}

// The rule for two ratings of one movie by one user.
func TestRepeatedRatings(t *testing.T) {
	list, err := ReadCSV(strings.NewReader("1,2,3,50\n1,2,4,60\n1,2,5,40\n1,3,1\n"))
	must(t, list, err)
	r, err := NewRatings(list, nil)
	must(t, r, err)
	if got, _ := r.Rating(0, 0); got != 4 || r.Count() != 2 {
		t.Errorf("got rating %v of %d, want the latest, 4, of 2", got, r.Count())
	}
	for _, text := range []string{"1,2,3\n4,5,1\n1,2,3\n", "1,2,3,7\n4,5,1\n1,2,5,7\n"} {
		list, err := ReadCSV(strings.NewReader(text))
		must(t, list, err)
		if _, err := NewRatings(list, nil); err == nil ||
			!strings.Contains(err.Error(), "line 3: user 1 rated movie 2 already in line 1; keep one of the two") {
			t.Errorf("%q: got %v, want both lines", text, err)
		}
	}
}

func TestRatings(t *testing.T) {
	r, err := NewRatings([]Rating{
		{User: 30, Item: 5, Value: 4},
		{User: 10, Item: 9, Value: 1},
		{User: 10, Item: 5, Value: 2},
		{User: 20, Item: 7, Value: 3},
		{User: 30, Item: 9, Value: 5},
	}, map[int]string{5: "Five", 6: "Six"})
	must(t, r, err)
	got := fmt.Sprint(r.Users(), r.Movies(), r.Count(), r.Mean(nil), r.Mean([]int{0}), r.Mean([]int{}))
	if want := "3 3 5 3 1.5 0"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := fmt.Sprint(r.Top(2), r.Top(99), r.Top(-1)); got != "[0 2] [0 2 1] []" {
		t.Errorf("got top movies %s", got)
	}
	s := r.Select([]int{2, 0})
	movie, rating := s.User(0)
	if got := fmt.Sprintln(movie, rating, s.MovieID(0), s.Title(1), s.Users(), s.Count()); got != "[0 1] [1 2] 9 Five 3 4\n" {
		t.Errorf("got %s", got)
	}
	user, rating := s.Movie(1)
	if got := fmt.Sprint(user, rating, s.UserID(2)); got != "[0 2] [2 4] 30" {
		t.Errorf("got %s", got)
	}
	if movie, _ := s.User(1); len(movie) != 0 {
		t.Errorf("user 1 rated %v, want nothing", movie)
	}
	if least, most := s.Range(); least != 1 || most != 5 {
		t.Errorf("got range %v to %v, want 1 to 5", least, most)
	}
	if n, ok := s.FindMovie(5); n != 1 || !ok {
		t.Errorf("movie 5 is at %d", n)
	}
	if u, ok := s.FindUser(20); u != 1 || !ok {
		t.Errorf("user 20 is at %d", u)
	}
	if _, ok := s.FindTitle("Six"); ok {
		t.Error("a movie without ratings is found")
	}
	beyond := int64(MaxID) + 1 // less than 0 if an int has 32 bits
	for _, bad := range []Rating{
		{User: -1, Value: 1}, {Item: int(beyond), Value: 1}, {Value: -MaxRating - 1}, {Value: math.NaN()}, {Value: math.Inf(1)},
	} {
		if _, err := NewRatings([]Rating{bad}, nil); err == nil || !strings.Contains(err.Error(), "rating 0: ") {
			t.Errorf("%+v: got %v, want an error that names it", bad, err)
		}
	}
}

// Whatever the bytes, readers answer with an error or with ratings that a
// table accepts, short of repetitions.
func fuzzRatings(f *testing.F, read func(io.Reader) ([]Rating, error), seeds ...string) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		list, err := read(bytes.NewReader(data))
		if err != nil {
			return
		}
		for _, r := range list {
			if err := r.check(); err != nil {
				t.Errorf("accepted %+v: %v", r, err)
			}
		}
		r, err := NewRatings(list, nil)
		if err != nil {
			if !strings.Contains(err.Error(), "already in line") {
				t.Errorf("refused what was read: %v", err)
			}
			return
		}
		if r.Movies() < 200 {
			if _, err := NewGraph(r, nil, GraphConfig{Similarity: SimilarityConfig{Measure: SimilarityPearson}, Neighbors: 3}); err != nil {
				t.Errorf("no graph: %v", err)
			}
		}
	})
}

func FuzzReadUData(f *testing.F) {
	fuzzRatings(f, ReadUData, "1\t2\t3\t10\n4\t5\t1\t11\n1\t5\t2\t3\n4\t2\t5\t5", "1\t2", "\t\t\t")
}

func FuzzReadRatingsDat(f *testing.F) {
	fuzzRatings(f, ReadRatingsDat, "1::2::3::10\n4::5::1::11\n1::5::5\n4::2::1", "1::2::3", "::::")
}

func FuzzReadCSV(f *testing.F) {
	fuzzRatings(f, ReadCSV, "user,item,rating\n1,2,3.5\n1,3,0.5\n2,2,1e-300\n2,3,4", "\ufeff1,2,3,4", `"1","2","3"`)
}

func fuzzTitles(f *testing.F, read func(io.Reader) (map[int]string, error), seeds ...string) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		titles, err := read(bytes.NewReader(data))
		for id, title := range titles {
			if id < 1 || id > MaxID || title != strings.ToValidUTF8(title, "") || strings.ContainsAny(title, "\x00\x1b\n") {
				t.Errorf("accepted movie %d, %q", id, title)
			}
		}
		if (err == nil) != (len(titles) > 0) {
			t.Errorf("%d titles with error %v", len(titles), err)
		}
	})
}

func FuzzReadUItem(f *testing.F) {
	fuzzTitles(f, ReadUItem, "7|Mis\xe9rables||||||||||||||||||||||\n", "7|é||||||||||||||||||||||", "|")
}

func FuzzReadMoviesDat(f *testing.F) {
	fuzzTitles(f, ReadMoviesDat, "73::Mis\xe9rables, Les (1995)::Drama\n", "1::a\x1b::b", "::::")
}
