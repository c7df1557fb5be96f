package modelfile_test

import (
	"bytes"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/forecast"
	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/modelfile"
)

// sensors returns what a model knows of two sensors with everything that there is.
func sensors() *forecast.Spec {
	code := 0.0
	norm := forecast.Norm{
		Mean: 59.37636571018240, Scale: 1.0 / 3, Sigma: []float64{.1, .2},
		Level: .1, NearLevel: .2, Near: .7, Keep: 1.0 / 7, Alone: .9, Rough: .3, Longest: 71, Low: 1.5, High: 70,
		ExtraMean: []float64{2}, ExtraScale: []float64{3},
	}
	other := norm
	other.Mean = math.Pi
	return &forecast.Spec{
		Sensors: []string{"716337", "Köln \"süd\""}, Interval: 5 * time.Minute,
		Origin: time.Date(2012, 3, 1, 7, 0, 0, 0, time.FixedZone("", -8*3600)),
		Steps:  1613, Unit: "mph", Lags: 3, Horizons: []int{3, 12}, Extras: 1, Day: forecast.Cycle(288), Week: forecast.Weekdays(),
		Season: 288, Missing: &code, Norms: []forecast.Norm{norm, other},
	}
}

func emptyModel(t *testing.T) *modelfile.Model {
	t.Helper()
	net, err := gnn.New(gnn.Config{In: 1, Features: 1, Wide: &gnn.WideConfig{Order: 1}})
	if err != nil {
		t.Fatal(err)
	}
	return &modelfile.Model{Network: net}
}

// again returns what a reader of the file of m sees.
func again(t *testing.T, m *modelfile.Model) *modelfile.Model {
	t.Helper()
	var file bytes.Buffer
	if err := modelfile.Encode(&file, m); err != nil {
		t.Fatal(err)
	}
	read, err := modelfile.Decode(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		t.Fatal(err)
	}
	return read
}

// What a model knows of its sensors, what they remember and how they are linked is
// in the file, bit for bit; files without it have none.
func TestForecast(t *testing.T) {
	m, want := emptyModel(t), sensors()
	if got, err := m.Forecast(); got != nil || err != nil {
		t.Errorf("a model that does not forecast has sensors %v, %v", got, err)
	}
	if err := m.SetForecast(want); err != nil {
		t.Fatal(err)
	}
	network := forecast.NewSensor(want, &want.Norms[1])
	network.Read(make([]float32, want.Inputs()), 1612, []float32{60.1, 3}, 61, true, 0, false)
	memory := []forecast.Memory{network.Memory(), forecast.NewSensor(want, &want.Norms[0]).Memory()}
	if err := m.SetSensors(memory); err != nil {
		t.Fatal(err)
	}
	g, err := graph.FromEdges(2, []graph.Edge{{From: 0, To: 1, Weight: .25}}, true)
	if err != nil {
		t.Fatal(err)
	}
	m.SetSensorGraph(g)
	read := again(t, m)
	got, err := read.Forecast()
	if err != nil {
		t.Fatal(err)
	}
	if !got.Origin.Equal(want.Origin) || got.Origin.Hour() != 7 {
		t.Errorf("step 0 is at %v, want %v", got.Origin, want.Origin)
	}
	got.Origin = want.Origin
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if remembered, err := read.Sensors(); err != nil || !reflect.DeepEqual(remembered, memory) {
		t.Errorf("got %+v (%v), want %+v", remembered, err, memory)
	}
	links, err := read.SensorGraph()
	if err != nil || !links.Directed() || !links.Adjacency().Equal(g.Adjacency()) {
		t.Errorf("links %v (%v), want %v", links, err, g)
	}
}

// What the model is compared with is in the file, for newcomers too.
func TestBaselines(t *testing.T) {
	m, s := emptyModel(t), sensors()
	s.Season = 2
	if err := m.SetForecast(s); err != nil {
		t.Fatal(err)
	}
	ridge, err := forecast.NewRidge(2, 2, []float64{.1, .2, .3, .4, .5, .6, .7, .8, .9, 1, 1.1, 1.2})
	if err != nil {
		t.Fatal(err)
	}
	naive := forecast.NewNaive(s, 2)
	naive.Fit(2, func(t, i int) float32 { return float32(10*t + i) })
	naive.Read(1, 3, 42)
	if err := m.SetBaselines(ridge, naive); err != nil {
		t.Fatal(err)
	}
	r, n, err := again(t, m).Baselines(3)
	if err != nil || !reflect.DeepEqual(r, ridge) {
		t.Errorf("got %+v (%v), want %+v", r, err, ridge)
	}
	fresh := forecast.NewNaive(s, 3)
	if n.Last(1) != 42 || n.Seasonal(1, 3, 2) != 42 || n.Last(0) != naive.Last(0) || n.Last(2) != fresh.Last(2) {
		t.Errorf("got %+v, want %+v and a newcomer", n, naive)
	}
	if n.Clock(1, 3) != 11 || n.Clock(2, 3) != fresh.Last(2) {
		t.Errorf("means of the clock: got %v and %v, want 11 and those of a newcomer", n.Clock(1, 3), n.Clock(2, 3))
	}
	m.Extra["online.forecast.clock"] = mat.NewDense(1, 2, nil)
	if _, _, err := m.Baselines(2); err == nil || !strings.Contains(err.Error(), "online.forecast.clock is 1×2") {
		t.Errorf("error %v, want one about the shape", err)
	}
	cut(m, "online.forecast.ridge")
	if _, _, err := m.Baselines(2); err == nil || !strings.Contains(err.Error(), "online.forecast.ridge is 2×5") {
		t.Errorf("error %v, want one about the shape", err)
	}
}

