package train

import (
	"fmt"
	"sync"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/mat"
)

// Outage says which links of a graph fail while a model is trained. Every batch
// sees one subgraph from which each edge is missing with probability p, drawn
// for that subgraph uniformly from From to To, and S is computed from it as from
// any graph. With From = To and a GNN this gives the paper's SGNN.
//
// Deviation: where From < To, intact and broken networks are learned together;
// the paper knows one p.
type Outage struct {
	// The least probability that a link is missing.
	From float64 `json:"from" yaml:"from" example:"0.1"`

	// The largest, below 1.
	To float64 `json:"to" yaml:"to" default:"required" example:"0.4"`

	// How many subgraphs there are, drawn beforehand; 0 means a fresh one for
	// every batch.
	Subgraphs int `json:"subgraphs,omitempty" yaml:"subgraphs" example:"256"`
}

// Validate reports what is wrong with o.
func (o Outage) Validate() error {
	if !(o.From >= 0 && o.From <= o.To && o.To < 1) {
		return fmt.Errorf("train: outage from %v to %v, want 0 ≤ from ≤ to < 1", o.From, o.To)
	}
	if o.Subgraphs < 0 {
		return fmt.Errorf("train: outage: %d subgraphs, want 0 for fresh ones or more", o.Subgraphs)
	}
	return nil
}

// subgraph is what a pass needs of a graph that lost links.
type subgraph struct {
	draw          Draw // that it was made for
	shift, shiftT *mat.CSR
	read          *gnn.Rows // nil if all nodes are read
}

// subgraphs are those of an Outage. A subgraph is a function of its draw; those of a
// set drawn beforehand are kept from their first use on, as far as there is room.
type subgraphs struct {
	data *Signals
	kept []once
}

type once struct {
	sync.Once
	subgraph
	err error
}

// mostKept bounds the memory of subgraphs that are kept, in numbers.
const mostKept = 1 << 25

func newSubgraphs(d *Signals) *subgraphs {
	each := 4*d.shift.NNZ() + 2*d.shift.Rows
	if d.read != nil {
		each += (d.last + 1) * len(d.read.Nodes) * d.nodes()
	}
	return &subgraphs{data: d, kept: make([]once, min(d.cfg.Outage.Subgraphs, mostKept/max(each, 1)))}
}

// of returns the subgraph of a batch. Memory is where it is made if it is not
// kept.
func (l *subgraphs) of(memory *subgraph, draw Draw) (*subgraph, error) {
	if count := l.data.cfg.Outage.Subgraphs; count > 0 {
		number := draw.Rand("subgraph").IntN(count)
		draw = Draw{Seed: draw.Seed, Restart: -1, Step: number} // of no batch
		if number < len(l.kept) {
			k := &l.kept[number]
			k.Do(func() { k.err = l.make(&k.subgraph, draw) })
			if k.err != nil || k.draw == draw { // else data are run with several seeds
				return &k.subgraph, k.err
			}
		}
	}
	if memory.shift != nil && memory.draw == draw {
		return memory, nil
	}
	return memory, l.make(memory, draw)
}

// make overwrites s with the subgraph of a draw.
func (l *subgraphs) make(s *subgraph, draw Draw) error {
	d := l.data
	p := d.cfg.Outage.From
	if width := d.cfg.Outage.To - p; width > 0 {
		p += float64(width * draw.Rand("outage probability").Float64())
	}
	g, err := graph.NewOutage(d.cfg.Graph, draw.Rand("outage")).At(p)
	if err == nil && d.cfg.Subgraph != nil {
		g, err = d.cfg.Subgraph(g, draw.Rand("subgraph chosen"))
	}
	if err != nil {
		return fmt.Errorf("train: %w", err)
	}
	if s.shift, err = d.cfg.Operator.Of(g); err != nil {
		return fmt.Errorf("train: %w", err)
	}
	s.shiftT, s.draw = transpose(s.shift, g), draw
	if d.read != nil {
		if s.read == nil {
			s.read = &gnn.Rows{Nodes: d.read.Nodes}
		}
		s.read.Reset(s.shift, d.last)
	}
	return nil
}
