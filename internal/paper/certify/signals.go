package certify

import (
	"context"
	"math"
	"slices"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/internal/crown"
	"github.com/wdgnn/wdgnn/internal/data"
	"github.com/wdgnn/wdgnn/internal/lifecycle"
	"github.com/wdgnn/wdgnn/internal/paper/theory"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/random"
)

// measure runs signals on both graphs and sets the bounds beside the changes.
// It returns the signal that changed most, relative to its bound.
func (r *StabilityReport) measure(
	ctx context.Context, m *searched, st *theory.Stability, p *theory.Pair, o Options,
) ([]float64, error) {
	signals, err := r.load(m.net, o)
	if err != nil {
		return nil, err
	}
	var worst theory.Measurement
	var at []float64
	var relative []float64
	for _, x := range signals {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		v := st.Measure(p, crown.Signal(x))
		if v.Output > 0 {
			relative = append(relative, v.Change/v.Output)
		}
		if at == nil || v.Change*worst.Any > worst.Change*v.Any {
			worst, at = v, crown.Signal(x)
		}
	}
	if len(relative) > 0 {
		slices.Sort(relative)
		r.Signals.Median, r.Signals.Worst = relative[len(relative)/2], relative[len(relative)-1]
	}
	r.Signals.Norm = worst.Signal
	sought := st.Measure(p, crown.Signal(m.harmful(at)))
	if sought.Change < worst.Change {
		sought = worst
	}
	r.Signals.Sought = sought.Change
	rounds := m.rounds(at)
	r.Bounds = append(r.Bounds,
		direct(o.delayed, rounds, worst.Known).bound("direct certificate, this signal", worst.Known, worst.Change, ""),
		direct(o.delayed, rounds, worst.Any).bound("direct certificate, any signal as large", worst.Any, sought.Change,
			"measured: the most harmful signal found"),
		firstOrder("").bound("Theorem 1, this network, δ measured", st.Sharper(worst.Signal), worst.Change, ""),
		firstOrder("").bound("Theorem 1, this network", st.Extended(worst.Signal), worst.Change, ""),
		firstOrder("; one feature, no bias, |a(λ)| ≤ 1").bound("Theorem 1 to the letter", st.Paper(worst.Signal), worst.Change, ""))
	return at, nil
}

// load reads or draws signals.
func (r *StabilityReport) load(m *gnn.WideDeep, o Options) ([]mat.Dense, error) {
	var out []mat.Dense
	if o.Signals == "" {
		rng := random.Stream(o.Seed, "certify signals")
		count := measuredSignals
		if r.Nodes > 500 {
			count /= 4
		}
		for range count {
			x := mat.NewDense(r.Nodes, m.Config.In, nil)
			for i := range x.Data {
				x.Data[i] = float32(rng.NormFloat64())
			}
			normalise(x.Data, 1)
			out = append(out, x)
		}
		r.Signals.Source = "random, ‖X‖ = 1"
	} else {
		samples, err := data.LoadSamples(o.Signals, r.Nodes, m.Config.In)
		if err != nil {
			return nil, err
		}
		for k := range min(samples.Samples, 4*measuredSignals) {
			out = append(out, samples.Rows.View(k*r.Nodes, 0, r.Nodes, m.Config.In))
		}
		r.Signals.Source = o.Signals
	}
	r.Signals.Count = len(out)
	return out, nil
}

// normalise scales x to the given norm.
func normalise(x []float32, want float64) {
	sum := 0.0
	for _, v := range x {
		sum += float64(v) * float64(v)
	}
	if sum > 0 {
		s := float32(want / math.Sqrt(sum))
		for i := range x {
			x[i] *= s
		}
	}
}

// searched is a model on two graphs, with the taps of its nodes, nil if they have
// none of their own, and the network in float64 that is bounded.
type searched struct {
	net     *gnn.WideDeep
	own     *lifecycle.NodeTaps
	exact   *crown.Network
	s, sHat *mat.CSR
	read    []int // whose outputs count; nil means all
}

