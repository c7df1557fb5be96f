package tcpbus

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/transport"
)

// Whatever arrives gives frames, words or an error; what was written is read.
func FuzzReadFrame(f *testing.F) {
	f.Add([]byte{1, 0, 0, 0, 7, 255, 255, 255, 255, 0, 0, 0, 0})
	f.Add([]byte{0, 0, 0, 4, 1})
	f.Add([]byte{1, 0, 0, 4})
	f.Add([]byte{254, 255, 255, 255, 253, 255, 255, 255, 252, 255, 255, 255})
	f.Fuzz(func(t *testing.T, data []byte) {
		r := bufio.NewReader(bytes.NewReader(data))
		var again []byte
		for {
			frame, word, err := readFrame(r, transport.MaxFrame)
			if err != nil {
				break
			}
			length := uint32(len(frame))
			if word > 0 {
				length = word
			}
			again = append(binary.LittleEndian.AppendUint32(again, length), frame...)
		}
		if !bytes.HasPrefix(data, again) {
			t.Errorf("got frames %x, want a prefix of %x", again, data)
		}
	})
}

// A hello and a welcome are read as they were written, and nothing else is.
func FuzzIntroductions(f *testing.F) {
	f.Add(appendHello(nil, hello{hearer: 1, sender: 2, idle: time.Second}))
	f.Add(appendHello(nil, hello{hearer: 1, sender: 2, lane: mostLanes - 1}))
	f.Add(appendHello(nil, hello{hearer: 1, sender: 2, lane: mostLanes}))
	f.Add(appendHello(nil, hello{sender: 2, visitor: true}))
	f.Add(appendWelcome(nil, 1<<32-1))
	f.Fuzz(func(t *testing.T, data []byte) {
		if h, err := readHello(bytes.NewReader(data)); err == nil && !bytes.HasPrefix(data, appendHello(nil, h)) {
			t.Errorf("hello: got %+v of %x", h, data)
		}
		if sender, err := readWelcome(bytes.NewReader(data)); err == nil && !bytes.HasPrefix(data, appendWelcome(nil, sender)) {
			t.Errorf("welcome: got %d of %x", sender, data)
		}
	})
}

// The ring keeps the newest frames, bounded in number and in bytes.
func TestOutletDropsOldest(t *testing.T) {
	o := newOutlet(lane{}, nil, nil, 3)
	dropped := uint64(0)
	for i := range 5 {
		dropped += o.put([]byte{byte(i)})
	}
	var got []byte
	for frame, ok := o.take(); ok; frame, ok = o.take() {
		got = append(got, frame...)
	}
	if dropped != 2 || !bytes.Equal(got, []byte{2, 3, 4}) {
		t.Errorf("got %d dropped and frames %v, want 2 and [2 3 4]", dropped, got)
	}
	large := make([]byte, transport.MaxFrame)
	if dropped := o.put(large) + o.put(large) + o.put(large[:1]); dropped != 1 || o.waiting() != 2 {
		t.Errorf("got %d dropped and %d waiting, want 1 and 2", dropped, o.waiting())
	}
}
