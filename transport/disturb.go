package transport

import (
	"bytes"
	"container/heap"
	"math"
	"slices"
	"sync"
	"time"
)

// Disturb returns a Bus that does the given faults to what arrives at b, the
// bus of host self, so that every transport can be disturbed the same way. What
// is sent passes untouched: it is disturbed where it arrives. The returned Bus
// takes b's place; closing it closes b. Without any fault it is b.
//
// The fate of the n-th frame that arrives from a host follows from the seed,
// both hosts and n. A run over a network that itself loses nothing can
// therefore be repeated.
//
// Faults are not checked: see [Faults.Validate].
func Disturb(b Bus, self HostID, f Faults) Bus {
	if !f.Any() {
		return b
	}
	if l := leak(b, self, f); l != nil {
		return l
	}
	f.Partitions = slices.Clone(f.Partitions)
	d := &disturbed{
		Bus:     b,
		self:    self,
		faults:  f,
		began:   f.Began,
		senders: make(map[HostID]*sender),
		inbox:   NewInbox(max(cap(b.Frames()), 64), math.MaxInt),
		ended:   make(chan struct{}),
	}
	go d.run()
	return d
}

// Disturbances counts what Disturb did, in frames that arrived.
type Disturbances struct {
	Lost        uint64 `json:"lost"`
	Duplicated  uint64 `json:"duplicated"`
	Reordered   uint64 `json:"reordered"` // held back for the next one
	Delayed     uint64 `json:"delayed"`
	Partitioned uint64 `json:"partitioned"` // lost by a partition
}

// Disturbed returns what Disturb did to a Bus so far: nothing if it did not
// make b.
func Disturbed(b Bus) Disturbances {
	if l, ok := b.(*leaky); ok {
		return Disturbances{Lost: l.lost.Load()}
	}
	d, ok := b.(*disturbed)
	if !ok {
		return Disturbances{}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.done
}

const (
	reorderWait = 20 * time.Millisecond // longest time that a frame is held for the next one
	maxLate     = 1 << 16               // frames that are delayed or held at once; more are dropped
	maxLateSize = 4 * MaxFrame          // and their bytes
)

// disturbed is a Bus with faults. One goroutine moves what arrives; it never
// blocks on the reader.
type disturbed struct {
	Bus
	self   HostID
	faults Faults
	inbox  *Inbox
	ended  chan struct{} // closed when run has returned

	began    time.Time // of run alone, as are the next three
	senders  map[HostID]*sender
	late     queue
	lateSize int

	mu      sync.Mutex // guards the counts
	dropped uint64     // here, for want of room to be late in
	done    Disturbances
}

// sender is what is known of a host that was heard.
type sender struct {
	count uint64 // frames that arrived
	cuts  []Partition
	held  *parcel // waits for the next one
}

func (d *disturbed) Frames() <-chan Frame { return d.inbox.Frames() }

// Hear implements [Bus].
func (d *disturbed) Hear(hosts []HostID) error {
	d.inbox.Senders(len(hosts))
	return d.Bus.Hear(hosts)
}

// Stats counts as received what Disturb let through, when it was put into the
// channel.
func (d *disturbed) Stats() Stats {
	s := d.Bus.Stats()
	d.mu.Lock()
	defer d.mu.Unlock()
	in := d.inbox.Stats()
	s.Received, s.ReceivedBytes = in.Received, in.ReceivedBytes
	s.Dropped += d.dropped + in.Dropped
	return s
}

// Close closes the Bus beneath. Frames that are late are lost.
func (d *disturbed) Close() error {
	err := d.Bus.Close()
	<-d.ended
	return err
}

// run moves frames until the Bus beneath is closed.
func (d *disturbed) run() {
	defer close(d.ended)
	defer d.inbox.Close()
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for number := uint64(0); ; number++ {
		var wake <-chan time.Time
		if len(d.late) > 0 {
			timer.Reset(time.Until(d.late[0].due))
			wake = timer.C
		}
		select {
		case f, open := <-d.Bus.Frames():
			if !open {
				return
			}
			d.arrive(f, 2*number)
		case <-wake:
		}
		d.deliverDue()
	}
}

// arrive decides a frame's fate.
func (d *disturbed) arrive(f Frame, number uint64) {
	s := d.sender(f.From)
	fate := d.faults.fate(f.From, d.self, s.count)
	s.count++
	now := time.Now()
	if d.began.IsZero() {
		d.began = now
	}
	cut := slices.ContainsFunc(s.cuts, func(p Partition) bool {
		since := now.Sub(d.began)
		return since >= p.From && (p.To == 0 || since < p.To)
	})
	d.mu.Lock()
	switch {
	case cut:
		d.done.Partitioned++
	case fate.lost:
		d.done.Lost++
	default:
		if fate.doubled {
			d.done.Duplicated++
		}
		if fate.delay > 0 {
			d.done.Delayed++
		}
	}
	d.mu.Unlock()
	if cut || fate.lost {
		return
	}
	var second *parcel
	if fate.doubled { // copied before the reader may own it
		second = &parcel{frame: Frame{From: f.From, Data: bytes.Clone(f.Data)}, due: now.Add(fate.copyDelay), number: number + 1, copied: true}
	}
	d.pass(&parcel{frame: f, due: now.Add(fate.delay), number: number, hold: fate.held}, fate.delay)
	if second != nil {
		d.pass(second, fate.copyDelay)
	}
}

// sender returns what is known of a host.
func (d *disturbed) sender(host HostID) *sender {
	s := d.senders[host]
	if s == nil {
		s = new(sender)
		for _, p := range d.faults.Partitions {
			if slices.Contains(p.Hosts, host) != slices.Contains(p.Hosts, d.self) {
				s.cuts = append(s.cuts, p)
			}
		}
		d.senders[host] = s
	}
	return s
}

// pass delivers a parcel, after a delay if there is one.
func (d *disturbed) pass(p *parcel, delay time.Duration) {
	if delay > 0 {
		d.wait(p)
	} else {
		d.deliver(p)
	}
}

// wait keeps a parcel until it is due, if there is room.
func (d *disturbed) wait(p *parcel) bool {
	if len(d.late) >= maxLate || d.lateSize+len(p.frame.Data) > maxLateSize {
		d.mu.Lock()
		d.dropped++
		d.mu.Unlock()
		return false
	}
	d.lateSize += len(p.frame.Data)
	heap.Push(&d.late, p)
	return true
}

// deliverDue delivers the parcels whose time has come.
func (d *disturbed) deliverDue() {
	for len(d.late) > 0 && !time.Now().Before(d.late[0].due) {
		p := heap.Pop(&d.late).(*parcel)
		d.lateSize -= len(p.frame.Data)
		if !p.delivered {
			d.deliver(p)
		}
	}
}

// deliver holds a parcel back for the next one, or puts it into the channel,
// followed by the one that waited for it.
func (d *disturbed) deliver(p *parcel) {
	s := d.sender(p.frame.From)
	if p.hold && s.held == nil {
		p.hold, p.due = false, time.Now().Add(reorderWait)
		if d.wait(p) {
			s.held = p
			d.mu.Lock()
			d.done.Reordered++
			d.mu.Unlock()
		}
		return
	}
	d.put(p)
	if held := s.held; held == p {
		s.held = nil
	} else if held != nil && !p.copied {
		d.put(held)
		s.held = nil
	}
}

// put hands a frame to the reader if there is room.
func (d *disturbed) put(p *parcel) {
	p.delivered = true
	d.inbox.Put(p.frame)
}
