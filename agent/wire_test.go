package agent_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/rule"
)

func sampleFrame() (agent.Header, []agent.Message) {
	return agent.Header{Run: 0x11223344, Plan: 0x0a0b0c, Host: 5, Sequence: 9}, []agent.Message{
		{From: 1, To: agent.Everyone, Time: 1 << 40, Kind: agent.Row, Exchange: 3, Values: []float32{1, -2.5, math.MaxFloat32}},
		{From: 2, To: 1, Time: 7, Kind: agent.Ask, Exchange: 1},
		{From: 3, To: agent.Everyone, Kind: agent.Row, Links: 4, Degree: 2.75, Values: []float32{0}},
		{From: 4, To: agent.Everyone, Time: 1, Kind: agent.Estimate, Exchange: 2, Values: []float32{0.5, 0, 1, 0.75, 0, 2, 0.75, 0, 2}},
		{From: 4, To: 3, Time: 1, Kind: agent.Estimate, Exchange: 2},
	}
}

// What is written is read back.
func TestFrameRoundTrip(t *testing.T) {
	h, messages := sampleFrame()
	b := agent.AppendFrame([]byte("before"), h, messages)
	if !bytes.HasPrefix(b, []byte("before")) {
		t.Error("AppendFrame changed what was there")
	}
	var r agent.Reader
	for range 2 { // memory is used again
		gotHeader, got, err := r.Read(b[6:])
		if err != nil {
			t.Fatal(err)
		}
		if gotHeader != h || len(got) != len(messages) {
			t.Fatalf("read %+v with %d messages, want %+v with %d", gotHeader, len(got), h, len(messages))
		}
		for k := range got {
			if len(got[k].Values) == 0 {
				got[k].Values = nil
			}
			if !reflect.DeepEqual(got[k], messages[k]) {
				t.Errorf("message %d is %+v, want %+v", k, got[k], messages[k])
			}
		}
	}
}

// The bytes are those that doc/wire.md lays out.
func TestFrameLayout(t *testing.T) {
	h, messages := sampleFrame()
	b := agent.AppendFrame(nil, h, messages[:1])
	want := []byte{
		'W', 'D', 'G', 'N', 2, 0x0c, 0x0b, 0x0a, // magic, version, plan
		0x44, 0x33, 0x22, 0x11, 5, 0, 0, 0, // run, host
		9, 0, 0, 0, 0, 0, 0, 0, // sequence
		1, 0, 0, 0, b[28], b[29], b[30], b[31], // messages, checksum
		1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, // from, to
		0, 0, 0, 0, 0, 1, 0, 0, // time
		1, 0, 3, 0, 0, 0, 0, 0, // kind, reserved, exchange, links
		0, 0, 0, 0, 0, 0, 0, 0, // degree
		3, 0, 0, 0, 0, 0, 0, 0, // values, reserved
		0, 0, 0x80, 0x3f, 0, 0, 0x20, 0xc0, 0xff, 0xff, 0x7f, 0x7f,
	}
	if !bytes.Equal(b, want) {
		t.Errorf("frame is\n% x\nwant\n% x", b, want)
	}
	clear(want[28:32])
	if sum := crc32.Checksum(want, crc32.MakeTable(crc32.Castagnoli)); sum != binary.LittleEndian.Uint32(b[28:]) {
		t.Errorf("checksum %#x, want %#x", binary.LittleEndian.Uint32(b[28:]), sum)
	}
}

