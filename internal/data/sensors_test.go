package data

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/graph"
)

// sensorsABCD is a series of four sensors and six steps of 15 min, from midnight
// of 2 March 2026; the last is a newcomer.
func sensorsABCD() *Series {
	s := &Series{
		Names: []string{"a", "b", "c", "d"}, Known: 3, Nodes: 4, Steps: 6, Features: 1,
		Start: time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC), Interval: 15 * time.Minute,
	}
	return s
}

// listed shows the links of a graph.
func listed(s *Series, g *graph.Graph) string {
	var words []string
	for i := range g.Nodes() {
		col, val := g.Adjacency().Row(i)
		for k, j := range col {
			if g.Directed() || int(j) > i {
				from, to := i, int(j)
				if g.Directed() {
					from, to = int(j), i
				}
				words = append(words, fmt.Sprintf("%s%s%v", s.Names[from], s.Names[to], val[k]))
			}
		}
	}
	return strings.Join(words, " ")
}

// Links by name, by number, as a matrix.
func TestLoadSensorGraph(t *testing.T) {
	for _, c := range []struct {
		name, text string
		directed   bool
		want       string // by step, a graph that holds left out
		note       string
	}{
		{"names", "src,dst\na,b\nc,b\n", false, "ab1 bc1", "2 links, 1 sensor without any"},
		{"both directions", "from,to,weight\na,b,0.5\nb,a,0.5\nd,a,2\n", false, "ab0.5 ad2", "2 links, 1 sensor without any"},
		{"directed", "from,to,weight\na,b,0.5\nb,a,0.25\n", true, "ba0.25 ab0.5", "2 links, 2 sensors without any"},
		{"numbers", "src,dst\n0,1\n3,2\n", false, "ab1 cd1", "2 links"},
		{"numbers without a header", "0,1\n3,2\n", false, "ab1 cd1", "2 links"},
		{
			"weight 0 is no link, and loops are left out", "src,dst,weight\na,b,1\na,c,0\nb,b,1\n", false, "ab1",
			"1 link, 2 sensors without any; 1 link of a sensor to itself left out",
		},
		{"a matrix", "1,0.5,0,0\n0.5,1,0,0\n0,0,1,2\n0,0,2,1\n", false, "ab0.5 cd2", "2 links; 4 links of a sensor to itself left out"},
		{"a matrix of those known", "0,1,0\n1,0,1\n0,1,0\n", false, "ab1 bc1", "2 links, 1 sensor without any"},
		{"a matrix with names", "b,a,c,d\n0,1,0,0\n1,0,0,0\n0,0,0,3\n0,0,3,0\n", false, "ab1 cd3", "2 links"},
		{"names at both sides", ",a,b,c,d\nd,0,0,3,0\nc,0,0,0,3\nb,1,0,0,0\na,0,1,0,0\n", false, "ab1 cd3", "2 links"},
		{"a directed matrix", "0,1,0,0\n0,0,0,0\n0,0,0,0\n0,0,0,0\n", true, "ba1", "1 link"},
		{"no links", "src,dst\n", false, "", "0 links, 4 sensors without any"},
		{"a weight of 0", "src,dst,weight\na,b,0\n", false, "", "0 links, 4 sensors without any"},
		{"a matrix of zeros", "0,0,0,0\n0,0,0,0\n0,0,0,0\n0,0,0,0\n", false, "", "0 links"},
		{"steps", "src,dst,step\na,b,0\na,b,2\nd,b,2\n", false, "ab1 | | ab1 bd1", "1 link, 2 sensors without any at first; 2 graphs by time"},
		{
			"times", "src,dst,time\na,b,2026-03-01\nb,c,2026-03-02 00:00\na,d,2026-03-02 00:20\na,c,2027-01-01\n", false, "bc1 | | ad1",
			"2 graphs by time; 1 link after the end of the series left out",
		},
		{"dates of digits", "src,dst,time\na,b,20260301\n", false, "ab1", "1 graph by time"},
		{"begun before", "src,dst,time\na,b,2026-03-01\n", false, "ab1", "1 graph by time"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFolder(t)
			f.text("g.csv", c.text)
			s := sensorsABCD()
			g, err := LoadSensorGraph(SensorGraph{Graph: f.path("g.csv"), Directed: c.directed}, s)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for step := range s.Steps {
				if step > 0 && g.At(step) == g.At(step-1) {
					got = append(got, "")
					continue
				}
				got = append(got, listed(s, g.At(step)))
			}
			if text := strings.TrimRight(strings.Join(got, " | "), " |"); strings.ReplaceAll(text, "|  |", "| |") != c.want {
				t.Errorf("got %q, want %q", text, c.want)
			}
			if !strings.Contains(g.Note, c.note) {
				t.Errorf("got note %q, want %q in it", g.Note, c.note)
			}
		})
	}
}

