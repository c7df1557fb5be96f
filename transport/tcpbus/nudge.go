package tcpbus

import "time"

// TCP notices a lost packet when a later one arrives: the receiver says what is
// missing, and it is sent again within a round trip. A frame is often one packet, and
// the last for a while, because its hearer has to answer before there is another. If
// it is lost nothing follows that would show it, and TCP sends it again only when its
// timer rings: after 200 ms on Linux, hundreds of times a round trip of a local network.
// So a link that has been quiet for longer than it usually is between two frames sends
// a beat, which is that later packet. Where frames follow each other as usual none is
// sent.

const (
	leastNudge = 2 * time.Millisecond   // quiet after which a beat is sent at the earliest,
	mostNudge  = 100 * time.Millisecond // and at the latest
	nudges     = 3                      // beats after a frame, each after four times as long as the one before
	quietShare = 4                      // times that quiet must be longer than usual
)

// nudge says when a link that is quiet sends a beat. The zero value is of a new link.
type nudge struct {
	last  time.Time     // when a frame left
	usual time.Duration // about a short time between two; a quarter of them are shorter
	sent  int           // beats since the last frame
}

// frame notes that frames left, and returns after how much quiet a beat is sent. The
// usual time follows a quarter of all: most may be long because packets are lost.
func (n *nudge) frame(now time.Time) time.Duration {
	if !n.last.IsZero() {
		switch gap := now.Sub(n.last); {
		case n.usual == 0:
			n.usual = gap
		case gap < n.usual:
			n.usual -= n.usual * 3 / 64
		default:
			n.usual += n.usual/64 + 1
		}
	}
	n.last, n.sent = now, 0
	return n.wait()
}

// beat notes that a beat left, and returns after how much more quiet another does; 0
// means not at all.
func (n *nudge) beat() time.Duration {
	if n.sent++; n.sent >= nudges {
		return 0
	}
	return n.wait()
}

func (n *nudge) wait() time.Duration {
	if n.usual == 0 {
		return mostNudge
	}
	return min(max(quietShare*n.usual, leastNudge)<<(2*n.sent), mostNudge)
}
