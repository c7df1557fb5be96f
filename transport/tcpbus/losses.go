package tcpbus

import (
	"encoding/binary"
	"net"
	"time"
)

// A link that loses packets is slow because of TCP: what comes after a lost packet
// waits until it was sent again, and a packet that is lost twice is sent again when a
// timer of 200 ms rings. Steps that take 10 ms then take hundreds. So a sender looks how
// often the system had to send again. Once that happens often
//
//	it has the system wait for a few milliseconds instead (hurry), where it can;
//	it asks the hearer for further connections, which get copies (lanes).
//
// Where nothing is lost neither is done, and nothing else is sent.

const (
	lookEvery  = 100 * time.Millisecond // at most
	lossWindow = 5 * time.Second        // losses of this one and of the one before count
	someLoss   = 4                      // packets in them: a link that loses so many
	askEvery   = time.Second            // at most, for further lanes
)

// losses is what a sender knows of the packets that its link lost. The zero value is
// of a new link.
type losses struct {
	looked, began, asked time.Time // last; the window; last, for further lanes
	total                uint64    // packets that were sent again, ever
	recent, before       uint64    // in this window, and in the one before
}

// due says whether it is time to look again.
func (l *losses) due(now time.Time) bool {
	if now.Sub(l.looked) < lookEvery {
		return false
	}
	l.looked = now
	return true
}

// note takes in how many packets were sent again ever, and says whether the link loses
// many.
func (l *losses) note(now time.Time, total uint64) bool {
	if passed := now.Sub(l.began); passed >= lossWindow {
		l.began, l.before, l.recent = now, l.recent, 0
		if passed >= 2*lossWindow {
			l.before = 0
		}
	}
	l.recent += max(total, l.total) - l.total
	l.total = max(total, l.total)
	return l.recent+l.before >= someLoss
}

// ask says whether further lanes should be asked for now.
func (l *losses) ask(now time.Time) bool {
	if now.Sub(l.asked) < askEvery {
		return false
	}
	l.asked = now
	return true
}

// suffer looks whether the link loses packets and does what helps. It returns what to
// tell the hearer, often nothing.
func (o *outlet) suffer(now time.Time, lost func(net.Conn) (uint64, bool)) []byte {
	if !o.losses.due(now) {
		return nil
	}
	total, known := lost(o.raw)
	if !known {
		return nil
	}
	if !o.losses.note(now, total) {
		if o.hurried {
			o.hurried = false
			relax(o.raw)
		}
		return nil
	}
	if !o.hurried {
		o.hurried, o.brisk = true, hurry(o.raw)
	}
	if !o.several || !o.losses.ask(now) {
		return nil
	}
	further := uint32(mostLanes - 1)
	if o.brisk { // one is enough where no link stands still for long
		further = 1
	}
	return binary.LittleEndian.AppendUint32(nil, beat-further)
}
