package rundir

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

type epoch struct {
	Epoch int `json:"epoch"`
}

func write(t *testing.T, d *Dir, epochs ...int) {
	t.Helper()
	for _, e := range epochs {
		if err := d.Append(epoch{e}); err != nil {
			t.Fatal(err)
		}
	}
}

func metrics(t *testing.T, d *Dir) string {
	t.Helper()
	text, err := os.ReadFile(d.Path(MetricsName))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A run's folder is not taken twice, unless it is to be replaced.
func TestCreate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "b")
	d, err := Create(path, false)
	if err != nil {
		t.Fatal(err)
	}
	write(t, d, 1)
	if err := d.WriteJSON(ResultName, epoch{1}); err != nil {
		t.Fatal(err)
	}
	if !d.Finished() {
		t.Error("a run with a result is not finished")
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(path, false); !errors.Is(err, ErrInUse) || !strings.Contains(err.Error(), path) {
		t.Errorf("got %v, want ErrInUse with the folder", err)
	}
	d, err = Create(path, true)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if got := metrics(t, d); d.Finished() || got != "" {
		t.Errorf("a replaced run has a result (%v) or metrics (%q)", d.Finished(), got)
	}
}

func TestOpenNeedsCheckpoint(t *testing.T) {
	if _, err := Open(t.TempDir()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, want that there is no checkpoint", err)
	}
}

// After a crash, lines beyond the checkpoint and half a line are dropped, and
// new lines follow what is left.
func TestTrim(t *testing.T) {
	d, err := Create(t.TempDir(), false)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	write(t, d, 1, 2, 3)
	if _, err := d.metrics.WriteString(`{"epoch":`); err != nil {
		t.Fatal(err)
	}
	err = d.Trim(func(line []byte) bool {
		var e epoch
		return json.Unmarshal(line, &e) == nil && e.Epoch <= 2
	})
	if err != nil {
		t.Fatal(err)
	}
	write(t, d, 3)
	if got, want := metrics(t, d), "{\"epoch\":1}\n{\"epoch\":2}\n{\"epoch\":3}\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestReadJSON(t *testing.T) {
	d, err := Create(t.TempDir(), false)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if err := d.WriteCompact(CheckpointName, epoch{7}); err != nil {
		t.Fatal(err)
	}
	var e epoch
	if err := d.ReadJSON(CheckpointName, &e); err != nil || e.Epoch != 7 {
		t.Errorf("got %+v and %v, want epoch 7", e, err)
	}
	if err := d.Write(CheckpointName, []byte("{")); err != nil {
		t.Fatal(err)
	}
	if err := d.ReadJSON(CheckpointName, &e); err == nil || !strings.Contains(err.Error(), CheckpointName) {
		t.Errorf("got %v, want an error that names the file", err)
	}
}

// An online run has files of its own, and leaves those of training alone.
func TestOnline(t *testing.T) {
	path := t.TempDir()
	d, err := CreateOnline(path, false)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if _, err := OpenOnline(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, want that there is no adapted model", err)
	}
	for _, name := range []string{AdaptedName, PredictionsName} {
		if err := d.Write(name, []byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := CreateOnline(path, false); !errors.Is(err, ErrInUse) {
		t.Errorf("got %v, want %v", err, ErrInUse)
	}
	again, err := OpenOnline(path)
	if err != nil {
		t.Fatal(err)
	}
	again.Close()
	replaced, err := CreateOnline(path, true)
	if err != nil {
		t.Fatal(err)
	}
	defer replaced.Close()
	if _, err := os.Stat(d.Path(AdaptedName)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, want that the old model is gone", err)
	}
	if err := d.Write(ModelName, []byte("x")); err != nil {
		t.Fatal(err)
	}
	if _, err := CreateOnline(path, true); !errors.Is(err, errTraining) {
		t.Errorf("got %v, want %v", err, errTraining)
	}
}
