package agent

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
)

// A frame is what travels over a network: a header and the messages that a host
// sends at once. doc/wire.md lays it out byte by byte. All numbers are
// little-endian.
const (
	frameHeader   = 32
	messageHeader = 40
	frameVersion  = 2 // 1 had parameters in other coordinates

	// MaxFrame is the largest frame that is read or written.
	MaxFrame = 64 << 20
)

var (
	frameMagic = [4]byte{'W', 'D', 'G', 'N'}
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
	unsummed   [4]byte // what stands in the place of the checksum while it is computed
)

// ErrFrame says that bytes are no frame of ours.
var ErrFrame = errors.New("agent: frame refused")

// ErrVersion says that bytes are a frame of another version. It is an ErrFrame.
var ErrVersion = fmt.Errorf("%w: another version", ErrFrame)

// Header stands before the messages of a frame.
type Header struct {
	Run      uint32 // which run it belongs to: a hash of its name
	Plan     uint32 // what the sender runs: [PlanConfig.Digest], 24 bits
	Host     uint32 // who sent it
	Sequence uint64 // of the frames of that host, from 1; gaps are losses
}

// AppendFrame appends a frame with the given messages to dst. It panics if the
// frame would be larger than MaxFrame.
func AppendFrame(dst []byte, h Header, messages []Message) []byte {
	start := len(dst)
	dst = append(dst, frameMagic[:]...)
	dst = binary.LittleEndian.AppendUint32(dst, frameVersion|h.Plan<<8)
	dst = binary.LittleEndian.AppendUint32(dst, h.Run)
	dst = binary.LittleEndian.AppendUint32(dst, h.Host)
	dst = binary.LittleEndian.AppendUint64(dst, h.Sequence)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(messages)))
	dst = append(dst, 0, 0, 0, 0) // checksum
	for k := range messages {
		dst = appendMessage(dst, &messages[k])
	}
	if len(dst)-start > MaxFrame {
		panic(fmt.Sprintf("agent: a frame of %d bytes, want at most %d", len(dst)-start, MaxFrame))
	}
	binary.LittleEndian.PutUint32(dst[start+28:], crc32.Checksum(dst[start:], castagnoli))
	return dst
}

func appendMessage(dst []byte, m *Message) []byte {
	words := len(m.Values)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(m.From))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(m.To))
	dst = binary.LittleEndian.AppendUint64(dst, m.Time)
	dst = append(dst, byte(m.Kind), 0)
	dst = binary.LittleEndian.AppendUint16(dst, m.Exchange)
	switch m.Kind {
	case Member, Switch:
		words = (len(m.Data) + 3) / 4
		dst = binary.LittleEndian.AppendUint32(dst, uint32(len(m.Data)))
		dst = binary.LittleEndian.AppendUint64(dst, m.About)
	default:
		dst = binary.LittleEndian.AppendUint32(dst, m.Links)
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(m.Degree))
	}
	dst = binary.LittleEndian.AppendUint32(dst, uint32(words))
	dst = append(dst, 0, 0, 0, 0)
	if m.Kind == Member || m.Kind == Switch {
		dst = append(dst, m.Data...)
		return append(dst, unsummed[:4*words-len(m.Data)]...)
	}
	for _, v := range m.Values {
		dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(v))
	}
	return dst
}

// Reader reads frames and keeps the memory of their values. The zero Reader is
// ready.
type Reader struct {
	messages []Message
	values   []float32
	unknown  int
}

// Unknown returns how many messages of the frame that was read last are of kinds
// that this program does not know, and were passed over: a later program of the
// same version sends them.
func (r *Reader) Unknown() int { return r.unknown }

