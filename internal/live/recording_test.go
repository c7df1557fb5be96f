package live

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// record shows frames to a recorder at ten a second and returns its folder.
func record(t *testing.T, frames int, c RecordConfig) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	synctest.Test(t, func(t *testing.T) {
		h, err := NewHub(ringScene(5))
		if err != nil {
			t.Fatal(err)
		}
		r, err := Record(h, dir, c)
		if err != nil {
			t.Fatal(err)
		}
		for at := range frames {
			if err := h.Publish(ringFrame(5, float64(at))); err != nil {
				t.Fatal(err)
			}
			if at == frames/2 {
				h.Say(float64(at), "half of it")
			}
			time.Sleep(100 * time.Millisecond)
		}
		h.Close()
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	})
	return dir
}

func open(t *testing.T, dir string) *Recording {
	t.Helper()
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// What was recorded comes back.
func TestRecord(t *testing.T) {
	r := open(t, record(t, 50, RecordConfig{}))
	if r.Frames() != 50 || r.Scene.Title != "Ring" || len(r.Words) != 1 || r.Words[0].Time != 25 || r.Skipped != 0 {
		t.Fatalf("%d frames, title %q, words %v, skipped %d", r.Frames(), r.Scene.Title, r.Words, r.Skipped)
	}
	if len(r.History.Times) != 50 || r.History.Curves[1][49] != 49 {
		t.Errorf("history: %d points", len(r.History.Times))
	}
	list, err := r.Read(10, 3, 1<<20)
	if err != nil || len(list) != 3 {
		t.Fatalf("%d frames, %v", len(list), err)
	}
	if f := decode[Frame](t, list[2]); f.Time != 12 || f.Values[0][4] != 4 {
		t.Errorf("frame: %+v", f)
	}
	if list, err := r.Read(0, 50, 10); err != nil || len(list) != 1 {
		t.Errorf("%d frames within 10 bytes, %v; want 1", len(list), err)
	}
	for _, from := range []int{-1, 51} {
		if _, err := r.Read(from, 1, 100); err == nil {
			t.Errorf("from %d: no error", from)
		}
	}
}

// A long run has its beginning and its end within the limit.
func TestRecordLimit(t *testing.T) {
	const limit = 16 << 10
	dir := record(t, 2000, RecordConfig{Limit: limit})
	info, err := os.Stat(filepath.Join(dir, EventsName))
	if err != nil || info.Size() > limit {
		t.Fatalf("%d bytes, %v; want at most %d", info.Size(), err, limit)
	}
	r := open(t, dir)
	if n := r.Frames(); n < 30 || r.Times[0] != 0 || r.Times[n-1] < 500 || !slices.IsSorted(r.Times) {
		t.Errorf("%d frames from %v to %v", n, r.Times[0], r.Times[len(r.Times)-1])
	}
}

// A recording is not written over.
func TestRecordTwice(t *testing.T) {
	dir := record(t, 2, RecordConfig{})
	if _, err := Record(ringHub(t, 5), dir, RecordConfig{}); !errors.Is(err, os.ErrExist) {
		t.Errorf("got %v, want ErrExist", err)
	}
}

// Torn, malformed and hostile lines are skipped and counted.
func TestOpenDamaged(t *testing.T) {
	dir := record(t, 10, RecordConfig{})
	file := filepath.Join(dir, EventsName)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	unfit, second := []byte(`{"frame":{"t":3,"down":[99]}}`+"\n"), []byte(`{"scene":{"layout":"none"}}`+"\n")
	damaged := slices.Concat(lines[0], []byte("not json\n"), lines[1], unfit, second, lines[2], lines[3][:len(lines[3])/2])
	if err := os.WriteFile(file, damaged, 0o644); err != nil {
		t.Fatal(err)
	}
	r := open(t, dir)
	if r.Frames() != 2 || r.Skipped != 4 {
		t.Errorf("%d frames, %d skipped; want 2 and 4", r.Frames(), r.Skipped)
	}
	for name, text := range map[string]string{"empty": "", "no scene": `{"frame":{"t":1}}`, "bad scene": `{"scene":{"layout":"x"}}`} {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if r, err := Open(dir); err == nil {
			r.Close()
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := Open(t.TempDir()); !errors.Is(err, ErrNoRun) {
		t.Errorf("an empty folder: %v, want ErrNoRun", err)
	}
}

// The metrics of a training run are curves.
func TestOpenMetrics(t *testing.T) {
	dir := t.TempDir()
	text := `{"epoch":1,"loss":0.5,"note":"x"}` + "\n" + `{"epoch":2,"loss":0.25,"valid_score":0.1}` + "\n" + `{"epoch":3,"lo`
	if err := os.WriteFile(filepath.Join(dir, "metrics.jsonl"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	r := open(t, dir)
	curves := r.Scene.Curves
	if r.Frames() != 2 || r.Scene.Time != "epoch" || len(curves) != 2 || curves[1].Name != "valid score" || r.Skipped != 1 || r.Times[1] != 2 {
		t.Fatalf("%d frames, scene %+v, skipped %d", r.Frames(), r.Scene, r.Skipped)
	}
	list, err := r.Read(1, 1, 1000)
	if err != nil {
		t.Fatal(err)
	}
	if f := decode[Frame](t, list[0]); f.Curves[0] != 0.25 || f.Curves[1] != 0.1 {
		t.Errorf("frame %+v", f)
	}
}

func TestWriter(t *testing.T) {
	var b bytes.Buffer
	w, err := NewWriter(&b, ringScene(5))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Frame(ringFrame(5, 1)), w.Say(1, "done")); err != nil {
		t.Fatal(err)
	}
	if err := w.Frame(ringFrame(4, 1)); err == nil {
		t.Error("a frame of four nodes: no error")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, EventsName), b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	if r := open(t, dir); r.Frames() != 1 || r.Words[0].Text != "done" {
		t.Errorf("%d frames, words %v", r.Frames(), r.Words)
	}
}

func TestResults(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	const result = `{"manifest":{},"tables":[{"title":"A"}],"notes":["n"],
		"charts":[{"name":"fig","title":"F"},{"name":"../../secret","title":"S"}]}`
	put("table1/result.json", result)
	put("table1/fig.svg", "<svg/>")
	put("other.json", `{"some":"thing"}`)
	put("broken.json", "{")
	put("large.json", strings.Repeat(" ", maxResult+1))
	put("fig2.json", `{"manifest":{}}`)
	r, err := OpenResults(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	r.Titles = map[string]string{"table1": "Table 1: a title"}
	list, err := r.List()
	if err != nil || len(list) != 2 || list[0].Name != "table1" || list[0].Title != "Table 1: a title" || list[1].Title != "fig2" {
		t.Fatalf("%+v, %v", list, err)
	}
	if f := list[0].Figures; len(f) != 1 || f[0].Path != "table1/fig.svg" {
		t.Errorf("figures %+v", f)
	}
	if text, err := r.Figure("table1/fig.svg"); err != nil || string(text) != "<svg/>" {
		t.Errorf("%q, %v", text, err)
	}
	put("../outside.svg", "<svg/>")
	for _, name := range []string{"../outside.svg", "/etc/passwd", "other.json", "table1/../other.svg", "none.svg", ""} {
		if _, err := r.Figure(name); err == nil {
			t.Errorf("%q: no error", name)
		}
	}
}
