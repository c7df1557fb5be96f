package journal_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/internal/journal"
	"github.com/wdgnn/wdgnn/internal/journal/faultdisk"
)

// Whatever call to the disk fails in a compaction, and whatever a crash takes, the journal
// goes on from before it or from after it, with every record that was committed since;
// Sweep leaves nothing of what was before.
func TestCompact(t *testing.T) {
	for at := range 20 {
		d := faultdisk.New()
		j, _, err := journal.Open(d)
		if err != nil {
			t.Fatal(err)
		}
		put := func(j *journal.Journal, text string) error {
			j.Append([]byte(text))
			return j.Commit()
		}
		if err := errors.Join(put(j, "secret 1"), j.Rotate(), j.WriteSnapshot(1, []byte("secret")), put(j, "secret 2")); err != nil {
			t.Fatal(err)
		}
		calls := 0
		d.Fail(func(faultdisk.Op) error {
			if calls++; calls == at+1 {
				return errors.New("input/output error")
			}
			return nil
		})
		done, failed := j.Compact([]byte("clean"))
		d.Fail(nil)
		after := put(j, "after")
		d = d.Crash(rand.New(rand.NewPCG(uint64(at), 1)))
		j, was, err := journal.Open(d)
		if err != nil {
			t.Fatalf("failure %d: %v", at, err)
		}
		clean := string(was.Snapshot) == "clean"
		if last := len(was.Records) - 1; after == nil && (last < 0 || string(was.Records[last]) != "after") {
			t.Errorf("failure %d: compacted %v (%v), and the record after it is gone: %q after %q", at, done, failed, was.Records, was.Snapshot)
		}
		if done && failed == nil && !clean {
			t.Errorf("failure %d: compacted, and %q is found", at, was.Snapshot)
		}
		if !clean {
			continue
		}
		if err := j.Sweep(was.Seq); err != nil {
			t.Fatal(err)
		}
		names, _ := d.Names()
		for _, name := range names {
			if text, _ := d.ReadFile(name); strings.Contains(string(text), "secret") {
				t.Errorf("failure %d: %s still has what was before", at, name)
			}
		}
	}
}