// What cannot be the links of a series is refused.
func TestLoadSensorGraphRefuses(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a stranger", "src,dst\na,b\nb,north\n", `g.csv: line 3: no sensor of the series is called "north"; there are "a", "b", "c", "d"`},
		{"misspelt", "src,dst\na,B\n", `line 2: no sensor of the series is called "B"; did you mean "b"?`},
		{"too large a number", "src,dst\n0,1\n1,4\n", `line 2: no sensor of the series is called "0"`},
		{"no columns", "a,b\nc,d\n", `line 1: columns "a", "b"; want src,dst and perhaps weight and time`},
		{
			"two weights", "src,dst,weight\na,b,1\nb,a,2\n",
			`lines 2 and 3 give the link between "b" and "a" the weights 1 and 2; keep one, or say directed: true`,
		},
		{"negative", "src,dst,weight\na,b,-1\n", `line 2: weight -1 between "a" and "b"; want a positive number`},
		{"no weight", "src,dst,weight\na,b,\n", `weight is ""; want a positive number`},
		{"no links at any time", "src,dst,time\n", "it has no links at any time; leave the times out, or the graph to learn one"},
		{"nothing", "", "it is empty"},
		{"a step too many", "src,dst,time\na,b,0\na,b,6\n", "line 3: time is step 6, but the series has steps 0 to 5"},
		{"late", "src,dst,time\na,b,3\n", "line 2: the first links are those of step 3; the file must have those of the beginning too"},
		{"another size", "0,1,0,1,0\n1,0,0,1,0\n", "line 1: 5 columns of numbers, but the series has 4 sensors"},
		{"too few rows", "0,1,0,1\n1,0,0,1\n", "2 rows of 4 columns"},
		{"asymmetric", "0,1,0,0\n2,0,0,0\n0,0,0,0\n0,0,0,0\n", `the weights 1 and 2; keep one, or say directed: true`},
		{"text in a matrix", "0,1,0,0\n1,x,0,0\n0,0,0,0\n0,0,0,0\n", `line 2, column 2: "x" is not a number`},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFolder(t)
			f.text("g.csv", c.text)
			_, err := LoadSensorGraph(SensorGraph{Graph: f.path("g.csv")}, sensorsABCD())
			f.refused(err, c.want)
		})
	}
	f := newFolder(t)
	_, err := LoadSensorGraph(SensorGraph{Graph: "a.csv", Coordinates: "b.csv"}, sensorsABCD())
	f.refused(err, "both a graph and coordinates")
	f.text("g.csv", "src,dst,time\na,b,2026-03-02\n")
	s := sensorsABCD()
	s.Interval = 0
	_, err = LoadSensorGraph(SensorGraph{Graph: f.path("g.csv")}, s)
	f.refused(err, `time is "2026-03-02", but the series has no times; number its steps from 0`)
}

// Matrices of NumPy, with a diagonal or without.
func TestLoadSensorGraphArray(t *testing.T) {
	f := newFolder(t)
	f.values("g.npy", []int{3, 3}, 1, 0.5, 0, 0.5, 1, 0, 0, 0, 1)
	s := sensorsABCD()
	g, err := LoadSensorGraph(SensorGraph{Graph: f.path("g.npy")}, s)
	if err != nil {
		t.Fatal(err)
	}
	if got := listed(s, g.At(0)); got != "ab0.5" || g.At(0).Nodes() != 4 {
		t.Errorf("got %s on %d nodes, want ab0.5 on 4", got, g.At(0).Nodes())
	}
}

