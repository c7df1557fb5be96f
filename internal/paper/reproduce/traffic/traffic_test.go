package traffic

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/internal/paper/reproduce/study"
	"github.com/wdgnn/wdgnn/internal/paper/reproduce/study/studytest"
	"github.com/wdgnn/wdgnn/internal/shop/dataset"
)

// A forecast is judged by the row that it spoke of; what nobody forecast is counted
// apart.
func TestJudge(t *testing.T) {
	w := &week{Sensors: []string{"a", "b"}}
	for k := range 20 {
		w.Speeds = append(w.Speeds, []float64{float64(10 + k), 50})
	}
	const first = 6
	list := make([]float32, (20-first)*2*len(horizons))
	for row := first; row < 20; row++ {
		for c, h := range horizons {
			list[((row-first)*2+0)*len(horizons)+c] = float32(10 + row + h + 3) // 3 too much
			list[((row-first)*2+1)*len(horizons)+c] = 49                        // 1 too little
		}
	}
	list[1*len(horizons)+2] = float32(math.NaN()) // b, row 6, 6 steps ahead
	for c, h := range horizons {
		s := judge(w, list, first, c, func(_, i int) bool { return i == 0 })
		if got, want := s.Count, 20-first-h; got != want {
			t.Errorf("%d steps ahead: got %d forecasts, want %d", h, got, want)
		}
		if s.MAE != 3 || s.RMSE != 3 {
			t.Errorf("%d steps ahead: got errors of %v and %v, want 3", h, s.MAE, s.RMSE)
		}
	}
	s := judge(w, list, first, 2, func(_, i int) bool { return i == 1 })
	if got, want := s, (score{Count: 7, Unsaid: 1, MAE: 1, RMSE: 1, MAPE: 2}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// One seed is one world that changes; what is drawn has the shares that it says.
func TestDrawStream(t *testing.T) {
	w, err := readWeek(studytest.Traffic(t))
	if err != nil {
		t.Fatal(err)
	}
	const first = 700
	s, again, other := drawStream(w, 1, first), drawStream(w, 1, first), drawStream(w, 2, first)
	if study.Fingerprint(s) != study.Fingerprint(again) {
		t.Error("one seed draws two worlds")
	}
	if study.Fingerprint(s) == study.Fingerprint(other) {
		t.Error("two seeds draw one world")
	}
	if err := s.check(w); err != nil {
		t.Errorf("what is drawn does not fit: %v", err)
	}
	if got, want := len(s.left(w))+len(s.Lost), len(w.Links); got != want {
		t.Errorf("%d links lost or left, want %d", got, want)
	}
	rows, withheld := s.readings(w, first), s.withheld(w, first)
	for k, row := range rows {
		for i, v := range row {
			dead := s.dead(len(row))[i] && first+k >= s.BrokenFrom
			if !dead && v != w.Speeds[first+k][i] {
				t.Fatalf("row %d, sensor %d: got %v, want the %v of a live sensor", first+k, i, v, w.Speeds[first+k][i])
			}
			if dead != math.IsNaN(withheld[k][i]) {
				t.Fatalf("row %d, sensor %d: got answer %v, dead %v", first+k, i, withheld[k][i], dead)
			}
			if dead && slices.Contains(s.Zero, i) && v != 0 {
				t.Fatalf("row %d, sensor %d: got %v, want 0", first+k, i, v)
			}
		}
	}
}

// What is wrong with a folder is said, with what to do.
func TestReadWeekSaysWhatIsWrong(t *testing.T) {
	for name, c := range map[string]struct{ file, text, want string }{
		"no speeds":       {speedFile, "", speedFile},
		"words":           {speedFile, "a,b\n1,x\n", `"x" is no number`},
		"too short":       {speedFile, "a,b\n1,2\n", "want at least 900"},
		"another graph":   {adjacencyFile, "1,0\n0,1\n", "2 weights, want 8"},
		"no graph":        {adjacencyFile, "", adjacencyFile},
		"another network": {streamFile, `{"zero":[99]}`, "sensor 99 of 8"},
	} {
		dir := studytest.Traffic(t)
		var err error
		if c.text == "" {
			err = os.Remove(filepath.Join(dir, c.file))
		} else {
			err = os.WriteFile(filepath.Join(dir, c.file), []byte(c.text), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		_, err = readWeek(dir)
		var p *dataset.Problem
		if !errors.As(err, &p) || !strings.Contains(err.Error(), c.want) || !strings.Contains(p.Try, "--data") {
			t.Errorf("%s: got %v, want an error that says %q and what to try", name, err, c.want)
		}
	}
}

// Sensors of the default, after a short training, reach what they must on METR-LA
// where links and sensors are lost as others drew it, and lose nothing where nothing
// changes.
func TestMustReachOnMETRLA(t *testing.T) {
	if testing.Short() {
		t.Skipf("SKIPPED %s: it trains; it runs without -short", t.Name())
	}
	shared := filepath.Join("..", "..", "..", "..", "..", "shared")
	dir := t.TempDir()
	for _, file := range []string{
		filepath.Join("data", "metr-la", speedFile), filepath.Join("data", "metr-la", adjacencyFile), filepath.Join("reference", streamFile),
	} {
		text, err := os.ReadFile(filepath.Join(shared, file))
		if os.IsNotExist(err) && os.Getenv("CI") != "true" {
			t.Skipf("SKIPPED %s: the week of METR-LA is not here: %v", t.Name(), err)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, filepath.Base(file)), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	w, err := readWeek(dir)
	if err != nil {
		t.Fatal(err)
	}
	run := &study.Run{Options: studytest.Options(t.TempDir())}
	if err := os.MkdirAll(run.Models(), 0o755); err != nil {
		t.Fatal(err)
	}
	o := &origin{run: run, settings: settings{Seed: 1, Epochs: 5, Presets: 1}, week: w, threads: 2}
	if err := o.prepare(); err != nil {
		t.Fatal(err)
	}
	for _, do := range []func(context.Context) error{
		func(ctx context.Context) error { return o.still(ctx, true) }, o.changing,
	} {
		if err := do(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	f := observe([]*unit{o.unit})
	compare(f)
	for _, b := range bars(f) {
		if strings.Contains(b.Name, "60 min: RMSE") {
			continue // of models that are trained longer, and with and without the time of day
		}
		t.Logf("%s: %.3f, at most %.3f", b.Name, b.Found, b.Most)
		if !b.met() {
			t.Errorf("%s: got %.3f, want at most %.3f", b.Name, b.Found, b.Most)
		}
	}
}
