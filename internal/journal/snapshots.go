package journal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// ErrDamaged says that there are snapshots and none of them can be read. Whoever
// went on would forget everything without a word.
var ErrDamaged = errors.New("every checkpoint in it is damaged; put back a copy of the folder, " +
	"or remove its files snapshot-*.damaged to begin anew without what was learned")

// Snapshots keeps the latest of a series of snapshots on a disk, and no records.
type Snapshots struct {
	journal *Journal
	seq     uint64
	last    []byte
	folder  *Dir // if it is to be closed too

	// Skipped are snapshots that could not be read, and why.
	Skipped []string

	// Gone says that the disk was used before and holds no snapshot: none was ever
	// written, or somebody removed them.
	Gone bool
}

// OpenSnapshots reads what is on the disk and continues after it. If the last
// snapshot is damaged, that is the one before; if all are, [ErrDamaged], also when it
// is tried again.
func OpenSnapshots(d Disk) (*Snapshots, error) {
	names, err := d.Names()
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	j, was, err := Open(d)
	if err != nil {
		return nil, err
	}
	if was.Snapshot == nil {
		if err := damagedSnapshots(d, was.Skipped); err != nil {
			return nil, errors.Join(err, j.Close())
		}
	}
	gone := was.Snapshot == nil && len(numbered(names, logPrefix)) > 0
	return &Snapshots{journal: j, seq: was.Seq, last: was.Snapshot, Skipped: was.Skipped, Gone: gone}, nil
}

// damagedSnapshots returns ErrDamaged if a disk without a snapshot has damaged ones:
// those that were just skipped, with why, or of an earlier start.
func damagedSnapshots(d Disk, skipped []string) error {
	names, err := d.Names()
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	names = slices.DeleteFunc(names, func(name string) bool {
		return !strings.HasPrefix(name, snapshotPrefix) || !strings.HasSuffix(name, damaged)
	})
	if len(names) == 0 {
		return nil
	}
	if len(skipped) == 0 {
		slices.Sort(names)
		skipped = names
	}
	return fmt.Errorf("journal: %s: %w", strings.Join(skipped, "; "), ErrDamaged)
}

// OpenFolder is OpenSnapshots for a folder, which is made if it does not exist and
// locked until Close.
func OpenFolder(path string) (*Snapshots, error) {
	d, err := OpenDir(path)
	if err != nil {
		return nil, err
	}
	s, err := OpenSnapshots(d)
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	s.folder = d
	return s, nil
}

// ReadFolder returns the last snapshot in a folder that can be read, nil if there
// is none, and those that cannot be, with why. It changes nothing and locks nothing:
// whoever writes there may go on.
func ReadFolder(path string) (state []byte, skipped []string, err error) {
	d := &Dir{path: path}
	names, err := d.Names()
	if err != nil {
		return nil, nil, fmt.Errorf("journal: %w", err)
	}
	found := numbered(names, snapshotPrefix)
	for k := len(found) - 1; k >= 0; k-- {
		name := snapshotName(found[k])
		text, err := d.ReadFile(name)
		if err == nil {
			state, err = parseSnapshot(text, found[k])
		}
		switch {
		case err == nil:
			return state, skipped, nil
		case errors.Is(err, ErrNewer):
			return nil, nil, fmt.Errorf("journal: %s: %w", name, err)
		}
		skipped = append(skipped, fmt.Sprintf("%s: %v", name, err))
	}
	return nil, skipped, nil
}

// ReadAll returns all snapshots in a folder, or an error if one cannot be read, as when it
// is just being replaced. It changes nothing and locks nothing.
func ReadAll(path string) (states [][]byte, err error) {
	d := &Dir{path: path}
	names, err := d.Names()
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	for _, seq := range numbered(names, snapshotPrefix) {
		text, err := d.ReadFile(snapshotName(seq))
		if err == nil {
			text, err = parseSnapshot(text, seq)
		}
		if err != nil {
			return nil, fmt.Errorf("journal: %s: %w", snapshotName(seq), err)
		}
		states = append(states, text)
	}
	return states, nil
}

// Written returns when the last snapshot in a folder was written, the zero time if
// there is none.
func Written(path string) (last time.Time) {
	d := &Dir{path: path}
	names, err := d.Names()
	if err != nil {
		return last
	}
	for _, seq := range numbered(names, snapshotPrefix) {
		if info, err := os.Stat(filepath.Join(path, snapshotName(seq))); err == nil && info.ModTime().After(last) {
			last = info.ModTime()
		}
	}
	return last
}

// Last returns the snapshot that was on the disk, nil if there was none.
func (s *Snapshots) Last() ([]byte, error) { return s.last, nil }

// Write replaces it, whole or not at all.
func (s *Snapshots) Write(snapshot []byte) error {
	// Under the same number as one that failed, whose remains it replaces.
	if err := s.journal.WriteSnapshot(s.seq+1, snapshot); err != nil {
		return err
	}
	s.seq++
	return s.journal.Prune()
}

// Close ends the series, and gives a folder's lock back.
func (s *Snapshots) Close() error {
	err := s.journal.Close()
	if s.folder != nil {
		err = errors.Join(err, s.folder.Close())
	}
	return err
}
