package train

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/mat"
)

// SignalsConfig describes samples that live on one graph.
type SignalsConfig struct {
	Graph    *graph.Graph
	Operator graph.Shift // how the graph becomes S
	Signals  mat.Dense   // X of every sample, one after the other: (samples·N)×F
	Read     []int       // nodes whose outputs are read; nil means all
	Targets  Objective   // target rows: samples × nodes read

	// Sparing shifts the signals of a pass when it is filled, in place of all of
	// them once, here: (K+1) times less memory for a little more time. The bits
	// are the same.
	Sparing bool

	// Outage says which links fail; the zero value loses none.
	Outage Outage

	// Subgraph, if set, makes the graph of a batch, on the nodes of Graph, of what
	// Outage leaves: for losses that are chosen rather than drawn. It may be called by
	// several goroutines and answers the same for the same generator, until the
	// epoch ends.
	Subgraph func(left *graph.Graph, rng *rand.Rand) (*graph.Graph, error)
}

// Signals are samples on one graph, prepared for a model: unless the graph
// changes from batch to batch, or memory is to be spared, every signal is shifted
// once, here.
type Signals struct {
	cfg     SignalsConfig
	model   gnn.Config
	order   int // of the shifted inputs
	last    int // order of the last filter
	layered bool

	carried       carried
	shift, shiftT *mat.CSR
	read          *gnn.Rows
	lost          *subgraphs // nil if no link fails
	all           mat.Dense  // shifted inputs, sample by sample, if a pass needs every node
	some          mat.Dense  // the same at the nodes read, if only some are
}

// scratch is memory of a Pass.
type scratch struct {
	shifter gnn.Shifter
	signal  mat.Dense
	shifted mat.Dense
	some    mat.Dense
	sub     subgraph // made for this pass, where it is not kept for all
}

// NewSignals checks the samples and shifts them for the given model.
func NewSignals(m *gnn.WideDeep, cfg SignalsConfig) (*Signals, error) {
	d := &Signals{cfg: cfg, model: m.Config, order: m.InputOrder(), last: m.LastOrder(), layered: len(m.Config.Deep) > 1}
	if err := d.validate(); err != nil {
		return nil, err
	}
	var err error
	if d.shift, err = cfg.Operator.Of(cfg.Graph); err != nil {
		return nil, fmt.Errorf("train: %w", err)
	}
	d.shiftT = transpose(d.shift, cfg.Graph)
	if cfg.Read != nil {
		if d.read, err = gnn.NewRows(d.shift, cfg.Read, d.last); err != nil {
			return nil, fmt.Errorf("train: %w", err)
		}
	}
	if err := checkRows(cfg.Targets, d.Len(), d.Len()*d.outputs()); err != nil {
		return nil, err
	}
	d.carried = newCarried(cfg.Targets, d.Len(), func(int) int { return d.outputs() })
	switch {
	case cfg.Outage != (Outage{}) || cfg.Subgraph != nil:
		d.lost = newSubgraphs(d)
	case !cfg.Sparing:
		d.shiftAll()
	}
	return d, nil
}

func (d *Signals) validate() error {
	var errs []error
	complain := func(format string, args ...any) { errs = append(errs, fmt.Errorf("train: "+format, args...)) }
	if d.cfg.Graph == nil || d.cfg.Graph.Nodes() == 0 {
		complain("signals need a graph with nodes")
	} else if n := d.cfg.Graph.Nodes(); d.cfg.Signals.Rows == 0 || d.cfg.Signals.Rows%n != 0 {
		complain("%d rows of signals are not a number of samples on %d nodes", d.cfg.Signals.Rows, n)
	}
	if d.cfg.Signals.Cols != d.model.In {
		complain("signals have %d features, the model reads %d", d.cfg.Signals.Cols, d.model.In)
	}
	if err := checkFinite(d.cfg.Signals); err != nil {
		complain("signals: %w", err)
	}
	if d.cfg.Targets == nil {
		complain("signals need an objective")
	}
	if err := d.cfg.Outage.Validate(); err != nil {
		errs = append(errs, err)
	}
	if d.cfg.Subgraph != nil && d.cfg.Outage.Subgraphs > 0 {
		complain("subgraphs drawn beforehand cannot be chosen; want 0 of them where Subgraph is set")
	}
	return errors.Join(errs...)
}

// checkFinite reports the first value that is not a finite number.
func checkFinite(x mat.Dense) error {
	for i := range x.Rows {
		for j, v := range x.Row(i) {
			if bad(float64(v)) {
				return fmt.Errorf("row %d, feature %d is %v", i, j, v)
			}
		}
	}
	return nil
}

func transpose(s *mat.CSR, g *graph.Graph) *mat.CSR {
	if t := s.T(); g.Directed() || !t.Equal(s) {
		return t
	}
	return s
}

