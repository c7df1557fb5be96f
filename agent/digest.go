package agent

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"math"
)

// Digest returns a number that stands for what agents must agree on to
// understand each other: the model with its parameters, the operator with its
// scale, what is known of sensors, how nodes learn and what they begin with, of a
// rule of one's own its type and what it is as JSON. It has 24 bits, is never 0, and
// travels in every frame. What each host
// decides for itself, such as limits, is not in it.
func (p *PlanConfig) Digest() uint32 {
	h := fnv.New64a()
	config, err := json.Marshal(p.Model.Config)
	if err != nil {
		panic(fmt.Sprintf("agent: Digest: %v", err)) // it is read from JSON
	}
	fmt.Fprintf(h, "%s %s %v %v\n", config, p.Operator, p.Scale, p.Delayed)
	flat := make([]byte, 0, 4*len(p.Model.Params.Flat))
	for _, v := range p.Model.Params.Flat {
		flat = binary.LittleEndian.AppendUint32(flat, math.Float32bits(v))
	}
	h.Write(flat)
	if p.Basis != nil {
		learns := *p.Rule
		learns.Gate, learns.Delay, learns.Conformal = nil, 0, nil // what a node answers, and when it is judged, is no business of others
		rule, err := json.Marshal(&learns)
		if err != nil {
			panic(fmt.Sprintf("agent: Digest: %v", err))
		}
		fmt.Fprintf(h, "%s %T %d\n", rule, p.Rule.Rule, p.Basis.Len())
		if own, err := json.Marshal(p.Rule.Rule); err == nil && p.Rule.Rule != nil {
			h.Write(own)
		}
	}
	if p.Start != 0 {
		fmt.Fprintf(h, "start %x\n", p.Start)
	}
	p.digestForecast(h)
	sum := h.Sum64()
	return max(uint32(sum^sum>>24^sum>>48)&digestMask, 1)
}

// digestForecast adds what nodes that forecast must agree on: what inputs and outputs
// mean, and by which rule seasons are learned.
func (p *PlanConfig) digestForecast(h io.Writer) {
	if p.Forecast == nil {
		return
	}
	parts := []any{p.Forecast, p.Forecast.Norms}
	if p.Season != nil {
		learns := *p.Rule
		learns.Gate, learns.Delay, learns.Conformal = nil, 0, nil
		parts = append(parts, learns)
	}
	for _, part := range parts {
		text, err := json.Marshal(part)
		if err != nil {
			panic(fmt.Sprintf("agent: Digest: %v", err)) // it was validated
		}
		h.Write(text)
	}
}

// digestMask keeps the bits that a frame has room for.
const digestMask = 1<<24 - 1
