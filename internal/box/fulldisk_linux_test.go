package box_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/box"
)

// smallDisk mounts a file system of the given size and returns a function that
// fills all that is left of it.
func smallDisk(t *testing.T, path, size string) (ballast func()) {
	t.Helper()
	check(t, os.Mkdir(path, 0o700))
	if err := syscall.Mount("tmpfs", path, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("SKIPPED %s: %v; it runs where a test may mount a small disk, such as for root", t.Name(), err)
	}
	t.Cleanup(func() { syscall.Unmount(path, syscall.MNT_DETACH) })
	return func() {
		f, err := os.Create(path + "/ballast")
		check(t, err)
		defer f.Close()
		for _, err := f.Write(make([]byte, 4096)); err == nil; {
			_, err = f.Write(make([]byte, 4096))
		}
	}
}

// A disk that is full takes neither answers nor checkpoints: the box goes on and
// /healthz says so. When there is room again both come back, and the file of
// answers holds whole lines only.
func TestFullDisk(t *testing.T) {
	f := newFixture(t, graph.ShiftRowStochastic, true)
	ballast := smallDisk(t, f.path("disk"), "512k")
	c := f.config(0, 1)
	c.World = box.World{Kind: box.WorldLines, Answers: "disk/answers.jsonl"}
	c.State, c.CheckpointEvery, c.Metrics = "disk/state", 10*time.Millisecond, freeAddresses(t, 1)[0]
	k := open(t, f.load(t, c))
	ticker := time.NewTicker(2 * time.Millisecond)
	defer ticker.Stop()
	step := 0
	until := func(status int, words ...string) {
		t.Helper()
		for end := time.Now().Add(patience); ; <-ticker.C {
			l := strings.Replace(f.line(step%steps, everybody()...), fmt.Sprintf(`"time":%d`, step%steps), fmt.Sprintf(`"time":%d`, step), 1)
			k.say(l)
			step++
			got, text := health(t, c.Metrics)
			if got == status && !contains(words, func(w string) bool { return !strings.Contains(text, w) }) {
				return
			}
			if time.Now().After(end) {
				t.Fatalf("healthz: got %d, %q; want %d with %q", got, text, status, words)
			}
		}
	}
	until(http.StatusOK)
	ballast()
	until(http.StatusServiceUnavailable, "answers are lost", "no space left", "checkpoint")
	check(t, os.Remove(f.path("disk/ballast")))
	until(http.StatusOK)
	k.in.Close()
	final := k.hear(func(l *spoken) bool { return l.Report != nil && l.Report.Final }).Report
	check(t, k.end())
	text, err := os.ReadFile(f.path("disk/answers.jsonl"))
	check(t, err)
	last, count := uint64(0), uint64(0)
	for line := range bytes.Lines(text) {
		var a spoken
		if err := json.Unmarshal(line, &a); err != nil || len(a.Outputs) != nodes {
			t.Fatalf("line %q: %v, want a whole answer", line, err)
		}
		last = a.Time
		count++
	}
	if last != uint64(step-1) {
		t.Errorf("the last answer is of step %d, want %d", last, step-1)
	}
	if lost := final.Stats.LostAnswers; lost == 0 || count+lost != uint64(step) {
		t.Errorf("%d answers written and %d lost of %d, want each counted", count, lost, step)
	}
	if final.Stats.FailedCheckpoint == 0 || final.Unsaved {
		t.Errorf("%d checkpoints failed, the last: %v; want some, and not the last", final.Stats.FailedCheckpoint, final.Unsaved)
	}
}

func contains(list []string, is func(string) bool) bool {
	for _, v := range list {
		if is(v) {
			return true
		}
	}
	return false
}

// health asks how a box is; 0 if it does not answer yet.
func health(t *testing.T, address string) (int, string) {
	t.Helper()
	r, err := http.Get("http://" + address + "/healthz")
	if err != nil {
		return 0, err.Error()
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	check(t, err)
	return r.StatusCode, string(text)
}