// Read returns the header and the messages of the frame b, which are valid
// until the next Read. Messages of kinds that came later are passed over, see
// [Reader.Unknown]. Bytes that are no whole frame, a wrong checksum, a message of
// kind 0 and reserved bytes that are set in messages of kinds that are known are
// refused with ErrFrame, frames of another version with ErrVersion.
func (r *Reader) Read(b []byte) (Header, []Message, error) {
	var h Header
	if len(b) < frameHeader || len(b) > MaxFrame || [4]byte(b[:4]) != frameMagic {
		return h, nil, fmt.Errorf("%w: %d bytes that begin with no frame", ErrFrame, len(b))
	}
	r.unknown = 0
	if b[4] != frameVersion {
		return h, nil, versionError(b[4])
	}
	if !summed(b) {
		return h, nil, fmt.Errorf("%w: the checksum does not fit", ErrFrame)
	}
	h = readHeader(b)
	count := int64(binary.LittleEndian.Uint32(b[24:])) // of which an int of 32 bits has not room
	b = b[frameHeader:]
	if count > int64(len(b)/messageHeader) {
		return h, nil, fmt.Errorf("%w: %d messages in %d bytes", ErrFrame, count, len(b))
	}
	r.messages, r.values = r.messages[:0], r.values[:0]
	if need := (len(b) - int(count)*messageHeader) / 4; cap(r.values) < need {
		r.values = make([]float32, 0, need)
	}
	for range count {
		var err error
		if b, err = r.message(b); err != nil {
			return h, nil, err
		}
	}
	if len(b) != 0 {
		return h, nil, fmt.Errorf("%w: %d bytes follow the last message", ErrFrame, len(b))
	}
	return h, r.messages, nil
}

// summed says whether the checksum of a frame fits.
func summed(b []byte) bool {
	sum := crc32.Update(0, castagnoli, b[:28])
	sum = crc32.Update(sum, castagnoli, unsummed[:])
	return crc32.Update(sum, castagnoli, b[32:]) == binary.LittleEndian.Uint32(b[28:])
}

func readHeader(b []byte) Header {
	return Header{
		Run: binary.LittleEndian.Uint32(b[8:]), Plan: binary.LittleEndian.Uint32(b[4:]) >> 8,
		Host: binary.LittleEndian.Uint32(b[12:]), Sequence: binary.LittleEndian.Uint64(b[16:]),
	}
}

// versionError says which version a frame has, and who is to be updated.
func versionError(version uint8) error {
	who := "the sender is older, update it"
	if version > frameVersion {
		who = "the sender is newer, update this program"
	}
	return fmt.Errorf("%w: wire version %d, this program speaks %d: %s", ErrVersion, version, frameVersion, who)
}

// message reads one message and returns the bytes behind it. Those of a kind that
// came later are as long as their number of values says, whatever they mean.
func (r *Reader) message(b []byte) ([]byte, error) {
	if len(b) < messageHeader {
		return nil, fmt.Errorf("%w: it ends in a message", ErrFrame)
	}
	m := Message{
		From: NodeID(binary.LittleEndian.Uint32(b)), To: NodeID(binary.LittleEndian.Uint32(b[4:])), Time: binary.LittleEndian.Uint64(b[8:]),
		Kind: Kind(b[16]), Exchange: binary.LittleEndian.Uint16(b[18:]),
	}
	size := int64(0)
	if m.Kind >= Switch {
		size, m.About = int64(binary.LittleEndian.Uint32(b[20:])), binary.LittleEndian.Uint64(b[24:])
	} else {
		m.Links, m.Degree = binary.LittleEndian.Uint32(b[20:]), math.Float64frombits(binary.LittleEndian.Uint64(b[24:]))
	}
	count := int64(binary.LittleEndian.Uint32(b[32:]))
	known := m.Kind <= Member
	if m.Kind < Row || known && (b[17] != 0 || binary.LittleEndian.Uint32(b[36:]) != 0) {
		return nil, fmt.Errorf("%w: a message of kind %d, or with reserved bytes that are not 0", ErrFrame, b[16])
	}
	b = b[messageHeader:]
	if count > int64(len(b)/4) {
		return nil, fmt.Errorf("%w: %d values in %d bytes", ErrFrame, count, len(b))
	}
	if !known {
		r.unknown++
		return b[4*count:], nil
	}
	if m.Kind == Member || m.Kind == Switch {
		return r.member(m, b, size, count)
	}
	first := len(r.values)
	for k := range count {
		r.values = append(r.values, math.Float32frombits(binary.LittleEndian.Uint32(b[4*k:])))
	}
	m.Values = r.values[first:len(r.values):len(r.values)]
	r.messages = append(r.messages, m)
	return b[4*count:], nil
}

// member reads the bytes of a Member or a Switch, which are so many words long, and returns the
// bytes behind it. Bytes that fill the last word are 0.
func (r *Reader) member(m Message, b []byte, size, words int64) ([]byte, error) {
	if (size+3)/4 != words || !bytes.Equal(b[size:4*words], unsummed[:4*words-size]) {
		return nil, fmt.Errorf("%w: a record of %d bytes in %d words", ErrFrame, size, words)
	}
	if size > 0 {
		m.Data = b[:size:size]
	}
	r.messages = append(r.messages, m)
	return b[4*words:], nil
}
