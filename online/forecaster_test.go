package online_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/conformal"
	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/rule"
)

// forecasts is how the world's three outputs are forecasts, of its first feature.
func (w *world) forecasts() rule.SeasonTask {
	return rule.SeasonTask{Season: 5, Horizons: []int{1, 2, 4}, Lagged: []int{0, 2, 4}, Moment: w.moment}
}

// usual returns usual errors of all nodes.
func (w *world) usual() [][]float64 {
	return slices.Repeat([][]float64{{0.3, 0.4, 0.5}}, w.nodes)
}

func (w *world) forecaster(tb testing.TB, o *online.Observer) *online.Forecaster {
	tb.Helper()
	r := rule.Seasonal().Ungated()
	r.Gate, r.Conformal = &rule.Gate{}, &conformal.Config{}
	f, err := online.NewForecaster(o, r, w.forecasts(), w.usual())
	must(tb, err)
	return f
}

// told is a forecaster that is told the truths of the next step with every update:
// the first column of a target.
type told struct {
	*online.Forecaster
	time   *int
	truths []float32
}

func (f *told) Observe(s graph.Sample) error {
	*f.time = s.Time
	return f.Forecaster.Observe(s)
}

func (f *told) Update(j loss.Loss) error {
	if err := f.Forecaster.Update(nil); err != nil {
		return err
	}
	target := j.(loss.MSE).Target
	for i := range f.truths {
		f.truths[i] = target.At(i, 0)
	}
	f.Tell(uint64(*f.time+1), f.truths)
	return nil
}

// A forecaster keeps the contract of learners.
func TestForecasterConforms(t *testing.T) {
	w := newWorld(t, 9)
	for name, c := range map[string]online.Config{
		"all": {}, "hop by hop": {Read: w.read, HopByHop: true}, "pruned": {Read: w.read}, "delayed": {Delayed: true},
	} {
		t.Run(name, func(t *testing.T) {
			c.Nodes, c.Moment = w.nodes, w.moment
			on := func(o *online.Observer, time *int) online.Learner {
				return &told{w.forecaster(t, o), time, make([]float32, w.nodes)}
			}
			s := w.targets(false)
			s.Explosive = nil // it cannot diverge
			s.Pair = func() (a, b online.Learner) {
				o, time := newObserver(t, w.model, c), new(int)
				return on(o, time), on(o, time)
			}
			contract(t, func() online.Learner { return on(newObserver(t, w.model, c), new(int)) }, s)
		})
	}
}

