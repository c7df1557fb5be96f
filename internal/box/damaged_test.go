package box_test

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/box"
	"github.com/wdgnn/wdgnn/internal/journal"
)

// damages are what disks and users do to files.
var damages = map[string]func([]byte) []byte{
	"truncated":   func(b []byte) []byte { return b[:len(b)/2] },
	"empty":       func([]byte) []byte { return nil },
	"zero-filled": func(b []byte) []byte { return make([]byte, len(b)) },
	"bit flipped": func(b []byte) []byte { b[len(b)/2] ^= 4; return b },
}

// ran leaves the folder of a box that has run, with two checkpoints.
func ran(t *testing.T) (f *fixture, c *box.Config, state string) {
	t.Helper()
	f = newFixture(t, graph.ShiftSymmetric, false)
	c = f.config(0, 1)
	c.State, c.CheckpointEvery = "state", time.Millisecond
	c = f.load(t, c)
	check(t, box.Run(t.Context(), c, box.Streams{}))
	state = f.path("state")
	last, _, err := journal.ReadFolder(state)
	check(t, err)
	store, err := journal.OpenFolder(state)
	check(t, err)
	check(t, store.Write(last))
	check(t, store.Close())
	return f, c, state
}

// spoil damages a file.
func spoil(t *testing.T, path string, how func([]byte) []byte) {
	t.Helper()
	text, err := os.ReadFile(path)
	check(t, err)
	check(t, os.WriteFile(path, how(text), 0o600))
}

// checkpoints returns the files of checkpoints, oldest first.
func checkpoints(t *testing.T, state, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(state, pattern))
	check(t, err)
	slices.Sort(files)
	return files
}

// A box whose checkpoints were removed begins anew and says so; a folder that was never
// used is none of these.
func TestCheckpointsRemoved(t *testing.T) {
	_, c, state := ran(t)
	for _, file := range checkpoints(t, state, "snapshot-*") {
		check(t, os.Remove(file))
	}
	for _, fresh := range []bool{false, true} {
		if fresh {
			check(t, os.RemoveAll(state))
		}
		var log bytes.Buffer
		check(t, box.Run(t.Context(), c, box.Streams{Log: slog.New(slog.NewTextHandler(&log, nil))}))
		if got := strings.Contains(log.String(), "there is no checkpoint"); got == fresh {
			t.Errorf("a folder never used: %t; said that checkpoints are gone: %t\n%s", fresh, got, log.String())
		}
	}
}

// A box whose last checkpoint is damaged goes on from the one before and says so.
func TestOneCheckpointDamaged(t *testing.T) {
	for name, how := range damages {
		t.Run(name, func(t *testing.T) {
			_, c, state := ran(t)
			files := checkpoints(t, state, "snapshot-*")
			if len(files) != 2 {
				t.Fatalf("got checkpoints %v, want two", files)
			}
			spoil(t, files[1], how)
			var log bytes.Buffer
			check(t, box.Run(t.Context(), c, box.Streams{Log: slog.New(slog.NewTextHandler(&log, nil))}))
			for _, want := range []string{"level=WARN", "the one before is taken", filepath.Base(files[1]), "goes on from a checkpoint"} {
				if !strings.Contains(log.String(), want) {
					t.Errorf("got log %s, want %q in it", log.String(), want)
				}
			}
		})
	}
}

// A box whose checkpoints are all damaged does not begin anew by itself: neither at
// once nor when its supervisor starts it again, but when it is told to.
func TestEveryCheckpointDamaged(t *testing.T) {
	for name, how := range damages {
		t.Run(name, func(t *testing.T) {
			_, c, state := ran(t)
			for _, file := range checkpoints(t, state, "snapshot-*") {
				spoil(t, file, how)
			}
			for attempt := range 3 {
				err := box.Run(t.Context(), c, box.Streams{})
				for _, want := range []string{state, "every checkpoint in it is damaged", "put back a copy", "snapshot-*.damaged"} {
					if err == nil || !strings.Contains(err.Error(), want) {
						t.Fatalf("start %d: got %v, want %q in it", attempt, err, want)
					}
				}
			}
			for _, file := range checkpoints(t, state, "snapshot-*.damaged") {
				check(t, os.Remove(file))
			}
			if err := box.Run(t.Context(), c, box.Streams{}); err != nil {
				t.Errorf("after the damaged files were removed: got %v, want a new beginning", err)
			}
		})
	}
}
