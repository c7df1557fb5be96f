package runview

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/forecast"
	"github.com/wdgnn/wdgnn/internal/lifecycle"
	"github.com/wdgnn/wdgnn/internal/live"
)

func pointer[T any](v T) *T { return &v }

// lines makes those of a run that classifies: so many nodes answer, some are told
// nothing.
func lines(steps, nodes int) (list []lifecycle.OnlineStep, right [][2]int, asked []int) {
	rng := rand.New(rand.NewPCG(1, 2))
	total, all := [2]int{}, 0
	for t := range steps {
		s := lifecycle.OnlineStep{Step: t}
		letters, hits := [2][]byte{}, [2]int{}
		told := 0
		for range nodes {
			known := t%7 != 3 && rng.IntN(4) > 0
			for l := range learners {
				letter := byte('-')
				if known {
					letter = byte('0' + rng.IntN(2))
				}
				if letter == '1' {
					hits[l]++
				}
				letters[l] = append(letters[l], letter)
			}
			if known {
				told++
			}
		}
		if told > 0 {
			s.Cost, s.FrozenCost = pointer(1.0), pointer(2.0)
			s.Right, s.FrozenRight = string(letters[learnerOnline]), string(letters[learnerFrozen])
		}
		all += told
		for l := range total {
			total[l] += hits[l]
		}
		if all > 0 {
			s.Asked = all
			s.Accuracy, s.FrozenAccuracy = pointer(float64(total[learnerOnline])/float64(all)), pointer(float64(total[learnerFrozen])/float64(all))
		}
		list, right, asked = append(list, s), append(right, hits), append(asked, told)
	}
	return list, right, asked
}

// The accuracy that is drawn is that of the last steps, exactly, though the lines
// speak of all steps so far; where nothing is known there is a gap.
func TestWindowedAccuracy(t *testing.T) {
	const steps, nodes = 300, 5
	list, right, asked := lines(steps, nodes)
	o := NewOnline(About{Steps: steps, Classes: true})
	if want := "right answers, last 10 steps"; o.Scene().Curves[0].Chart != want {
		t.Fatalf("got %q, want %q", o.Scene().Curves[0].Chart, want)
	}
	for k, s := range list {
		f, _ := o.Take(s)
		for l := range learners {
			hits, told := 0, 0
			for j := max(0, k-9); j <= k; j++ {
				hits, told = hits+right[j][l], told+asked[j]
			}
			want := 100 * float64(hits) / float64(told)
			if asked[k] == 0 {
				want = math.NaN()
			}
			if got := f.Curves[l]; math.Abs(got-want) > 1e-9 || (got-got != 0) != (want-want != 0) {
				t.Fatalf("step %d, %s: got %v, want %v", k, learners[l], got, want)
			}
		}
	}
}

