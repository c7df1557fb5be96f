package agents

import (
	"context"
	"fmt"
)

const planeAbout = "nodes of a geometric graph of degree 10, delayed filters of order 3, " +
	"one input, one layer of 32 features, learning on; " +
	"4 processes over NATS, each with a strip of the plane. Memory is the most that each process ever had, together"

var largeGraph = Measurement{
	Name:   "large",
	Title:  "100,000 nodes in 4 processes",
	About:  "100,000 " + planeAbout + ". The same with 25,000 nodes shows what the wire carries",
	Wanted: "10 steps/s in less than 1.5 GB, bytes as links between hosts",
	run: func(ctx context.Context, b *Bench) error {
		small, err := b.large(ctx, "large", 25_000, 4)
		if err != nil {
			return err
		}
		b.Found(small)
		f, err := b.large(ctx, "large", 100_000, 4)
		if err != nil {
			return err
		}
		f.goal(Goal{Name: "rate", Value: f.Rate, Unit: "steps/s", Wanted: 10})
		f.goal(Goal{Name: "memory", Value: float64(f.ResidentBytes) / 1e9, Unit: "GB resident", Wanted: 1.5, Below: true})
		f.goal(Goal{
			Name: "bytes", Value: f.BytesPerCutEdge / small.BytesPerCutEdge,
			Unit: "times those of 25,000 nodes, for each link between hosts", Wanted: 1.1, Below: true,
		})
		b.Found(f)
		return nil
	},
}

var millionGraph = Measurement{
	Name:   "million",
	Title:  "1,000,000 nodes in 4 processes",
	About:  "1,000,000 " + planeAbout,
	Wanted: "no row late",
	run: func(ctx context.Context, b *Bench) error {
		f, err := b.large(ctx, "million", 1_000_000, 4)
		if err != nil {
			return err
		}
		f.goal(Goal{Name: "late", Value: 100 * f.LateShare, Unit: "% of the messages", Wanted: 100 * lateWanted, Below: true})
		b.Found(f)
		return nil
	},
}

// large runs a plane of sensors.
func (b *Bench) large(ctx context.Context, name string, nodes, hosts int) (*Figure, error) {
	b.Say(fmt.Sprintf("%d nodes, %d processes", nodes, hosts))
	dir, err := b.folder()
	if err != nil {
		return nil, err
	}
	p := &plane{dir: dir, nodes: nodes, hosts: hosts, seed: b.Seed, steps: max(planeRows/nodes, planeSteps)}
	if err := p.write(); err != nil {
		return nil, err
	}
	f, err := p.run(ctx, b)
	if err != nil {
		return nil, err
	}
	f.Measurement, f.Case = name, fmt.Sprintf("%d nodes", nodes)
	f.CutEdges = cutEdges(p.graph, p.divided)
	f.BytesPerCutEdge = f.Bytes / float64(f.CutEdges)
	return f, nil
}
