package onnx

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"
)

// Versions of what is written: of the file, and of the operators' meaning.
const (
	irVersion = 7
	opset     = 13
)

// graph is a graph of operators that is being built. Values are known by their
// names.
type graph struct {
	nodes                      []node
	constants, inputs, outputs []message
	known                      map[string]bool // constants
}

// node is an operator with what it reads and gives.
type node struct {
	operator string
	inputs   []string
	output   string
}

// dim is a dimension: a number, or a symbol.
type dim struct {
	size   int
	symbol string // empty: size
}

func (d dim) String() string {
	if d.symbol != "" {
		return d.symbol
	}
	return fmt.Sprint(d.size)
}

// value describes an input or output: ValueInfoProto with a TensorProto type.
func value(name string, shape []dim) message {
	var dims, tensor, kind, m message
	for _, d := range shape {
		var one message
		if d.symbol != "" {
			one.text(2, d.symbol)
		} else {
			one.number(1, uint64(d.size))
		}
		dims.bytes(1, one)
	}
	tensor.number(1, elementFloat)
	tensor.bytes(2, dims)
	kind.bytes(1, tensor)
	m.text(1, name)
	m.bytes(2, kind)
	return m
}

// elementFloat is float32 as the type of an element.
const elementFloat = 1

func (g *graph) input(name string, shape ...dim) string {
	g.inputs = append(g.inputs, value(name, shape))
	return name
}

func (g *graph) output(name string, shape ...dim) {
	g.outputs = append(g.outputs, value(name, shape))
}

// constant adds numbers of a given shape, none for a single number, unless a
// constant of that name is there: TensorProto.
func (g *graph) constant(name string, values []float32, shape ...int) string {
	if g.known[name] {
		return name
	}
	if g.known == nil {
		g.known = map[string]bool{}
	}
	g.known[name] = true
	var m message
	for _, n := range shape {
		m.number(1, uint64(n))
	}
	m.number(2, elementFloat)
	m.text(8, name)
	raw := make([]byte, 0, 4*len(values))
	for _, v := range values {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(v))
	}
	m.bytes(9, raw)
	g.constants = append(g.constants, m)
	return name
}

// apply adds an operator whose result is called name, and returns the name.
func (g *graph) apply(name, operator string, inputs ...string) string {
	g.nodes = append(g.nodes, node{operator, inputs, name})
	return name
}

// rename gives a result another name.
func (g *graph) rename(from, to string) {
	for k := range g.nodes {
		n := &g.nodes[k]
		if n.output == from {
			n.output = to
		}
		for i := range n.inputs {
			if n.inputs[i] == from {
				n.inputs[i] = to
			}
		}
	}
}

// encode returns an operator: NodeProto.
func (n *node) encode() message {
	var m message
	for _, in := range n.inputs {
		m.text(1, in)
	}
	m.text(2, n.output)
	m.text(3, n.output)
	m.text(4, n.operator)
	return m
}

// encode returns the graph in its model: ModelProto.
func (g *graph) encode(version, words string, properties map[string]string) []byte {
	var body, set, m message
	for k := range g.nodes {
		body.bytes(1, g.nodes[k].encode())
	}
	for _, list := range []struct {
		field int
		all   []message
	}{{5, g.constants}, {11, g.inputs}, {12, g.outputs}} {
		for _, one := range list.all {
			body.bytes(list.field, one)
		}
	}
	body.text(2, "wdgnn")
	m.number(1, irVersion)
	m.text(2, "wdgnn")
	m.text(3, version)
	m.text(6, words)
	m.bytes(7, body)
	set.text(1, "")
	set.number(2, opset)
	m.bytes(8, set)
	for _, key := range slices.Sorted(maps.Keys(properties)) {
		var entry message
		entry.text(1, key)
		entry.text(2, properties[key])
		m.bytes(14, entry)
	}
	return m
}
