package swarm

import (
	"cmp"
	"math"
	"runtime"
	"slices"
	"testing"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/rule"
)

// pasture is a world that shows a host the same observations again and again.
type pasture struct {
	lines chan *host.Line
	acted chan struct{}
}

func (p *pasture) Lines() <-chan *host.Line { return p.lines }

func (p *pasture) Act(*host.Answer) error {
	p.acted <- struct{}{}
	return nil
}

// One host with as many nodes as each of four has of a graph of 100,000.
func BenchmarkHostOf25000(b *testing.B) {
	const nodes = 25_000
	rng := random.Stream(1, "pasture")
	places := make([][2]float64, nodes)
	for i := range places {
		places[i] = [2]float64{rng.Float64(), rng.Float64()}
	}
	slices.SortFunc(places, func(p, q [2]float64) int { return cmp.Compare(p[0], q[0]) })
	g, err := graph.Geometric(places, math.Sqrt(10/(math.Pi*nodes)))
	if err != nil {
		b.Fatal(err)
	}
	m, err := gnn.NewRandom(gnn.Config{
		In: 1, Features: 32, Outputs: 1, Wide: &gnn.WideConfig{Order: 3}, Deep: []gnn.LayerConfig{{Order: 3, Features: 32}},
	}, random.Stream(1, "init"))
	if err != nil {
		b.Fatal(err)
	}
	r := rule.Paper(false).Ungated()
	r.StepSize.Value = 1e-3
	basis, err := online.NewBasis(m, r, nil)
	if err != nil {
		b.Fatal(err)
	}
	p, err := agent.NewPlan(agent.PlanConfig{
		Model: m, Operator: graph.ShiftRowStochastic, Delayed: true, Basis: basis, Rule: &r, Cost: host.MSE.Kind(),
	})
	if err != nil {
		b.Fatal(err)
	}
	before := heap()
	c := host.Config{Run: "pasture", Plan: p, Cost: host.MSE, Links: map[agent.NodeID][]agent.Link{}}
	rows := make([]host.NodeLine, nodes)
	for i := range nodes {
		id := agent.NodeID(i)
		c.Nodes, c.Links[id] = append(c.Nodes, id), agent.LinksOf(nil, g.Adjacency(), i)
		rows[i] = host.NodeLine{Node: id, Row: []float32{rng.Float32()}, Target: []float32{rng.Float32()}}
	}
	w := &pasture{lines: make(chan *host.Line), acted: make(chan struct{}, 1)}
	h, err := host.New(c, host.Env{World: w})
	if err != nil {
		b.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- h.Run(b.Context()) }()
	step := uint64(0)
	next := func() {
		w.lines <- &host.Line{Time: step, Nodes: rows}
		<-w.acted
		step++
	}
	next()
	next()
	used := heap() - before
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		next()
	}
	b.StopTimer()
	b.ReportMetric(float64(used)/nodes, "B/node")
	close(w.lines)
	if err := <-ended; err != nil {
		b.Fatal(err)
	}
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
