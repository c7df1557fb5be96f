package data

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/mat"
)

const (
	usualNearest   = 4
	mostPlaces     = 20000
	earthRadius    = 6371008.8 // metres, mean
	leastNearness  = 0.01      // weight of the longest links
	nearnessDigits = 1e4       // weights are rounded to four digits, the same on every machine
)

// Words for the columns of coordinates, without what parts their syllables.
var (
	placeWords = append([]string{"id", "name"}, sensorWords...)
	xWords     = []string{"x", "xm", "easting"}
	yWords     = []string{"y", "ym", "northing"}
	latWords   = []string{"lat", "latitude"}
	lonWords   = []string{"lon", "lng", "long", "longitude"}
)

// place is where a sensor is: metres or degrees.
type place struct{ x, y float64 }

// flat is the distance in the plane.
func flat(a, b place) float64 { return math.Hypot(a.x-b.x, a.y-b.y) }

// sphere is the distance along the great circle in metres, by the haversine; x is
// the longitude, y the latitude.
func sphere(a, b place) float64 {
	const rad = math.Pi / 180
	half := func(d float64) float64 { s := math.Sin(d * rad / 2); return s * s }
	h := half(b.y-a.y) + math.Cos(a.y*rad)*math.Cos(b.y*rad)*half(b.x-a.x)
	return 2 * earthRadius * math.Asin(math.Sqrt(min(1, h)))
}

// loadPlaces links sensors that are near each other.
func loadPlaces(o SensorGraph, s *Series) (*SensorGraphs, error) {
	if s.Nodes > mostPlaces {
		return nil, fmt.Errorf("%d sensors are too many to compare all distances; give the links as a graph", s.Nodes)
	}
	r, file, err := openTable(o.Coordinates)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	p := &places{at: make([]place, s.Nodes), found: make([]bool, s.Nodes)}
	if err := p.read(r, s); err != nil {
		return nil, err
	}
	var absent, lone []string
	for i, ok := range p.found {
		if !ok && i < s.Known {
			absent = append(absent, s.Names[i])
		} else if !ok {
			lone = append(lone, s.Names[i])
		}
	}
	if len(absent) > 0 {
		return nil, fmt.Errorf("no line for %s %s", plural(len(absent), "sensor"), few(absent))
	}
	g, how, err := p.link(o, s)
	if err != nil {
		return nil, err
	}
	note := joined(how+": "+described(g), p.passedOver())
	if len(lone) > 0 {
		note = joined(note, fmt.Sprintf("no coordinates of %s", few(lone)))
	}
	return &SensorGraphs{Graphs: []*graph.Graph{g}, Note: note}, nil
}

// places are where sensors are.
type places struct {
	at       []place
	found    []bool
	distance func(a, b place) float64
	degrees  bool
	others   int // lines about sensors that the series does not have
}

func (p *places) passedOver() string {
	if p.others == 0 {
		return ""
	}
	return fmt.Sprintf("%s of other sensors passed over", counted(p.others, "line"))
}

// columns finds the columns of the name and of the two coordinates.
func (p *places) columns(names []string) (sensor, x, y int, err error) {
	one := func(words []string) int {
		if found := having(names, words); len(found) > 0 {
			return found[0]
		}
		return -1
	}
	sensor, x, y = one(sensorWords), one(xWords), one(yWords)
	if sensor < 0 {
		sensor = one(placeWords)
	}
	p.distance = flat
	if x < 0 || y < 0 {
		x, y, p.distance, p.degrees = one(lonWords), one(latWords), sphere, true
	}
	if sensor < 0 || x < 0 || y < 0 {
		return 0, 0, 0, fmt.Errorf("columns %s; want sensor,x,y or sensor,lat,lon", few(names))
	}
	return sensor, x, y, nil
}

