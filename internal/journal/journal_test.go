package journal_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/internal/journal"
	"github.com/wdgnn/wdgnn/internal/journal/faultdisk"
)

func open(t *testing.T, d journal.Disk) (*journal.Journal, *journal.Recovered) {
	t.Helper()
	j, was, err := journal.Open(d)
	if err != nil {
		t.Fatal(err)
	}
	return j, was
}

func text(seq uint64) string {
	return fmt.Sprintf("record %d %s", seq, strings.Repeat("x", int(seq%50)))
}

// commit appends and commits records that say their numbers.
func commit(j *journal.Journal, count int) error {
	for k := range uint64(count) {
		j.Append([]byte(text(j.Last() + 1 + k)))
	}
	return j.Commit()
}

func snapshot(j *journal.Journal) error {
	if err := j.Rotate(); err != nil {
		return err
	}
	if err := j.WriteSnapshot(j.Last(), fmt.Appendf(nil, "state %d", j.Last())); err != nil {
		return err
	}
	return j.Prune()
}

// check reports records that do not continue the snapshot up to last.
func check(t *testing.T, was *journal.Recovered, last uint64) {
	t.Helper()
	if got := was.Seq + uint64(len(was.Records)); got < last {
		t.Fatalf("records up to %d, want %d at least", got, last)
	}
	if was.Seq > 0 && string(was.Snapshot) != fmt.Sprintf("state %d", was.Seq) {
		t.Fatalf("snapshot %d says %q", was.Seq, was.Snapshot)
	}
	for k, r := range was.Records {
		if want := text(was.Seq + uint64(k) + 1); string(r) != want {
			t.Fatalf("record %d is %q, want %q", was.Seq+uint64(k)+1, r, want)
		}
	}
}

