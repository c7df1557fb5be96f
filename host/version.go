package host

import (
	"errors"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/transport"
)

// anotherVersion stands for a digest that cannot be read.
const anotherVersion = 1<<32 - 1

// unreadable counts a frame that cannot be read. Who speaks another version is
// named, once, with the version and who is to be updated: its numbers would mean
// something else here.
func (h *Machine) unreadable(from transport.HostID, err error) {
	h.stats.BadFrames++
	if errors.Is(err, agent.ErrVersion) && h.others[from] != anotherVersion {
		h.others[from] = anotherVersion
		h.warn("a host speaks another version: it is not heard", "host", from, "err", err)
	}
	if !errors.Is(err, agent.ErrVersion) {
		h.accuse(from, malformed, 1, 1, err)
	}
}

// passOver counts the messages of the frame read last that are of kinds which came
// after this program, and names their sender once. The rest of the frame means
// what it always did and is used.
func (h *Machine) passOver(from transport.HostID) {
	n := h.reader.Unknown()
	if n == 0 {
		return
	}
	h.stats.UnknownMessages += uint64(n)
	if !h.newer[from] {
		h.newer[from] = true
		h.warn("a host sends messages of a kind that this program does not know: they are passed over, the others are heard; update this box",
			"host", from, "messages", n)
	}
}
