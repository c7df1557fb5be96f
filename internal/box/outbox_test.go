package box

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// narrow is a writer with room for so many bytes, as a disk or a pipe.
type narrow struct {
	text []byte
	room int
}

func (n *narrow) Write(p []byte) (int, error) {
	took := min(len(p), n.room)
	n.text, n.room = append(n.text, p[:took]...), n.room-took
	if took < len(p) {
		return took, errors.New("no space left")
	}
	return took, nil
}

// Lines that do not fit are lost and counted, the next are tried again, and the
// rest of a line that was cut off is ended before the next, where it cannot be
// taken back.
func TestOutboxComesBack(t *testing.T) {
	to := &narrow{room: 10}
	var changes []bool
	o := newOutbox(to, time.Second, func(err error) { changes = append(changes, err != nil) })
	write := func(line string, room int) { // one at a time, so that the test may look between two
		to.room += room
		o.note(o.write([]byte(line + "\n")))
	}
	write(`{"a":1}`, 0) // fits: 8 bytes
	write(`{"b":2}`, 0) // 2 of 8
	write(`{"c":3}`, 0)
	if o.err() == nil || o.lost.Load() != 2 {
		t.Errorf("error %v, %d lines lost, want one and 2", o.err(), o.lost.Load())
	}
	write(`{"d":4}`, 100)
	if o.err() != nil || o.lost.Load() != 2 {
		t.Errorf("with room again: error %v, %d lines lost, want none and 2", o.err(), o.lost.Load())
	}
	if got, want := string(to.text), "{\"a\":1}\n{\"\n{\"d\":4}\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if len(changes) != 2 || !changes[0] || changes[1] {
		t.Errorf("was told of the changes %v, want that it fails and that it does not", changes)
	}
	if err := o.close(); err != nil {
		t.Error(err)
	}
}

// What a crash left of a line is cut off when the file is opened again.
func TestOutboxCutsHalfALine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "answers.jsonl")
	long := strings.Repeat("x", 200_000)
	for _, c := range []struct{ before, want string }{
		{"", "next\n"}, {"one\n", "one\nnext\n"}, {"one\ntw", "one\nnext\n"}, {"half", "next\n"}, {"one\n" + long, "one\nnext\n"},
	} {
		if err := os.WriteFile(path, []byte(c.before), 0o600); err != nil {
			t.Fatal(err)
		}
		o, err := openOutbox(path, time.Second, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(o.put([]byte("next")), o.close()); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != c.want {
			t.Errorf("after %.20q: got %.40q, %v; want %q", c.before, got, err, c.want)
		}
	}
}

// A file of answers that somebody moves, removes or cuts off while the box runs is made
// anew, or goes on where it ends; where it cannot be made, lines are counted as lost.
func TestOutboxFollowsItsFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "kept", "answers.jsonl")
	if err := os.Mkdir(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	o, err := openOutbox(path, time.Second, nil)
	if err != nil {
		t.Fatal(err)
	}
	write := func(line string) {
		o.looked = o.looked.Add(-2 * outboxLook) // as if the last look were long ago
		o.note(o.write([]byte(line + "\n")))
	}
	check := func(when, file, want string) {
		t.Helper()
		text, err := os.ReadFile(file)
		if err != nil || string(text) != want || o.err() != nil {
			t.Errorf("%s: got %q, %v, error %v, want %q", when, text, err, o.err(), want)
		}
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	write("a")
	must(os.Rename(path, path+".1"))
	write("b")
	check("moved", path, "b\n")
	check("moved", path+".1", "a\n")
	must(os.Remove(path))
	write("c")
	check("removed", path, "c\n")
	must(os.Truncate(path, 0))
	write("d")
	check("cut off", path, "d\n")
	if o.end != 2 {
		t.Errorf("cut off: the end is at %d, want 2", o.end)
	}
	must(os.RemoveAll(filepath.Dir(path)))
	write("e")
	if o.err() == nil || o.lost.Load() != 1 {
		t.Errorf("without its folder: error %v, %d lines lost, want one and 1", o.err(), o.lost.Load())
	}
	must(os.Mkdir(filepath.Dir(path), 0o755))
	write("f")
	check("with its folder again", path, "f\n")
	must(o.close())
}
