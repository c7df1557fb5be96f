package transporttest

import (
	"time"

	"github.com/wdgnn/wdgnn/transport"
)

// A host that has named nobody hears nobody, and nothing from before comes
// later.
func nobodyBeforeHear(n *network) {
	n.hear(1, 0)
	n.connect(0, 1)
	n.say(0, 2*window, 100, 1)
	n.silent(2)
	n.silent(0)

	last := n.time
	n.hear(2, 0)
	for began := time.Now(); ; { // what 2 hears first was sent after its Hear
		late := n.message(100)
		n.send(0, late)
		n.expect(1, 0, late)
		f, ok := n.within(2, resend)
		if !ok && time.Since(began) < patience {
			continue
		}
		if !ok {
			n.t.Fatalf("host 2 does not hear host 0 after %v, want it to", patience)
		}
		if k := number(f.Data); k <= last {
			n.t.Fatalf("host 2: got %s, which was sent before Hear", describe(f))
		}
		return
	}
}

// What is sent arrives at all who hear the sender, as it was, and nowhere else.
func allWhoHear(n *network) {
	n.hear(1, 0)
	n.hear(2, 0)
	n.hear(3, 1)
	n.connect(0, 1)
	n.connect(0, 2)
	n.connect(1, 3)
	for range 4 {
		n.say(0, window, 1200, 1, 2)
		n.say(1, window, 700, 3)
	}
	n.silent(0)
	n.silent(1, 0)
	n.silent(2, 0)
	n.silent(3, 1)
}

// A quiet network loses, doubles and reorders nothing.
func onceInOrder(n *network) {
	n.hear(0, 1)
	n.hear(1, 0, 0) // named twice, heard once
	n.connect(0, 1)
	n.connect(1, 0)
	n.say(0, 25*window, 100, 1)
	n.say(1, 25*window, 100, 0)
	n.silent(0, 1)
	n.silent(1, 0)
}

// Hear adds who was not heard and removes who is named no more.
func hearReplaces(n *network) {
	n.hear(3, 0, 1) // host 3 is the witness
	n.connect(0, 3)
	n.connect(1, 3)

	n.hear(2, 0)
	n.connect(0, 2)
	n.hear(2, 1)
	n.connect(1, 2)
	n.fades(0, 2)
	n.hear(2, 0, 1)
	n.connect(0, 2)
	n.connect(1, 2)
	n.hear(2, 1, 0) // the same hosts, nothing to do
	n.say(0, window, 100, 2, 3)
	n.say(1, window, 100, 2, 3)
	n.hear(2)
	n.fades(0, 2)
	n.fades(1, 2)
}

// fades checks that a host stops hearing a sender that host 3 hears.
func (n *network) fades(sender, hearer int) {
	n.t.Helper()
	quiet := 0
	for began := time.Now(); quiet < 2*window; {
		if time.Since(began) > patience {
			n.t.Fatalf("host %d still hears host %d after %v, want it to hear no more of it", hearer, sender, patience)
		}
		data := n.message(100)
		n.send(sender, data)
		n.expect(3, sender, data)
		quiet++
		for len(n.buses[hearer].Frames()) > 0 {
			f := <-n.buses[hearer].Frames()
			n.count(hearer, f)
			if f.From == transport.HostID(sender) {
				quiet = 0
			}
		}
	}
}

// A host that names itself does not hear itself.
func neverItself(n *network) {
	n.hear(0, 0, 1)
	n.hear(1, 0, 1)
	n.connect(0, 1)
	n.connect(1, 0)
	for range 2 * window {
		n.say(0, 1, 100, 1)
		n.say(1, 1, 100, 0)
	}
	n.silent(0, 1)
	n.silent(1, 0)
}