// Len returns the number of samples.
func (d *Signals) Len() int { return d.cfg.Signals.Rows / d.nodes() }

// Passes implements Data: passes are parts of the samples.
func (d *Signals) Passes(samples, rows int) int {
	each := d.nodes()
	if !d.layered && d.read != nil {
		each = len(d.read.Nodes)
	}
	size := max(rows/each, 1)
	return (samples + size - 1) / size
}

// Shift returns the shift operator of the whole graph.
func (d *Signals) Shift() *mat.CSR { return d.shift }

func (d *Signals) nodes() int { return d.cfg.Graph.Nodes() }

// outputs returns R, the rows that are read per sample.
func (d *Signals) outputs() int {
	if d.read == nil {
		return d.nodes()
	}
	return len(d.read.Nodes)
}

// shiftBlock is how many samples are shifted at once.
const shiftBlock = 64

// shiftAll shifts every signal once and keeps what passes will read.
func (d *Signals) shiftAll() {
	var (
		n, width = d.nodes(), (d.order + 1) * d.model.In
		sc       scratch
	)
	if d.layered || d.read == nil {
		d.all = mat.NewDense(d.Len()*n, width, nil)
	}
	if d.read != nil {
		d.some = mat.NewDense(d.Len()*d.outputs(), width, nil)
	}
	for from := 0; from < d.Len(); from += shiftBlock {
		b := min(d.Len()-from, shiftBlock)
		sc.signal = sc.signal.Resize(n*b, d.model.In)
		interleave(sc.signal, d.cfg.Signals, n, b, func(s int) int { return from + s })
		sc.shifted = sc.shifted.Resize(n*b, width)
		sc.shifter.Shift(sc.shifted, d.shift, sc.signal)
		for s := range b {
			for i := range n {
				if !d.all.Empty() {
					copy(d.all.Row((from+s)*n+i), sc.shifted.Row(i*b+s))
				}
			}
			if d.read != nil {
				for r, i := range d.read.Nodes {
					copy(d.some.Row((from+s)*d.outputs()+r), sc.shifted.Row(i*b+s))
				}
			}
		}
	}
}

// interleave copies rows that are stored sample by sample, rows per sample, to
// dst, where they follow node by node. Sample(s) is the s-th of b samples.
func interleave(dst, src mat.Dense, rows, b int, sample func(s int) int) {
	for s := range b {
		base := sample(s) * rows
		for i := range rows {
			copy(dst.Data[(i*b+s)*dst.Stride:(i*b+s)*dst.Stride+dst.Cols], src.Data[(base+i)*src.Stride:(base+i)*src.Stride+src.Cols])
		}
	}
}

// Fill implements Data.
func (d *Signals) Fill(p *Pass, samples []int, k, passes int, draw Draw) error {
	lo, hi := part(len(samples), k, passes)
	batch, samples := samples, samples[lo:hi]
	var (
		n, b, r = d.nodes(), len(samples), d.outputs()
		width   = (d.order + 1) * d.model.In
		sc      = &p.scratch
		sample  = func(s int) int { return samples[s] }
	)
	p.Input = gnn.Input{Shift: d.shift, ShiftT: d.shiftT, Read: d.read}
	if d.lost != nil {
		sub, err := d.lost.of(&sc.sub, draw)
		if err != nil {
			return err
		}
		p.Input = gnn.Input{Shift: sub.shift, ShiftT: sub.shiftT, Read: sub.read}
	}
	if d.lost != nil || d.cfg.Sparing {
		sc.signal = sc.signal.Resize(n*b, d.model.In)
		interleave(sc.signal, d.cfg.Signals, n, b, sample)
		sc.shifted = sc.shifted.Resize(n*b, width)
		sc.shifter.Shift(sc.shifted, p.Input.Shift, sc.signal)
		p.Input.Shifted = sc.shifted
		if d.read != nil {
			sc.some = sc.some.Resize(r*b, width)
			d.read.Gather(sc.some, sc.shifted, b)
			p.Input.ReadShifted = sc.some
		}
	} else {
		if !d.all.Empty() {
			sc.shifted = sc.shifted.Resize(n*b, width)
			interleave(sc.shifted, d.all, n, b, sample)
			p.Input.Shifted = sc.shifted
		}
		if d.read != nil {
			sc.some = sc.some.Resize(r*b, width)
			interleave(sc.some, d.some, r, b, sample)
			p.Input.ReadShifted = sc.some
		}
	}
	p.Rows = p.Rows[:0]
	for i := range r {
		for _, s := range samples {
			p.Rows = append(p.Rows, s*r+i)
		}
	}
	d.carried.share(p, batch)
	p.Loss = d.cfg.Targets.Loss(&p.memory, p.Rows)
	return nil
}
