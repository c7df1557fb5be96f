package data

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/modelfile"
)

// Series is what sensors read, step by step, on an even grid of times: step t
// is the time Start + t·Interval. What nobody read is NaN.
type Series struct {
	Names    []string      // of the N sensors, all different
	Known    int           // sensors that were asked for; those after them are newcomers
	Start    time.Time     // of step 0; the zero time without a clock
	Interval time.Duration // from one step to the next; 0 without a clock
	Steps    int           // T
	Nodes    int           // N
	Features int           // F: the reading, then further numbers
	Values   mat.Dense     // (T·N)×F, step by step
	Notes    []string      // what was done to the file's readings, for people to read
}

// SeriesOptions says how a series is to be read. The zero value takes a file as
// it is.
type SeriesOptions struct {
	// Every is the interval of the grid; 0 takes the usual spacing of the file.
	Every time.Duration

	// Origin is a time that the grid goes through, such as the first of the
	// series that a model was trained on; without it, that of the first reading.
	Origin time.Time

	// Missing is a reading that means that there is none, such as 0 or -999.
	// Empty cells, NaN, NA, N/A, null and none always do.
	Missing *float64

	// Names are the sensors wanted, in this order. One that the file does not
	// have is an error; those that it has beyond them follow in its own order.
	Names []string
}

// Time returns the time of step t. It is the zero time without a clock.
func (s *Series) Time(t int) time.Time {
	if s.Interval == 0 {
		return time.Time{}
	}
	return time.UnixMicro(s.Start.UnixMicro() + int64(t)*s.Interval.Microseconds()).UTC()
}

// Step returns what the sensors read at step t, N×F. It shares memory with s.
func (s *Series) Step(t int) mat.Dense { return s.Values.View(t*s.Nodes, 0, s.Nodes, s.Features) }

// Part returns steps from, from+1, … to-1. It shares memory with s.
func (s *Series) Part(from, to int) *Series {
	if from < 0 || to < from || to > s.Steps {
		panic(fmt.Sprintf("data: Part: steps %d to %d of %d", from, to, s.Steps))
	}
	p := *s
	p.Start, p.Steps, p.Notes = s.Time(from), to-from, nil
	p.Values = s.Values.View(from*s.Nodes, 0, p.Steps*s.Nodes, s.Features)
	return &p
}

// TableError is an error of a file of readings, or of links between their sensors.
type TableError struct{ error }

func (e TableError) Unwrap() error { return e.error }

// LoadSeries reads a series; what is wrong with the file is a [TableError]. The ending of the path says what the file is:
//
//	.csv .tsv .txt   a table whose first line names its columns; commas, semicolons
//	                 or tabs part them
//	.npy .npz        T×N, or T×N×F with the reading first; sensors are called
//	                 0, 1, 2, … or, where Names are given, those
//
// A table has a column for each sensor and, if it has times, one called time (or
// timestamp, date, …); or a line for each reading, recognised by its header:
// time,sensor,value and perhaps further numbers. Times are RFC 3339,
// "2006-01-02 15:04[:05]", dates, digits alone as in 20060102, or seconds since
// 1970; UTC unless they say otherwise. Without times, each row is a step.
//
// Times are put on an even grid. Its interval is Every, otherwise the usual
// spacing: the most frequent between readings of a sensor, or, if times jitter,
// about their median, rounded to an interval such as 5m or 1h. A reading belongs to the step whose time is nearest; of several of one
// sensor the one nearest to that time counts, of two as near the later, of two
// at the same time the last in the file. What has no reading is a gap: nothing is
// interpolated. Notes say what was done. A file in which a quarter of the
// readings contradict others, or whose times are so far apart that the grid would
// be far larger than the file, is refused.
func LoadSeries(path string, o SeriesOptions) (*Series, error) {
	if o.Every < 0 || o.Every > 0 && o.Every < time.Microsecond {
		return nil, fmt.Errorf("series %s: a grid of %v; want an interval such as 5m or 1h", path, o.Every)
	}
	load := loadSeriesText
	switch ending(path) {
	case ".csv", ".tsv", ".txt":
	case ".npy", ".npz":
		load = loadSeriesArray
	default:
		return nil, TableError{fmt.Errorf("series %s: its ending is unknown; want .csv, .tsv, .txt, .npy or .npz", path)}
	}
	s, err := load(path, o)
	if err != nil {
		return nil, TableError{fmt.Errorf("series %s: %w", path, err)}
	}
	return s, nil
}

