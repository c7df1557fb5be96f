package agent_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/wdgnn/wdgnn/agent"
)

// free is agents without a common step: each begins its next one as soon as it is
// done, while others are still in the one before, and asks for rows that are lost.
type free struct {
	*trial
	agents  []*agent.Node
	rng     *rand.Rand
	loss    float64    // share of messages that are lost
	queue   []delivery // messages on their way
	learn   []int      // nodes that have predicted
	begin   []int      // nodes that are done
	outputs [][][]float32
	params  [][][]float32
}

func newFree(tr *trial, seed uint64, loss float64) *free {
	f := &free{trial: tr, rng: rand.New(rand.NewPCG(seed, 11)), loss: loss}
	for i := range tr.nodes {
		f.agents = append(f.agents, agent.NewNode(agent.NodeID(i), tr.plan, nil))
		f.begin = append(f.begin, i)
	}
	for range tr.samples {
		f.outputs = append(f.outputs, make([][]float32, tr.nodes))
		f.params = append(f.params, make([][]float32, tr.nodes))
	}
	return f
}

// run takes all nodes through all steps, in an order that is drawn.
func (f *free) run(t *testing.T) {
	for left, events := f.nodes*len(f.samples), 0; left > 0; events++ {
		if events > 1_000_000 {
			t.Fatalf("%d steps of nodes are not done after %d events", left, events)
		}
		choices := len(f.queue) + len(f.learn) + len(f.begin)
		if choices == 0 || f.rng.IntN(20) == 0 {
			f.step(t, f.rng.IntN(len(f.agents)), agent.Retry{})
			continue
		}
		switch k := f.rng.IntN(choices); {
		case k < len(f.queue):
			d := f.queue[k]
			f.queue = slices.Delete(f.queue, k, k+1)
			f.step(t, d.to, agent.Receive{Message: &d.m})
		case k < len(f.queue)+len(f.learn):
			i := take(&f.learn, k-len(f.queue))
			time := f.agents[i].Time()
			f.step(t, i, agent.Feedback{Loss: f.costs[time], Index: i})
			f.params[time][i] = slices.Clone(f.agents[i].Params())
			left--
		default:
			f.open(t, take(&f.begin, k-len(f.queue)-len(f.learn)))
		}
	}
}

func take(list *[]int, k int) int {
	i := (*list)[k]
	*list = slices.Delete(*list, k, k+1)
	return i
}

// open begins the next step of node i. Whom it heard in the one before has begun
// that, so that nobody will ask for a step before.
func (f *free) open(t *testing.T, i int) {
	time := 0
	if f.agents[i].Stats().Predicted > 0 {
		time = int(f.agents[i].Time()) + 1
		for _, l := range agent.LinksOf(nil, f.graphs[(time-1)/3].Adjacency(), i) {
			if n := f.agents[l.Node]; int(n.Time()) < time-1 {
				t.Fatalf("node %d begins step %d, and its neighbour %d is at step %d", i, time, l.Node, n.Time())
			}
		}
	}
	links := agent.LinksOf(nil, f.graphs[time/3].Adjacency(), i)
	f.step(t, i, agent.Begin{Time: uint64(time), Links: links, Row: f.samples[time].Signal.Row(i)})
}

// step applies an event and queues what the node sends.
func (f *free) step(t *testing.T, i int, ev agent.Event) {
	t.Helper()
	r, err := f.agents[i].Step(ev)
	if err != nil {
		t.Fatalf("node %d: %v", i, err)
	}
	time := f.agents[i].Time()
	for k := range r.Send {
		m := r.Send[k]
		m.Values = slices.Clone(m.Values)
		for _, l := range agent.LinksOf(nil, f.graphs[m.Time/3].Adjacency(), i) {
			if (m.To == agent.Everyone || m.To == l.Node) && f.rng.Float64() >= f.loss {
				f.queue = append(f.queue, delivery{int(l.Node), m})
			}
		}
	}
	if r.Prediction != nil {
		f.outputs[time][i] = slices.Clone(r.Prediction)
		f.learn = append(f.learn, i)
	}
	if r.Done && int(time)+1 < len(f.samples) {
		f.begin = append(f.begin, i)
	}
}

// Agents that are steps apart have the bits of the in-process learner all the
// same: what comes early waits for its step, and what was lost is sent again as it
// was, with the parameters and links of its step. Where links change, a lost row
// may be asked for too late; so messages are lost only while they stay.
// Reference: Section 3, eq. (9).
func TestFreeRunningMatchesConsensus(t *testing.T) {
	for _, v := range variants() {
		for _, c := range []struct {
			steps int
			loss  float64
		}{{3, 0.3}, {7, 0}} {
			for seed := range uint64(4) {
				t.Run(fmt.Sprintf("%s/%v/%d", v.name, c.loss, seed), func(t *testing.T) {
					tr := newTrial(t, v, seed, c.steps)
					f := newFree(tr, seed, c.loss)
					f.run(t)
					for k := range c.steps {
						want := tr.step(t, k)
						for i := range tr.nodes {
							if !slices.Equal(f.outputs[k][i], want.Row(i)) {
								t.Fatalf("step %d: node %d predicts %v, want %v", k, i, f.outputs[k][i], want.Row(i))
							}
							if tr.consensus != nil && !slices.Equal(f.params[k][i], tr.consensus.Params(i)) {
								t.Fatalf("step %d: node %d has %v, want %v", k, i, f.params[k][i], tr.consensus.Params(i))
							}
						}
					}
				})
			}
		}
	}
}
