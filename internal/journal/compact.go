package journal

import (
	"errors"
	"fmt"
	"strings"
)

// Compact puts a state in the place of everything on the disk: it is a snapshot that
// stands for one record more, and all other files go. It says whether the state is in
// place: after an error, what was before may be left beside it, and [Journal.Sweep]
// removes that.
//
// Nothing must be appended and not committed, and no snapshot be under way.
func (j *Journal) Compact(state []byte) (done bool, err error) {
	if j.broken != nil {
		return false, j.broken
	}
	if j.waiting > 0 {
		panic("journal: Compact: records wait for Commit")
	}
	seq := j.last + 1
	if err := j.WriteSnapshot(seq, state); err != nil {
		if undo := errors.Join(j.disk.Remove(snapshotName(seq)), j.disk.Sync()); undo != nil {
			return false, j.fail(errors.Join(err, undo))
		}
		return false, err
	}
	j.last = seq
	if err := j.begin(); err != nil {
		return true, j.fail(err) // the old log must not go on after the snapshot
	}
	return true, j.Sweep(seq)
}

// Sweep removes everything that is older than the snapshot seq, and what damaged or
// unfinished snapshots left.
func (j *Journal) Sweep(seq uint64) error {
	names, err := j.disk.Names()
	if err != nil {
		return fmt.Errorf("journal: sweep: %w", err)
	}
	var errs []error
	for _, name := range names {
		if strings.HasPrefix(name, snapshotPrefix) && (strings.HasSuffix(name, damaged) || strings.HasSuffix(name, unfinished)) {
			errs = append(errs, j.disk.Remove(name))
		}
	}
	for _, s := range numbered(names, snapshotPrefix) {
		if s < seq {
			errs = append(errs, j.disk.Remove(snapshotName(s)))
		}
	}
	for len(j.logs) > 1 && j.logs[1] <= seq+1 {
		errs = append(errs, j.disk.Remove(logName(j.logs[0])))
		j.logs = j.logs[1:]
	}
	if err := errors.Join(append(errs, j.disk.Sync())...); err != nil {
		return fmt.Errorf("journal: sweep: %w", err)
	}
	return nil
}
