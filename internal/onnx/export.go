package onnx

import (
	"fmt"
	"math"

	"github.com/wdgnn/wdgnn/gnn"
)

// Model is what is to be written.
type Model struct {
	Network *gnn.WideDeep
	Delayed bool // filters are delayed, eq. (24)

	// Own is what nodes with taps of their own add to their outputs, by node:
	//
	//	y_i += [z_i 1] Δ_i      Δ_i: ((K+1)·F + 1)×C
	//
	// as lifecycle.NodeTaps has it. Nodes is then the number of nodes; otherwise
	// it is 0, and the model fits any graph.
	Own   map[int][]float64
	Nodes int

	Version    string            // of the program
	Words      string            // for people
	Properties map[string]string // for programs
}

// Summary says what was written.
type Summary struct {
	Inputs    []string       `json:"inputs"`  // such as "X: B×N×4"
	Outputs   []string       `json:"outputs"` //
	Operators map[string]int `json:"operators"`
	Opset     int            `json:"opset"`
}

// largest is what a file of protocol buffers may be long.
const largest = math.MaxInt32

// Encode returns the bytes of the model, and what is in it.
func Encode(m *Model) ([]byte, *Summary, error) {
	if (m.Nodes > 0) != (len(m.Own) > 0) {
		return nil, nil, fmt.Errorf("onnx: %d nodes with taps of their own in a network of %d", len(m.Own), m.Nodes)
	}
	e := &exporter{Model: m, g: new(graph), s: &Summary{Opset: opset, Operators: map[string]int{}}, nodes: dim{symbol: "N"}}
	if m.Nodes > 0 {
		e.nodes = dim{size: m.Nodes}
	}
	size := float64(len(m.Network.Params.Flat))
	for _, d := range m.Own {
		size += float64(len(d)) * float64(m.Nodes) / float64(len(m.Own))
	}
	if 4*size > largest {
		return nil, nil, fmt.Errorf("onnx: %.0f numbers are more than a file of protocol buffers may hold, 2 GB", size)
	}
	if err := e.run(); err != nil {
		return nil, nil, err
	}
	for _, n := range e.g.nodes {
		e.s.Operators[n.operator]++
	}
	return e.g.encode(m.Version, m.Words, m.Properties), e.s, nil
}

// exporter is an export under way.
type exporter struct {
	*Model
	g     *graph
	s     *Summary
	nodes dim    // N
	lines []line // of delayed filters
}

// line is what one delay line remembers: the name of what comes out, and its
// width.
type line struct {
	name  string
	width int
}

// run builds the graph: eq. (2).
func (e *exporter) run() error {
	net, c := e.Network, &e.Network.Config
	e.input("S", e.nodes, e.nodes)
	z := e.shift(0, e.input("X", e.rows(c.In)...), c.In, net.InputOrder())
	wide, deep := "", ""
	if c.Wide != nil {
		wide = e.filter("wide", &net.Params.Wide, z)
	}
	for l := range net.Deep().Layers {
		layer, name := &net.Deep().Layers[l], fmt.Sprintf("deep.%d", l+1)
		from := z
		if l > 0 {
			from = e.shift(l, deep, layer.In(), layer.Order())
		}
		deep = e.activate(name, layer.Activation, e.filter(name, &layer.Filter, from))
	}
	y, err := e.own(e.readout(e.blend(wide, deep)), z)
	if err != nil {
		return err
	}
	e.g.rename(y, "Y")
	e.output("Y", e.rows(net.Outputs())...)
	for _, l := range e.lines {
		e.output(l.name, e.rows(l.width)...)
	}
	return nil
}

// rows is the shape B×N×width.
func (e *exporter) rows(width int) []dim { return []dim{{symbol: "B"}, e.nodes, {size: width}} }

func (e *exporter) input(name string, shape ...dim) string {
	e.s.Inputs = append(e.s.Inputs, describe(name, shape))
	return e.g.input(name, shape...)
}

func (e *exporter) output(name string, shape ...dim) {
	e.s.Outputs = append(e.s.Outputs, describe(name, shape))
	e.g.output(name, shape...)
}

// describe writes "X: B×N×4".
func describe(name string, shape []dim) string {
	text := name + ": "
	for k, d := range shape {
		if k > 0 {
			text += "×"
		}
		text += d.String()
	}
	return text
}
