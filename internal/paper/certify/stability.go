package certify

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/crown"
	"github.com/wdgnn/wdgnn/internal/data"
	"github.com/wdgnn/wdgnn/internal/lifecycle"
	"github.com/wdgnn/wdgnn/internal/paper/theory"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/random"
)

// Options says what to hold a model against.
type Options struct {
	Graph     string  // path
	Perturbed string  // path of the graph as it may become; empty takes Drop
	Drop      float64 // probability that a link is lost, if there is no Perturbed
	Seed      uint64  // of the links that are lost and of random signals
	Signals   string  // path; empty draws random signals with ‖X‖ = 1
	Nodes     int     // N; 0 takes it from the graph file
	Read      []int   // nodes whose outputs count, for the direct certificate and what is measured; nil means all
	Trained   bool    // they are those that training read instead, if the graph has them
	Directed  bool
	Sweep     bool // also compute how the output changes on the way to the perturbed graph

	delayed bool     // the model's filters are
	sensors []string // of a model of forecasts, which graphs name
}

// StabilityReport is Theorem 1 for a model and two graphs.
type StabilityReport struct {
	Nodes          int            `json:"nodes"`
	Read           []int          `json:"read,omitempty"` // whose outputs count; none means all
	Edges          int            `json:"edges"`
	PerturbedEdges int            `json:"perturbed_edges"`
	Parts          int            `json:"parts"` // of the graph; the bounds hold for any number
	Connected      bool           `json:"perturbed_connected"`
	Checks         []theory.Check `json:"hypotheses"`
	Filters        []filterReport `json:"filters"`

	IntegralLipschitz Number `json:"integral_lipschitz"` // C_L
	Architecture      Number `json:"architecture"`       // C_Ψ
	Epsilon           Number `json:"epsilon"`
	Misalignment      Number `json:"misalignment"` // δ
	ZeroPairs         int    `json:"zero_pairs"`
	Unreachable       Number `json:"unreachable"`

	Layers []theory.LayerNorm `json:"layers"`
	Chains []theory.Chain     `json:"chains"`      // by layer: what its change does to the outputs that are read
	Wide   Number             `json:"wide_change"` // ‖ΔH_W‖
	Biases Number             `json:"bias_change"` // of nodes that hear others on the perturbed graph

	// Together is what the changes of all layers do as one; nil for networks that
	// are too large for it.
	Together *theory.Together `json:"together,omitempty"`

	Own     int           `json:"own_taps"` // nodes with taps, or weights of neighbours, of their own, which are what is certified
	Bounds  []BoundReport `json:"bounds"`
	Signals signalsReport `json:"signals"`
	Missing []string      `json:"missing,omitempty"`

	Sweep     []sweepPoint    `json:"sweep,omitempty"`
	Responses []responseCurve `json:"responses,omitempty"`
	Spectra   [2][]float64    `json:"-"` // eigenvalues of S and Ŝ
}

// filterReport are the constants of one filter.
type filterReport struct {
	theory.FilterConstants
	PairConstant Number `json:"pair_constant"` // C_L in the form of eq. (12)
}

// BoundReport is one bound beside what was measured.
type BoundReport struct {
	Name     string `json:"name"`
	Bound    Number `json:"bound"`
	Measured Number `json:"measured"`
	Ratio    Number `json:"ratio"` // bound over measured
	Proven   bool   `json:"proven"`
	Note     string `json:"note,omitempty"`

	// Premises are what it takes for granted; it is proven if all hold.
	Premises []Premise `json:"premises"`
}

// signalsReport says which signals were measured.
type signalsReport struct {
	Count  int     `json:"count"`
	Source string  `json:"source"`
	Norm   float64 `json:"norm"`   // ‖X‖ of the one that changed most
	Median float64 `json:"median"` // of the relative change of the output
	Worst  float64 `json:"worst"`  // largest relative change
	Sought float64 `json:"sought"` // largest ‖ΔΨ‖ that a search for a harmful signal of the same norm found
}

