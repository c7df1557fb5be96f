package journal

import (
	"errors"
	"fmt"
	"strings"
)

// Recovered is what was on the disk.
type Recovered struct {
	Snapshot []byte   // the last one that can be read; nil if there is none
	Seq      uint64   // record after which it was taken, 0 without one
	Records  [][]byte // those after the snapshot, in order
	Dropped  int64    // bytes of records that were never committed
	Skipped  []string // snapshots that cannot be read, and why
}

// Open reads what is on the disk and continues after it.
func Open(d Disk) (*Journal, *Recovered, error) {
	names, err := d.Names()
	if err != nil {
		return nil, nil, fmt.Errorf("journal: %w", err)
	}
	for _, name := range names {
		if strings.HasPrefix(name, snapshotPrefix) && strings.HasSuffix(name, unfinished) {
			if err := d.Remove(name); err != nil {
				return nil, nil, fmt.Errorf("journal: %w", err)
			}
		}
	}
	was := &Recovered{}
	if err := was.load(d, numbered(names, snapshotPrefix)); err != nil {
		return nil, nil, err
	}
	j := &Journal{disk: d, last: was.Seq}
	if err := j.replay(was, numbered(names, logPrefix)); err != nil {
		return nil, nil, err
	}
	return j, was, nil
}

// load reads the newest snapshot that can be read.
func (r *Recovered) load(d Disk, snapshots []uint64) error {
	for k := len(snapshots) - 1; k >= 0; k-- {
		name := snapshotName(snapshots[k])
		text, err := d.ReadFile(name)
		if err != nil {
			return fmt.Errorf("journal: %s: %w", name, err)
		}
		state, err := parseSnapshot(text, snapshots[k])
		if err == nil {
			r.Snapshot, r.Seq = state, snapshots[k]
			return nil
		}
		if errors.Is(err, ErrNewer) { // sound for all we know: neither passed over nor called damaged
			return fmt.Errorf("journal: %s: %w", name, err)
		}
		r.Skipped = append(r.Skipped, fmt.Sprintf("%s: %v", name, err))
		if err := d.Rename(name, name+damaged); err != nil { // so that Prune does not count on it
			return fmt.Errorf("journal: %s: %w", name, err)
		}
	}
	return nil
}

// replay reads the records after the snapshot and opens the last log.
func (j *Journal) replay(was *Recovered, found []uint64) error {
	var logs []uint64
	var texts [][]byte
	for _, first := range found {
		text, err := j.disk.ReadFile(logName(first))
		if err == nil && len(text) > len(magic) {
			logs, texts = append(logs, first), append(texts, text)
			continue
		}
		if err == nil { // no record: new, or left of a Rotate that failed
			err = j.disk.Remove(logName(first))
		}
		if err != nil {
			return fmt.Errorf("journal: %s: %w", logName(first), err)
		}
	}
	j.logs = logs
	good, reached := 0, uint64(0)
	for k, first := range logs {
		if k+1 < len(logs) && logs[k+1] <= was.Seq+1 {
			continue // all its records are in the snapshot
		}
		var err error
		if good, reached, err = j.read(was, first, texts[k], k == len(logs)-1); err != nil {
			return fmt.Errorf("journal: %s: %w", logName(first), err)
		}
	}
	if len(logs) == 0 || reached < j.last { // the snapshot knows more than the log
		return j.begin()
	}
	return j.reopen(was, logName(logs[len(logs)-1]), good, len(texts[len(texts)-1]))
}

// reopen continues the log of the given name after its good bytes.
func (j *Journal) reopen(was *Recovered, name string, good, size int) error {
	f, err := j.disk.Append(name)
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	if good < size {
		was.Dropped = int64(size - good)
		err = f.Truncate(int64(good))
	}
	if err == nil { // what was read may be in the system's memory only
		err = f.Sync()
	}
	if err != nil {
		f.Close()
		return fmt.Errorf("journal: %s: %w", name, err)
	}
	j.file, j.size = f, int64(good)
	return nil
}

// read takes in the records of one log. It returns how many of its bytes are
// good, and the record that they end with; what follows was never committed,
// and may only follow in the last log.
func (j *Journal) read(was *Recovered, first uint64, text []byte, last bool) (good int, reached uint64, err error) {
	if err := checkMagic(text); err != nil {
		return 0, 0, err
	}
	good = len(magic)
	next := first
	for ; good < len(text); next++ {
		f, size, ok := parseFrame(text[good:])
		if !ok || f.seq != next {
			if last && !confirmed(text[good:], next) {
				return good, next - 1, nil
			}
			return 0, 0, fmt.Errorf("record %d, at byte %d, is damaged although it was committed; restore the folder from a copy", next, good)
		}
		good += size
		if next <= was.Seq {
			continue
		}
		if next != j.last+1 {
			return 0, 0, fmt.Errorf("record %d follows record %d: a log is missing; restore the folder from a copy", next, j.last)
		}
		was.Records = append(was.Records, f.payload)
		j.last = next
	}
	return good, next - 1, nil
}

// checkMagic says whether a log begins as ours do, and if not, whether a newer
// program's might: wdgnnj2 and so on.
func checkMagic(text []byte) error {
	begin := string(text[:min(len(magic), len(text))])
	var version int
	if n, _ := fmt.Sscanf(begin, "wdgnnj%d\n", &version); n == 1 && version > 1 {
		return fmt.Errorf("a log of version %d, this program reads 1: %w", version, ErrNewer)
	}
	if begin != magic {
		return errors.New("it does not begin like a log; restore the folder from a copy")
	}
	return nil
}

// confirmed says whether text, where record seq should begin, has a later
// record that knows seq to be committed.
func confirmed(text []byte, seq uint64) bool {
	for at := range text {
		if f, _, ok := parseFrame(text[at:]); ok && f.seq > seq && f.synced >= seq {
			return true
		}
	}
	return false
}
