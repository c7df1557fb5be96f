package data

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/internal/duration"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/modelfile"
)

// load writes a table and reads it as a series.
func (f folder) load(text string, o SeriesOptions) (*Series, error) {
	f.Helper()
	f.text("s.csv", text)
	return LoadSeries(f.path("s.csv"), o)
}

// written shows a series in a line: start, interval, names, and readings step by
// step, with _ for a gap.
func written(s *Series) string {
	var b strings.Builder
	if s.Interval != 0 {
		fmt.Fprintf(&b, "%s %v ", s.Start.Format("01-02 15:04"), duration.Text(s.Interval))
	}
	b.WriteString(strings.Join(s.Names, ","))
	for t := range s.Steps {
		b.WriteString(" |")
		step := s.Step(t)
		for i := range s.Nodes {
			for _, v := range step.Row(i) {
				if isNaN(v) {
					b.WriteString(" _")
					continue
				}
				fmt.Fprintf(&b, " %v", v)
			}
		}
	}
	return b.String()
}

// What tables hold, and what becomes of it.
func TestLoadSeriesText(t *testing.T) {
	zero, quarter := 0.0, 15*time.Minute
	for _, c := range []struct {
		name, text string
		options    SeriesOptions
		want       string
		notes      []string // one part of each note
	}{
		{
			name: "wide", text: "time,a,b\n2026-03-02 00:00,1,2\n2026-03-02 00:15,3,4\n",
			want: "03-02 00:00 15m a,b | 1 2 | 3 4",
		},
		{
			name: "the time column is found by its name",
			text: "a,Time Stamp,b\n1,2026-03-02T00:00:00Z,2\n3,2026-03-02T01:00:00Z,4\n",
			want: "03-02 00:00 1h a,b | 1 2 | 3 4",
		},
		{
			name: "or because it holds times", text: ",a,b\n2026-03-02,1,2\n2026-03-03,3,4\n",
			want: "03-02 00:00 1d a,b | 1 2 | 3 4",
		},
		{
			name: "a zone", text: "time,a\n2026-03-02 01:00:00+01:00,1\n2026-03-02 01:30:00+01:00,2\n",
			want: "03-02 00:00 30m a | 1 | 2",
		},
		{
			name: "seconds since 1970, and milliseconds", text: "time,a\n1772409600,1\n1772409900000,2\n",
			want: "03-02 00:00 5m a | 1 | 2",
		},
		{
			name: "dates of digits alone", text: "date,a\n20260301,1\n20260302,2\n202603030000,3\n",
			want: "03-01 00:00 1d a | 1 | 2 | 3",
		},
		{
			name: "the day first, with dots", text: "Datum;a;b\n1.03.2026 23:00;1,5;2\n02.03.2026 00:00;3;4\n",
			want: "03-01 23:00 1h a,b | 1.5 2 | 3 4",
		},
		{
			name: "a line per reading of an id", text: "id,time,value\n7,2026-03-02,1\n7,2026-03-03,2\n",
			want: "03-02 00:00 1d 7 | 1 | 2",
		},
		{
			name: "semicolons and decimal commas",
			text: "\ufefftime;a;b\r\n2026-03-02 00:00;1,5;2\r\n2026-03-02 00:15;3;4,25\r\n",
			want: "03-02 00:00 15m a,b | 1.5 2 | 3 4.25",
		},
		{
			name:  "tabs, comments, quotes",
			text:  "# of the city\ntime\t\"Main St, north\"\tb\n2026-03-02 00:00\t1\t2\n\n2026-03-02 00:15\t\t4\n",
			want:  "03-02 00:00 15m Main St, north,b | 1 2 | _ 4",
			notes: []string{"1 of 4 readings are missing (25.0 %)"},
		},
		{
			name: "no times: rows are steps", text: "773869,767541\n64.375,67.625\n0,67\n",
			options: SeriesOptions{Missing: &zero},
			want:    "773869,767541 | 64.375 67.625 | _ 67", notes: []string{"1 of 4 readings"},
		},
		{
			name: "what is missing", text: "a,b,c,d,e,f,g\n,NaN,nan,NA,null,None,#N/A\n1,2,3,4,5,6,-7\n",
			want: "a,b,c,d,e,f,g | _ _ _ _ _ _ _ | 1 2 3 4 5 6 -7", notes: []string{"7 of 14"},
		},
		{
			name: "one line per reading",
			text: "time,sensor,value\n2026-03-02 00:00,b,1\n2026-03-02 00:00,a,2\n2026-03-02 00:15,a,3\n",
			want: "03-02 00:00 15m b,a | 1 2 | _ 3", notes: []string{"1 of 4"},
		},
		{
			name: "further numbers of a reading", text: "station,ds,rain,y\na,2026-03-02,7,1\na,2026-03-03,8,2\n",
			want: "03-02 00:00 1d a | 1 7 | 2 8",
		},
		{
			name: "names wanted, and newcomers after them", text: "time,c,b,a\n2026-03-02 00:00,1,2,3\n2026-03-02 00:15,4,5,6\n",
			options: SeriesOptions{Names: []string{"a", "b"}},
			want:    "03-02 00:00 15m a,b,c | 3 2 1 | 6 5 4",
		},
		{
			name: "a silent sensor of a long table", text: "time,sensor,value\n2026-03-02 00:00,b,1\n2026-03-02 00:15,c,2\n",
			options: SeriesOptions{Names: []string{"a", "b"}},
			want:    "03-02 00:00 15m a,b,c | _ 1 _ | _ _ 2", notes: []string{"4 of 6", `1 sensor without any reading: "a"`},
		},
		{
			name:  "gaps stay gaps",
			text:  "time,a\n2026-03-02 00:00,1\n2026-03-02 00:15,2\n2026-03-02 01:00,3\n2026-03-02 01:15,4\n",
			want:  "03-02 00:00 15m a | 1 | 2 | _ | _ | 3 | 4",
			notes: []string{"2 of 6 steps have no row", "2 of 6 readings"},
		},
		{
			name: "unsorted", text: "time,a\n2026-03-02 00:30,3\n2026-03-02 00:00,1\n2026-03-02 00:15,2\n",
			want: "03-02 00:00 15m a | 1 | 2 | 3", notes: []string{"not in the order of time: sorted"},
		},
		{
			name:  "times that jitter",
			text:  "time,a\n2026-03-02 00:00:03,1\n2026-03-02 00:04:58,2\n2026-03-02 00:10:01,3\n2026-03-02 00:15:00,4\n",
			want:  "03-02 00:00 5m a | 1 | 2 | 3 | 4",
			notes: []string{"not evenly spaced: the grid is 5m", "3 rows moved to the nearest time of the grid (every 5m), by 3s at most"},
		},
		{
			name: "more gaps than rows",
			text: "time,a\n2026-03-02 00:00,1\n2026-03-02 00:15,2\n2026-03-02 01:00,3\n2026-03-02 01:30,4\n2026-03-02 01:45,5\n2026-03-02 03:00,6\n",
			want: "03-02 00:00 15m a | 1 | 2 | _ | _ | 3 | _ | 4 | 5 | _ | _ | _ | _ | 6", notes: []string{"7 of 13 steps", "7 of 13 readings"},
		},
		{
			name: "sensors that read at times of their own",
			text: "time,sensor,value\n2026-03-02 00:00:10,a,1\n2026-03-02 00:01:20,b,2\n" +
				"2026-03-02 00:15:25,a,3\n2026-03-02 00:16:00,b,4\n2026-03-02 00:30:00,a,5\n",
			want: "03-02 00:00 15m a,b | 1 2 | 3 4 | 5 _", notes: []string{"the grid is 15m", "4 rows moved", "1 of 6"},
		},
		{
			name:    "the nearest reading counts, of two as near the later",
			text:    "time,a,b\n2026-03-02 00:00,1,1\n2026-03-02 00:14,2,\n2026-03-02 00:16,3,\n2026-03-02 00:19,4,9\n2026-03-02 00:30,5,5\n",
			options: SeriesOptions{Every: quarter},
			want:    "03-02 00:00 15m a,b | 1 1 | 3 9 | 5 5", notes: []string{"3 rows moved", "2 readings left out"},
		},
		{
			name: "repeated rows",
			text: "time,a,b\n2026-03-02 00:00,1,1\n2026-03-02 00:15,2,2\n2026-03-02 00:15,2,7\n2026-03-02 00:30,3,3\n2026-03-02 00:45,4,4\n",
			want: "03-02 00:00 15m a,b | 1 1 | 2 7 | 3 3 | 4 4",
			notes: []string{
				"1 reading repeated with the same time",
				"1 reading at odds with another of the same sensor and time; the last in the file was taken " +
					`(first: line 4, sensor "b", 2026-03-02 00:15:00: 7, and 2 before it)`,
			},
		},
		{
			name: "a row that repeats only what was empty",
			text: "time,a,b\n2026-03-02 00:00,1,\n2026-03-02 00:00,,2\n2026-03-02 00:15,3,3\n",
			want: "03-02 00:00 15m a,b | 1 2 | 3 3",
		},
		{
			name: "on the grid of a model", text: "time,a\n2026-03-02 10:02,1\n2026-03-02 10:17,2\n2026-03-02 10:32,3\n",
			options: SeriesOptions{Every: quarter, Origin: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)},
			want:    "03-02 10:00 15m a | 1 | 2 | 3", notes: []string{"3 rows moved to the nearest time of the grid (every 15m), by 2m at most"},
		},
		{
			name: "coarser than the grid", text: "time,a\n2026-03-02 10:00,1\n2026-03-02 10:30,2\n2026-03-02 11:00,3\n",
			options: SeriesOptions{Every: quarter},
			want:    "03-02 10:00 15m a | 1 | _ | 2 | _ | 3",
			notes:   []string{"the grid is 15m, but readings usually come every 30m", "2 of 5 steps", "2 of 5 readings"},
		},
		{
			name: "one row on a known grid", text: "time,a\n2026-03-02 10:00,1\n", options: SeriesOptions{Every: quarter},
			want: "03-02 10:00 15m a | 1",
		},
		{
			name: "step numbers are seconds, and said so", text: "time,a\n0,1\n1,2\n2,3\n",
			want: "01-01 00:00 1s a | 1 | 2 | 3", notes: []string{"seconds since 1970, whatever they were meant to be"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := newFolder(t).load(c.text, c.options)
			if err != nil {
				t.Fatal(err)
			}
			if got := written(s); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if len(s.Notes) != len(c.notes) {
				t.Fatalf("got notes %q, want %q", s.Notes, c.notes)
			}
			for i, n := range c.notes {
				if !strings.Contains(s.Notes[i], n) {
					t.Errorf("got note %q, want %q in it", s.Notes[i], n)
				}
			}
		})
	}
}