// A digest changes with everything that agents must agree on, and with nothing
// else.
func TestDigest(t *testing.T) {
	plan := func(change func(*agent.Plan)) uint32 {
		config := gnn.Config{In: 1, Features: 2, Outputs: 2, Wide: &gnn.WideConfig{Order: 1}}
		m, err := gnn.NewRandom(config, random.Stream(1, "model"))
		if err != nil {
			t.Fatal(err)
		}
		learn := rule.Literal(false)
		basis, err := online.NewBasis(m, learn, nil)
		if err != nil {
			t.Fatal(err)
		}
		p := &agent.Plan{Model: m, Operator: graph.ShiftSpectral, Scale: 2, Basis: basis, Rule: &learn}
		change(p)
		if err := p.Validate(); err != nil {
			t.Fatal(err)
		}
		return p.Digest()
	}
	want := plan(func(*agent.Plan) {})
	if want == 0 || want>>24 != 0 {
		t.Errorf("digest %#x, want 24 bits that are not all 0", want)
	}
	for _, same := range []func(*agent.Plan){
		func(*agent.Plan) {},
		func(p *agent.Plan) { p.MaxNorm, p.ClipNorm = 3, 2 },
		func(p *agent.Plan) { p.Forgiving = true },
	} {
		if got := plan(same); got != want {
			t.Errorf("digest %#x of a plan that others understand, want %#x", got, want)
		}
	}
	for name, other := range map[string]func(*agent.Plan){
		"parameters": func(p *agent.Plan) { p.Model.Params.Flat[0]++ },
		"operator":   func(p *agent.Plan) { p.Operator = graph.ShiftSymmetric },
		"scale":      func(p *agent.Plan) { p.Scale = 3 },
		"delayed":    func(p *agent.Plan) { p.Delayed = true },
		"no rule":    func(p *agent.Plan) { p.Basis, p.Rule = nil, nil },
		"rule":       func(p *agent.Plan) { p.Rule.Mixing = 0.5 },
	} {
		if plan(other) == want {
			t.Errorf("%s: the digest is the same", name)
		}
	}
}

// A frame that was changed in any byte, cut or prolonged is refused.
func TestDamagedFrames(t *testing.T) {
	h, messages := sampleFrame()
	b := agent.AppendFrame(nil, h, messages)
	var r agent.Reader
	for k := range b {
		bad := bytes.Clone(b)
		bad[k] ^= 0x10
		if _, _, err := r.Read(bad); !errors.Is(err, agent.ErrFrame) {
			t.Errorf("byte %d changed: %v, want ErrFrame", k, err)
		}
		if _, _, err := r.Read(b[:k]); !errors.Is(err, agent.ErrFrame) {
			t.Errorf("cut to %d bytes: %v, want ErrFrame", k, err)
		}
	}
	if _, _, err := r.Read(append(bytes.Clone(b), 0)); !errors.Is(err, agent.ErrFrame) {
		t.Errorf("a byte more: %v, want ErrFrame", err)
	}
}

// A frame of another version is named as one, however sound it is.
func TestFrameOfAnotherVersion(t *testing.T) {
	h, messages := sampleFrame()
	b := agent.AppendFrame(nil, h, messages)
	b[4] = 1
	clear(b[28:32])
	binary.LittleEndian.PutUint32(b[28:], crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)))
	_, _, err := new(agent.Reader).Read(b)
	if !errors.Is(err, agent.ErrVersion) || !errors.Is(err, agent.ErrFrame) ||
		!strings.Contains(err.Error(), "another version: 1, this program speaks 2") {
		t.Errorf("error %v, want ErrVersion with both numbers", err)
	}
}

// Whatever bytes arrive, reading them neither panics nor asks for more memory
// than they are long; and what is read can be written to the same bytes.
func FuzzReadFrame(f *testing.F) {
	h, messages := sampleFrame()
	f.Add(agent.AppendFrame(nil, h, messages))
	f.Add(agent.AppendFrame(nil, h, nil))
	f.Add([]byte("WDGN"))
	f.Fuzz(func(t *testing.T, b []byte) {
		var r agent.Reader
		fix := bytes.Clone(b)
		if len(fix) >= 32 { // let the fuzzer pass the checksum
			clear(fix[28:32])
			binary.LittleEndian.PutUint32(fix[28:], crc32.Checksum(fix, crc32.MakeTable(crc32.Castagnoli)))
		}
		for _, frame := range [][]byte{b, fix} {
			h, messages, err := r.Read(frame)
			if err != nil {
				continue
			}
			if again := agent.AppendFrame(nil, h, messages); !bytes.Equal(again, frame) {
				t.Errorf("read and written again is\n% x\nwant\n% x", again, frame)
			}
		}
	})
}
