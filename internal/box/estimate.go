package box

import (
	"errors"
	"fmt"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/host"
)

// scaleFile keeps a scale which the nodes found: a box that is started again finds
// nobody to measure with.
var scaleFile = stateFile{name: "scale.json", version: 1, key: "scale", instead: "remove the file to measure again"}

// measured is its content.
type measured struct {
	Version int     `json:"version"`
	Run     string  `json:"run"`
	Scale   float64 `json:"scale"`
	Rounds  int     `json:"rounds"`
}

// estimate returns λmax as an earlier start found it, or else how the nodes are to
// find it together with those of other hosts.
func (b *Box) estimate() (scale float64, gauge *agent.GaugeConfig, err error) {
	m, err := b.recall()
	if err != nil {
		return 0, nil, err
	}
	if m != nil {
		b.known = true
		return m.Scale, nil, nil
	}
	if b.newcomers != nil && b.newcomers.own != nil {
		return 0, nil, errors.New("scale: hosts that join later cannot measure λmax with those that run: give the number that these found, " +
			"scale in what wdgnn swarm status --json prints")
	}
	b.log.Info("measuring λmax with the other hosts")
	if b.Diameter > 0 {
		return 0, &agent.GaugeConfig{Diameter: b.Diameter}, nil
	}
	all := 0
	for _, p := range b.Hosts {
		nodes, err := host.ParseNodes(p.Nodes)
		if err != nil {
			return 0, nil, err
		}
		all += len(nodes)
	}
	return 0, &agent.GaugeConfig{Diameter: max(all-1, 1)}, nil
}

// recall returns what an earlier start found, nil if there is nothing.
func (b *Box) recall() (*measured, error) {
	m := new(measured)
	if found, err := scaleFile.read(b.Config, m); err != nil || !found {
		return nil, err
	}
	if !(m.Scale > 0) {
		return nil, scaleFile.unfit(b.Config, fmt.Errorf("λmax is %v, want more than 0", m.Scale))
	}
	return m, nil
}

// remember keeps what was found.
func (b *Box) remember(m measured) error {
	if b.State == "" {
		return nil
	}
	return scaleFile.write(b.Config, m)
}

// firstLinks returns the neighbours of the box's nodes at step 0.
func (s *stream) firstLinks() map[agent.NodeID][]agent.Link {
	all := map[agent.NodeID][]agent.Link{}
	for _, node := range s.nodes {
		all[node] = agent.LinksOf(nil, s.files.Graphs[0].Adjacency(), int(node))
	}
	return all
}