// loadSeriesText reads a table.
func loadSeriesText(path string, o SeriesOptions) (*Series, error) {
	r, file, err := openTable(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	b, err := readTable(r, o)
	if err != nil {
		return nil, err
	}
	return b.series(o)
}

// loadSeriesArray reads T×N or T×N×F.
func loadSeriesArray(path string, o SeriesOptions) (*Series, error) {
	a, err := modelfile.LoadArray(path)
	if err != nil {
		return nil, err
	}
	if len(a.Shape) < 2 || len(a.Shape) > 3 || a.Len() == 0 {
		return nil, fmt.Errorf("shape %v, want steps×sensors or steps×sensors×numbers", a.Shape)
	}
	values, err := a.Float32sOrNaN()
	if err != nil {
		return nil, err
	}
	s := &Series{Steps: a.Shape[0], Nodes: a.Shape[1], Features: 1}
	if len(a.Shape) == 3 {
		s.Features = a.Shape[2]
	}
	if s.Nodes < len(o.Names) {
		return nil, fmt.Errorf("shape %v has %d sensors, the model knows %d; put NaN where a sensor has no readings",
			a.Shape, s.Nodes, len(o.Names))
	}
	s.Names = slices.Clone(o.Names)
	for i := len(s.Names); i < s.Nodes; i++ {
		s.Names = append(s.Names, strconv.Itoa(i))
	}
	if again := repeated(s.Names); again != "" {
		return nil, fmt.Errorf("sensor %q is both known and the number of a newcomer; give the series as a table with names", again)
	}
	s.Known = s.Nodes
	if len(o.Names) > 0 {
		s.Known = len(o.Names)
	}
	s.Values = mat.NewDense(s.Steps*s.Nodes, s.Features, values)
	s.blank(o.Missing)
	s.noteGaps()
	return s, nil
}

// blank makes readings with the code of a missing one NaN.
func (s *Series) blank(code *float64) {
	if code == nil {
		return
	}
	for i := range s.Values.Rows {
		if row := s.Values.Row(i); float64(row[0]) == float64(float32(*code)) {
			row[0] = float32(math.NaN())
		}
	}
}

// noteGaps says how many readings are missing.
func (s *Series) noteGaps() {
	missing, silent := 0, make([]int, s.Nodes)
	for i := range s.Values.Rows {
		if v := s.Values.Row(i)[0]; v != v {
			missing++
			silent[i%s.Nodes]++
		}
	}
	if missing > 0 {
		s.note("%d of %d readings are missing (%.1f %%)", missing, s.Values.Rows, 100*float64(missing)/float64(s.Values.Rows))
	}
	var names []string
	for i, n := range silent {
		if n == s.Steps {
			names = append(names, s.Names[i])
		}
	}
	if len(names) > 0 {
		s.note("%s without any reading: %s", counted(len(names), "sensor"), few(names))
	}
}

func (s *Series) note(format string, args ...any) {
	s.Notes = append(s.Notes, fmt.Sprintf(format, args...))
}

// repeated returns a name that occurs twice, or none.
func repeated(names []string) string {
	seen := make(map[string]bool, len(names))
	for _, n := range names {
		if seen[n] {
			return n
		}
		seen[n] = true
	}
	return ""
}

// few lists names, and how many more there are beyond the first eight.
func few(names []string) string {
	quoted := make([]string, 0, 9)
	for _, n := range names[:min(len(names), 8)] {
		quoted = append(quoted, fmt.Sprintf("%.60q", n))
	}
	if more := len(names) - 8; more > 0 {
		quoted = append(quoted, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(quoted, ", ")
}

// counted writes a number of things: "1 sensor", "3 sensors".
func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// ending returns the ending of a path in small letters, of "a.npz:b" that of a.npz.
func ending(path string) string {
	if file, _, ok := strings.Cut(strings.ToLower(path), ".npz:"); ok {
		path = file + ".npz"
	}
	return strings.ToLower(filepath.Ext(path))
}