// Nodes on their own that exchange two numbers per horizon, one hop, have the bits of
// a forecaster, whatever the number of threads, while links change and truths come
// late, after a first prediction, or never.
func TestForecasterIsItsNodes(t *testing.T) {
	w := newWorld(t, 10)
	r := rule.Seasonal().Ungated()
	r.Gate = &rule.Gate{}
	plan, err := rule.NewSeasonPlan(&r, w.forecasts())
	must(t, err)
	var nodes []*rule.SeasonNode
	for _, s := range w.usual() {
		nodes = append(nodes, rule.NewSeasonNode(plan, s))
	}
	var networks []*online.Forecaster
	var observers []*online.Observer
	for _, threads := range []int{1, 2, 5} {
		e := mat.NewEngine(threads)
		defer e.Close()
		o := newObserver(t, w.model, online.Config{Nodes: w.nodes, Moment: w.moment, Engine: e})
		f, err := online.NewForecaster(o, r, w.forecasts(), w.usual())
		must(t, err)
		networks, observers = append(networks, f), append(observers, o)
	}
	var shifter gnn.Shifter
	z, base, want := mat.NewDense(w.nodes, 6, nil), mat.NewDense(w.nodes, 3, nil), mat.NewDense(w.nodes, 3, nil)
	sent, y := mat.NewDense(w.nodes, 6, nil), mat.NewDense(w.nodes, 3, nil)
	moved := 0.0
	for s := range 300 {
		sample := w.samples[s%len(w.samples)]
		sample.Time = s
		truths := make([]float32, w.nodes)
		for i := range truths {
			truths[i] = float32(math.Sin(float64(s)*2*math.Pi/5+float64(i))) + float32((s*7+i*3)%11)/20
			if (s+i)%9 == 0 {
				truths[i] = float32(math.NaN())
			}
		}
		tell := func(do func(t uint64, truths []float32)) {
			if s%9 == 3 {
				do(uint64(s-1), truths) // late: those that were told before count no more
			}
			if s%7 != 5 { // else nobody tells, and links change all the same
				do(uint64(s), truths)
			}
		}
		for k, f := range networks {
			must(t, observers[k].Observe(sample))
			if s%4 == 1 {
				must(t, f.Predict(y))
			}
			tell(func(t uint64, truths []float32) { f.Tell(t, truths) })
		}
		must(t, observers[0].Predict(base))
		shifter.Shift(z, sample.Shift, sample.Signal)
		tell(func(t uint64, truths []float32) {
			for i, n := range nodes {
				n.Tell(t, truths[i])
			}
		})
		for i, n := range nodes {
			copy(sent.Row(i), n.Sent())
		}
		for i, n := range nodes {
			rows, weights := sample.Mixing.Row(i)
			self, _ := slices.BinarySearch(rows, int32(i))
			n.Mix(weights, self, sent, rows)
			n.Give(want.Row(i), uint64(s), base.Row(i), z.Row(i))
		}
		for k, f := range networks {
			must(t, f.Predict(y))
			must(t, f.Update(nil))
			if !slices.Equal(y.Data, want.Data) {
				t.Fatalf("step %d, network %d: got %v, want %v", s, k, y.Data, want.Data)
			}
		}
		for e, v := range want.Data {
			moved = max(moved, math.Abs(float64(v-base.Data[e])))
		}
	}
	if moved == 0 {
		t.Error("nothing was learned")
	}
}