// read reads a line per sensor.
func (p *places) read(r *textReader, s *Series) error {
	sensor, x, y, err := p.columns(r.header)
	if err != nil {
		return fmt.Errorf("line %d: %w", r.top, err)
	}
	at := make(map[string]int, s.Nodes)
	for i, name := range s.Names {
		at[name] = i
	}
	return r.each(func(fields []string) error {
		i, ok := at[fields[sensor]]
		if !ok {
			p.others++
			return nil
		}
		if p.found[i] {
			return fmt.Errorf("column %q: a second place for sensor %q", r.header[sensor], fields[sensor])
		}
		var v [2]float64
		for k, c := range []int{x, y} {
			n, err := strconv.ParseFloat(fields[c], 64)
			if err != nil || !mat.Finite(n) {
				return fmt.Errorf("column %q: %.40q is not a number", r.header[c], fields[c])
			}
			if most := 180 - 90*float64(k); p.degrees && math.Abs(n) > most {
				return fmt.Errorf("column %q: %v is not a number of degrees from %v to %v; are lat and lon exchanged?",
					r.header[c], n, -most, most)
			}
			v[k] = n
		}
		p.at[i], p.found[i] = place{v[0], v[1]}, true
		return nil
	})
}

// near is a sensor and how far it is.
type near struct {
	sensor   int
	distance float64
}

// link joins sensors within the radius, or each with its nearest.
func (p *places) link(o SensorGraph, s *Series) (*graph.Graph, string, error) {
	if o.Radius < 0 || o.Nearest < 0 || math.IsNaN(o.Radius) {
		return nil, "", fmt.Errorf("radius %v and nearest %d; want positive numbers", o.Radius, o.Nearest)
	}
	most, how := o.Nearest, ""
	if most == 0 && o.Radius == 0 {
		most = usualNearest
	}
	lengths := make(map[[2]int]float64)
	for i := range p.at {
		if !p.found[i] {
			continue
		}
		for _, q := range p.around(i, o.Radius, most) {
			lengths[[2]int{min(i, q.sensor), max(i, q.sensor)}] = q.distance
		}
	}
	unit := ""
	if p.degrees {
		unit = " m"
	}
	switch {
	case len(lengths) == 0 && p.closest(unit) != "": // it is not one sensor alone
		return nil, "", errors.New("no two sensors are so near" + p.closest(unit))
	case most > 0 && o.Radius > 0:
		how = fmt.Sprintf("from coordinates, the %d nearest within %g%s", most, o.Radius, unit)
	case most > 0:
		how = fmt.Sprintf("from coordinates, the %d nearest", most)
	default:
		how = fmt.Sprintf("from coordinates, within %g%s", o.Radius, unit)
	}
	g, err := graph.FromEdges(s.Nodes, nearness(lengths), false)
	return g, how, err
}

// around returns the sensors near i, the nearest first; 0 means any distance, or
// any number.
func (p *places) around(i int, radius float64, most int) []near {
	var list []near
	for j := range p.at {
		if j == i || !p.found[j] {
			continue
		}
		if d := p.distance(p.at[i], p.at[j]); radius == 0 || d <= radius {
			list = append(list, near{j, d})
		}
	}
	slices.SortStableFunc(list, func(a, b near) int { return cmp.Compare(a.distance, b.distance) })
	if most > 0 {
		list = list[:min(most, len(list))]
	}
	return list
}

// closest says how near the nearest two sensors are.
func (p *places) closest(unit string) string {
	least := math.Inf(1)
	for i := range p.at {
		for _, q := range p.around(i, 0, 1) {
			if p.found[i] {
				least = min(least, q.distance)
			}
		}
	}
	if math.IsInf(least, 1) {
		return ""
	}
	return fmt.Sprintf("; the nearest two are %.4g%s apart", least, unit)
}

// nearness weighs links by their length: exp(-d²/2m), m the mean of d².
func nearness(lengths map[[2]int]float64) []graph.Edge {
	pairs := make([][2]int, 0, len(lengths))
	for k := range lengths {
		pairs = append(pairs, k)
	}
	slices.SortFunc(pairs, func(a, b [2]int) int { return slices.Compare(a[:], b[:]) })
	square := 0.0
	for _, k := range pairs {
		square += lengths[k] * lengths[k] / float64(len(pairs))
	}
	edges := make([]graph.Edge, len(pairs))
	for i, k := range pairs {
		w := 1.0
		if square > 0 {
			w = max(leastNearness, mat.Exp(-lengths[k]*lengths[k]/(2*square)))
		}
		edges[i] = graph.Edge{From: k[0], To: k[1], Weight: math.Round(w*nearnessDigits) / nearnessDigits}
	}
	return edges
}