// A file that cannot be a series is refused, with the place and a way out.
func TestLoadSeriesRefuses(t *testing.T) {
	rows := func(header string, row func(i int) string, n int) string {
		lines := []string{header}
		for i := range n {
			lines = append(lines, row(i))
		}
		return strings.Join(lines, "\n")
	}
	for _, c := range []struct {
		name, text string
		options    SeriesOptions
		want       string
	}{
		{"nothing", "", SeriesOptions{}, "it is empty"},
		{"names alone", "time,a,b\n", SeriesOptions{}, "a line of names and nothing after it"},
		{"a spreadsheet", "PK\x03\x04\x00\x00", SeriesOptions{}, "it is not a text; save the table as CSV"},
		{"UTF-16", "\xff\xfet\x00", SeriesOptions{}, "save it as CSV in UTF-8"},
		{"Latin-1", "time,Z\xfcrich\n2026-03-02,1\n", SeriesOptions{}, `line 1: "Z\xfcrich" is not UTF-8 text; save the file as UTF-8`},
		{"Latin-1 below", "time,sensor,value\n2026-03-02,Z\xfcrich,1\n", SeriesOptions{}, `line 2: "Z\xfcrich" is not UTF-8 text`},
		{
			"two readings", "time,device,humidity,temperature\n2026-03-02,attic,40,21\n",
			SeriesOptions{},
			`line 1: which of the columns "humidity", "temperature" is the reading? Call that one value`,
		},
		{
			"two values", "time,device,value,reading\n2026-03-02,attic,40,21\n",
			SeriesOptions{},
			`which of the columns "value", "reading" is the reading?`,
		},
		{"no header", "1.5,2.5\n3,4\n", SeriesOptions{}, "line 1: it holds the number 1.5, not a name"},
		{
			"no header but times", "2026-03-02 00:00,1\n2026-03-02 00:15,2\n",
			SeriesOptions{},
			"line 1: it begins with the time 2026-03-02 00:00",
		},
		{"no name", "time,a,\n2026-03-02,1,2\n", SeriesOptions{}, "column 3 has no name"},
		{
			"row numbers", ",a\n0,1\n1,2\n",
			SeriesOptions{},
			"column 1 has no name; every sensor needs one, and row numbers are left out",
		},
		{"twice", "time,a,b,a\n2026-03-02,1,2,3\n", SeriesOptions{}, `columns 2 and 4 are both called "a"`},
		{"two times", "date,time,a\n2026-03-02,00:15,1\n", SeriesOptions{}, `columns "date" and "time" are both times; join them`},
		{"only times", "time\n2026-03-02\n", SeriesOptions{}, "no column but the time"},
		{
			"text", "time,a\n2026-03-02,1\n2026-03-03,12 mph\n",
			SeriesOptions{},
			`s.csv: line 3, column "a": "12 mph" is not a number; leave units and text out`,
		},
		{"infinite", "a,b\n1,2\n3,inf\n", SeriesOptions{}, `line 3, column "b": "inf" is not a finite number`},
		{"too large", "a,b\n1,2\n3,1e99\n", SeriesOptions{}, `column "b": "1e99" is not a finite number that fits`},
		{"a short line", "a,b\n1,2\n3\n", SeriesOptions{}, "line 3: 1 column, but the first line has 2"},
		{
			"no such time", "time,a\n2026-03-02,1\n31.13.2026,2\n",
			SeriesOptions{},
			`line 3, column "time": "31.13.2026" is not a time; want one such as 2026-03-31 15:04`,
		},
		{
			"a date that may be two", "when,a\n03/04/2026 00:00,1\n03/04/2026 01:00,2\n",
			SeriesOptions{},
			`line 2, column "when": "03/04/2026 00:00" looks like a date, and may be two; write 2026-03-31 15:04, and call the column time`,
		},
		{"no time", "time,a\n2026-03-02,1\n,2\n", SeriesOptions{}, `line 3, column "time": the time is empty`},
		{"one time", "time,a\n2026-03-02,1\n", SeriesOptions{}, "one time alone has no spacing"},
		{
			"a missing column", "time,north-1,north2\n2026-03-02,1,2\n",
			SeriesOptions{Names: []string{"north-1", "north-2"}},
			`line 1: no column for sensor "north-2"; did you mean "north2"? A sensor that is silent keeps its column`,
		},
		{
			"missing columns", "time,a\n2026-03-02,1\n",
			SeriesOptions{Names: []string{"a", "x", "y"}},
			`no column for sensors "x", "y"; a sensor`,
		},
		{
			"a misspelt sensor", "time,sensor,value\n2026-03-02,a,1\n2026-03-03,Bb,1\n",
			SeriesOptions{Names: []string{"a", "bb"}},
			`no reading of sensor "bb"; did you mean "Bb"?`,
		},
		{
			"no known sensor", "time,sensor,value\n2026-03-02,x,1\n2026-03-03,x,1\n",
			SeriesOptions{Names: []string{"abc", "bcd"}},
			`no reading of sensors "abc", "bcd", but of "x"`,
		},
		{"a nameless reading", "time,sensor,value\n2026-03-02,,1\n", SeriesOptions{}, "a reading without the name of its sensor"},
		{
			"a thousand years", "time,a\n2026-03-02 00:00,1\n2026-03-02 00:15,2\n2026-03-02 00:30,3\n3026-03-02 00:45,4\n",
			SeriesOptions{},
			"line 5: 3026-03-02 00:45:00 comes 365242 days after 2026-03-02 00:30:00 (line 4), " +
				"and a grid of 15m would have 35063236 steps; is one of the two mistyped?",
		},
		{
			"two thousand years", "time,a\n0026-03-02,1\n2026-03-02,2\n",
			SeriesOptions{},
			"line 2: 0026-03-02 00:00:00 is 730485 days from the next time",
		},
		{
			"too fine", rows("time,a", func(i int) string { return fmt.Sprintf("%d,1", 1772409600+3600*i) }, 300),
			SeriesOptions{Every: time.Second},
			"a grid of 1s would have 1076401 steps, but the file has 300 times",
		},
		{"finer still", "time,a\n2026-03-02,1\n", SeriesOptions{Every: 1}, "a grid of 1ns"},
		{
			"every reading elsewhere", rows("time,sensor,value", func(i int) string { return fmt.Sprintf("%d,s%d,1", 1772409600+60*i, i) }, 9000),
			SeriesOptions{},
			"9000 sensors; a larger every, or fewer sensors in one file",
		},
		{
			"months", "time,a\n2026-01-01,1\n2026-02-01,1\n2026-03-01,2\n2026-04-01,3\n",
			SeriesOptions{},
			"its times are months, which are not of one length",
		},
		{
			"many rows of a time", "time,kind,a\n2026-03-02,1,1\n2026-03-02,2,2\n2026-03-03,1,3\n2026-03-03,2,4\n",
			SeriesOptions{},
			"4 of 8 readings contradict another of the same sensor and time (line 3, sensor \"kind\"",
		},
		{"a quote", "a,b\n1,\"2\n", SeriesOptions{}, "line 2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFolder(t)
			_, err := f.load(c.text, c.options)
			f.refused(err, c.want)
		})
	}
	f := newFolder(t)
	_, err := LoadSeries(f.path("s.xlsx"), SeriesOptions{})
	f.refused(err, "s.xlsx: its ending is unknown; want .csv, .tsv, .txt, .npy or .npz")
	_, err = LoadSeries(f.path("s.csv"), SeriesOptions{})
	f.refused(err, "no such file")
	_, err = LoadSeries(f.dir+"/.csv", SeriesOptions{})
	f.refused(err, "no such file")
}

