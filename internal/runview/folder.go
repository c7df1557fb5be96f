package runview

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"

	"github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/internal/lifecycle"
	"github.com/wdgnn/wdgnn/internal/live"
	"github.com/wdgnn/wdgnn/internal/rundir"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/train"
)

// Open makes a recording of what is in the folder of a run: its events if it was
// recorded, otherwise the lines of training or of an online run, or what a backtest
// left. The caller closes it.
func Open(dir string) (*live.Recording, error) {
	if _, err := os.Stat(filepath.Join(dir, live.EventsName)); err == nil {
		return live.Open(dir)
	}
	text, err := os.ReadFile(filepath.Join(dir, rundir.MetricsName))
	if errors.Is(err, fs.ErrNotExist) {
		r, err := openBacktest(dir)
		if errors.Is(err, errNoBacktest) {
			return live.Open(dir) // which says what is missing
		}
		return r, err
	}
	if err != nil {
		return nil, fmt.Errorf("runview: %w", err)
	}
	if steps, skipped := readLines[lifecycle.OnlineStep](text, "mean_cost"); len(steps) > 0 {
		return replayOnline(dir, steps, skipped)
	}
	if epochs, skipped := readLines[train.Epoch](text, "grad_norm"); len(epochs) > 0 {
		return replayTraining(dir, epochs, skipped)
	}
	return live.Open(dir)
}

// OnlineLines returns what is in the folder of an online run so far; nothing if there
// is none.
func OnlineLines(dir string) []lifecycle.OnlineStep {
	text, err := os.ReadFile(filepath.Join(dir, rundir.MetricsName))
	if err != nil {
		return nil
	}
	steps, _ := readLines[lifecycle.OnlineStep](text, "mean_cost")
	return steps
}

// Epochs returns what is in the folder of a training run so far; nothing if there is
// none.
func Epochs(dir string) []train.Epoch {
	text, err := os.ReadFile(filepath.Join(dir, rundir.MetricsName))
	if err != nil {
		return nil
	}
	epochs, _ := readLines[train.Epoch](text, "grad_norm")
	return epochs
}

// mostLines is how many lines of a run are read.
const mostLines = 1_000_000

// readLines returns the lines of a file that hold a key, and how many do not.
func readLines[T any](text []byte, key string) (list []T, skipped int) {
	in := bufio.NewScanner(bytes.NewReader(text))
	in.Buffer(nil, 16<<20)
	mark := []byte(`"` + key + `":`)
	for in.Scan() && len(list) < mostLines {
		var one T
		switch line := in.Bytes(); {
		case len(bytes.TrimSpace(line)) == 0:
		case !bytes.Contains(line, mark) || json.Unmarshal(line, &one) != nil:
			skipped++
		default:
			list = append(list, one)
		}
	}
	return list, skipped
}

// mostFrames is how many frames a replay has. Of longer runs some steps are left out,
// but not from the means of the last steps.
const mostFrames = 2000

func strideOf(lines int) int { return (lines + mostFrames - 1) / mostFrames }

// title names a run by the last two folders of its path.
func title(what, dir string) string {
	whole, err := filepath.Abs(dir)
	if err != nil {
		whole = dir
	}
	return what + ": " + filepath.ToSlash(filepath.Join(filepath.Base(filepath.Dir(whole)), filepath.Base(whole)))
}

// OnlineTitle is that of the page of an online run in a folder.
func OnlineTitle(dir string) string { return title("Online learning", dir) }

// TrainingTitle is that of the page of a training run in a folder.
func TrainingTitle(dir string) string { return title("Training", dir) }

func replayOnline(dir string, steps []lifecycle.OnlineStep, skipped int) (*live.Recording, error) {
	about, why := aboutFolder(dir, steps)
	o := NewOnline(about)
	var text bytes.Buffer
	w, err := live.NewWriter(&text, o.Scene())
	if err != nil {
		return nil, fmt.Errorf("runview: %w", err)
	}
	if why != nil {
		if err := w.Say(0, "The network is not drawn: %v", why); err != nil {
			return nil, err
		}
	}
	stride := strideOf(len(steps))
	for k, s := range steps {
		f, words := o.Take(s)
		if k%stride == 0 || k == len(steps)-1 {
			err = w.Frame(f)
		}
		for _, said := range words {
			err = errors.Join(err, w.Tell(said))
		}
		if err != nil {
			return nil, fmt.Errorf("runview: %w", err)
		}
	}
	return load(&text, skipped)
}

