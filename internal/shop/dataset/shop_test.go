package dataset

import (
	"strings"
	"testing"
)

// oddShop has what files of shops have: a byte order mark, columns in another
// order, commas and quotes in values, letters of all kinds, empty lines, a rating that
// was given twice.
const oddShop = "\ufeffItem,User,Rating,Title,When,Time\r\n" +
	"\"tea, green\",Zoë Müller,10,\"Tea, \"\"green\"\"\",x,2024-05-01\r\n" +
	"\r\n" +
	"茶碗,Zoë Müller, 0 ,Tea bowl,x,\r\n" +
	",,,,,\n" +
	"\"tea, green\",o'neil@example.org,7.5,,x,\n" +
	"007,o'neil@example.org,3,,x,\n" +
	"\"tea, green\",Zoë Müller,2,,x,2024-05-02T10:00:00Z\n" +
	"007,o'neil@example.org,4,,x,\n"

// A file of a shop is read as its owner means it.
func TestReadShop(t *testing.T) {
	s, err := ReadShop(strings.NewReader(oddShop), map[string]string{"007": "Kettle"})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := [3]int{s.Ratings.Users(), s.Ratings.Movies(), s.Ratings.Count()}, [3]int{2, 3, 4}; got != want || s.Replaced != 2 {
		t.Errorf("got users, items, ratings %v and %d replaced, want %v and 2", got, s.Replaced, want)
	}
	for _, w := range []struct {
		user, item string
		rating     float64
		title      string
	}{
		{"Zoë Müller", "tea, green", 2, `Tea, "green"`},
		{"Zoë Müller", "茶碗", 0, "Tea bowl"},
		{"o'neil@example.org", "007", 4, "Kettle"},
		{"o'neil@example.org", "tea, green", 7.5, `Tea, "green"`},
	} {
		user, _ := s.Users.Find(w.user)
		item, _ := s.Items.Find(w.item)
		u, _ := s.Ratings.FindUser(user)
		n, found := s.Ratings.FindMovie(item)
		if got, rated := s.Ratings.Rating(u, n); got != w.rating || !rated || !found || s.Ratings.Title(n) != w.title {
			t.Errorf("%s of %s: got %v, %q; want %v, %q", w.item, w.user, got, s.Ratings.Title(n), w.rating, w.title)
		}
		if s.Users.Of(user) != w.user || s.Items.Of(item) != w.item {
			t.Errorf("ids come back as %q and %q, want %q and %q", s.Users.Of(user), s.Items.Of(item), w.user, w.item)
		}
	}
	if _, known := s.Users.Find("zoë müller"); known {
		t.Error("upper and lower case are the same user, want two")
	}
}

// Whole numbers stay numbers, and the fingerprint is that of a folder with the same
// ratings, in whatever order; a renamed user is another table.
func TestShopFingerprint(t *testing.T) {
	read := func(text string) *Shop {
		t.Helper()
		s, err := ReadShop(strings.NewReader(text), nil)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	numbers := read("5,9,1\n5,8,4\n6,9,2\n")
	if numbers.Users != nil || numbers.Items != nil || numbers.Fingerprint() != Fingerprint(numbers.Ratings) {
		t.Error("whole numbers are taken for texts")
	}
	a, b := read("user;item;stars\nann;x;1\nbob;y;-1\n"), read("rating\tuser\titem\n-1\tbob\ty\n1\tann\tx\n")
	if a.Fingerprint() != b.Fingerprint() {
		t.Error("the order of lines and columns changes the fingerprint")
	}
	if c := read("ann,x,1\nbill,y,-1\n"); c.Fingerprint() == a.Fingerprint() || Fingerprint(c.Ratings) != Fingerprint(a.Ratings) {
		t.Error("a renamed user has the fingerprint of the old one")
	}
}

// Spreadsheets of many countries write 4,5 into files with semicolons.
func TestReadShopDecimalComma(t *testing.T) {
	for _, text := range []string{
		"ann;tea;4,5\nbob;cup;-1\n",
		"user;item;rating\nann;tea;4,5\nbob;cup;-1\n",
		"ann,tea,\"4,5\"\nbob,cup,-1\n",
	} {
		s, err := ReadShop(strings.NewReader(text), nil)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if least, most := s.Ratings.Range(); least != -1 || most != 4.5 {
			t.Errorf("%q: ratings from %v to %v, want -1 to 4.5", text, least, most)
		}
	}
}

// Errors name the line and what is wanted.
func TestReadShopRefuses(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "no ratings"},
		{"user,item,rating\n", "no ratings"},
		{"a,b,c\n1,2,3\n", "line 1: the first line names the columns"},
		{"user,rating\nann,3\n", `line 1: the first line names the columns "user,rating"; want among them user, item and rating`},
		{"ann,tea,5\nann,cup\n", "line 2: 2 fields and no rating"},
		{"user;item;rating\nann;tea;1,000,5\n", "want a number"},
		{"ann,tea,5\n,cup,4\n", "line 2: user: an empty id"},
		{"ann,tea,5\nbob,cup,many\n", `line 2: rating "many"; want a number`},
		{"ann,tea,5\nbob,cup,1000001\n", `rating "1000001"; want a number from -1000000 to 1000000`},
		{"ann,tea,5\nbob,cup,NaN\n", `rating "NaN"`},
		{"ann,tea,5,tomorrow\n", `time: "tomorrow" is not a time; want one such as`},
		{"ann,\"tea,5\n", "quote"},
		{"ann,t\xe9,5\n", "not UTF-8"},
		{"ann,tea,5\nbob,tea,5\n", "all ratings are 5"},
		{"ann," + strings.Repeat("x", 201) + ",5\n", "an id of 201 bytes"},
	} {
		if _, err := ReadShop(strings.NewReader(c.text), nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.40q: got %v, want %q", c.text, err, c.want)
		}
	}
	if _, err := LoadShop(t.TempDir()+"/my.csv", ""); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("got %v, want that there is no such file", err)
	}
}

// Scales are any, and times as people write them: the later rating of an item counts.
func TestReadShopScaleAndTimes(t *testing.T) {
	const lines = "user;item;rating;date\nann;tea;950;31.03.2026 15:04\nann;tea;120,5;30.03.2026\nbob;tea;-4000;2026/01/02 10:00\n"
	s, err := ReadShop(strings.NewReader(lines), nil)
	if err != nil {
		t.Fatal(err)
	}
	if least, most := s.Ratings.Range(); least != -4000 || most != 950 || s.Replaced != 1 {
		t.Errorf("ratings from %v to %v, %d replaced; want -4000 to 950, and 1", least, most, s.Replaced)
	}
}
