package journal

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"strconv"
	"strings"
)

const (
	logPrefix      = "log-"
	snapshotPrefix = "snapshot-"
	unfinished     = ".tmp"
	damaged        = ".damaged"
	snapshotMagic  = "wdgnn-snapshot " // and the version, 1
)

// ErrNewer says that a newer program wrote what is on the disk. All of it is left
// as it is.
var ErrNewer = errors.New("a newer program wrote it; update this one, or use another folder to begin anew")

func logName(first uint64) string    { return logPrefix + sixteen(first) }
func snapshotName(seq uint64) string { return snapshotPrefix + sixteen(seq) }

// sixteen returns v in as many hexadecimal digits.
func sixteen(v uint64) string {
	digits := strconv.FormatUint(v, 16)
	return "0000000000000000"[len(digits):] + digits
}

// numbered returns the numbers of the files with the given prefix, ascending.
func numbered(names []string, prefix string) []uint64 {
	var list []uint64
	for _, name := range names {
		digits, ok := strings.CutPrefix(name, prefix)
		if !ok || len(digits) != 16 {
			continue
		}
		if v, err := strconv.ParseUint(digits, 16, 64); err == nil {
			list = append(list, v)
		}
	}
	slices.Sort(list)
	return list
}

// Probe says whether the disk takes so many bytes: it writes a file beside the
// others and removes it.
func (j *Journal) Probe(size int) error {
	const name = snapshotPrefix + "probe" + unfinished // Open removes what a crash leaves
	f, err := j.disk.Append(name)
	if err != nil {
		return fmt.Errorf("journal: probe: %w", err)
	}
	_, err = f.Write(make([]byte, size))
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close(), j.disk.Remove(name))
	if err != nil {
		return fmt.Errorf("journal: probe: %w", err)
	}
	return nil
}

// WriteSnapshot writes the state after record seq, whole or not at all.
func (j *Journal) WriteSnapshot(seq uint64, state []byte) error {
	name := snapshotName(seq)
	f, err := j.disk.Append(name + unfinished)
	if err != nil {
		return fmt.Errorf("journal: snapshot: %w", err)
	}
	head := fmt.Sprintf(snapshotMagic+"1 seq=%d bytes=%d crc32c=%08x\n", seq, len(state), crc32.Checksum(state, castagnoli))
	err = f.Truncate(0)
	for _, part := range [][]byte{[]byte(head), state} {
		if err == nil {
			_, err = f.Write(part)
		}
	}
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = j.disk.Rename(name+unfinished, name)
	}
	if err == nil {
		err = j.disk.Sync()
	}
	if err != nil {
		return fmt.Errorf("journal: snapshot: %w", err)
	}
	return nil
}

// parseSnapshot returns the state in a file that should be the snapshot seq.
func parseSnapshot(text []byte, seq uint64) ([]byte, error) {
	line, state, ok := bytes.Cut(text, []byte("\n"))
	var version int
	if n, _ := fmt.Sscanf(string(line), snapshotMagic+"%d ", &version); n == 1 && version > 1 {
		return nil, fmt.Errorf("a snapshot of version %d, this program reads 1: %w", version, ErrNewer)
	}
	var at uint64
	var size int
	var crc uint32
	if _, err := fmt.Sscanf(string(line), snapshotMagic+"1 seq=%d bytes=%d crc32c=%x", &at, &size, &crc); err != nil || !ok {
		return nil, errors.New("its first line is not that of a snapshot")
	}
	if at != seq || size != len(state) || crc != crc32.Checksum(state, castagnoli) {
		return nil, errors.New("it is damaged")
	}
	return state, nil
}

// Prune removes all but the last two snapshots, and logs that the older of
// them makes superfluous. With a single snapshot all records are kept.
func (j *Journal) Prune() error {
	names, err := j.disk.Names()
	if err != nil {
		return fmt.Errorf("journal: prune: %w", err)
	}
	snapshots := numbered(names, snapshotPrefix)
	if len(snapshots) < 2 {
		return nil
	}
	keep := snapshots[len(snapshots)-2]
	var errs []error
	for _, s := range snapshots[:len(snapshots)-2] {
		errs = append(errs, j.disk.Remove(snapshotName(s)))
	}
	for len(j.logs) > 1 && j.logs[1] <= keep+1 { // the next log begins early enough
		errs = append(errs, j.disk.Remove(logName(j.logs[0])))
		j.logs = j.logs[1:]
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("journal: prune: %w", err)
	}
	return nil
}