// sweepPoint is a graph on the way from S to Ŝ.
type sweepPoint struct {
	Way      float64 `json:"way"` // t of (1-t) S + t Ŝ
	Epsilon  Number  `json:"epsilon"`
	Measured float64 `json:"measured"`
	Direct   float64 `json:"direct"`
	Theorem  Number  `json:"theorem"`
}

// responseCurve is a(λ) of one pair of features.
type responseCurve struct {
	Filter  string    `json:"filter"`
	In      int       `json:"in"`
	Out     int       `json:"out"`
	Lambda  []float64 `json:"lambda"`
	Gain    []float64 `json:"gain"`
	Slope   []float64 `json:"slope"` // λ a'(λ)
	Largest float64   `json:"integral_lipschitz"`
}

// measuredSignals is how many signals are run on both graphs.
const measuredSignals = 64

// Stability computes Theorem 1 for a model on the graphs of files.
func Stability(ctx context.Context, m *modelfile.Model, o Options) (*StabilityReport, error) {
	spec, err := m.Forecast()
	if err != nil {
		return nil, err
	}
	if spec != nil {
		o.sensors = spec.Sensors
	}
	intact, perturbed, err := o.graphs()
	if err != nil {
		return nil, err
	}
	if o.Trained && !slices.ContainsFunc(m.Meta.Nodes, func(i int) bool { return i >= intact.Nodes() }) {
		o.Read = m.Meta.Nodes
	}
	return Graphs(ctx, m, intact, perturbed, o)
}

// Graphs computes Theorem 1 for a model and two graphs on the same nodes.
// Of the options it reads what says how to measure.
func Graphs(ctx context.Context, m *modelfile.Model, intact, perturbed *graph.Graph, o Options) (*StabilityReport, error) {
	s, err := m.Meta.Shift.Of(intact)
	if err != nil {
		return nil, err
	}
	sHat, err := m.Meta.Shift.Of(perturbed)
	if err != nil {
		return nil, err
	}
	pair, err := theory.NewPair(crown.NewShift(s), crown.NewShift(sHat))
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	own, err := lifecycle.NodeTapsOf(m)
	if err != nil {
		return nil, err
	}
	net, err := exact(m, own, s, sHat)
	if err != nil {
		return nil, err
	}
	for _, i := range o.Read {
		if i < 0 || i >= intact.Nodes() {
			return nil, fmt.Errorf("node %d to read is outside a graph of %d nodes", i, intact.Nodes())
		}
	}
	st := theory.NewStability(net, pair, o.Read...)
	_, parts := intact.Components()
	r := &StabilityReport{
		Parts: parts, Read: o.Read, Together: st.Direct.Together,
		Nodes: intact.Nodes(), Edges: intact.Edges(), PerturbedEdges: perturbed.Edges(), Connected: perturbed.Connected(),
		Checks: st.Checks, IntegralLipschitz: Number(st.IntegralLipschitz), Architecture: Number(st.Architecture),
		Epsilon: Number(st.Relative.Size), Misalignment: Number(st.Relative.Misalignment),
		ZeroPairs: st.Relative.Zero, Unreachable: Number(st.Relative.Unreachable),
		Layers: st.Direct.Layers, Chains: st.Direct.Chains, Wide: Number(st.Direct.Wide), Biases: Number(st.Direct.Biases),
		Own: net.OwnTaps(), Missing: st.Missing(),
		Spectra: [2][]float64{pair.Values, pair.PerturbedValues},
	}
	if !st.Relative.Computed {
		r.Epsilon = Number(math.NaN())
	}
	if !pair.Symmetric || own != nil {
		r.IntegralLipschitz = Number(math.NaN())
	}
	if o.delayed = m.Meta.Delayed; o.delayed {
		r.Checks = append(r.Checks, theory.Check{
			Name: "filters read one graph",
			Text: "delayed: they read the graphs of several steps; here the graph stands still",
		})
	}
	for _, f := range st.Filters {
		r.Filters = append(r.Filters, filterReport{f, Number(f.Pair)})
	}
	worst, err := r.measure(ctx, &searched{m.Network, own, net, s, sHat, o.Read}, st, pair, o)
	if err != nil {
		return nil, err
	}
	r.curves(net, pair.Over)
	if o.Sweep && net.Perturbed == nil { // on the way nodes would hear neighbours of both graphs
		return r, r.sweep(ctx, st, pair, worst)
	}
	return r, nil
}

