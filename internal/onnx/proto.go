package onnx

import "encoding/binary"

// message is a message of protocol buffers that is being written: fields one
// after the other, each a key, field number and wire type in one, and a value.
type message []byte

// Wire types.
const (
	wireVarint = 0
	wireBytes  = 2
)

// number appends an integer that is not negative.
func (m *message) number(field int, v uint64) {
	*m = binary.AppendUvarint(*m, uint64(field)<<3|wireVarint)
	*m = binary.AppendUvarint(*m, v)
}

// bytes appends bytes, their length before them: data, or a message inside this one.
func (m *message) bytes(field int, b []byte) {
	*m = binary.AppendUvarint(*m, uint64(field)<<3|wireBytes)
	*m = binary.AppendUvarint(*m, uint64(len(b)))
	*m = append(*m, b...)
}

// text appends a string.
func (m *message) text(field int, s string) { m.bytes(field, []byte(s)) }
