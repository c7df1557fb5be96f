package agent_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math"
	"reflect"
	"slices"
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
		{From: 4, To: 3, Time: 1, Kind: agent.NotYet, Exchange: 2},
		{From: 6, To: 6, Kind: agent.Member, About: 1<<50 + 3, Data: []byte("hello")},
		{From: 6, To: 6, Kind: agent.Member, About: 8},
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
	plan := func(change func(*agent.PlanConfig)) uint32 {
		config := gnn.Config{In: 1, Features: 2, Outputs: 2, Wide: &gnn.WideConfig{Order: 1}}
		m, err := gnn.NewRandom(config, random.Stream(1, "model"))
		if err != nil {
			t.Fatal(err)
		}
		learn := rule.Paper(false).Ungated()
		basis, err := online.NewBasis(m, learn, nil)
		if err != nil {
			t.Fatal(err)
		}
		p := agent.PlanConfig{Model: m, Operator: graph.ShiftSpectral, Scale: 2, Basis: basis, Rule: &learn}
		change(&p)
		return newPlan(t, p).Digest()
	}
	want := plan(func(*agent.PlanConfig) {})
	if want == 0 || want>>24 != 0 {
		t.Errorf("digest %#x, want 24 bits that are not all 0", want)
	}
	for _, same := range []func(*agent.PlanConfig){
		func(*agent.PlanConfig) {},
		func(p *agent.PlanConfig) { p.MaxNorm, p.ClipNorm = 3, 2 },
		func(p *agent.PlanConfig) { p.Forgiving = true },
	} {
		if got := plan(same); got != want {
			t.Errorf("digest %#x of a plan that others understand, want %#x", got, want)
		}
	}
	for name, other := range map[string]func(*agent.PlanConfig){
		"parameters": func(p *agent.PlanConfig) { p.Model.Params.Flat[0]++ },
		"operator":   func(p *agent.PlanConfig) { p.Operator = graph.ShiftSymmetric },
		"scale":      func(p *agent.PlanConfig) { p.Scale = 3 },
		"delayed":    func(p *agent.PlanConfig) { p.Delayed = true },
		"no rule":    func(p *agent.PlanConfig) { p.Basis, p.Rule = nil, nil },
		"rule":       func(p *agent.PlanConfig) { p.Rule.Ridge = 0.5 },
		"own rule":   func(p *agent.PlanConfig) { p.Rule.Rule = rule.Descent{} },
	} {
		if plan(other) == want {
			t.Errorf("%s: the digest is the same", name)
		}
	}
}

