package onnx

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/gnn"
)

// Fields are written as the documentation of protocol buffers encodes them.
func TestMessage(t *testing.T) {
	var m, inner message
	m.number(1, 150)
	m.text(2, "testing")
	inner.number(1, 150)
	m.bytes(3, inner)
	m.number(16, 0)
	if got, want := hex.EncodeToString(m), "089601"+"120774657374696e67"+"1a03089601"+"800100"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// field is one field of a message that was read back.
type field struct {
	number int
	value  uint64
	bytes  []byte
}

// fields takes a message apart; it knows the wire types that are written.
func fields(t *testing.T, m []byte) (all []field) {
	t.Helper()
	next := func() uint64 {
		v, n := binary.Uvarint(m)
		if n <= 0 {
			t.Fatalf("a message ends in a number: % x", m)
		}
		m = m[n:]
		return v
	}
	for len(m) > 0 {
		key := next()
		f := field{number: int(key >> 3)}
		switch key & 7 {
		case wireVarint:
			f.value = next()
		case wireBytes:
			n := next()
			f.bytes, m = m[:n], m[n:]
		default:
			t.Fatalf("wire type %d", key&7)
		}
		all = append(all, f)
	}
	return all
}

// inside returns the messages or texts in a field.
func inside(t *testing.T, m []byte, number int) (all [][]byte) {
	t.Helper()
	for _, f := range fields(t, m) {
		if f.number == number {
			all = append(all, f.bytes)
		}
	}
	return all
}

func texts(t *testing.T, all [][]byte, number int) (found []string) {
	t.Helper()
	for _, m := range all {
		found = append(found, string(inside(t, m, number)[0]))
	}
	return found
}

// The smallest model: two taps, nothing else.
func TestEncode(t *testing.T) {
	net, err := gnn.New(gnn.Config{In: 1, Features: 1, NoBias: true, Wide: &gnn.WideConfig{Order: 1}})
	if err != nil {
		t.Fatal(err)
	}
	copy(net.Params.Flat, []float32{2, 3})
	file, summary, err := Encode(&Model{Network: net, Version: "7", Words: "hello", Properties: map[string]string{"b": "2", "a": "1"}})
	if err != nil {
		t.Fatal(err)
	}
	again, _, _ := Encode(&Model{Network: net, Version: "7", Words: "hello", Properties: map[string]string{"a": "1", "b": "2"}})
	if !bytes.Equal(file, again) {
		t.Error("the same model gives other bytes")
	}
	if got := texts(t, inside(t, file, 14), 1); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("properties: got %q, want a and b", got)
	}
	body := inside(t, file, 7)[0]
	if got, want := texts(t, inside(t, body, 1), 4), []string{"MatMul", "MatMul", "MatMul", "Add"}; !slices.Equal(got, want) {
		t.Errorf("operators: got %q, want %q", got, want)
	}
	if got, want := texts(t, inside(t, body, 11), 1), []string{"S", "X"}; !slices.Equal(got, want) {
		t.Errorf("inputs: got %q, want %q", got, want)
	}
	if got, want := texts(t, inside(t, body, 12), 1), []string{"Y"}; !slices.Equal(got, want) {
		t.Errorf("outputs: got %q, want %q", got, want)
	}
	constants := inside(t, body, 5)
	if got, want := inside(t, constants[1], 9)[0], []byte{0, 0, 0x40, 0x40}; !bytes.Equal(got, want) {
		t.Errorf("tap 1: got % x, want 3 as float32, % x", got, want)
	}
	if got, want := summary.Inputs[1], "X: B×N×1"; got != want || summary.Operators["MatMul"] != 3 {
		t.Errorf("summary: got %v", summary)
	}
}

// What nodes have of their own must fit the network.
func TestEncodeRefuses(t *testing.T) {
	net, err := gnn.New(gnn.Config{In: 1, Features: 1, Wide: &gnn.WideConfig{Order: 1}})
	if err != nil {
		t.Fatal(err)
	}
	for want, m := range map[string]*Model{
		"1 nodes with taps of their own in a network of 0": {Own: map[int][]float64{0: {1, 2, 3}}},
		"0 nodes with taps of their own in a network of 4": {Nodes: 4},
		"node 5 of 4 has 3 numbers of its own, want 3":     {Own: map[int][]float64{5: {1, 2, 3}}, Nodes: 4},
		"node 1 of 4 has 2 numbers of its own, want 3":     {Own: map[int][]float64{1: {1, 2}}, Nodes: 4},
		"more than a file of protocol buffers may hold":    {Own: map[int][]float64{1: {1, 2, 3}}, Nodes: 1 << 30},
	} {
		m.Network = net
		if _, _, err := Encode(m); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