// A folder of the system: what was committed is found again, and two programs
// cannot write to one folder.
func TestFolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	for round := range uint64(4) {
		d, err := journal.OpenDir(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := journal.OpenDir(path); !errors.Is(err, journal.ErrLocked) {
			t.Errorf("second opening: %v, want %v", err, journal.ErrLocked)
		}
		j, was := open(t, d)
		check(t, was, round*100)
		for range 100 {
			if err := commit(j, 1); err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(snapshot(j), j.Close(), d.Close()); err != nil {
			t.Fatal(err)
		}
		if names, _ := d.Names(); len(names) > 2+2 {
			t.Errorf("%q is left, want two snapshots and two logs at most", names)
		}
	}
}

// Whatever the moment of a crash, and whatever of the unsynced bytes reached
// the disk in whatever order, committed records are there and nothing else is
// in their place.
func TestCrashAnywhere(t *testing.T) {
	rounds := 3000
	if testing.Short() {
		rounds = 300
	}
	for seed := range rounds {
		rng := rand.New(rand.NewPCG(uint64(seed), 1))
		d, committed := faultdisk.New(), uint64(0)
		for range 5 {
			left := rng.IntN(80)
			d.Fail(func(faultdisk.Op) error {
				if left--; left < 0 {
					return faultdisk.ErrPower
				}
				return nil
			})
			if j, was, err := journal.Open(d); err == nil {
				check(t, was, committed)
				for err == nil {
					committed = j.Last()
					if rng.IntN(4) == 0 {
						_ = snapshot(j)
					}
					err = commit(j, 1+rng.IntN(8))
				}
			} else if !errors.Is(err, faultdisk.ErrPower) {
				t.Fatalf("seed %d: %v", seed, err)
			}
			d.Fail(nil)
			if rng.IntN(4) == 0 {
				d = d.Crash(nil)
			} else {
				d = d.Crash(rng)
			}
		}
		_, was := open(t, d)
		check(t, was, committed)
	}
}

// Errors of single operations, of every kind and at every place, lose nothing
// that was committed: the journal goes on or says that it is broken.
func TestErrorsAnywhere(t *testing.T) {
	broken := errors.New("input/output error")
	for seed := range 600 {
		rng := rand.New(rand.NewPCG(uint64(seed), 2))
		d, committed, failures := faultdisk.New(), uint64(0), 0
		j, _ := open(t, d)
		d.Fail(func(op faultdisk.Op) error {
			if rng.IntN(10) == 0 {
				failures++
				return broken
			}
			return nil
		})
		for range 40 {
			was := j.Err()
			err := commit(j, 1+rng.IntN(3))
			switch {
			case err == nil && was != nil:
				t.Fatalf("seed %d: a broken journal committed", seed)
			case err == nil:
				committed = j.Last()
			case !errors.Is(err, broken):
				t.Fatalf("seed %d: %v, want %v", seed, err, broken)
			}
			if rng.IntN(6) == 0 {
				_ = snapshot(j)
			}
		}
		d.Fail(nil)
		_, was := open(t, d.Crash(rng))
		check(t, was, committed)
	}
}

// A full disk refuses records; once there is room it takes them again.
func TestDiskFull(t *testing.T) {
	d := faultdisk.New()
	j, _ := open(t, d)
	if err := commit(j, 3); err != nil {
		t.Fatal(err)
	}
	d.SetRoom(50)
	for range 3 {
		if err := commit(j, 2); !errors.Is(err, faultdisk.ErrFull) {
			t.Fatalf("%v, want %v", err, faultdisk.ErrFull)
		}
	}
	d.SetRoom(-1)
	if err := commit(j, 2); err != nil {
		t.Fatal(err)
	}
	_, was := open(t, d.Crash(nil))
	check(t, was, 5)
	if len(was.Records) != 5 {
		t.Errorf("%d records, want 5", len(was.Records))
	}
}

// After a failed sync nothing is acknowledged any more: a later sync may well
// succeed without writing what the first one lost.
func TestFailedSync(t *testing.T) {
	d := faultdisk.New()
	j, _ := open(t, d)
	if err := commit(j, 1); err != nil {
		t.Fatal(err)
	}
	once := true
	d.Fail(func(op faultdisk.Op) error {
		if op.Kind == "sync" && once {
			once = false
			return errors.New("input/output error")
		}
		return nil
	})
	for range 2 {
		if err := commit(j, 1); !errors.Is(err, journal.ErrBroken) {
			t.Fatalf("%v, want %v", err, journal.ErrBroken)
		}
	}
	_, was := open(t, d.Crash(nil))
	check(t, was, 1)
}

// A damaged record that was committed is an error, not a loss; one at the very
// end cannot be told from one that was never committed.
func TestDamage(t *testing.T) {
	build := func() *faultdisk.Disk {
		d := faultdisk.New()
		j, _ := open(t, d)
		for range 5 {
			if err := commit(j, 1); err != nil {
				t.Fatal(err)
			}
		}
		return d
	}
	d := build()
	d.Damage("log-0000000000000001", 8+24+3)
	if _, _, err := journal.Open(d); err == nil || !strings.Contains(err.Error(), "record 1, at byte 8, is damaged") {
		t.Errorf("%v, want word of record 1", err)
	}
	// Of record 4 nobody knows but record 5, which was written after it was synced.
	at := 8
	for seq := range uint64(3) {
		at += 24 + len(text(seq+1))
	}
	d = build()
	d.Damage("log-0000000000000001", at+24+3)
	if _, _, err := journal.Open(d); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("record 4, at byte %d, is damaged", at)) {
		t.Errorf("%v, want word of record 4", err)
	}
	d = build()
	d.Damage("log-0000000000000001", at+24+len(text(4))+24+3)
	if _, was := open(t, d); len(was.Records) != 4 || was.Dropped == 0 {
		t.Errorf("the last record is damaged: %d records, %d bytes dropped; want 4, and some", len(was.Records), was.Dropped)
	}
	d = build()
	d.Damage("log-0000000000000001", 2)
	if _, _, err := journal.Open(d); err == nil || !strings.Contains(err.Error(), "does not begin like a log") {
		t.Errorf("%v, want word of the beginning", err)
	}
}

// A damaged snapshot is passed over: the one before it, and the records since,
// say the same.
func TestDamagedSnapshot(t *testing.T) {
	d := faultdisk.New()
	j, _ := open(t, d)
	for range 3 {
		if err := errors.Join(commit(j, 4), snapshot(j)); err != nil {
			t.Fatal(err)
		}
	}
	if err := commit(j, 1); err != nil {
		t.Fatal(err)
	}
	d.Damage("snapshot-000000000000000c", 50)
	_, was := open(t, d)
	check(t, was, 13)
	if was.Seq != 8 || len(was.Skipped) != 1 {
		t.Errorf("snapshot %d, passed over %q; want 8 and one", was.Seq, was.Skipped)
	}
	d.Damage("snapshot-0000000000000008", 50)
	if _, _, err := journal.Open(d); err == nil || !strings.Contains(err.Error(), "a log is missing") {
		t.Errorf("%v, want word of a missing log", err)
	}
}