// Hosts with rules of their own understand each other if these are of one type,
// with the same settings.
func TestDigestOfOwnRules(t *testing.T) {
	m, err := gnn.New(gnn.Config{In: 1, Features: 2, Wide: &gnn.WideConfig{Order: 1}})
	if err != nil {
		t.Fatal(err)
	}
	digest := func(own rule.Rule) uint32 {
		learn := rule.Config{Rule: own}
		p := agent.PlanConfig{Model: m, Operator: graph.ShiftSymmetric, Rule: &learn}
		if p.Basis, err = online.NewBasis(m, learn, nil); err != nil {
			t.Fatal(err)
		}
		return newPlan(t, p).Digest()
	}
	type other struct{ rule.Descent }
	type silent struct { // cannot be written as JSON: its type must do
		rule.Descent
		Watch func()
	}
	slow, fast := rule.Descent{StepSize: rule.StepSize{Value: 0.1}}, rule.Descent{StepSize: rule.StepSize{Value: 0.2}}
	all := []rule.Rule{nil, slow, fast, other{slow}, &other{slow}, silent{Descent: slow}}
	for i, a := range all {
		for k, b := range all {
			if same := digest(a) == digest(b); same != (i == k) {
				t.Errorf("%T %+v and %T %+v: the same digest: got %t, want %t", a, a, b, b, same, i == k)
			}
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
	b[27] = 0x80 // 2³¹ messages more, for which an int may have no room
	seal(b)
	if _, _, err := r.Read(b); !errors.Is(err, agent.ErrFrame) {
		t.Errorf("2³¹ messages: %v, want ErrFrame", err)
	}
}

// A frame of another version is named as one, however sound it is, with who is to
// be updated.
func TestFrameOfAnotherVersion(t *testing.T) {
	h, messages := sampleFrame()
	b := agent.AppendFrame(nil, h, messages)
	for version, want := range map[byte]string{
		1: "wire version 1, this program speaks 2: the sender is older, update it",
		3: "wire version 3, this program speaks 2: the sender is newer, update this program",
	} {
		b[4] = version
		seal(b)
		_, _, err := new(agent.Reader).Read(b)
		if !errors.Is(err, agent.ErrVersion) || !errors.Is(err, agent.ErrFrame) || !strings.Contains(err.Error(), want) {
			t.Errorf("version %d: got %v, want ErrVersion with %q", version, err, want)
		}
	}
}

// seal gives a frame that was changed its checksum.
func seal(frame []byte) {
	clear(frame[28:32])
	binary.LittleEndian.PutUint32(frame[28:], crc32.Checksum(frame, crc32.MakeTable(crc32.Castagnoli)))
}

// Version 2 has room: a message of a kind that came later is passed over and
// counted, whatever its bytes mean, and those around it are read.
func TestUnknownKinds(t *testing.T) {
	h, messages := sampleFrame()
	for _, kind := range []byte{byte(agent.Member) + 1, 127, 255} {
		b := agent.AppendFrame(nil, h, messages)
		at := 32                // the first message,
		second := at + 40 + 3*4 // behind its values the second,
		third := second + 40    // which has none
		fill := b[third+16:]    // of the third all but who, to whom and when,
		for k := range 16 {     // up to the number of its values
			fill[k] = 0xa5
		}
		copy(fill[20:24], []byte{1, 2, 3, 4})
		b[at+16], b[third+16] = kind, kind
		seal(b)
		var r agent.Reader
		got, left, err := r.Read(b)
		if err != nil || got != h || r.Unknown() != 2 || len(left) != len(messages)-2 {
			t.Fatalf("kind %d: got %+v, %d messages and %d unknown (%v), want %+v, %d and 2",
				kind, got, len(left), r.Unknown(), err, h, len(messages)-2)
		}
		for k, want := range []agent.Message{messages[1], messages[3], messages[4], messages[5]} {
			if left[k].String() != want.String() || !slices.Equal(left[k].Values, want.Values) {
				t.Errorf("kind %d: message %d is %v, want %v", kind, k, &left[k], &want)
			}
		}
		if _, _, err := r.Read(agent.AppendFrame(nil, h, messages)); err != nil || r.Unknown() != 0 {
			t.Errorf("the next frame: %d unknown (%v), want none", r.Unknown(), err)
		}
	}
}

// Room is for what came later only: kind 0, reserved bytes of the kinds that are
// known, and more values than there are bytes are refused as ever.
func TestStrictWhereKnown(t *testing.T) {
	h, messages := sampleFrame()
	whole := agent.AppendFrame(nil, h, messages[:1])
	for name, change := range map[string]func(message []byte){
		"kind 0":                        func(m []byte) { m[16] = 0 },
		"byte 17":                       func(m []byte) { m[17] = 1 },
		"byte 36":                       func(m []byte) { m[36] = 1 },
		"byte 39":                       func(m []byte) { m[39] = 1 },
		"unknown, a value too many":     func(m []byte) { m[16], m[32] = 6, 4 },
		"unknown, a value too few":      func(m []byte) { m[16], m[32] = 6, 2 },
		"unknown, 4 thousand millions":  func(m []byte) { m[16], m[32], m[33], m[34], m[35] = 6, 255, 255, 255, 255 },
		"a record that is longer":       func(m []byte) { m[16], m[20] = 5, 13 },
		"a record that is shorter":      func(m []byte) { m[16], m[20] = 5, 8 },
		"a record and no zeros":         func(m []byte) { m[16], m[20], m[51] = 5, 11, 1 },
		"a record of no end":            func(m []byte) { m[16], m[20], m[21], m[22], m[23] = 5, 255, 255, 255, 255 },
		"known, a value too many":       func(m []byte) { m[32] = 4 },
		"known, 4 thousand millions":    func(m []byte) { m[32], m[33], m[34], m[35] = 255, 255, 255, 255 },
		"unknown and then half a frame": func(m []byte) { m[16], m[32] = 6, 0 },
	} {
		b := bytes.Clone(whole)
		change(b[32:])
		seal(b)
		if _, _, err := new(agent.Reader).Read(b); !errors.Is(err, agent.ErrFrame) {
			t.Errorf("%s: got %v, want ErrFrame", name, err)
		}
	}
}

// Whatever bytes arrive, reading them neither panics nor asks for more memory
// than they are long; and what is read can be written to the same bytes, less the
// messages that were passed over.
func FuzzReadFrame(f *testing.F) {
	h, messages := sampleFrame()
	f.Add(agent.AppendFrame(nil, h, messages))
	f.Add(agent.AppendFrame(nil, h, nil))
	f.Add([]byte("WDGN"))
	later := agent.AppendFrame(nil, h, messages)
	later[32+16], later[32+17] = 4, 1
	f.Add(later)
	f.Fuzz(func(t *testing.T, b []byte) {
		var r agent.Reader
		fix := bytes.Clone(b)
		if len(fix) >= 32 { // let the fuzzer pass the checksum
			seal(fix)
		}
		for _, frame := range [][]byte{b, fix} {
			h, messages, err := r.Read(frame)
			if err != nil {
				continue
			}
			again := agent.AppendFrame(nil, h, messages)
			if r.Unknown() == 0 && !bytes.Equal(again, frame) {
				t.Errorf("read and written again is\n% x\nwant\n% x", again, frame)
			}
			if said := int(binary.LittleEndian.Uint32(frame[24:])); len(messages)+r.Unknown() != said {
				t.Errorf("%d messages and %d unknown, want %d together", len(messages), r.Unknown(), said)
			}
			if len(again)+40*r.Unknown() > len(frame) {
				t.Errorf("%d bytes without %d unknown messages, of %d", len(again), r.Unknown(), len(frame))
			}
		}
	})
}