func load(text *bytes.Buffer, skipped int) (*live.Recording, error) {
	r, err := live.Load(text.Bytes())
	if err == nil {
		r.Skipped += skipped
	}
	return r, err
}

// aboutFolder returns what the folder of an online run says of it, and why the network
// is not known if it is not.
func aboutFolder(dir string, steps []lifecycle.OnlineStep) (About, error) {
	run, err := reopen(dir)
	if err == nil {
		defer run.Close()
		a := AboutOnline(run, OnlineTitle(dir))
		if a.Horizons != nil {
			f, err := readForecasts(dir)
			a.Errors = errorsOf(a.Horizons, len(a.Sensors), func() forecasts { return f })
			return a, err
		}
		return a, nil
	}
	a := About{Title: OnlineTitle(dir), Words: aboutOnline, Steps: len(steps), Clock: clockOfLines(steps)}
	for _, s := range steps {
		a.Classes, a.Gates, a.Sets = a.Classes || s.Accuracy != nil, a.Gates || s.Adapted != nil, a.Sets || s.Coverage != nil
	}
	var result lifecycle.OnlineResult
	text, readErr := os.ReadFile(filepath.Join(dir, rundir.ResultName))
	if readErr == nil && json.Unmarshal(text, &result) == nil {
		if result.Coverage != nil {
			a.Asked = result.Coverage.Asked
		}
		if f := result.Forecast; f != nil {
			a.Unit, a.Words = f.Unit, aboutForecasts
			for _, h := range f.Horizons {
				a.Ahead, a.Horizons = append(a.Ahead, h.Ahead), append(a.Horizons, h.Steps)
			}
			for _, s := range f.Sensors {
				a.Sensors = append(a.Sensors, s.Sensor)
			}
		}
	}
	if a.Asked == 0 {
		a.Asked = math.NaN()
	}
	return a, err
}

// reopen loads the stream and the model of an online run.
func reopen(dir string) (*lifecycle.OnlineRun, error) {
	c, err := config.Load(filepath.Join(dir, rundir.ConfigName))
	if err != nil {
		return nil, err
	}
	file, err := modelfile.Load(filepath.Join(dir, rundir.AdaptedName))
	if err != nil {
		return nil, err
	}
	return lifecycle.ReopenOnlineRun(c, file)
}

// readForecasts returns the arrays that a run of forecasts left.
func readForecasts(dir string) (f forecasts, err error) {
	for _, a := range []struct {
		name string
		to   *[]float32
	}{{rundir.PredictionsName, &f.said}, {rundir.ComparedName, &f.compared}, {rundir.TruthName, &f.truth}} {
		array, err := modelfile.LoadArray(filepath.Join(dir, a.name))
		if err != nil {
			return f, err
		}
		*a.to = array.AnyFloat32s()
	}
	return f, nil
}

func replayTraining(dir string, epochs []train.Epoch, skipped int) (*live.Recording, error) {
	t := Training{Title: TrainingTitle(dir)}
	for _, e := range epochs {
		if e.Scored {
			t.Select = "loss" // unless the configuration says otherwise
		}
	}
	if c, err := config.Load(filepath.Join(dir, rundir.ConfigName)); err == nil && t.Select != "" {
		t.Select = c.Select()
	}
	var text bytes.Buffer
	w, err := live.NewWriter(&text, t.Scene())
	if err != nil {
		return nil, fmt.Errorf("runview: %w", err)
	}
	stride := strideOf(len(epochs))
	for k, e := range epochs {
		f, words := t.Take(e)
		if k%stride == 0 || k == len(epochs)-1 || len(words) > 0 {
			err = w.Frame(f)
		}
		for _, said := range words {
			err = errors.Join(err, w.Tell(said))
		}
		if err != nil {
			return nil, fmt.Errorf("runview: %w", err)
		}
	}
	return load(&text, skipped)
}
