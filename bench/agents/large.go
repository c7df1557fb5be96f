package agents

import (
	"context"
	"fmt"
)

var largeGraph = Measurement{
	Name:  "large",
	Title: "100,000 nodes in 4 processes",
	About: "100,000 nodes of a geometric graph of degree 10, delayed filters of order 3, one input, one layer of 32 features, learning on; " +
		"4 processes over NATS, each with a strip of the plane. The same with 25,000 nodes shows what the wire carries",
	Wanted: "1 step/s in less than 3 GB, bytes as links between hosts",
	run: func(ctx context.Context, b *Bench) error {
		small, err := b.large(ctx, 25_000, 4)
		if err != nil {
			return err
		}
		b.Found(small)
		f, err := b.large(ctx, 100_000, 4)
		if err != nil {
			return err
		}
		f.goal(Goal{Name: "rate", Value: f.Rate, Unit: "steps/s", Wanted: 1})
		f.goal(Goal{Name: "memory", Value: float64(f.ResidentBytes) / 1e9, Unit: "GB resident", Wanted: 3, Below: true})
		f.goal(Goal{
			Name: "bytes", Value: f.BytesPerCutEdge / small.BytesPerCutEdge,
			Unit: "times those of 25,000 nodes, for each link between hosts", Wanted: 1.1, Below: true,
		})
		b.Found(f)
		return nil
	},
}

// large runs a plane of sensors.
func (b *Bench) large(ctx context.Context, nodes, hosts int) (*Figure, error) {
	b.Say(fmt.Sprintf("%d nodes, %d processes", nodes, hosts))
	dir, err := b.folder()
	if err != nil {
		return nil, err
	}
	p := &plane{dir: dir, nodes: nodes, hosts: hosts, seed: b.Seed, steps: planeRows / nodes}
	if err := p.write(); err != nil {
		return nil, err
	}
	f, err := p.run(ctx, b)
	if err != nil {
		return nil, err
	}
	f.Measurement, f.Case = "large", fmt.Sprintf("%d nodes", nodes)
	f.CutEdges = cutEdges(p.graph, p.divided)
	f.BytesPerCutEdge = f.Bytes / float64(f.CutEdges)
	return f, nil
}