// Each node has its own share of right answers, gates turn, and links that are out
// are said.
func TestNodesOfARun(t *testing.T) {
	list, _, _ := lines(60, 2)
	list[20].Opened, list[40].Closed = []int{1}, []int{1}
	network := &Network{
		Names: []string{"a", "b", "c"}, Links: [][2]int32{{0, 1}, {1, 2}}, Read: []int{2, 1},
		Out: func(step int) []int32 {
			if step < 30 {
				return []int32{}
			}
			return []int32{1}
		},
	}
	o := NewOnline(About{Steps: 60, Classes: true, Gates: true, Network: network})
	hub, err := live.NewHub(o.Scene())
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	for k, s := range list {
		f, words := o.Take(s)
		for _, w := range words {
			said = append(said, w.Text)
		}
		if err := hub.Publish(f); err != nil {
			t.Fatal(err)
		}
		right, told := 0, 0
		for _, line := range list[max(0, k-9) : k+1] {
			if line.Right == "" || line.Right[0] == '-' {
				continue
			}
			told++
			if line.Right[0] == '1' {
				right++
			}
		}
		if want := float32(100 * float64(right) / float64(told)); told > 0 && f.Values[0][2] != want {
			t.Fatalf("step %d: node c is right in %v of its answers, want %v", k, f.Values[0][2], want)
		}
		if open := f.Values[2][1]; (open == 1) != (k >= 20 && k < 40) {
			t.Fatalf("step %d: the gate of node b is %v", k, open)
		}
		if want := k >= 30; (len(f.Out) == 1) != want {
			t.Fatalf("step %d: links %v are out", k, f.Out)
		}
	}
	want := "Node 1 answers from now on with what was learned. 1 of 2 links are out from now on. Node 1 answers from now on as trained."
	if got := strings.Join(said, " "); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A forecast is drawn at the step that it was made for, with its interval; a sensor
// that is not believed is told, and is not there.
func TestForecastsOfARun(t *testing.T) {
	about := About{
		Steps: 20, Sets: true, Unit: "km/h", Ahead: []string{"15m", "30m"}, Horizons: []int{3, 6}, Sensors: []string{"north"},
		Network: &Network{Names: []string{"north"}, Read: []int{0}, index: map[string]int{"north": 0}},
	}
	o := NewOnline(about)
	if got := o.Scene().Curves[2]; got.Chart != "sensor north, forecast 15m ahead, km/h" || got.Name != "came true" {
		t.Fatalf("got %+v", got)
	}
	for k := range 20 {
		v := float32(k)
		s := lifecycle.OnlineStep{Step: k, Sensors: []lifecycle.SensorState{{
			Sensor: "north", Truth: &v, Forecast: []*float32{pointer(v + 3), nil},
			Low: []*float32{pointer(v + 2), nil}, High: []*float32{pointer(v + 4), nil},
		}}}
		if k == 10 {
			s.News = []lifecycle.SensorNews{{Sensor: "north", What: lifecycle.NewsBroken, Why: "it stands still"}}
		}
		f, words := o.Take(s)
		want := live.Numbers{float64(k), float64(k), float64(k) - 1, float64(k) + 1} // they were right
		if got := f.Curves[2:6]; k >= 3 && !slices.Equal(got, want) || k < 3 && !math.IsNaN(got[1]) {
			t.Errorf("step %d: got %v, want %v", k, got, want)
		}
		if (len(f.Down) == 1) != (k >= 10) {
			t.Errorf("step %d: not believed are %v", k, f.Down)
		}
		if k == 10 && (len(words) != 1 || !strings.Contains(words[0].Text, "sensor north is not believed: it stands still") ||
			words[0].Mark != "north not believed") {
			t.Errorf("got %v", words)
		}
	}
}

// Links whose loss would change an answer are drawn; a file about something else is
// refused.
func TestCertify(t *testing.T) {
	write := func(text string) string {
		path := filepath.Join(t.TempDir(), "lost.json")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	scene := func() live.Scene {
		return live.Scene{Nodes: []string{"a", "b", "c"}, Edges: [][2]int32{{0, 1}, {1, 2}}, Layout: live.LayoutForce}
	}
	s := scene()
	good := `{"lost": {"of": "links", "parts": [{"ends": [2, 1], "flips": 4}, {"ends": [0, 1], "flips": 0}, {"ends": [0, 2], "flips": 9}]}}`
	if err := Certify(&s, write(good)); err != nil || !slices.Equal(s.Weak, []int32{1}) || !strings.Contains(s.About, "any one of 1 links") {
		t.Errorf("got %v, weak %v, %q; want link 1", err, s.Weak, s.About)
	}
	for text, want := range map[string]string{
		`{"lost": {"of": "nodes"}}`:              "does not say what the loss of a link does",
		`{"lost": {"of": "links", "parts": []}}`: "none of the 0 links",
		`{`:                                      "unexpected end",
	} {
		s := scene()
		if err := Certify(&s, write(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
}

// A run whose lines say when steps were has a clock, by the first and the last; one of
// lines without times has none.
func TestClockOfLines(t *testing.T) {
	list := []lifecycle.OnlineStep{{Step: 2, Time: "2012-03-05 08:10:00"}, {Step: 3}, {Step: 6, Time: "2012-03-05 08:30:00"}}
	want := live.Clock{Start: float64(time.Date(2012, 3, 5, 8, 0, 0, 0, time.UTC).Unix()), Every: 300}
	if got := clockOfLines(list); got == nil || *got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	list[0].Time, list[2].Time = "2012-03-05 08:10:00+02:00", "2012-03-05 08:30:00+02:00"
	if got := clockOfLines(list); got == nil || *got != want {
		t.Errorf("with a zone: got %+v, want %+v, the time of the place", got, want)
	}
	list[2].Time = ""
	if got := clockOfLines(list); got != nil {
		t.Errorf("without times: got %+v, want none", got)
	}
}

// A backtest has the clock of its origins, which follow each other, and what each way to
// forecast came to.
func TestBacktestScene(t *testing.T) {
	r := &lifecycle.BacktestResult{Unit: "km/h"}
	for k, origin := range []string{"2026-03-18 19:15:00", "2026-03-20 04:45:00"} {
		horizons := []lifecycle.HorizonResult{{Steps: 1, Ahead: "15m"}}
		r.Origins = append(r.Origins, lifecycle.OriginResult{
			Origin: origin, Trained: 1613 + 134*k, Played: 134, Result: &lifecycle.ForecastResult{Horizons: horizons},
		})
	}
	r.Mean = []lifecycle.HorizonResult{{Steps: 1, Ahead: "15m", Methods: []lifecycle.MethodResult{
		{Name: lifecycle.MethodOnline, Score: forecast.Score{MAE: 1.25}},
	}}}
	b := &backtest{result: r, scene: backtestScene("sensors/backtest", r)}
	want := live.Clock{Start: float64(time.Date(2026, 3, 18, 19, 15, 0, 0, time.UTC).Unix()), Every: 900}
	if c := b.scene.Clock; c == nil || *c != want {
		t.Errorf("got the clock %v, want %v", c, want)
	}
	if name := b.scene.Counters[1].Name; name != "online, mean error 15m ahead, all origins" {
		t.Errorf("got the counter %q", name)
	}
	if got := b.totals(); len(got) != len(compared) || got[1] != 1.25 || !math.IsNaN(got[0]) {
		t.Errorf("got %v, want 1.25 of what learns, and nothing of what was not tried", got)
	}
}
