package tcpbus

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/wdgnn/wdgnn/transport"
)

const (
	magic       = "wdgnnTB1"
	helloSize   = len(magic) + 8
	welcomeSize = len(magic) + 4
	beat        = 1<<32 - 1 // length that announces no frame
	answer      = 0x2e      // to a beat
	chunk       = 64 << 10  // bytes that are written or buffered at once
)

var errNotOurs = errors.New("it does not speak this protocol")

func appendHello(to []byte, hearer, sender transport.HostID) []byte {
	to = binary.LittleEndian.AppendUint32(append(to, magic...), uint32(hearer))
	return binary.LittleEndian.AppendUint32(to, uint32(sender))
}

func readHello(r io.Reader) (hearer, sender transport.HostID, err error) {
	var hello [helloSize]byte
	if _, err := io.ReadFull(r, hello[:]); err != nil {
		return 0, 0, err
	}
	if string(hello[:len(magic)]) != magic {
		return 0, 0, errNotOurs
	}
	ids := hello[len(magic):]
	return transport.HostID(binary.LittleEndian.Uint32(ids)), transport.HostID(binary.LittleEndian.Uint32(ids[4:])), nil
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

// readFrame reads what comes next: a frame, or a beat.
func readFrame(r *bufio.Reader) (data []byte, isBeat bool, err error) {
	head, err := r.Peek(4)
	if err != nil {
		return nil, false, err
	}
	length := binary.LittleEndian.Uint32(head)
	r.Discard(4)
	if length == beat {
		return nil, true, nil
	}
	if length > transport.MaxFrame {
		return nil, false, refusal{fmt.Errorf("a frame of %d bytes, at most %d fit", length, transport.MaxFrame)}
	}
	size := int(length)
	data = make([]byte, min(size, 1<<20)) // more only once it comes
	for read := 0; ; {
		n, err := io.ReadFull(r, data[read:])
		read += n
		if err != nil {
			return nil, false, err
		}
		if read == size {
			return data, false, nil
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
