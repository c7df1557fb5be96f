package transport

import "sync"

// Inbox holds frames that arrived at a Bus and were not read yet: a channel of
// them with a share of its room for every sender, as [Bus.Frames] promises. All
// buses of this module have one, and those of others may.
//
// A sender may have as many frames waiting as there is room left for others, in
// number and in bytes: alone it takes up to a half, two that send too much a
// third each, and there is always room for somebody who has none there. Methods
// may be called concurrently.
type Inbox struct {
	frames chan Frame
	most   int // bytes

	mu      sync.Mutex
	closed  bool
	alone   bool                // one sender at most is heard: it may take everything
	waiting []entry             // what is in the channel, in a ring
	first   int                 // index of the oldest
	count   int                 // how many
	size    int                 // bytes of all
	shares  map[HostID]*holding // of senders with frames in it
	keep    func(*Frame) bool   // nil means all
	stats   Stats
}

// entry is a frame in the channel.
type entry struct {
	from HostID
	size int
}

// holding is what of a sender is in the channel.
type holding struct{ frames, size int }

// NewInbox returns an inbox for so many frames of so many bytes in all.
func NewInbox(frames, bytes int) *Inbox {
	return &Inbox{
		frames: make(chan Frame, frames), most: bytes, alone: true,
		waiting: make([]entry, frames), shares: map[HostID]*holding{},
	}
}

// Frames returns the channel, which Close closes.
func (b *Inbox) Frames() <-chan Frame { return b.frames }

// Senders says how many are heard from now on. One alone has all the room.
func (b *Inbox) Senders(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.alone = n <= 1
}

// Sift implements [Sifter].
func (b *Inbox) Sift(keep func(*Frame) bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.keep = keep
}

// Put hands a frame over to the reader, or drops and counts it if its sender has
// no room left, or nobody has; then it returns false, and a copy of the frame is as good
// as the frame.
func (b *Inbox) Put(f Frame) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return false
	}
	b.forget()
	from, size := f.From, len(f.Data)
	h := b.shares[from]
	if h == nil {
		h = new(holding)
	}
	free, room := cap(b.frames)-b.count, b.most-b.size
	fits := free > 0 && (size <= room || b.count == 0)
	if fits && !b.alone && h.frames > 0 {
		fits = h.frames < free && h.size+size <= room
	}
	if !fits { // before it is sifted
		b.stats.Dropped++
		return false
	}
	if b.keep != nil && !b.keep(&f) {
		b.stats.Received++
		b.stats.ReceivedBytes += uint64(size)
		return true
	}
	at := (b.first + b.count) % len(b.waiting)
	b.waiting[at] = entry{from, size}
	b.count++
	b.size += size
	h.frames++
	h.size += size
	b.shares[from] = h
	b.stats.Received++
	b.stats.ReceivedBytes += uint64(size)
	b.frames <- f // does not block: only Put sends, under mu
	return true
}

// forget drops what the reader has taken from the books.
func (b *Inbox) forget() {
	for left := len(b.frames); b.count > left; b.count-- {
		from, size := b.waiting[b.first].from, b.waiting[b.first].size
		b.first = (b.first + 1) % len(b.waiting)
		b.size -= size
		h := b.shares[from]
		h.frames--
		h.size -= size
		if h.frames == 0 {
			delete(b.shares, from)
		}
	}
}

// Stats returns what was put into the channel, and what was dropped.
func (b *Inbox) Stats() Stats {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.stats
}

// Close closes the channel; what is put later is lost. A second Close does
// nothing.
func (b *Inbox) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.closed {
		b.closed = true
		close(b.frames)
	}
}