// Arrays are series without times, sensors by number or by the names of a model.
func TestLoadSeriesArray(t *testing.T) {
	f := newFolder(t)
	gap := float32(math.NaN())
	f.values("s.npy", []int{2, 3}, 0, 1, 2, 3, gap, 5)
	zero := 0.0
	for _, c := range []struct {
		options SeriesOptions
		want    string
		known   int
	}{
		{SeriesOptions{}, "0,1,2 | 0 1 2 | 3 _ 5", 3},
		{SeriesOptions{Missing: &zero, Names: []string{"a", "b"}}, "a,b,2 | _ 1 2 | 3 _ 5", 2},
	} {
		s, err := LoadSeries(f.path("s.npy"), c.options)
		if err != nil {
			t.Fatal(err)
		}
		if got := written(s); got != c.want || s.Known != c.known {
			t.Errorf("got %s, %d known; want %s, %d", got, s.Known, c.want, c.known)
		}
	}
	_, err := LoadSeries(f.path("s.npy"), SeriesOptions{Names: []string{"a", "b", "c", "d"}})
	f.refused(err, "shape [2 3] has 3 sensors, the model knows 4")
	_, err = LoadSeries(f.path("s.npy"), SeriesOptions{Names: []string{"2", "1"}})
	f.refused(err, `sensor "2" is both known and the number of a newcomer`)
	f.array("deep.npy", 5, 2, 2, 3)
	s, err := LoadSeries(f.path("deep.npy"), SeriesOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := written(s), "0,1 | 0 1 2 3 4 0 | 1 2 3 4 0 1"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	f.array("flat.npy", 5, 4)
	_, err = LoadSeries(f.path("flat.npy"), SeriesOptions{})
	f.refused(err, "shape [4], want steps×sensors")
}

// A part of a series begins at its own first step.
func TestSeriesPart(t *testing.T) {
	s, err := newFolder(t).load("time,a\n2026-03-02 00:00,1\n2026-03-02 00:15,2\n2026-03-02 00:30,3\n", SeriesOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := written(s.Part(1, 3)), "03-02 00:15 15m a | 2 | 3"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Answers find their sensor by name and their step by time.
func TestLoadAnswers(t *testing.T) {
	f := newFolder(t)
	s, err := f.load("time,a,b\n2026-03-02 00:00,1,2\n2026-03-02 00:15,3,4\n2026-03-02 00:30,5,6\n", SeriesOptions{})
	if err != nil {
		t.Fatal(err)
	}
	f.text("answers.csv", "time,b\n2026-03-01 23:45,7\n2026-03-02 00:01,8\n2026-03-02 00:30,9\n2026-03-02 00:45,10\n")
	got, err := LoadAnswers(f.path("answers.csv"), s, nil)
	if err != nil {
		t.Fatal(err)
	}
	gap := float32(math.NaN())
	if want := []float32{gap, 8, gap, gap, gap, 9}; !slices.EqualFunc(got, want, sameNumber) {
		t.Errorf("got %v, want %v", got, want)
	}
	f.text("answers.csv", "time,c\n2026-03-02 00:00,7\n2026-03-02 00:15,7\n")
	_, err = LoadAnswers(f.path("answers.csv"), s, nil)
	f.refused(err, `no sensor is called "c"; there are "a", "b"`)
	f.text("answers.csv", "a\n1\n2\n")
	_, err = LoadAnswers(f.path("answers.csv"), s, nil)
	f.refused(err, "2 rows without times, but the series has 3 steps")
}

// metrLA returns the path of a file of METR-LA.
func metrLA(t *testing.T, name string) string {
	path := filepath.Join("..", "..", "..", "shared", "data", "metr-la", name)
	if _, err := os.Stat(path); err != nil {
		message := "the readings of METR-LA are not at " + path
		if os.Getenv("CI") == "true" {
			t.Fatal(message)
		}
		t.Skipf("SKIPPED %s: %s", t.Name(), message)
	}
	return path
}

// A week of real readings: ids for names, no times, and 0 where nothing was read.
func TestMetrLASeries(t *testing.T) {
	zero := 0.0
	s, err := LoadSeries(metrLA(t, "speed.csv"), SeriesOptions{Missing: &zero})
	if err != nil {
		t.Fatal(err)
	}
	if s.Steps != 2016 || s.Nodes != 207 || s.Features != 1 || s.Interval != 0 || s.Names[0] != "773869" {
		t.Errorf("got %d×%d×%d, interval %v, first %q; want 2016×207×1, none, 773869", s.Steps, s.Nodes, s.Features, s.Interval, s.Names[0])
	}
	if got := s.Step(0).At(0, 0); got != 64.375 {
		t.Errorf("got a first reading of %v, want 64.375", got)
	}
	path := filepath.Join(t.TempDir(), "again.npy")
	if err := modelfile.SaveArray(path, []int{s.Steps, s.Nodes}, s.Values.Data); err != nil {
		t.Fatal(err)
	}
	again, err := LoadSeries(path, SeriesOptions{Names: s.Names})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.EqualFunc(again.Values.Data, s.Values.Data, sameNumber) || !slices.Equal(again.Notes, s.Notes) {
		t.Errorf("got other readings from the array, with notes %q; want those of the table, with %q", again.Notes, s.Notes)
	}
}

// newSeriesValues fills the readings of a series.
func newSeriesValues(s *Series, value func(t, i int) float64) mat.Dense {
	v := mat.NewDense(s.Steps*s.Nodes, 1, nil)
	for t := range s.Steps {
		for i := range s.Nodes {
			v.Set(t*s.Nodes+i, 0, float32(value(t, i)))
		}
	}
	return v
}