// A sensor that was not in training answers as trained until it joins, with the mean
// of what its neighbours learned.
func TestForecasterJoin(t *testing.T) {
	w := newWorld(t, 11)
	r := rule.Seasonal().Ungated()
	run := func(f *online.Forecaster, o *online.Observer, steps int) (y, base mat.Dense) {
		y, base = mat.NewDense(w.nodes, 3, nil), mat.NewDense(w.nodes, 3, nil)
		truths := make([]float32, w.nodes)
		for s := range steps {
			for i := range truths {
				truths[i] = float32(s%5) / 3
			}
			f.Tell(uint64(s), truths)
			sample := w.samples[0]
			sample.Time = s
			must(t, o.Observe(sample))
			must(t, f.Predict(y))
			must(t, o.Predict(base))
			must(t, f.Update(nil))
		}
		return y, base
	}
	o := newObserver(t, w.model, online.Config{Nodes: w.nodes, Moment: w.moment})
	usual := w.usual()
	usual[7] = nil
	f, err := online.NewForecaster(o, r, w.forecasts(), usual)
	must(t, err)
	y, base := run(f, o, 60)
	if f.Joined(7) || !slices.Equal(y.Row(7), base.Row(7)) || slices.Equal(y.Row(6), base.Row(6)) {
		t.Fatalf("before it joins it answers %v, as trained %v; its neighbour %v, as trained %v",
			y.Row(7), base.Row(7), y.Row(6), base.Row(6))
	}
	states := f.Snapshot().Nodes
	if len(states) != 8 || states[7] != nil {
		t.Fatalf("got %d states, the last of %d numbers; want 8, and nothing of who has not joined", len(states), len(states[7]))
	}
	began := f.Average(states[5:7], []float64{1, 2})
	must(t, f.Join(7, []float64{0.3, 0.4, 0.5}, began))
	if y, base = run(f, o, 1); !f.Joined(7) || slices.Equal(y.Row(7), base.Row(7)) {
		t.Errorf("after it joined it answers %v, as trained %v", y.Row(7), base.Row(7))
	}

	other := newObserver(t, w.model, online.Config{Nodes: w.nodes, Moment: w.moment})
	g, err := online.NewForecaster(other, r, w.forecasts(), usual)
	must(t, err)
	must(t, g.Begin(states[:7]))
	if got := g.Snapshot().Nodes; got[7] != nil || !slices.Equal(got[3], states[3]) {
		t.Error("states of a file are not what nodes begin with")
	}
	far := rule.SeasonTask{Horizons: []int{1, 2, 3}, Lagged: []int{9}}
	for want, err := range map[string]error{
		"what 9 nodes learned":           g.Begin(make([]rule.State, 9)),
		"node 7 has not joined":          g.Begin(append(slices.Clone(states[:7]), began)),
		"2 usual errors of node 7":       g.Join(7, []float64{1, 2}, nil),
		"are not those of the parts":     g.Join(7, []float64{1, 2, 3}, began[:len(began)-1]),
		"the seasons of 2 nodes":         g.Restore(online.Snapshot{Nodes: states[:2]}),
		"node 0: rule: state: the numbe": g.Restore(online.Snapshot{Nodes: slices.Repeat([]rule.State{rule.NewState(1, rule.Vectors{{1}})}, 8)}),
		"season is how forecasts learn":  failed(online.NewConsensus(other, r)),
		"no season: the preset season":   failed(online.NewForecaster(other, rule.Own().Ungated(), w.forecasts(), usual)),
		"2 horizons for a model of 3":    failed(online.NewForecaster(other, r, rule.SeasonTask{Horizons: []int{1, 2}}, usual)),
		"usual errors of 1 nodes":        failed(online.NewForecaster(other, r, w.forecasts(), usual[:1])),
		"column 9 of 6 shifted inputs":   failed(online.NewForecaster(other, r, far, usual)),
		"steps count from the beginning": below(t, g, other, w.samples[0]),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// Nodes that share nothing need no W.
func TestForecasterAlone(t *testing.T) {
	w, r := newWorld(t, 13), rule.Seasonal().Ungated()
	r.Season.Alone = true
	o := newObserver(t, w.model, online.Config{Nodes: w.nodes, Moment: w.moment})
	f, err := online.NewForecaster(o, r, w.forecasts(), w.usual())
	must(t, err)
	sample := w.samples[0]
	sample.Mixing = nil
	must(t, f.Observe(sample))
	must(t, f.Update(nil))
}

// A node that has left with a snapshot that does not hold it sends nothing more.
func TestForecasterForgetsWhoLeft(t *testing.T) {
	w := newWorld(t, 12)
	var state online.Snapshot
	var said [2]mat.Dense
	for k := range said {
		o := newObserver(t, w.model, online.Config{Nodes: w.nodes, Moment: w.moment})
		f := w.forecaster(t, o)
		play := func(from, to int) {
			said[k] = mat.NewDense(w.nodes, 3, nil)
			for s := from; s < to; s++ {
				f.Tell(uint64(s), slices.Repeat([]float32{float32(s%5) / 3}, w.nodes))
				sample := w.samples[0]
				sample.Time = s
				must(t, f.Observe(sample))
				must(t, f.Predict(said[k]))
				must(t, f.Update(nil))
			}
		}
		if k == 0 {
			play(0, 60)
			state = f.Snapshot()
			state.Nodes[7] = nil
		}
		must(t, f.Restore(state))
		play(60, 70)
	}
	if !slices.Equal(said[0].Data, said[1].Data) {
		t.Errorf("got %v, of a learner that never heard it %v", said[0].Data, said[1].Data)
	}
}

func failed[T any](_ T, err error) error { return err }

// below returns the error of a step before the first.
func below(t *testing.T, f *online.Forecaster, o *online.Observer, s graph.Sample) error {
	s.Time = -1
	must(t, o.Observe(s))
	return f.Update(nil)
}
