package box

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/internal/host"
	"github.com/wdgnn/wdgnn/modelfile"
)

// scaleName is the file, in the folder of checkpoints, that keeps a scale which
// the nodes found: a box that is started again finds nobody to measure with.
const scaleName = "scale.json"

// measured is its content.
type measured struct {
	Run    string  `json:"run"`
	Scale  float64 `json:"scale"`
	Rounds int     `json:"rounds"`
}

// estimate returns λmax: as an earlier start found it, or by measuring it
// together with the other hosts.
func (b *box) estimate(ctx context.Context) (float64, error) {
	if m, err := b.recall(); err != nil || m != nil {
		if err != nil {
			return 0, err
		}
		b.known = true
		return m.Scale, nil
	}
	links, all := b.links(), 0
	for _, p := range b.Hosts {
		nodes, err := host.ParseNodes(p.Nodes)
		if err != nil {
			return 0, err
		}
		all += len(nodes)
	}
	if s, ok := b.world.(*stream); ok && len(links) == 0 {
		links = s.firstLinks()
	}
	c := host.SurveyConfig{
		Run: b.Run, Host: b.Host, Nodes: b.nodes, Links: links, Directory: b.directory, Bus: b.buses.bus,
		Pace: *b.pace(), Gauge: agent.GaugeConfig{Diameter: b.Diameter}, Log: b.log,
	}
	if c.Gauge.Diameter == 0 {
		c.Gauge.Diameter = max(all-1, 1)
	}
	var err error
	if c.Plan, err = b.plan(b.model, b.cost, b.supposed(0)); err != nil {
		return 0, err
	}
	s, err := host.NewSurvey(c)
	if err != nil {
		return 0, err
	}
	b.log.Info("measuring λmax with the other hosts")
	m := measured{Run: b.Run}
	if m.Scale, m.Rounds, err = s.Run(ctx); err != nil {
		return 0, fmt.Errorf("scale: %w", err)
	}
	b.log.Info("λmax found", "scale", m.Scale, "rounds", m.Rounds)
	b.survey = s
	return m.Scale, b.remember(m)
}

// recall returns what an earlier start found, nil if there is nothing.
func (b *box) recall() (*measured, error) {
	if b.State == "" {
		return nil, nil
	}
	path := filepath.Join(b.abs(b.State), scaleName)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	m := new(measured)
	if err == nil {
		err = json.Unmarshal(text, m)
	}
	if err == nil && (m.Run != b.Run || !(m.Scale > 0)) {
		err = fmt.Errorf("the scale %v of run %q", m.Scale, m.Run)
	}
	if err != nil {
		return nil, fmt.Errorf("scale: %s: %w; remove the file to measure again", path, err)
	}
	return m, nil
}

// remember keeps what was found.
func (b *box) remember(m measured) error {
	if b.State == "" {
		return nil
	}
	return modelfile.WriteFile(filepath.Join(b.abs(b.State), scaleName), func(w io.Writer) error { return json.NewEncoder(w).Encode(m) })
}

// firstLinks returns the neighbours of the box's nodes at step 0.
func (s *stream) firstLinks() map[agent.NodeID][]agent.Link {
	all := map[agent.NodeID][]agent.Link{}
	for _, node := range s.nodes {
		all[node] = agent.LinksOf(nil, s.files.Graphs[0].Adjacency(), int(node))
	}
	return all
}
