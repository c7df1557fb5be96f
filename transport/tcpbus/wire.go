package tcpbus

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"time"

	"github.com/wdgnn/wdgnn/transport"
)

const (
	magic       = "wdgnnTB1" // of the first lane; that of the second ends with 2
	visitMagic  = "wdgnnOP1" // of a visitor, who hears nothing
	helloSize   = len(magic) + 12
	welcomeSize = len(magic) + 4
	beat        = 1<<32 - 1            // length that announces no frame
	leastWord   = beat - mostLanes + 1 // so do those from here on: beat-n asks for n further lanes
	answer      = 0x2e                 // to a beat
	chunk       = 64 << 10             // bytes that are written or buffered at once
)

var errNotOurs = errors.New("it does not speak this protocol")

// hello is what a hearer says first.
type hello struct {
	hearer, sender transport.HostID
	idle           time.Duration // whole milliseconds; the hearer wants to hear something that often
	lane           int           // which of the hearer's; 0 is the first
	visitor        bool          // and no hearer
}

func appendHello(to []byte, h hello) []byte {
	first := []byte(magic)
	first[len(magic)-1] += byte(h.lane)
	if h.visitor {
		first = []byte(visitMagic)
	}
	to = binary.LittleEndian.AppendUint32(append(to, first...), uint32(h.hearer))
	to = binary.LittleEndian.AppendUint32(to, uint32(h.sender))
	return binary.LittleEndian.AppendUint32(to, uint32(min(h.idle.Milliseconds(), math.MaxUint32)))
}

func readHello(r io.Reader) (hello, error) {
	var data [helloSize]byte
	if _, err := io.ReadFull(r, data[:]); err != nil {
		return hello{}, err
	}
	const name = len(magic) - 1
	visitor := string(data[:len(magic)]) == visitMagic
	lane := int(data[name]) - int(magic[name])
	if !visitor && (string(data[:name]) != magic[:name] || lane < 0 || lane >= mostLanes) {
		return hello{}, errNotOurs
	}
	if visitor {
		lane = 0
	}
	rest := data[len(magic):]
	return hello{
		visitor: visitor,
		lane:    lane,
		hearer:  transport.HostID(binary.LittleEndian.Uint32(rest)),
		sender:  transport.HostID(binary.LittleEndian.Uint32(rest[4:])),
		idle:    time.Duration(binary.LittleEndian.Uint32(rest[8:])) * time.Millisecond,
	}, nil
}

func appendWelcome(to []byte, sender transport.HostID) []byte {
	return binary.LittleEndian.AppendUint32(append(to, magic...), uint32(sender))
}

func readWelcome(r io.Reader) (sender transport.HostID, err error) {
	var welcome [welcomeSize]byte
	if _, err := io.ReadFull(r, welcome[:]); err != nil {
		return 0, err
	}
	if string(welcome[:len(magic)]) != magic {
		return 0, refusal{errNotOurs}
	}
	return transport.HostID(binary.LittleEndian.Uint32(welcome[len(magic):])), nil
}

// readFrame reads what comes next: a frame of so many bytes at most, or a word, which is
// 0 otherwise.
func readFrame(r *bufio.Reader, most int) (data []byte, word uint32, err error) {
	head, err := r.Peek(4)
	if err != nil {
		return nil, 0, err
	}
	length := binary.LittleEndian.Uint32(head)
	r.Discard(4)
	if length >= leastWord {
		return nil, length, nil
	}
	if int64(length) > int64(most) {
		return nil, 0, refusal{fmt.Errorf("a frame of %d bytes, at most %d fit", length, most)}
	}
	size := int(length)
	data = make([]byte, min(size, 1<<20)) // more only once it comes
	for read := 0; ; {
		n, err := io.ReadFull(r, data[read:])
		read += n
		if err != nil {
			return nil, 0, err
		}
		if read == size {
			return data, 0, nil
		}
		more := make([]byte, min(size, 4*read))
		copy(more, data)
		data = more
	}
}

// patient reads from a connection on which something arrives now and then.
type patient struct {
	conn net.Conn
	idle time.Duration
}

func (p patient) Read(data []byte) (int, error) {
	if err := p.conn.SetReadDeadline(time.Now().Add(p.idle)); err != nil {
		return 0, err
	}
	return p.conn.Read(data)
}

// steady writes to a connection that must take a chunk in time. A write of
// several chunks also moves the deadline for reading: the peer has not seen
// the beat that it should answer.
type steady struct {
	conn          net.Conn
	timeout, idle time.Duration
}

func (s steady) Write(data []byte) (written int, err error) {
	large := len(data) > chunk
	for first := true; err == nil && (first || len(data) > 0); first = false {
		if err := s.conn.SetWriteDeadline(time.Now().Add(s.timeout)); err != nil {
			return written, err
		}
		var n int
		n, err = s.conn.Write(data[:min(len(data), chunk)])
		written, data = written+n, data[n:]
		if large && err == nil {
			err = s.conn.SetReadDeadline(time.Now().Add(s.idle))
		}
	}
	return written, err
}
