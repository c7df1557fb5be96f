package runview

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/wdgnn/wdgnn/internal/lifecycle"
	"github.com/wdgnn/wdgnn/internal/live"
	"github.com/wdgnn/wdgnn/internal/rundir"
)

// errNoBacktest says that a folder holds none.
var errNoBacktest = errors.New("no backtest")

// compared are the ways to forecast that a backtest puts side by side: where their
// numbers stand among those of forecasts.compared, -1 for the run's own.
var compared = []struct {
	name string
	at   int
	look int // in charts
}{
	{lifecycle.MethodFrozen, 0, live.LookFrozen},
	{lifecycle.MethodOnline, -1, live.LookLearning},
	{lifecycle.MethodRidge, 1, 1},
	{lifecycle.MethodSeason, 2, 3},
	{lifecycle.MethodLast, 3, 4},
}

// openBacktest replays a backtest: one origin after the other, with a gap between two.
func openBacktest(dir string) (*live.Recording, error) {
	text, err := os.ReadFile(filepath.Join(dir, rundir.ResultName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errNoBacktest
	}
	var result lifecycle.BacktestResult
	if err != nil || json.Unmarshal(text, &result) != nil || len(result.Origins) == 0 || result.Origins[0].Result == nil ||
		len(result.Mean) == 0 {
		return nil, errNoBacktest
	}
	b := &backtest{result: &result, scene: backtestScene(dir, &result)}
	w, err := live.NewWriter(&b.text, b.scene)
	if err != nil {
		return nil, fmt.Errorf("runview: %w", err)
	}
	for k := range result.Origins {
		f, err := readForecasts(filepath.Join(dir, fmt.Sprintf("origin%d", k+1)))
		if err != nil {
			return nil, fmt.Errorf("runview: origin %d: %w", k+1, err)
		}
		if err := b.play(w, k, f); err != nil {
			return nil, fmt.Errorf("runview: origin %d: %w", k+1, err)
		}
	}
	return load(&b.text, 0)
}

// backtest is a backtest that is written as a recording.
type backtest struct {
	result *lifecycle.BacktestResult
	scene  live.Scene
	text   bytes.Buffer
	time   int // steps so far
}

func backtestWindow(r *lifecycle.BacktestResult) int {
	steps := 0
	for _, o := range r.Origins {
		steps += o.Played
	}
	return windowOf(steps / len(r.Origins))
}

func backtestScene(dir string, r *lifecycle.BacktestResult) live.Scene {
	s := live.Scene{
		Title: title("Backtest", dir), Task: "backtest", Time: "step", Layout: live.LayoutNone,
		About: aboutBacktest, Clock: backtestClock(r),
	}
	for _, m := range compared {
		s.Learners, s.Looks = append(s.Learners, m.name), append(s.Looks, m.look)
	}
	for _, h := range r.Origins[0].Result.Horizons {
		chart := fmt.Sprintf("%s ahead: mean absolute error, last %d steps", h.Ahead, backtestWindow(r))
		if r.Unit != "" {
			chart += ", " + r.Unit
		}
		note := "How far forecasts were off when what they forecast came true, all sensors: less is better."
		for l, m := range compared {
			s.Curves = append(s.Curves, live.Curve{Name: m.name, Chart: chart, Learner: l, Unit: r.Unit, Note: note})
			note = ""
		}
	}
	ahead := r.Mean[len(r.Mean)/2].Ahead
	for _, m := range compared {
		s.Counters = append(s.Counters, live.Counter{Name: fmt.Sprintf("%s, mean error %s ahead, all origins", m.name, ahead), Unit: r.Unit})
	}
	return s
}

// backtestClock returns the clock of stretches that follow each other, nil if it cannot be
// known.
func backtestClock(r *lifecycle.BacktestResult) *live.Clock {
	first, last := &r.Origins[0], &r.Origins[len(r.Origins)-1]
	return clockOfLines([]lifecycle.OnlineStep{{Time: first.Origin}, {Step: last.Trained - first.Trained, Time: last.Origin}})
}

// totals are the mean absolute errors of all origins, at the middle horizon, by method.
func (b *backtest) totals() (list live.Numbers) {
	middle := b.result.Mean[len(b.result.Mean)/2]
	for _, m := range compared {
		at := slices.IndexFunc(middle.Methods, func(r lifecycle.MethodResult) bool { return r.Name == m.name })
		if at < 0 {
			list = append(list, math.NaN())
			continue
		}
		list = append(list, round(middle.Methods[at].MAE))
	}
	return list
}

// play writes the frames of the k-th origin.
func (b *backtest) play(w *live.Writer, k int, f forecasts) error {
	o := &b.result.Origins[k]
	horizons, sensors := o.Result.Horizons, len(o.Result.Sensors)
	if sensors == 0 || len(f.truth)%sensors != 0 {
		return fmt.Errorf("%d truths of %d sensors", len(f.truth), sensors)
	}
	words := fmt.Sprintf("Origin %d: %s, after %d steps of training.", k+1, o.Origin, o.Trained)
	if err := w.Tell(live.Words{Time: float64(b.time), Text: words, Mark: fmt.Sprintf("origin %d", k+1)}); err != nil {
		return err
	}
	windows := make([]*window, len(b.scene.Curves))
	for c := range windows {
		windows[c] = newWindow(backtestWindow(b.result))
	}
	for t := range len(f.truth) / sensors {
		frame := &live.Frame{Time: float64(b.time), Counters: b.totals()}
		for c, h := range horizons {
			for l, m := range compared {
				sum, count := f.off(t, c, len(horizons), h.Steps, sensors, m.at)
				at := windows[c*len(compared)+l]
				at.add(sum, count)
				frame.Curves = append(frame.Curves, at.mean())
			}
		}
		if err := w.Frame(frame); err != nil {
			return err
		}
		b.time++
	}
	if k == len(b.result.Origins)-1 {
		return nil
	}
	gap := &live.Frame{Time: float64(b.time) - 0.5} // the stretches follow each other
	for range b.scene.Curves {
		gap.Curves = append(gap.Curves, math.NaN())
	}
	return w.Frame(gap)
}

// off returns the sum of the absolute errors of forecasts that came due at row t, at
// the c-th of all horizons, h steps ahead, and how many there are.
func (f *forecasts) off(t, c, horizons, h, sensors, method int) (sum, count float64) {
	for i := range sensors {
		at := ((t-h)*sensors+i)*horizons + c
		if t < h || at >= len(f.said) || (at+1)*others > len(f.compared) {
			continue
		}
		said := f.said[at]
		if method >= 0 {
			said = f.compared[at*others+method]
		}
		if off := math.Abs(float64(said - f.truth[t*sensors+i])); off-off == 0 {
			sum, count = sum+off, count+1
		}
	}
	return sum, count
}
