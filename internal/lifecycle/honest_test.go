package lifecycle

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/internal/data"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/random"
)

// writeTable writes a series as people keep it.
func writeTable(t testing.TB, path string, s *data.Series) {
	t.Helper()
	var b strings.Builder
	b.WriteString("time," + strings.Join(s.Names, ",") + "\n")
	for step := range s.Steps {
		b.WriteString(s.Time(step).Format(clockLayout))
		for i := range s.Nodes {
			b.WriteByte(',')
			if v := s.Step(step).At(i, 0); v == v {
				b.WriteString(strconv.FormatFloat(float64(v), 'g', -1, 32))
			}
		}
		b.WriteByte('\n')
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// The hill of tests: so many steps before a stream, and of it.
const (
	hillBefore = 240
	hillStream = 80
)

// hillModel trains on the first part of a hill.
func hillModel(t testing.TB, c *config.Config) *modelfile.Model {
	t.Helper()
	m, err := trainForecast(t.Context(), c, hill(hillBefore+hillStream), nil, hillBefore, "test", nil)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// onlineKeys adds an online section to a configuration.
func onlineKeys(t testing.TB, c *config.Config, keys string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "online.yaml")
	if err := os.WriteFile(path, []byte("online: {stream: {series: x.csv}, "+keys+"}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	o, err := config.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	c.Online = o.Online
	c.Online.Stream.Series = ""
}

// playHill plays what follows the first part of a series.
func playHill(t testing.TB, c *config.Config, m *modelfile.Model, s *data.Series) *OnlineRun {
	t.Helper()
	spec, err := m.Forecast()
	if err != nil {
		t.Fatal(err)
	}
	g, err := linksOf(m, s, SeriesFiles{})
	if err != nil {
		t.Fatal(err)
	}
	rows, err := placed(m, spec, s, nil, g, SeriesFiles{training: true})
	if err != nil {
		t.Fatal(err)
	}
	r, err := newOnlineRun(c, m, beginning{rows: rows})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	mustPlay(t, r)
	return r
}

func mustPlay(t testing.TB, r *OnlineRun) {
	t.Helper()
	if err := r.Play(t.Context(), func() error { return nil }, func(OnlineStep) error { return nil }); err != nil {
		t.Fatal(err)
	}
}

// withFuture returns a copy of a series whose readings from step on are others: in
// another order of times and sensors.
func withFuture(s *data.Series, step int) *data.Series {
	other := *s
	other.Values = s.Values.Clone()
	order := random.Stream(9, "future").Perm((s.Steps - step) * s.Nodes)
	for k, from := range order {
		other.Values.Set(step*s.Nodes+k, 0, s.Values.At(step*s.Nodes+from, 0))
	}
	return &other
}

// withReading returns a copy of a series with one other reading.
func withReading(s *data.Series, step, i int, v float32) *data.Series {
	other := *s
	other.Values = s.Values.Clone()
	other.Values.Set(step*s.Nodes+i, 0, v)
	return &other
}

// wantSameUntil fails unless two runs said the same, bit for bit, before the row at which
// their series part, and not after it.
func wantSameUntil(t *testing.T, what string, a, b *OnlineRun, row int) {
	t.Helper()
	n := a.answers()
	same := func(x, y []float32, k int) bool {
		return slices.EqualFunc(x[:k], y[:k], func(u, v float32) bool { return math.Float32bits(u) == math.Float32bits(v) })
	}
	switch {
	case !same(a.Predictions, b.Predictions, row*n):
		t.Errorf("%s: another future changes forecasts of the past", what)
	case !same(a.Sets, b.Sets, 2*row*n):
		t.Errorf("%s: another future changes intervals of the past", what)
	case !same(a.Compared, b.Compared, compared*row*n):
		t.Errorf("%s: another future changes what is compared with in the past", what)
	case same(a.Predictions, b.Predictions, len(a.Predictions)):
		t.Errorf("%s: other readings change no forecast at all", what)
	}
}

// said32 writes a number that may not be known.
func said32(v *float32) string {
	if v == nil {
		return "unknown"
	}
	return fmt.Sprint(*v)
}

// No answer is seen early, whatever learns: what a forecast says does not depend on a
// reading that comes after it was made, and does on those before.
func TestOnlineForecastsSeeNoFuture(t *testing.T) {
	c := hillConfig(t, "")
	m := hillModel(t, c)
	s := hill(hillBefore + hillStream)
	const row = 45
	for _, keys := range []string{
		"preset: auto", "preset: own", "preset: paper", "mode: centralized", "mode: centralized, preset: paper", "preset: season, gate: off",
	} {
		onlineKeys(t, c, keys)
		run := playHill(t, c, m, s)
		wantSameUntil(t, keys+", permuted", run, playHill(t, c, m, withFuture(s, hillBefore+row)), row)
		one := playHill(t, c, m, withReading(s, hillBefore+row, 2, s.Values.At((hillBefore+row)*hillSensors+2, 0)+3))
		wantSameUntil(t, keys+", one reading", run, one, row)
	}
}

// The same of forecasts from files, of every step.
func TestForecastAllSeesNoFuture(t *testing.T) {
	m := hillModel(t, hillConfig(t, ""))
	s := hill(hillBefore + hillStream)
	const row = 30
	var said [2][]string
	for k, series := range []*data.Series{s, withFuture(s, hillBefore+row)} {
		path := filepath.Join(t.TempDir(), "new.csv")
		writeTable(t, path, series)
		r, err := NewForecastRun(m, SeriesFiles{Series: path}, false, 1)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		mustPlay(t, r)
		err = r.EachForecast(true, func(f Forecast) error {
			said[k] = append(said[k], fmt.Sprint(f.MadeAt, f.Sensor, f.Horizon, said32(f.Forecast), said32(f.Low), said32(f.High)))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	const each = hillSensors * 2
	if got, want := len(said[0]), hillStream*each; got != want {
		t.Fatalf("got %d forecasts, want %d", got, want)
	}
	if !slices.Equal(said[0][:row*each], said[1][:row*each]) {
		t.Error("another future changes forecasts of the past")
	}
	if slices.Equal(said[0], said[1]) {
		t.Error("other readings change no forecast at all")
	}
}

// And of a backtest: neither what an origin trains on, nor what it says, knows what is
// later.
func TestBacktestSeesNoFuture(t *testing.T) {
	c := hillConfig(t, "  split: {valid: 0.1, test: 0.25}")
	c.Train.Epochs = 2
	s := hill(hillBefore + hillStream)
	const late = 300 // in the stretch of the second origin
	var runs [2][]*OnlineRun
	for k, series := range []*data.Series{s, withFuture(s, late)} {
		writeTable(t, c.Abs(c.Forecast.Series), series)
		b, err := NewBacktest(c, 2, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := fmt.Sprint(b.origins), "[240 280 320]"; got != want {
			t.Fatalf("got origins %s, want %s", got, want)
		}
		var results []OriginResult
		for o := range b.Origins() {
			r, err := b.Train(t.Context(), o, "test", nil)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			mustPlay(t, r)
			runs[k], results = append(runs[k], r), append(results, b.Result(o, r, 2))
		}
		report := b.Report(results, "test")
		for h, mean := range report.Mean {
			want := (results[0].Result.Horizons[h].Method(MethodOnline).MAE + results[1].Result.Horizons[h].Method(MethodOnline).MAE) / 2
			if got := mean.Methods[len(mean.Methods)-1].MAE; math.Abs(got-want) > 1e-12 {
				t.Errorf("got a mean error of %v, want %v", got, want)
			}
		}
	}
	if !slices.Equal(runs[0][0].Predictions, runs[1][0].Predictions) || !slices.Equal(runs[0][0].Sets, runs[1][0].Sets) {
		t.Error("another future changes the first origin")
	}
	wantSameUntil(t, "second origin", runs[0][1], runs[1][1], late-280)
}

// Scores are of forecasts whose time came within the stream, by the readings of then.
func TestForecastScores(t *testing.T) {
	c := hillConfig(t, "")
	onlineKeys(t, c, "preset: auto")
	s := hill(hillBefore + hillStream)
	r := playHill(t, c, hillModel(t, c), s)
	f := r.forecastResult()
	for h, steps := range []int{1, 3} {
		sum, errs, count := 0.0, 0.0, 0
		for step := hillBefore; step+steps < s.Steps; step++ {
			for i := range hillSensors {
				truth := float64(s.Step(step+steps).At(i, 0))
				sum += math.Abs(truth - float64(s.Step(step).At(i, 0)))
				errs += math.Abs(truth - float64(r.Predictions[((step-hillBefore)*hillSensors+i)*2+h]))
				count++
			}
		}
		last, learned := f.Horizons[h].Method(MethodLast), f.Horizons[h].Method(MethodOnline)
		if got, want := last.MAE, sum/float64(count); math.Abs(got-want) > 1e-6*want || last.Count != uint64(count) {
			t.Errorf("%d ahead: got %v of %d for the last value, want %v of %d", steps, got, last.Count, want, count)
		}
		if got, want := learned.MAE, errs/float64(count); math.Abs(got-want) > 1e-6*want {
			t.Errorf("%d ahead: got %v online, want %v", steps, got, want)
		}
		if learned.Coverage < 0.7 || learned.Intervals != uint64(count) {
			t.Errorf("%d ahead: got a coverage of %v of %d, want about 0.9 of %d", steps, learned.Coverage, learned.Intervals, count)
		}
	}
	if typical, worst, ok := r.Curves(); !ok || typical.Score.MAE > worst.Score.MAE || len(typical.X) == 0 {
		t.Errorf("curves: got %v, typical %v and worst %v", ok, typical, worst)
	}
}

// A run that is interrupted goes on as if it had not been, and a second stream begins
// where the first ended; a sensor that joined is known from then on.
func TestForecastResume(t *testing.T) {
	for _, preset := range []string{"season", "own"} {
		c := hillConfig(t, "")
		onlineKeys(t, c, "preset: "+preset)
		c.Online.Stream.Series, c.Online.Stream.Graph = "stream.csv", "links.csv"
		m := hillModel(t, c)
		s := hill(hillBefore + hillStream)
		stream := s.Part(hillBefore, s.Steps)
		nodes, links := hillSensors, "src,dst,time\n"
		if preset == "season" {
			stream, nodes = withNewcomer(stream, 10), hillSensors+1
		}
		for i := 1; i < hillSensors; i++ {
			links += fmt.Sprintf("mast %d,mast %d,0\n", i-1, i)
			if i == 3 && preset == "season" {
				links += "newcomer,mast 3,20\n"
			}
		}
		if preset == "season" { // from row 20 on the links are all of these
			links = strings.Replace(links, "newcomer,mast 3,20\n", "", 1)
			for i := 1; i < hillSensors; i++ {
				links += fmt.Sprintf("mast %d,mast %d,20\n", i-1, i)
			}
			links += "newcomer,mast 3,20\n"
		}
		writeTable(t, c.Abs("stream.csv"), stream)
		if err := os.WriteFile(c.Abs("links.csv"), []byte(links), 0o644); err != nil {
			t.Fatal(err)
		}
		whole, err := NewOnlineRun(c, m, false)
		if err != nil {
			t.Fatal(err)
		}
		defer whole.Close()
		mustPlay(t, whole)
		want := whole.Report("test")
		if whole.Stream.Nodes != nodes || want.Forecast.From == want.Forecast.To {
			t.Errorf("%s: got %d sensors from %s to %s, want %d", preset, whole.Stream.Nodes, want.Forecast.From, want.Forecast.To, nodes)
		}
		got := interrupted(t, c, m, 33)
		if !slices.EqualFunc(got.Predictions, whole.Predictions, sameFloat) || !slices.EqualFunc(got.Sets, whole.Sets, sameFloat) {
			t.Errorf("%s: a run that was interrupted says something else", preset)
		}
		if a, b := fmt.Sprintf("%+v", got.Report("test").Forecast), fmt.Sprintf("%+v", want.Forecast); a != b {
			t.Errorf("%s: a run that was interrupted comes to another result:\n%s\n%s", preset, a, b)
		}
		second(t, c, whole, nodes)
	}
}

func sameFloat(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) }

// withNewcomer adds a sensor that reads from a row on.
func withNewcomer(s *data.Series, from int) *data.Series {
	other := *s
	other.Nodes++
	other.Names = append(slices.Clone(s.Names), "newcomer")
	other.Values = mat.NewDense(s.Steps*other.Nodes, 1, nil)
	for step := range s.Steps {
		for i := range s.Nodes {
			other.Values.Set(step*other.Nodes+i, 0, s.Step(step).At(i, 0))
		}
		v := float32(math.NaN())
		if step >= from {
			v = s.Step(step).At(3, 0) + 1
		}
		other.Values.Set(step*other.Nodes+s.Nodes, 0, v)
	}
	return &other
}

// interrupted plays a stream in two runs, with a file in between.
func interrupted(t *testing.T, c *config.Config, m *modelfile.Model, at int) *OnlineRun {
	t.Helper()
	first, err := NewOnlineRun(c, m, false)
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	stop := fmt.Errorf("stop")
	rest := func() error {
		if first.State.At == at {
			return stop
		}
		return nil
	}
	if err := first.Play(t.Context(), rest, func(OnlineStep) error { return nil }); err != stop {
		t.Fatalf("got %v, want the stop", err)
	}
	file := saved(t, first)
	was, err := AdaptationOf(file)
	if err != nil {
		t.Fatal(err)
	}
	r, err := ReopenOnlineRun(c, file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	if err := r.Resume(was, first.Predictions); err != nil {
		t.Fatal(err)
	}
	if err := r.ResumeSets(first.Sets); err != nil {
		t.Fatal(err)
	}
	truths, _ := first.Truths()
	if err := r.ResumeForecasts(first.Compared, truths); err != nil {
		t.Fatal(err)
	}
	mustPlay(t, r)
	return r
}

// saved writes and reads the file of a run.
func saved(t *testing.T, r *OnlineRun) *modelfile.Model {
	t.Helper()
	file, err := r.File("test")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "adapted.safetensors")
	if err := modelfile.Save(path, file); err != nil {
		t.Fatal(err)
	}
	if file, err = modelfile.Load(path); err != nil {
		t.Fatal(err)
	}
	return file
}

// second checks that the file of a run goes on with the stream that follows, knows its
// sensors, and meets nothing twice.
func second(t *testing.T, c *config.Config, first *OnlineRun, nodes int) {
	t.Helper()
	file := saved(t, first)
	if _, err := NewOnlineRun(c, file, false); err == nil || !strings.Contains(err.Error(), "the model has seen all of this series") {
		t.Errorf("got %v for the same stream again, want that the model has seen it", err)
	}
	if _, err := NewOnlineRun(c, file, true); err == nil || !strings.Contains(err.Error(), "begin from the trained model") {
		t.Errorf("got %v for a fresh beginning, want to be told to take the trained model", err)
	}
	spec, err := file.Forecast()
	if err != nil || len(spec.Sensors) != nodes {
		t.Fatalf("got sensors %v and %v, want %d", spec.Sensors, err, nodes)
	}
	s := hill(hillBefore + 2*hillStream)
	next := s.Part(hillBefore+hillStream-5, s.Steps)
	if nodes > hillSensors {
		next = withNewcomer(next, 0)
	}
	path := filepath.Join(t.TempDir(), "next.csv")
	writeTable(t, path, next)
	r, err := NewForecastRun(file, SeriesFiles{Series: path}, false, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	mustPlay(t, r)
	if r.State.At != hillStream || r.State.Preset != first.State.Preset {
		t.Errorf("got %d steps by %s, want %d by %s", r.State.At, r.State.Preset, hillStream, first.State.Preset)
	}
	for _, o := range r.Outlooks() {
		if !o.Known || o.Forecasts[0].Forecast == nil {
			t.Errorf("nothing is said of sensor %s", o.Sensor)
		}
	}
}

// withUsual returns a configuration with an online section that says nothing.
func withUsual(c *config.Config) *config.Config {
	own := *c
	own.Online = usualOnline()
	return &own
}
