package online_test

import (
	"fmt"
	"testing"

	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/online"
)

// The model as trained, a centralized and two distributed learners on one
// observer have the bits of four that each observe alone, whatever the order of
// their updates; delay lines advance once a step.
func TestLearnersShareAnObserver(t *testing.T) {
	b := newBig(t, 25, 6)
	for name, c := range map[string]online.Config{
		"all": {}, "pruned": {Read: b.labelled()}, "delayed": {Delayed: true},
	} {
		c.Nodes, c.Moment = b.nodes, b.moment
		shared := newObserver(t, b.model, c)
		var together, alone []online.Learner
		for _, make := range []maker{
			func(o *online.Observer) (online.Learner, error) { return o, nil },
			centralized(plain(0.3)), consensus(plain(0.3)), consensus(ownTaps()),
		} {
			for list, o := range map[*[]online.Learner]*online.Observer{&together: shared, &alone: newObserver(t, b.model, c)} {
				l, err := make(o)
				must(t, err)
				*list = append(*list, l)
			}
		}
		y := mat.NewDense(b.nodes, 5, nil)
		for k := range 3 * len(b.samples) {
			s, j := b.samples[k%len(b.samples)], b.labels(k)
			must(t, shared.Observe(s))
			for n := range together {
				n = (n + k) % len(together)
				must(t, together[n].Predict(y))
				must(t, together[n].Update(j))
				what := fmt.Sprintf("%s: learner %d, step %d", name, n, k)
				same(t, what, y, step(t, alone[n], 5, s, j), b.labelled(), 0)
				if got, want := together[n].Drift(), alone[n].Drift(); got != want {
					t.Fatalf("%s: drift %+v, want %+v", what, got, want)
				}
			}
		}
	}
}

// A step in which nobody learns ends with the observer's own Update: signals
// travel on. Without it the sample is as if it had not been shown.
func TestStepWithoutCost(t *testing.T) {
	b := newBig(t, 26, 4)
	c := online.Config{Nodes: b.nodes, Delayed: true}
	y, want := mat.NewDense(b.nodes, 5, nil), mat.NewDense(b.nodes, 5, nil)
	o, alone := newObserver(t, b.model, c), newObserver(t, b.model, c)
	l, err := online.NewConsensus(o, plain(0.3))
	must(t, err)
	must(t, o.Observe(b.samples[0]))
	must(t, o.Update(nil))
	must(t, o.Observe(b.samples[1])) // shown, and taken back
	must(t, o.Observe(b.samples[2]))
	must(t, l.Predict(y))
	step(t, alone, 5, b.samples[0], nil)
	must(t, alone.Observe(b.samples[2]))
	must(t, alone.Predict(want))
	same(t, "after a step without a cost", y, want, b.labelled(), 0)
	if err := o.Update(nil); err != nil {
		t.Errorf("the observer's own update: %v", err)
	}
	if err := l.Update(b.labels(2)); err != nil {
		t.Errorf("an update after the observer's: %v", err)
	}
	if err := o.Update(nil); err == nil {
		t.Error("the observer ended a step twice")
	}
}