// Coordinates in the plane and on the globe.
func TestCoordinates(t *testing.T) {
	plane := "sensor,x,y\na,0,0\nb,1,0\nc,3,0\nd,3,1\nelsewhere,9,9\n"
	for _, c := range []struct {
		name, text string
		options    SensorGraph
		want, note string
	}{
		{
			"radius", plane,
			SensorGraph{Radius: 1},
			"ab0.6065 cd0.6065",
			"from coordinates, within 1: 2 links; 1 line of other sensors passed over",
		},
		{"nearest", plane, SensorGraph{Nearest: 1}, "ab0.6065 cd0.6065", "the 1 nearest"},
		{"nearest two", plane, SensorGraph{Nearest: 2}, "ab0.8825 ac0.3247 bc0.6065 bd0.5353 cd0.8825", "the 2 nearest"},
		{"both", plane, SensorGraph{Nearest: 2, Radius: 2}, "ab0.7788 bc0.3679 cd0.7788", "the 2 nearest within 2"},
		{
			"degrees", "sensor_id,latitude,longitude\na,0,0\nb,0,1\nc,45,180\nd,45,-180\n",
			SensorGraph{Radius: 112000},
			"ab0.3679 cd1",
			"within 112000 m",
		},
		{
			"a newcomer without", "id,x,y\na,0,0\nb,1,0\nc,2,0\n",
			SensorGraph{Radius: 1},
			"ab0.6065 bc0.6065",
			`1 sensor without any; no coordinates of "d"`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFolder(t)
			f.text("places.csv", c.text)
			c.options.Coordinates = f.path("places.csv")
			s := sensorsABCD()
			g, err := LoadSensorGraph(c.options, s)
			if err != nil {
				t.Fatal(err)
			}
			if got := listed(s, g.At(0)); got != c.want || !strings.Contains(g.Note, c.note) {
				t.Errorf("got %s (%s), want %s (%s)", got, g.Note, c.want, c.note)
			}
		})
	}
	f := newFolder(t)
	f.text("one.csv", "sensor,x,y\na,0,0\n")
	alone, err := LoadSensorGraph(SensorGraph{Coordinates: f.path("one.csv")}, &Series{Names: []string{"a"}, Known: 1, Nodes: 1, Steps: 6})
	if err != nil || alone.At(0).Nodes() != 1 || alone.At(0).Edges() != 0 {
		t.Errorf("a sensor alone: got %v, %v, want no links", alone, err)
	}
	if got := sphere(place{-0.1278, 51.5074}, place{2.3522, 48.8566}); math.Abs(got-343.5e3) > 500 {
		t.Errorf("got %.0f m from London to Paris, want 343.5 km", got)
	}
	for _, c := range []struct {
		name, text string
		options    SensorGraph
		want       string
	}{
		{"no such columns", "sensor,row\na,1\n", SensorGraph{}, `line 1: columns "sensor", "row"; want sensor,x,y or sensor,lat,lon`},
		{"a sensor missing", "sensor,x,y\na,0,0\nc,1,1\n", SensorGraph{}, `no line for sensor "b"`},
		{"text", "sensor,x,y\na,0,east\n", SensorGraph{}, `line 2, column "y": "east" is not a number`},
		{"twice", "sensor,x,y\na,0,0\na,1,1\n", SensorGraph{}, `line 3, column "sensor": a second place for sensor "a"`},
		{"exchanged", "sensor,lat,lon\na,118,34\n", SensorGraph{}, "are lat and lon exchanged?"},
		{"far apart", plane, SensorGraph{Radius: 0.5}, "no two sensors are so near; the nearest two are 1 apart"},
		{"negative", plane, SensorGraph{Radius: -1}, "want positive numbers"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFolder(t)
			f.text("places.csv", c.text)
			c.options.Coordinates = f.path("places.csv")
			_, err := LoadSensorGraph(c.options, sensorsABCD())
			f.refused(err, c.want)
		})
	}
}

// Without a graph, sensors that read alike are linked. A sensor that stands
// still or is silent stays alone, and so does one that reads the contrary.
func TestCorrelatedGraph(t *testing.T) {
	s := sensorsABCD()
	s.Names, s.Nodes, s.Known, s.Steps = []string{"a", "b", "c", "d", "e"}, 5, 5, 40
	s.Values = newSeriesValues(s, func(t, i int) float64 {
		wave := math.Sin(float64(t) / 3)
		switch {
		case i == 1 && t%5 == 0:
			return math.NaN()
		case i == 2:
			return -wave
		case i == 3:
			return 7
		case i == 4:
			return math.NaN()
		}
		return 50 + 10*wave + float64(t%3)
	})
	g, err := LoadSensorGraph(SensorGraph{Correlated: 2}, s)
	if err != nil {
		t.Fatal(err)
	}
	if got := g.At(0).Edges(); got != 1 || len(g.At(0).Neighbors(0)) != 1 || g.At(0).Neighbors(0)[0] != 1 {
		t.Errorf("got %s, want one link between a and b", listed(s, g.At(0)))
	}
	want := "no graph was given: learned from the readings, each sensor with the 2 that correlate most: 1 link, 3 sensors"
	if !strings.HasPrefix(g.Note, want) {
		t.Errorf("got note %q, want %q", g.Note, want)
	}
	s.Values = newSeriesValues(s, func(t, i int) float64 { return 7 })
	g, err = LoadSensorGraph(SensorGraph{}, s)
	if err != nil {
		t.Fatal(err)
	}
	if want := "0 links, 5 sensors without any"; g.At(0).Edges() != 0 || !strings.HasSuffix(g.Note, want) {
		t.Errorf("got %q, want %q", g.Note, want)
	}
}

// The links of METR-LA, as they are published, and learned from its readings.
func TestMetrLAGraph(t *testing.T) {
	s, err := LoadSeries(metrLA(t, "speed.csv"), SeriesOptions{})
	if err != nil {
		t.Fatal(err)
	}
	g, err := LoadSensorGraph(SensorGraph{Graph: metrLA(t, "adjacency.csv")}, s)
	if err != nil {
		t.Fatal(err)
	}
	if want := "1313 links, 1 sensor without any; 207 links of a sensor to itself left out"; g.Note != want || len(g.Graphs) != 1 {
		t.Errorf("got %q, %d graphs; want %q, 1", g.Note, len(g.Graphs), want)
	}
	learned, err := LoadSensorGraph(SensorGraph{}, s.Part(0, 1412))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := learned.At(0).Edges(), 1193; got != want {
		t.Errorf("got %d links, want %d", got, want)
	}
}
