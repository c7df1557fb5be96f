// Package journal keeps a sequence of small records on a disk that may fail at
// any moment, and snapshots of what they add up to.
//
//	j, was, err := journal.Open(disk)   // was: the last snapshot and the records after it
//	j.Append(record)                    // any number of times
//	err = j.Commit()                    // nil: everything appended is on the disk
//	err = j.Rotate()                    // now and then: what follows goes to a new file
//	err = j.WriteSnapshot(seq, state)   // beside further commits, from another goroutine
//	err = j.Prune()
//
// # Files
//
// Records are in log-S, S being the sequence number of the first, 16
// hexadecimal digits. After 8 bytes "wdgnnj1\n" come frames, little-endian:
//
//	length  uint32   bytes from seq to the end of the payload
//	crc     uint32   CRC-32C of them
//	seq     uint64   1, 2, 3, …
//	synced  uint64   the last record that was known to be on the disk
//	payload
//
// Snapshots are in snapshot-S, the state after record S: a line
//
//	wdgnn-snapshot 1 seq=S bytes=N crc32c=XXXXXXXX
//
// and N bytes. A snapshot is written under another name, synced and renamed.
// The last two are kept, and the records after the older one: if the newer one
// cannot be read, it is renamed to end in .damaged, and nothing is lost.
//
// # Failures
//
// A record that was cut off, or lost with others of its commit, was never
// reported as committed; it is dropped when the journal is opened. A damaged
// record that had been committed is an error: the field synced of a later one
// tells the two apart. A failed write is undone and may be tried again. After a
// failed sync nobody knows what is on the disk, so the journal takes no further
// records until it is opened again.
package journal