// A network without links is stored as one.
func TestSensorGraphWithoutLinks(t *testing.T) {
	m := emptyModel(t)
	if err := m.SetForecast(sensors()); err != nil {
		t.Fatal(err)
	}
	g, err := graph.FromEdges(2, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	m.SetSensorGraph(g)
	if got, err := again(t, m).SensorGraph(); err != nil || got.Edges() != 0 || got.Nodes() != 2 {
		t.Errorf("got %v, %v, want two sensors without a link", got, err)
	}
}

// What does not hold together is refused, in words.
func TestForecastRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		damage func(*modelfile.Model)
		want   string
	}{
		"another key":     {func(m *modelfile.Model) { m.Meta.Forecast = `{"speed":1,` + m.Meta.Forecast[1:] }, "try a newer wdgnn"},
		"more text":       {func(m *modelfile.Model) { m.Meta.Forecast += "1" }, "more text follows"},
		"no JSON":         {func(m *modelfile.Model) { m.Meta.Forecast = "x" }, "wdgnn.forecast"},
		"no text":         {func(m *modelfile.Model) { m.Meta.Forecast = "" }, "write the file again"},
		"no norms":        {func(m *modelfile.Model) { delete(m.Precise, "online.forecast.norm") }, "0×0 for 2 sensors"},
		"norms cut":       {func(m *modelfile.Model) { cut(m, "online.forecast.norm") }, "for 2 sensors"},
		"a scale of 0":    {func(m *modelfile.Model) { m.Precise["online.forecast.norm"].Data[1] = 0 }, "scale is 0"},
		"a run of 1.5":    {func(m *modelfile.Model) { m.Precise["online.forecast.norm"].Data[8] = 1.5 }, "want a whole number"},
		"sensors cut":     {func(m *modelfile.Model) { cut(m, "online.forecast.sensor") }, "for 2 sensors with 3 lags"},
		"a step of -1":    {func(m *modelfile.Model) { m.Precise["online.forecast.sensor"].Data[1] = -1 }, "step -1"},
		"half a flag":     {func(m *modelfile.Model) { m.Precise["online.forecast.sensor"].Data[2] = .5 }, "is 0.5"},
		"a node too much": {func(m *modelfile.Model) { m.Precise["online.forecast.link.kind"].Data[0] = 1e9 }, "for 2 sensors"},
		"links to nobody": {func(m *modelfile.Model) { m.Precise["online.forecast.link"].Data[1] = 7 }, "no node 7"},
		"half a link":     {func(m *modelfile.Model) { m.Precise["online.forecast.link"].Data[0] = .5 }, "want nodes"},
	} {
		m, s := emptyModel(t), sensors()
		if err := m.SetForecast(s); err != nil {
			t.Fatal(err)
		}
		if err := m.SetSensors(forecast.NewNetwork(s, 2).Memory()); err != nil {
			t.Fatal(err)
		}
		g, err := graph.FromEdges(2, []graph.Edge{{From: 0, To: 1, Weight: 1}}, false)
		if err != nil {
			t.Fatal(err)
		}
		m.SetSensorGraph(g)
		c.damage(m)
		_, err = m.Forecast()
		if err == nil {
			_, err = m.Sensors()
		}
		if err == nil {
			_, err = m.SensorGraph()
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", name, err, c.want)
		}
	}
	broken := sensors()
	broken.Norms[0].Scale = 0
	if err := emptyModel(t).SetForecast(broken); err == nil {
		t.Error("a scale of 0 is stored, want an error")
	}
}

// cut takes the last column from a tensor.
func cut(m *modelfile.Model, name string) {
	x := m.Precise[name]
	m.Precise[name] = modelfile.Float64s{Rows: x.Rows, Cols: x.Cols - 1, Data: x.Data[:x.Rows*(x.Cols-1)]}
}