// rounds compares what the model answers to a signal on both graphs, in float32, with the
// network that is bounded.
func (h *searched) rounds(start []float64) rounded {
	x := mat.NewDense(h.s.Rows, h.net.Config.In, nil)
	for i, v := range start {
		x.Data[i] = float32(v)
	}
	out := rounded{same: slices.Equal(h.s.Val, h.sHat.Val) && slices.Equal(h.s.Col, h.sHat.Col) && slices.Equal(h.s.RowPtr, h.sHat.RowPtr)}
	var shifter gnn.Shifter
	for _, s := range []*mat.CSR{h.s, h.sHat} {
		in := gnn.Input{Shift: s, Shifted: mat.NewDense(s.Rows, (h.net.InputOrder()+1)*h.net.Config.In, nil)}
		y, off := mat.NewDense(s.Rows, h.net.Outputs(), nil), mat.NewDense(s.Rows, h.net.Outputs(), nil)
		shifter.Shift(in.Shifted, s, x)
		h.net.Forward(y, &in, new(gnn.Tape))
		h.own.CorrectAll(y, in.Shifted, s)
		exact := h.on(s).Forward(crown.NewShift(s), crown.Signal(x))
		for i, v := range y.Data {
			off.Data[i] = float32(float64(v) - exact[i])
		}
		h.only(y)
		h.only(off)
		size, beside := math.Sqrt(mat.Serial.Dot(y, y)), math.Sqrt(mat.Serial.Dot(off, off))
		if out.both += beside; beside > 0 {
			out.off = max(out.off, beside/size)
		}
	}
	return out
}

// on returns the network in float64 on one of the shifts.
func (h *searched) on(s *mat.CSR) *crown.Network {
	if s == h.sHat && h.exact.Perturbed != nil {
		return h.exact.Perturbed
	}
	return h.exact
}

// harmful looks for a signal of the norm of start whose output changes as much
// as can be found: with D(X) = Ψ(X; S) - Ψ(X; Ŝ) it repeats X ← ∇½‖D‖², scaled,
// which for a linear model is the power method.
func (h *searched) harmful(start []float64) mat.Dense {
	m, s, sHat := h.net, h.s, h.sHat
	x := mat.NewDense(s.Rows, m.Config.In, nil)
	size := 0.0
	for i, v := range start {
		x.Data[i] = float32(v)
		size += v * v
	}
	size = math.Sqrt(size)
	best, most := x.Clone(), -1.0
	type side struct {
		in    gnn.Input
		tape  gnn.Tape
		y, dx mat.Dense
		back  *crown.Shift // Sᵀ
	}
	var sides [2]side
	var shifter gnn.Shifter
	for k, shift := range []*mat.CSR{s, sHat} {
		sides[k] = side{
			in: gnn.Input{Shift: shift, ShiftT: shift.T(), Shifted: mat.NewDense(s.Rows, (m.InputOrder()+1)*m.Config.In, nil)},
			y:  mat.NewDense(s.Rows, m.Outputs(), nil), dx: mat.NewDense(s.Rows, m.Config.In, nil),
			back: crown.NewShift(shift.T()),
		}
	}
	scratch := gnn.NewParams(m.Config, nil)
	for range 40 {
		for k := range sides {
			shifter.Shift(sides[k].in.Shifted, sides[k].in.Shift, x)
			m.Forward(sides[k].y, &sides[k].in, &sides[k].tape)
			h.own.CorrectAll(sides[k].y, sides[k].in.Shifted, sides[k].in.Shift)
		}
		change, d := 0.0, sides[0].y.Clone()
		mat.Serial.AddScaled(d, -1, sides[1].y)
		h.only(d)
		change = mat.Serial.Dot(d, d)
		if change > most {
			most = change
			best.CopyFrom(x)
		}
		for k := range sides {
			m.Backward(&scratch, sides[k].dx, d, &sides[k].in, &sides[k].tape)
			pull(h.on(sides[k].in.Shift), sides[k].dx, d, sides[k].back)
		}
		x.CopyFrom(sides[0].dx)
		mat.Serial.AddScaled(x, -1, sides[1].dx)
		normalise(x.Data, size)
	}
	return best
}

// only clears what the outputs of nodes that are not read changed by.
func (h *searched) only(d mat.Dense) {
	for i := range d.Rows {
		if h.read != nil && !slices.Contains(h.read, i) {
			clear(d.Row(i))
		}
	}
}
