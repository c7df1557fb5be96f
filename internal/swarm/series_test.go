package swarm_test

import (
	"fmt"
	"math"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/internal/lifecycle"
	"github.com/wdgnn/wdgnn/internal/swarm"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/random"
)

const seriesSensors = 6

// seriesCase is a folder with readings of a ring of sensors, by the hour, and what
// came later: two tables that follow each other, with gaps, a sensor that says
// nonsense for a while, and one that joins.
type seriesCase struct {
	*ownCase
	later [2]string
}

func newSeriesCase(t *testing.T) *seriesCase {
	t.Helper()
	f := &seriesCase{ownCase: &ownCase{T: t, dir: t.TempDir()}, later: [2]string{"one.csv", "two.csv"}}
	f.readings("readings.csv", 0, 240, seriesSensors)
	f.readings(f.later[0], 240, 60, seriesSensors+1)
	f.readings(f.later[1], 300, 60, seriesSensors+1)
	links := "src,dst\n"
	for i := range seriesSensors {
		links += fmt.Sprintf("s%d,s%d\n", i, (i+1)%seriesSensors)
	}
	f.write("links.csv", links)
	f.write("later_links.csv", links+"new,s2\nnew,s3\n")
	f.write("train.yaml", `seed: 2
forecast: {series: readings.csv, graph: links.csv, lags: 4, horizons: [1, 3], season: 24, split: {valid: 0.2, test: 0}}
model: {features: 4, wide: {order: 1}, deep: [{order: 1, features: 4}]}
train: {epochs: 3, batch_size: 16}
`)
	c, err := config.Load(f.path("train.yaml"))
	check(t, err)
	training, err := lifecycle.NewTraining(t.Context(), c)
	check(t, err)
	defer training.Close()
	_, err = training.Run(t.Context(), nil, nil, nil)
	check(t, err)
	check(t, training.Calibrate(t.Context()))
	f.model = again(t, training.File("test"))
	return f
}

// readings writes a table of so many hours.
func (f *seriesCase) readings(name string, from, hours, sensors int) {
	f.Helper()
	rng := random.Stream(7, name)
	var b strings.Builder
	b.WriteString("time")
	for i := range sensors {
		if i == seriesSensors {
			b.WriteString(",new")
			continue
		}
		fmt.Fprintf(&b, ",s%d", i)
	}
	begin := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	for t := from; t < from+hours; t++ {
		fmt.Fprintf(&b, "\n%s", begin.Add(time.Duration(t)*time.Hour).Format(time.RFC3339))
		for i := range sensors {
			v := 50 + 10*math.Sin(2*math.Pi*float64(t)/24+float64(i)/3) + rng.NormFloat64()
			switch {
			case t%11 == i:
				b.WriteString(",")
			case from > 0 && i == 1 && t%60 > 30 && t%60 < 45:
				b.WriteString(",900")
			default:
				fmt.Fprintf(&b, ",%.2f", v)
			}
		}
	}
	check(f.T, os.WriteFile(f.path(name), []byte(b.String()+"\n"), 0o644))
}

// on returns a configuration of one of the tables.
func (f *seriesCase) on(k int, settings string) *config.Config {
	f.Helper()
	f.write("online.yaml", fmt.Sprintf("online: {stream: {series: %s, graph: later_links.csv}%s}\n", f.later[k], settings))
	c, err := config.Load(f.path("online.yaml"))
	check(f.T, err)
	return c
}

// Agents that forecast answer as one process does, to the bit, with gaps, nonsense
// and a sensor that joins; and what is gathered from them goes on as what one process
// left, there and here.
func TestSeriesSameBits(t *testing.T) {
	f := newSeriesCase(t)
	once, _ := f.online(f.on(0, ""), f.model)
	up := f.up(f.on(0, ""), f.model, 3, "first")
	if !up.Verified.Same() || up.Steps != 60 || up.Missing != 0 {
		t.Errorf("%d of %d steps and %d of %d nodes are the same, %d answers missing: %s",
			up.Verified.SameOutputs, up.Steps, up.Verified.SameParams, up.Nodes, up.Missing, up.Verified.First)
	}
	if up.Forecast == nil || up.Forecast.Horizons[0].Method(lifecycle.MethodOnline).MAE == 0 || up.FrozenCost == 0 {
		t.Errorf("got the scores %+v, as trained %v", up.Forecast, up.FrozenCost)
	}
	c, err := swarm.Collect(f.model, []string{f.path("first")}, false, "test")
	check(t, err)
	gathered := again(t, c.Model)
	f.sameModels(gathered, again(t, once))

	twice, want := f.online(f.on(1, ""), once)
	_, got := f.online(f.on(1, ""), gathered)
	if !sameBits(got, want) {
		t.Error("one process goes on differently after agents than after itself")
	}
	if up := f.up(f.on(1, ""), gathered, 3, "second"); !up.Verified.Same() {
		t.Errorf("agents go on differently after agents: %s", up.Verified.First)
	}
	c, err = swarm.Collect(gathered, []string{f.path("second")}, false, "test")
	check(t, err)
	f.sameModels(again(t, c.Model), again(t, twice))
}

// sameModels compares all tensors but those of what forecasts are compared with.
func (f *seriesCase) sameModels(got, want *modelfile.Model) {
	f.Helper()
	for name, x := range want.Extra {
		if !reflect.DeepEqual(got.Extra[name], x) && name != "online.forecast.naive" {
			f.Errorf("tensor %s is %v, want %v", name, got.Extra[name], x)
		}
	}
	for name, x := range want.Precise {
		if y := got.Precise[name]; !sameBits(y.Data, x.Data) && name != "online.forecast.naive" {
			f.Errorf("tensor %s is %v, want %v", name, y, x)
		}
	}
	if got.Meta.Forecast != want.Meta.Forecast {
		f.Errorf("sensors are %s, want %s", got.Meta.Forecast, want.Meta.Forecast)
	}
}

// sameBits compares numbers, of which some may be NaN.
func sameBits[T float32 | float64](a, b []T) bool {
	if len(a) != len(b) {
		return false
	}
	for k := range a {
		if a[k] != b[k] && (a[k] == a[k] || b[k] == b[k]) {
			return false
		}
	}
	return true
}

// Other presets learn forecasts, too, when their truths are known. A series that the
// sensors have met is refused; a part of the boxes leaves the others as trained.
func TestSeriesPresetsAndParts(t *testing.T) {
	f := newSeriesCase(t)
	if up := f.up(f.on(0, ", preset: own"), f.model, 2, "own"); !up.Verified.Same() {
		t.Errorf("own: %s", up.Verified.First)
	}
	f.up(f.on(0, ""), f.model, 3, "up")
	part, err := swarm.Collect(f.model, []string{f.path("up/state/0")}, true, "test")
	check(t, err)
	if part.Found == 0 || part.Found >= part.Nodes {
		t.Errorf("got %d of %d nodes", part.Found, part.Nodes)
	}
	adapted, _ := f.online(f.on(0, ""), f.model)
	_, err = swarm.NewStreamTask(f.on(0, ""), adapted, 0)
	if want := "the model has seen all of this series"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want that the sensors have met these readings", err)
	}
}
