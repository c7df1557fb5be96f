package agents

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/internal/box"
	"github.com/wdgnn/wdgnn/internal/swarm"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/rule"
	"github.com/wdgnn/wdgnn/transport"
)

// plane is a field of sensors, too many for one process to speak to: every host
// reads what its nodes observe from files.
type plane struct {
	dir          string
	nodes, hosts int
	steps        int
	seed         uint64

	graph   *graph.Graph
	divided map[transport.HostID][]agent.NodeID
}

const (
	planeDegree = 10
	planeRows   = 15_000_000 // observations of nodes, about: hosts hold those of their own
	planeSteps  = 40         // at least, however many nodes there are
)

// write writes what hosts read: model, graph, signals and what they should have
// been answered with.
func (p *plane) write() (err error) {
	if p.graph, err = p.scatter(); err != nil {
		return err
	}
	p.divided = swarm.Divide(p.nodes, p.hosts)
	m, err := gnn.NewRandom(gnn.Config{
		In: 1, Features: 32, Outputs: 1, Wide: &gnn.WideConfig{Order: 3}, Deep: []gnn.LayerConfig{{Order: 3, Features: 32}},
	}, random.Stream(p.seed, "bench plane"))
	if err != nil {
		return err
	}
	if err := modelfile.Save(filepath.Join(p.dir, "model.safetensors"), &modelfile.Model{Network: m, Meta: modelfile.Meta{
		Shift: graph.ShiftRowStochastic, Delayed: true, Task: "regress", Seed: p.seed,
	}}); err != nil {
		return err
	}
	if err := modelfile.WriteFile(filepath.Join(p.dir, "graph.csv"), p.writeLinks); err != nil {
		return err
	}
	rng := random.Stream(p.seed, "bench signals")
	values := make([]float32, p.steps*p.nodes)
	for _, name := range []string{"signals.npy", "targets.npy"} {
		for i := range values {
			values[i] = float32(rng.NormFloat64())
		}
		if err := modelfile.SaveArray(filepath.Join(p.dir, name), []int{p.steps, p.nodes, 1}, values); err != nil {
			return err
		}
	}
	return nil
}

// scatter places nodes in a square, numbered from left to right, and links
// those within a radius that gives each about planeDegree others.
func (p *plane) scatter() (*graph.Graph, error) {
	rng := random.Stream(p.seed, "bench places")
	places := make([][2]float64, p.nodes)
	for i := range places {
		places[i] = [2]float64{rng.Float64(), rng.Float64()}
	}
	slices.SortFunc(places, func(a, b [2]float64) int { return cmp.Compare(a[0], b[0]) })
	return graph.Geometric(places, math.Sqrt(planeDegree/(math.Pi*float64(p.nodes))))
}

// writeLinks writes the graph as text.
func (p *plane) writeLinks(w io.Writer) error {
	out := bufio.NewWriter(w)
	fmt.Fprintln(out, "src,dst")
	for i := range p.nodes {
		for _, j := range p.graph.Neighbors(i) {
			if int(j) > i {
				fmt.Fprintf(out, "%d,%d\n", i, j)
			}
		}
	}
	return out.Flush()
}

// config returns the configuration of one host.
func (p *plane) config(id transport.HostID, url string) *box.Config {
	c := &box.Config{
		Run: "plane", Host: id, Model: "model.safetensors", Cost: host.MSE,
		Learn: rule.Config{StepSize: rule.StepSize{Value: 1e-3}}.Settings(),
		Hosts: map[transport.HostID]box.Peer{}, Bus: box.Bus{Kind: box.BusNATS, URL: url},
		World: box.World{Kind: box.WorldStream, Signals: "signals.npy", Targets: "targets.npy", Graph: "graph.csv", Answers: "/dev/null"},
		Pace:  box.Pace{Deadline: p.deadline(), First: p.first(), Linger: planeLinger},
	}
	for h, nodes := range p.divided {
		c.Hosts[h] = box.Peer{Nodes: host.FormatNodes(nodes)}
	}
	return c
}
