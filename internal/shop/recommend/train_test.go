package recommend

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/internal/journal/faultdisk"
)

// A model predicts better than means alone, and does not depend on the number
// of threads.
func TestTrain(t *testing.T) {
	all, m := small()
	if r := m.Report; !(r.RMSE < 0.85*r.MeanRMSE) || r.Tested == 0 || r.Movies != 30 {
		t.Errorf("RMSE %.4f, %.4f by means, of %d ratings of %d movies; want it to be better", r.RMSE, r.MeanRMSE, r.Tested, r.Movies)
	}
	again, err := Train(context.Background(), all, smallSetting(), TrainConfig{Epochs: 10, BatchSize: 64, Threads: 3})
	if err != nil {
		t.Fatal(err)
	}
	if again.digest() != m.digest() {
		t.Error("three threads give another model than one")
	}
}

// Nobody who tests or validates is part of the graph or of training.
func TestDivide(t *testing.T) {
	all, _ := small()
	w, err := newWorld(all, smallSetting(), 1)
	if err != nil {
		t.Fatal(err)
	}
	everybody := slices.Sorted(slices.Values(slices.Concat(w.train, w.validation, w.test)))
	if len(slices.Compact(everybody)) != all.Users() || len(w.test) != 12 || len(w.validation) != 12 {
		t.Errorf("%d train, %d validate, %d test of %d", len(w.train), len(w.validation), len(w.test), all.Users())
	}
}

// What the service computes for a user is what training saw of a user.
func TestFeaturesAgree(t *testing.T) {
	all, m := small()
	w, err := newWorld(all, m.Setting, 1)
	if err != nil {
		t.Fatal(err)
	}
	x := newExtractor(w, m.network, 1<<20)
	rows, i := w.rowsOf(w.test, w.graph, 2), 0
	sum := 0.0
	for _, u := range w.test {
		movie, rating := w.ratings.User(u)
		f := x.of(&profile{movie: movie, rating: rating})
		for k, n := range movie {
			if !slices.Equal(f.row(n), rows.z.Row(i)) || f.mean[n] != rows.mean[i] || rating[k] != rows.rating[i] {
				t.Fatalf("user %d, movie %d: %v and mean %v, in training %v and %v", u, n, f.row(n), f.mean[n], rows.z.Row(i), rows.mean[i])
			}
			e := w.clip(f.mean[n]+float64(f.base[n])) - rating[k]
			sum += e * e
			i++
		}
	}
	if got := math.Sqrt(sum / float64(i)); math.Abs(got-m.Report.RMSE) > 1e-6 {
		t.Errorf("RMSE %v, reported %v", got, m.Report.RMSE)
	}
}

func TestSaveLoad(t *testing.T) {
	all, m := small()
	path := filepath.Join(t.TempDir(), "model.safetensors")
	if err := Save(path, m, "test"); err != nil {
		t.Fatal(err)
	}
	back, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if back.digest() != m.digest() || back.Report != m.Report || !slices.Equal(back.moment.Mean, m.moment.Mean) {
		t.Error("a model does not come back as it was")
	}
	_, err = Open(back, generated(120, 40, 2), faultdisk.New(), learning())
	if err == nil || !strings.Contains(err.Error(), "trained on other ratings") {
		t.Errorf("other ratings: %v", err)
	}
	_ = all
	text, err := os.ReadFile(sidecarPath(path))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ old, new, want string }{
		{`"neighbors": 5`, `"neighbors": 6`, "do not belong together"},
		{`"neighbors": 5`, `"neighbors": 0`, "neighbors is 0"},
		{`"format": 1`, `"format": 2`, "format 2"},
		{`"format": 1`, `"form": 1`, "unknown field"},
		{`{`, ``, "cannot unmarshal"},
	} {
		if err := os.WriteFile(sidecarPath(path), []byte(strings.Replace(string(text), c.old, c.new, 1)), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(path); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.new, err, c.want)
		}
	}
}

func TestSettingComplains(t *testing.T) {
	s := Setting{Movies: 1, Order: 0, Test: 0.5, Validation: 0.5}
	err := s.Validate()
	for _, want := range []string{"movies is 1", "neighbors is 0", "order is 0", "features is 0", "test is 0.5"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want word of %q", err, want)
		}
	}
}
