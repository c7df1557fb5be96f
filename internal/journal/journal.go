package journal

import (
	"errors"
	"fmt"
)

// ErrBroken says that a sync failed: what is on the disk is not known until the
// journal is opened again.
var ErrBroken = errors.New("the journal takes no more records: an earlier sync failed; restart to read what is on the disk")

// Journal is an open journal. WriteSnapshot may run beside everything else;
// the other methods must not be called concurrently.
type Journal struct {
	disk    Disk
	file    File
	logs    []uint64 // first records of all logs, the last one's being that of file
	size    int64    // of the file, as far as it is committed
	last    uint64   // record committed
	waiting uint64   // records appended and not committed
	buffer  []byte
	broken  error
}

// Append takes a record in and returns its sequence number. It is not on the
// disk before Commit; the payload is copied.
func (j *Journal) Append(payload []byte) uint64 {
	if len(payload) > frameMost-frameLeast {
		panic(fmt.Sprintf("journal: Append: a record of %d bytes", len(payload)))
	}
	j.waiting++
	f := frame{seq: j.last + j.waiting, synced: j.last, payload: payload}
	j.buffer = f.appendTo(j.buffer)
	return f.seq
}

// Commit returns nil once all records that were appended are on the disk. After
// an error none of them counts: they are dropped, and so is the claim of the
// caller to have recorded them; after an error that is [ErrBroken] some may
// turn up when the journal is opened again.
func (j *Journal) Commit() error {
	buffer, waiting := j.buffer, j.waiting
	j.buffer, j.waiting = j.buffer[:0], 0
	if j.broken != nil {
		return j.broken
	}
	if waiting == 0 {
		return nil
	}
	if n, err := j.file.Write(buffer); err != nil || n != len(buffer) {
		if err == nil {
			err = fmt.Errorf("%d of %d bytes written", n, len(buffer))
		}
		if undo := j.file.Truncate(j.size); undo != nil {
			return j.fail(errors.Join(err, undo))
		}
		return fmt.Errorf("journal: %w", err)
	}
	if err := j.file.Sync(); err != nil {
		return j.fail(err)
	}
	j.size += int64(len(buffer))
	j.last += waiting
	return nil
}

// fail breaks the journal.
func (j *Journal) fail(err error) error {
	j.broken = fmt.Errorf("journal: %w: %w", ErrBroken, err)
	return j.broken
}

// Err returns why the journal takes no more records, nil if it does.
func (j *Journal) Err() error { return j.broken }

// Last returns the sequence number of the last committed record, 0 before the
// first.
func (j *Journal) Last() uint64 { return j.last }

// Size returns the bytes of the current file.
func (j *Journal) Size() int64 { return j.size }

// Rotate begins a new file: records up to now are in older ones. Nothing must
// be appended and not committed. After an error records go on to the old file.
func (j *Journal) Rotate() error {
	if j.broken != nil {
		return j.broken
	}
	if j.waiting > 0 {
		panic("journal: Rotate: records wait for Commit")
	}
	if j.logs[len(j.logs)-1] == j.last+1 {
		return nil
	}
	return j.begin()
}

// begin makes a log for the records after the last.
func (j *Journal) begin() error {
	file, err := createLog(j.disk, logName(j.last+1))
	if err != nil {
		return fmt.Errorf("journal: new log: %w", err)
	}
	if j.file != nil {
		j.file.Close()
	}
	j.file, j.size, j.logs = file, int64(len(magic)), append(j.logs, j.last+1)
	return nil
}

// createLog makes an empty log. What is left of it after an error holds no
// records.
func createLog(d Disk, name string) (File, error) {
	f, err := d.Append(name)
	if err != nil {
		return nil, err
	}
	err = f.Truncate(0)
	if err == nil {
		_, err = f.Write([]byte(magic))
	}
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = d.Sync()
	}
	if err != nil {
		f.Close()
		_ = d.Remove(name)
		return nil, err
	}
	return f, nil
}

// Close ends writing. Records that were appended and not committed are lost.
func (j *Journal) Close() error { return j.file.Close() }
