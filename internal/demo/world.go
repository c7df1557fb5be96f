package demo

import (
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/recipe"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/online"
)

// world is the network of a Live, whose links and nodes fail on demand.
type world struct {
	*recipe.Source
	all    *graph.Graph
	edges  [][2]int32 // i < j, as the scene has them
	outage *graph.Outage
	liar   int // the node that lies, if one is asked to

	signal  *rand.Rand
	answers *rand.Rand // decides which of them are heard

	p      float64
	down   []int   // nodes
	out    []int32 // links, as indices of edges
	shift  *mat.CSR
	mixing *mat.CSR

	signals mat.Dense
	labels  []int32
	times   []int32
	now     mat.Dense // the latest signal
	label   int32     // the community where it started
	spread  int32     // the steps that it had spread
}

func newWorld(z *recipe.Source) (*world, error) {
	w := &world{Source: z, all: z.Net.Graph, liar: findLiar(z)}
	w.begin()
	w.outage = graph.NewOutage(w.all, z.Stream("outage", 0))
	for i := range w.all.Nodes() {
		for _, j := range w.all.Neighbors(i) {
			if int(j) > i {
				w.edges = append(w.edges, [2]int32{int32(i), j})
			}
		}
	}
	return w, w.set(0, nil)
}

// begin starts the random streams, so that the same signals come again.
func (w *world) begin() {
	w.signal, w.answers, w.now = w.Stream("live"), w.Stream("answers heard"), mat.Dense{}
}

// set loses links with probability p and all links of the nodes that are down.
// After an error everything is as before.
func (w *world) set(p float64, down []int) error {
	left, err := w.outage.At(p)
	if err != nil {
		return err
	}
	left = new(graph.Builder).Keep(left, false, func(i, j int) bool { return !slices.Contains(down, i) && !slices.Contains(down, j) })
	if left.Edges() == 0 {
		return errors.New("no link would be left")
	}
	shift, err := graph.ShiftSpectral.Of(left)
	if err != nil {
		return err
	}
	mixing, err := graph.Metropolis(left)
	if err != nil {
		return err
	}
	w.p, w.down, w.shift, w.mixing, w.out = p, down, shift, mixing, []int32{}
	for k, e := range w.edges {
		if _, there := slices.BinarySearch(left.Neighbors(int(e[0])), e[1]); !there {
			w.out = append(w.out, int32(k))
		}
	}
	return nil
}

// without returns the nodes that are down, less one.
func (w *world) without(node int) []int {
	return slices.DeleteFunc(slices.Clone(w.down), func(i int) bool { return i == node })
}

// next returns the next signal and what the detectors are told afterwards.
func (w *world) next(t int) (graph.Sample, loss.CrossEntropy) {
	k, n := t%batch, w.all.Nodes()
	if k == 0 {
		w.signals, w.labels, w.times = w.Net.DrawTimed(batch, w.signal)
	}
	w.now, w.label, w.spread = w.signals.View(k*n, 0, n, 1), w.labels[k], w.times[k]
	told := make([]int32, n)
	for i := range told {
		told[i] = loss.NoLabel
	}
	for _, d := range w.Net.Detectors {
		if !slices.Contains(w.down, d) {
			told[d] = w.label
		}
	}
	return graph.Sample{Time: t, Shift: w.shift, Mixing: w.mixing, Signal: w.now}, loss.CrossEntropy{Labels: told}
}

// lately is over how many signals accuracies are shown.
const lately = 100

// racer is a learner with the record of its latest answers.
type racer struct {
	name     string
	spec     recipe.LearnerSpec
	learner  online.Learner
	y        mat.Dense
	all      window         // of right answers, in %, by signal
	right    map[int]window // in %, by detector
	cost     map[int]window // by detector
	lies     []float32      // that the liar sends to those who learn like this
	fooled   bool           // it did, since the taps were those trained offline
	diverged bool
}

func (k *racer) begin(z *recipe.Source, shared recipe.Observers) (err error) {
	k.learner, err = z.Learner(k.spec, shared)
	k.y = mat.NewDense(z.Net.Graph.Nodes(), z.World.Communities, nil)
	k.right, k.cost, k.lies = map[int]window{}, map[int]window{}, k.falseTaps(z)
	return err
}

// reset puts the taps back to those trained offline.
func (k *racer) reset() {
	k.diverged, k.fooled = false, false
	if l, ok := k.learner.(interface{ Reset() }); ok {
		l.Reset()
	}
}

// step answers the signal that its observer was shown, is judged by the truth and
// learns from what is heard of it.
func (k *racer) step(truth, heard loss.CrossEntropy) error {
	if err := k.learner.Predict(k.y); err != nil {
		return err
	}
	asked, right := 0, 0.0
	for i, label := range truth.Labels {
		if label == loss.NoLabel {
			continue
		}
		hit := 0.0
		if int32(mat.Argmax(k.y.Row(i))) == label {
			hit = 100
		}
		asked, right = asked+1, right+hit
		k.right[i], k.cost[i] = k.right[i].add(hit, lately/2), k.cost[i].add(truth.EvalNode(i, nil, k.y.Row(i)), lately/2)
	}
	if asked == 0 { // nobody answers, nobody learns
		return nil
	}
	k.all = k.all.add(right/float64(asked), lately)
	err := k.learner.Update(heard)
	if errors.Is(err, online.ErrDiverged) {
		k.diverged, err = true, nil
	}
	return err
}

// accuracy returns the share of right answers to the latest signals, in %.
func (k *racer) accuracy() float64 { return k.all.mean() }

// window is the latest values, the oldest first.
type window []float64

func (w window) add(v float64, most int) window {
	if len(w) == most {
		copy(w, w[1:])
		w = w[:most-1]
	}
	return append(w, v)
}

// mean returns NaN for an empty window.
func (w window) mean() float64 {
	if len(w) == 0 {
		return nan
	}
	return mean(w)
}

// rate measures signals per second.
type rate struct {
	from  time.Time
	seen  int
	value float64
}

func (r *rate) count(now time.Time) {
	r.seen++
	if since := now.Sub(r.from).Seconds(); since >= 1 {
		if !r.from.IsZero() {
			r.value = float64(r.seen) / since
		}
		r.from, r.seen = now, 0
	}
}
