package agent_test

import (
	"encoding/binary"
	"errors"
	"math"
	"reflect"
	"testing"

	"github.com/wdgnn/wdgnn/agent"
)

// readAsBefore reads the messages of a frame by the rules of the programs up to commit
// 9bb7533, which boxes in the field run: kinds 1 to 5 are known, and others are as
// long as bytes 32 to 35 say.
func readAsBefore(frame []byte) (known []agent.Message, unknown int, err error) {
	count := binary.LittleEndian.Uint32(frame[24:])
	b := frame[32:]
	for range count {
		if len(b) < 40 {
			return nil, 0, errors.New("it ends in a message")
		}
		m := agent.Message{
			From: agent.NodeID(binary.LittleEndian.Uint32(b)), To: agent.NodeID(binary.LittleEndian.Uint32(b[4:])),
			Time: binary.LittleEndian.Uint64(b[8:]), Kind: agent.Kind(b[16]), Relays: b[17], Exchange: binary.LittleEndian.Uint16(b[18:]),
		}
		if m.Kind == agent.Relay {
			m.Teller, m.About = agent.NodeID(binary.LittleEndian.Uint32(b[20:])), binary.LittleEndian.Uint64(b[24:])
		} else {
			m.Links, m.Degree = binary.LittleEndian.Uint32(b[20:]), math.Float64frombits(binary.LittleEndian.Uint64(b[24:]))
		}
		values := int(binary.LittleEndian.Uint32(b[32:]))
		if m.Kind == 0 || m.Kind <= 5 && (b[17] != 0 && (m.Kind != agent.Row || m.Exchange != 0) || binary.LittleEndian.Uint32(b[36:]) != 0) {
			return nil, 0, errors.New("kind 0, or reserved bytes")
		}
		if b = b[40:]; values > len(b)/4 {
			return nil, 0, errors.New("more values than bytes")
		}
		if m.Kind <= 5 {
			for k := range values {
				m.Values = append(m.Values, math.Float32frombits(binary.LittleEndian.Uint32(b[4*k:])))
			}
			known = append(known, m)
		} else {
			unknown++
		}
		b = b[4*values:]
	}
	if len(b) > 0 {
		return nil, 0, errors.New("bytes follow the last message")
	}
	return known, unknown, nil
}

// Programs that boxes in the field run read what this one sends: messages of the kinds
// that they know as they are, and those of later kinds passed over.
func TestEarlierProgramsReadFrames(t *testing.T) {
	h, messages := sampleFrame()
	var want []agent.Message
	for _, m := range messages {
		if m.Kind <= agent.NotYet {
			want = append(want, m)
		}
	}
	if len(want) == len(messages) {
		t.Fatal("the frame has no message of a later kind")
	}
	got, unknown, err := readAsBefore(agent.AppendFrame(nil, h, messages))
	if err != nil || unknown != len(messages)-len(want) || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v and %d unknown, %v; want %v and %d", got, unknown, err, want, len(messages)-len(want))
	}
}
