// Package transport carries frames between hosts, the processes that run
// agents. A [Bus] is one host's place in a network: it says something to all
// who hear it, and hears whom it names.
//
//	transport/mem       hosts of one process
//	transport/natsbus   a NATS server or cluster, one subject per sending host
//	transport/tcpbus    direct links with mutual TLS, no broker
//
// Networks lose, delay, double and reorder what they carry; agents expect all
// four, and [Disturb] does them on purpose to any Bus. Package transporttest
// holds what every Bus must keep; one's own puts what arrives into an [Inbox].
// examples/outside has such a Bus.
package transport

// HostID names a host.
type HostID uint32

// Frame is what one host sent at once, as it arrived.
type Frame struct {
	From HostID // as the transport knows it; what the frame says of itself is not trusted
	Data []byte // belongs to the receiver
}

// Bus carries frames between hosts. It may drop, delay, duplicate and reorder
// them. Methods may be called concurrently.
type Bus interface {
	// Send hands a frame over to all hosts that hear this one and does not
	// wait until they have it. The Bus keeps no reference to frame. An error
	// means that it was not sent; it is lost, and later ones may be sent.
	Send(frame []byte) error

	// Hear names the hosts whose frames are wanted, instead of those named
	// before. It does not wait for them: a host that cannot be reached now
	// is heard once it can be. Before the first Hear nobody is heard. Frames
	// of others may still arrive for a moment.
	Hear(hosts []HostID) error

	// Frames returns what arrives, always the same channel, which Close
	// closes. A frame for which the reader has left no room is dropped and
	// counted: a slow reader never stalls others. No host that is heard takes
	// all the room, however much it sends: there is some for the others.
	Frames() <-chan Frame

	// Stats returns what was counted so far.
	Stats() Stats

	// Close ends the Bus. It waits for nobody; a second Close does nothing.
	// After it Send and Hear return ErrClosed.
	Close() error
}

// Stats counts what a Bus did.
type Stats struct {
	Sent          uint64 `json:"sent"` // frames
	SentBytes     uint64 `json:"sent_bytes"`
	Received      uint64 `json:"received"` // frames that were put into the channel, or not kept; see Sifter
	ReceivedBytes uint64 `json:"received_bytes"`
	Dropped       uint64 `json:"dropped"`    // frames for which there was no room
	Refused       uint64 `json:"refused"`    // frames and connections that were not what they claimed, and what a server forbade
	Failed        uint64 `json:"failed"`     // frames that could not be sent
	Reconnects    uint64 `json:"reconnects"` // connections that were made again
}

// Add adds the counts of o.
func (s *Stats) Add(o Stats) {
	s.Sent += o.Sent
	s.SentBytes += o.SentBytes
	s.Received += o.Received
	s.ReceivedBytes += o.ReceivedBytes
	s.Dropped += o.Dropped
	s.Refused += o.Refused
	s.Failed += o.Failed
	s.Reconnects += o.Reconnects
}
