package forecast_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/wdgnn/wdgnn/forecast"
	"github.com/wdgnn/wdgnn/internal/twintest"
	"github.com/wdgnn/wdgnn/mat"
)

// sensorTwin is a stream of the twin and what its sensors made of it: T steps, N
// nodes, F inputs.
type sensorTwin struct {
	Links    [][]float64     `json:"links"` // adjacency, N×N
	Lost     [][]float64     `json:"lost"`  // from step LostFrom on
	LostFrom int             `json:"lost_from"`
	Norms    []forecast.Norm `json:"norms"`
	Lags     int             `json:"lags"`
	Day      int             `json:"day"` // steps
	Missing  float64         `json:"missing"`
	Horizons []int           `json:"horizons"`
	Readings [][]unsure      `json:"readings"` // T×N
	Truths   [][]unsure      `json:"truths"`   // T×N, none if readings are the truth

	Rows   [][][]float64 `json:"rows"`   // T×N×F
	Known  [][]unsure    `json:"known"`  // the truth that is learned from, normalised, T×N
	Broken [][]string    `json:"broken"` // why readings are not used, T×N
}

// unsure is a number, NaN if it is null.
type unsure float64

func (u *unsure) UnmarshalJSON(text []byte) error {
	*u = unsure(math.NaN())
	return json.Unmarshal(text, (*float64)(u))
}

// sayings are what sensors say where the twin has a word.
var sayings = map[string]string{
	"":             "",
	"outside":      "its readings are far outside what training saw",
	"contradicted": "its readings are not what the answers say",
	"rough":        "its readings jump more than training saw",
	"stuck":        "its readings stand still longer than training saw",
}

// A network of sensors agrees with the twin: with gaps, a code for no reading, links
// that are lost, sensors that stand still, come back, send noise or other units, with
// readings as truth and with answers that come apart, or stay away.
func TestTwinSensors(t *testing.T) {
	cases := twintest.Cases[*sensorTwin](t)
	for _, name := range slices.Sorted(maps.Keys(cases)) {
		t.Run(name, func(t *testing.T) {
			c := cases[name]
			s := c.spec(t)
			links, lost := matrix(t, c.Links), matrix(t, c.Lost)
			network, rows := forecast.NewNetwork(s, len(s.Sensors)), mat.NewDense(len(s.Sensors), s.Inputs(), nil)
			known := make([]float32, len(s.Sensors))
			for step := range c.Readings {
				now := links
				if step >= c.LostFrom {
					now = lost
				}
				var truths []float32
				if c.Truths != nil {
					truths = numbers(c.Truths[step])
				}
				network.Read(rows, uint64(step), mat.NewDense(len(s.Sensors), 1, numbers(c.Readings[step])), truths, now)
				network.Truths(known)
				for i := range s.Sensors {
					c.compare(t, fmt.Sprintf("step %d, node %d", step, i), step, i, rows.Row(i), known[i], network.Sensor(i))
				}
			}
		})
	}
}

// spec returns what the sensors of the case know.
func (c *sensorTwin) spec(t *testing.T) *forecast.Spec {
	t.Helper()
	s := &forecast.Spec{
		Lags: c.Lags, Horizons: c.Horizons, Day: forecast.Cycle(c.Day), Season: c.Day, Missing: &c.Missing, Norms: c.Norms,
	}
	for i := range c.Norms {
		s.Sensors = append(s.Sensors, fmt.Sprint("sensor ", i))
	}
	if err := s.Validate(); err != nil {
		t.Fatal(err)
	}
	return s
}

func (c *sensorTwin) compare(t *testing.T, where string, step, i int, row []float32, known float32, sensor *forecast.Sensor) {
	t.Helper()
	for f, want := range c.Rows[step][i] {
		if got := float64(row[f]); !(math.Abs(got-want) <= 1e-9*max(1, math.Abs(want))) {
			t.Errorf("%s: input %d: got %v, want the twin's %v", where, f, got, want)
		}
	}
	got, want := float64(known), float64(c.Known[step][i])
	if got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
		t.Errorf("%s: truth: got %v, want the twin's %v", where, got, want)
	}
	if got, _ := sensor.Broken(); got != sayings[c.Broken[step][i]] {
		t.Errorf("%s: got %q, want the twin's %q", where, got, c.Broken[step][i])
	}
}

// The committed numbers are those of testdata/twin.py.
func TestTwinIsCommitted(t *testing.T) { twintest.Committed(t) }

func numbers(all []unsure) (list []float32) {
	for _, v := range all {
		list = append(list, float32(v))
	}
	return list
}

func matrix(t *testing.T, dense [][]float64) *mat.CSR {
	t.Helper()
	var entries []mat.Entry
	for i, row := range dense {
		for j, v := range row {
			if v != 0 {
				entries = append(entries, mat.Entry{Row: i, Col: j, Val: float32(v)})
			}
		}
	}
	a, err := mat.FromEntries(len(dense), len(dense), entries)
	if err != nil {
		t.Fatal(err)
	}
	return a
}
