package box

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"sync/atomic"
	"time"
)

// outbox writes lines beside the loop of a host, so that a reader who has
// stopped reading does not stop the host. Lines that cannot be written are lost
// and counted, and the next are tried again: a full disk may have room later. A
// file holds whole lines only; where what was written cannot be taken back, a
// broken line is ended before the next. A file that somebody moved or removed, as
// those do who keep logs small, is made anew.
//
// put may be called concurrently, close once and after it.
type outbox struct {
	to     io.Writer
	file   *os.File // to, if it is a file whose end can be cut off; else nil
	path   string   // of the file
	looked time.Time
	end    int64 // of the last whole line in it
	owned  bool  // to was opened here
	broken bool  // a part of a line was written that could not be taken back

	queue  chan []byte
	spare  chan []byte   // that lines were in
	wait   time.Duration // for room
	done   chan struct{}
	failed atomic.Pointer[error] // of the last write; nil if that went well
	lost   atomic.Uint64         // lines
	change func(error)           // hears when writing begins to fail, and nil when it works again; may be nil
}

const (
	outboxLines = 256
	outboxEnd   = 2 * time.Second // in which the last lines must be taken
	outboxBatch = 64 << 10        // bytes that are written at once, about
	outboxLook  = time.Second     // after which a file is looked for again
	outboxSpare = 2               // lines whose memory is kept: those of many nodes are long
)

// errSlow says that nobody reads what is written.
var errSlow = errors.New("nobody reads it")

// newOutbox returns an outbox to w whose callers wait for room at most as given.
func newOutbox(w io.Writer, wait time.Duration, change func(error)) *outbox {
	o := &outbox{to: w, wait: wait, change: change}
	o.start()
	return o
}

// openOutbox returns an outbox to the end of a file, which it makes if need be. A
// line that a crash left without its end is cut off.
func openOutbox(path string, wait time.Duration, change func(error)) (*outbox, error) {
	o := &outbox{path: path, owned: true, wait: wait, change: change}
	if err := o.open(); err != nil {
		return nil, err
	}
	o.start()
	return o, nil
}

// open opens the file at its end.
func (o *outbox) open() error {
	f, err := os.OpenFile(o.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	var file *os.File
	end := int64(0)
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() { // a pipe, or a device, cannot be cut
		file = f
		if end, err = wholeLines(o.path); err == nil && end < info.Size() {
			err = f.Truncate(end)
		}
		if err != nil {
			f.Close()
			return err
		}
	}
	o.to, o.file, o.end, o.broken, o.looked = f, file, end, false, time.Now()
	return nil
}

// follow looks now and then whether the file is still where it was. One that was moved,
// or removed, has all lines so far; those that follow go into a new one. Where that
// cannot be made they would be lost to everybody, and are counted so. One that somebody
// cut off has its end where it is now. Where nobody can tell, it is believed to be there.
func (o *outbox) follow() error {
	if o.file == nil || time.Since(o.looked) < outboxLook {
		return nil
	}
	o.looked = time.Now()
	own, err := o.file.Stat()
	if err != nil {
		return err
	}
	there, err := os.Stat(o.path)
	if !errors.Is(err, fs.ErrNotExist) && (err != nil || os.SameFile(own, there)) {
		o.end = min(o.end, own.Size())
		return nil
	}
	old := o.file
	if err := o.open(); err != nil {
		o.looked = time.Time{} // with the next line again
		return err
	}
	old.Close()
	return nil
}

// start begins to write.
func (o *outbox) start() {
	o.queue, o.spare, o.done = make(chan []byte, outboxLines), make(chan []byte, outboxSpare), make(chan struct{})
	go o.run()
}

// wholeLines returns where the last whole line of a file ends.
func wholeLines(path string) (int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	end, err := f.Seek(0, io.SeekEnd)
	part := make([]byte, 64<<10)
	for err == nil && end > 0 {
		from := max(end-int64(len(part)), 0)
		if _, err = f.ReadAt(part[:end-from], from); err != nil {
			break
		}
		if at := bytes.LastIndexByte(part[:end-from], '\n'); at >= 0 {
			return from + int64(at) + 1, nil
		}
		end = from
	}
	return 0, err
}

// run writes what is in the queue, many lines at once if many wait.
func (o *outbox) run() {
	defer close(o.done)
	var batch []byte
	for line := range o.queue {
		if len(line) >= outboxBatch {
			o.note(o.write(line))
			o.keep(line)
			continue
		}
		batch = append(batch[:0], line...)
		o.keep(line)
		for len(batch) < outboxBatch && len(o.queue) > 0 {
			line = <-o.queue
			batch = append(batch, line...)
			o.keep(line)
		}
		o.note(o.write(batch))
	}
}

// keep keeps the memory of a line for another.
func (o *outbox) keep(line []byte) {
	select {
	case o.spare <- line[:0]:
	default:
	}
}

// write writes whole lines, and takes back what is left of one that was cut off.
func (o *outbox) write(lines []byte) error {
	err := o.follow()
	if err == nil && o.broken {
		_, err = o.to.Write([]byte{'\n'})
	}
	if err != nil {
		o.lost.Add(uint64(bytes.Count(lines, []byte{'\n'})))
		return err
	}
	o.broken = false
	n, err := o.to.Write(lines)
	if err == nil {
		o.end += int64(n)
		return nil
	}
	whole := bytes.LastIndexByte(lines[:n], '\n') + 1
	o.lost.Add(uint64(bytes.Count(lines[whole:], []byte{'\n'})))
	o.end += int64(whole)
	if whole < n {
		o.broken = o.file == nil || o.file.Truncate(o.end) != nil
	}
	return err
}

// note keeps how the last write went.
func (o *outbox) note(err error) {
	was := o.failed.Load() != nil
	if err == nil {
		o.failed.Store(nil)
	} else {
		o.failed.Store(&err)
	}
	if o.change != nil && was != (err != nil) {
		o.change(err)
	}
}

// err returns why the last lines were not written, nil if they were.
func (o *outbox) err() error {
	if e := o.failed.Load(); e != nil {
		return *e
	}
	return nil
}

// put takes a line, without its end; text is not kept.
func (o *outbox) put(text []byte) error {
	var line []byte
	select {
	case line = <-o.spare:
	default:
	}
	line = append(append(slices.Grow(line, len(text)+1), text...), '\n')
	select {
	case o.queue <- line:
		return nil
	default:
	}
	timer := time.NewTimer(o.wait)
	defer timer.Stop()
	select {
	case o.queue <- line:
		return nil
	case <-timer.C:
		return fmt.Errorf("box: a line for the world: %w", errSlow)
	}
}

// close returns when all lines are written, or nobody wants to read them.
func (o *outbox) close() error {
	close(o.queue)
	timer := time.NewTimer(outboxEnd)
	defer timer.Stop()
	select {
	case <-o.done:
	case <-timer.C:
		return fmt.Errorf("box: the last lines for the world: %w", errSlow)
	}
	if c, ok := o.to.(io.Closer); ok && o.owned {
		defer c.Close()
	}
	if err := o.err(); err != nil {
		return fmt.Errorf("box: the last lines for the world: %w", err)
	}
	return nil
}