// graphs reads or makes both graphs.
func (o *Options) graphs() (intact, perturbed *graph.Graph, err error) {
	if intact, err = o.load(o.Graph, o.Nodes); err != nil {
		return nil, nil, err
	}
	if o.Perturbed != "" {
		if perturbed, err = o.load(o.Perturbed, intact.Nodes()); err != nil {
			return nil, nil, err
		}
		return intact, perturbed, nil
	}
	perturbed, err = graph.NewOutage(intact, random.Stream(o.Seed, "certify outage")).At(o.Drop)
	return intact, perturbed, err
}

func (o *Options) load(path string, nodes int) (*graph.Graph, error) {
	if n := len(o.sensors); n > 0 {
		g, err := data.LoadSensorGraph(data.SensorGraph{Graph: path, Directed: o.Directed}, &data.Series{
			Names: o.sensors, Known: n, Nodes: n, Steps: 1,
		})
		if err != nil {
			return nil, err
		}
		return g.At(0), nil
	}
	file, err := modelfile.LoadGraph(path, modelfile.GraphOptions{Nodes: nodes, Directed: o.Directed})
	if err != nil {
		return nil, err
	}
	if file.Graph == nil {
		return nil, fmt.Errorf("%s: it has a time column; Theorem 1 compares two graphs that stand still", path)
	}
	return file.Graph, nil
}

// mostCurves is how many responses are drawn per filter.
const mostCurves = 6

// curves samples the responses that bend most.
func (r *StabilityReport) curves(net *crown.Network, over theory.Interval) {
	if over.High <= over.Low {
		return
	}
	for _, f := range net.Filters() {
		if f == net.Wide && net.OwnTaps() > 0 {
			continue // every node has another
		}
		var all []responseCurve
		for i, a := range theory.Responses(f) {
			c := responseCurve{Filter: f.Name, In: i / f.Out, Out: i % f.Out}
			c.Largest, _ = a.IntegralLipschitz(over)
			c.Gain = []float64(a) // until it is known which are drawn
			all = append(all, c)
		}
		slices.SortStableFunc(all, func(a, b responseCurve) int {
			switch {
			case a.Largest > b.Largest:
				return -1
			case a.Largest < b.Largest:
				return 1
			}
			return 0
		})
		for _, c := range all[:min(len(all), mostCurves)] {
			a := theory.Response(c.Gain)
			c.Gain = nil
			for k := range 201 {
				l := over.Low + (over.High-over.Low)*float64(k)/200
				c.Lambda = append(c.Lambda, l)
				c.Gain = append(c.Gain, a.At(l))
				c.Slope = append(c.Slope, a.Slope(l))
			}
			r.Responses = append(r.Responses, c)
		}
	}
}

// sweep walks from S to Ŝ.
func (r *StabilityReport) sweep(ctx context.Context, st *theory.Stability, p *theory.Pair, x []float64) error {
	ways := []float64{0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1}
	if r.Nodes > 200 {
		ways = []float64{0.01, 0.1, 1}
	}
	for _, t := range ways {
		if err := ctx.Err(); err != nil {
			return err
		}
		m, err := st.Along(p, t, x)
		if err != nil {
			return err
		}
		r.Sweep = append(r.Sweep, sweepPoint{
			Way: t, Epsilon: Number(t * float64(r.Epsilon)), Measured: m.Change, Direct: m.Any, Theorem: Number(t * st.Extended(m.Signal)),
		})
	}
	return nil
}
