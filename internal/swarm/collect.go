package swarm

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/forecast"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/internal/box"
	"github.com/wdgnn/wdgnn/internal/grid"
	"github.com/wdgnn/wdgnn/internal/journal"
	"github.com/wdgnn/wdgnn/internal/lifecycle"
	"github.com/wdgnn/wdgnn/internal/snapshot"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/online"
)

// Collection is what agents learned, gathered from their checkpoints.
type Collection struct {
	Run      string   `json:"run"`
	Boxes    int      `json:"boxes"`             // whose checkpoints were read
	Nodes    int      `json:"nodes"`             // of the network
	Found    int      `json:"found"`             // nodes of which there is a checkpoint
	Missing  string   `json:"missing,omitempty"` // nodes that are as the model had them
	Step     uint64   `json:"step"`              // the latest that any box has made
	Warnings []string `json:"warnings,omitempty"`

	Model *modelfile.Model `json:"-"` // as wdgnn online would have left it

	drift online.Drift
}

// String says in words what was gathered.
func (c *Collection) String() string {
	nodes := grid.Count(c.Nodes, "node")
	if c.Found < c.Nodes {
		nodes = fmt.Sprintf("%d of %s", c.Found, nodes)
	}
	boxes := fmt.Sprintf("%d boxes", c.Boxes)
	if c.Boxes == 1 {
		boxes = "1 box"
	}
	return fmt.Sprintf("%s on %s, up to step %d of run %s; moved %.4g from the trained taps, disagreement %.4g",
		nodes, boxes, c.Step, c.Run, c.drift.Moved, c.drift.Disagreement)
}

// ErrPartial says that checkpoints are not those of all boxes at one step.
var ErrPartial = errors.New("not everything is here")

// gathering is checkpoints on their way into a model file.
type gathering struct {
	Collection
	file     *modelfile.Model
	partial  bool
	learning *host.Learning // that all boxes have in common
	first    string         // the folder that it is from

	found map[agent.NodeID]agent.Memory
	from  map[agent.NodeID]string // folders
	steps map[uint64][]string     // boxes by the step that they made last

	names map[agent.NodeID]string // of sensors
	links map[agent.NodeID][]host.Link
}

// Collect gathers what the agents of a model learned from the folders of their
// checkpoints, or of wdgnn swarm up --out. Unless partial is set, checkpoints of all
// boxes must be there and of the same step; otherwise [ErrPartial] says what is not.
// With it, nodes that are missing are as the model has them.
func Collect(file *modelfile.Model, folders []string, partial bool, version string) (*Collection, error) {
	g := &gathering{
		file: file, partial: partial, found: map[agent.NodeID]agent.Memory{}, from: map[agent.NodeID]string{}, steps: map[uint64][]string{},
		names: map[agent.NodeID]string{}, links: map[agent.NodeID][]host.Link{},
	}
	var states []string
	for _, folder := range folders {
		list, err := stateFolders(folder)
		if err != nil {
			return nil, err
		}
		states = append(states, list...)
	}
	for _, folder := range states {
		if err := g.read(folder); err != nil {
			return nil, err
		}
	}
	if err := g.assemble(version); err != nil {
		return nil, err
	}
	return &g.Collection, nil
}

// stateFolders returns the folders of checkpoints that a folder is or holds.
func stateFolders(folder string) ([]string, error) {
	if inner := filepath.Join(folder, "state"); isFolder(inner) {
		folder = inner
	}
	if holdsCheckpoint(folder) {
		return []string{folder}, nil
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var list []string
	for _, e := range entries {
		if inner := filepath.Join(folder, e.Name()); holdsCheckpoint(inner) {
			list = append(list, inner)
		}
	}
	if list == nil {
		return nil, fmt.Errorf("%s holds no checkpoints: name the folder of state: in agent.yaml, one of several such, "+
			"or that of wdgnn swarm up --out", folder)
	}
	return list, nil
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func holdsCheckpoint(folder string) bool {
	found, err := filepath.Glob(filepath.Join(folder, "snapshot-*"))
	return err == nil && len(found) > 0
}

// readState reads the last checkpoint in a folder that can be read, and says which
// later ones cannot.
func readState(folder string) (c *host.Checkpoint, skipped []string, err error) {
	text, skipped, err := journal.ReadFolder(folder)
	switch {
	case err != nil:
		return nil, nil, fmt.Errorf("%s: %w", folder, err)
	case text == nil:
		return nil, nil, fmt.Errorf("%s: no checkpoint can be read: %s", folder, strings.Join(skipped, "; "))
	}
	if c, err = host.ReadCheckpoint(text); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", folder, err)
	}
	return c, skipped, nil
}

// read takes in the checkpoint of one box.
func (g *gathering) read(folder string) error {
	c, skipped, err := readState(folder)
	if err != nil {
		return err
	}
	for _, s := range skipped {
		g.warn("%s: %s", folder, s)
	}
	switch l := c.Learning; {
	case l == nil:
		return fmt.Errorf("%s: the checkpoint does not say how its nodes learned: they do not, or an earlier program wrote it; "+
			"start the box once with this one, and end it after a step", folder)
	case l.Own:
		return fmt.Errorf("%s: nodes learned by a rule that their program brought along, which this program cannot go on with", folder)
	case g.learning == nil:
		g.learning, g.first, g.Run = l, folder, c.Run
	case c.Run != g.Run:
		return fmt.Errorf("%s is of run %q, and %s of %q: name folders of one deployment", folder, c.Run, g.first, g.Run)
	case l.Digest != g.learning.Digest || !g.sameNodes(l.Nodes):
		return fmt.Errorf("%s has the digest %06x with nodes %s, and %s %06x with nodes %s: "+
			"their boxes ran different models, or learned differently",
			folder, l.Digest, l.Nodes, g.first, g.learning.Digest, g.learning.Nodes)
	}
	for _, m := range c.Nodes {
		if before, twice := g.from[m.Node]; twice {
			return fmt.Errorf("node %d is in %s and in %s: name the folder of each box once, of the place where the node ran last",
				m.Node, before, folder)
		}
		g.found[m.Node], g.from[m.Node] = m, folder
	}
	maps.Copy(g.names, c.Learning.Sensors)
	maps.Copy(g.links, c.Learning.Links)
	g.steps[c.Time] = append(g.steps[c.Time], folder)
	g.Boxes++
	g.Step = max(g.Step, c.Time)
	return nil
}

// sameNodes says whether a box knows the nodes that others know. One that was asked
// before it heard of a host that joined knows fewer, which is no harm.
func (g *gathering) sameNodes(nodes string) bool {
	if nodes == g.learning.Nodes {
		return true
	}
	here, err1 := host.ParseNodes(nodes)
	before, err2 := host.ParseNodes(g.learning.Nodes)
	if err1 != nil || err2 != nil {
		return false
	}
	all := slices.Compact(slices.Sorted(slices.Values(slices.Concat(here, before))))
	if len(all) != max(len(here), len(before)) {
		return false
	}
	learning := *g.learning
	learning.Nodes = host.FormatNodes(all)
	g.learning = &learning
	return true
}

func (g *gathering) warn(format string, args ...any) {
	g.Warnings = append(g.Warnings, fmt.Sprintf(format, args...))
}

// assemble makes the model file.
func (g *gathering) assemble(version string) error {
	plan, err := g.plan()
	if err != nil {
		return err
	}
	if err := g.sameStep(); err != nil {
		return err
	}
	origin, err := snapshot.OriginOf(g.file)
	if err != nil {
		return err
	}
	var before online.Snapshot
	if origin.Distributed() {
		if before, _, err = snapshot.Of(g.file); err != nil {
			return err
		}
	}
	all, err := host.ParseNodes(g.learning.Nodes)
	if err != nil {
		return fmt.Errorf("%s: %w", g.first, err)
	}
	g.Nodes = max(int(slices.Max(all))+1, len(before.Nodes))
	read := slices.Sorted(slices.Values(g.file.Meta.Nodes))
	if origin.Distributed() {
		read = origin.Read
	}
	memories, err := g.memories(plan, &before, all)
	if err != nil {
		return err
	}
	s, err := snapshot.Agents(g.file, &before, memories, g.Step)
	if err != nil {
		return err
	}
	how := lifecycle.Gathering{Run: g.Run, Rule: *g.learning.Rule, Nodes: g.Nodes, Read: read, Steps: int(g.Step) + 1, Version: version}
	if g.file.Meta.Forecast != "" {
		if err := g.sensors(&how, memories); err != nil {
			return err
		}
	}
	g.Model, err = lifecycle.Gathered(g.file, s, how)
	if err != nil {
		return err
	}
	a, err := lifecycle.AdaptationOf(g.Model)
	g.drift = a.Drift
	return err
}

// sensors says what the sensors of nodes that forecast remember, who they are, and
// whom they heard last.
func (g *gathering) sensors(how *lifecycle.Gathering, memories []agent.Memory) (err error) {
	for i := range memories {
		var sensor forecast.Memory // of a newcomer that has heard nobody yet
		if f := memories[i].Forecast; f != nil && f.Sensor != nil {
			sensor = *f.Sensor
		}
		name := cmp.Or(g.names[agent.NodeID(i)], fmt.Sprintf("node-%d", i))
		how.Sensors, how.Names = append(how.Sensors, sensor), append(how.Names, name)
	}
	how.Links, err = g.lastLinks()
	return err
}

// lastLinks returns the links that nodes had last; between those that are missing,
// the ones of the model.
func (g *gathering) lastLinks() (*graph.Graph, error) {
	seen := map[[2]int]bool{}
	var edges []graph.Edge
	add := func(i, j int, weight float32) {
		if e := [2]int{min(i, j), max(i, j)}; !seen[e] {
			seen[e] = true
			edges = append(edges, graph.Edge{From: e[0], To: e[1], Weight: float64(weight)})
		}
	}
	for _, id := range slices.Sorted(maps.Keys(g.links)) {
		for _, l := range g.links[id] {
			add(int(id), int(l.Node), l.Weight)
		}
	}
	trained, err := g.file.SensorGraph()
	if err != nil || trained == nil {
		return nil, err
	}
	missing := func(i int) bool { return g.from[agent.NodeID(i)] == "" }
	for i := range trained.Nodes() {
		heard, weights := trained.Adjacency().Row(i)
		for k, j := range heard {
			if missing(i) && missing(int(j)) {
				add(i, int(j), weights[k])
			}
		}
	}
	return graph.FromEdges(g.Nodes, edges, false)
}

// plan returns what the agents shared, if it was the given model.
func (g *gathering) plan() (*agent.Plan, error) {
	l := g.learning
	c := &box.Config{Learn: l.Rule.Settings(), Cost: l.Cost}
	c.Scale = l.Scale
	plan, err := c.Plan(g.file)
	if err == nil && plan.Digest() != l.Digest {
		err = fmt.Errorf("its digest is %06x", plan.Digest())
	}
	if err != nil {
		return nil, fmt.Errorf("the model is not the one that the agents of %s began with, whose digest is %06x: %w; "+
			"name the file of model: in their agent.yaml", g.first, l.Digest, err)
	}
	return plan, nil
}

// sameStep reports boxes that are not where most are.
func (g *gathering) sameStep() error {
	if len(g.steps) == 1 {
		return nil
	}
	var words []string
	for _, t := range slices.Sorted(maps.Keys(g.steps)) {
		words = append(words, fmt.Sprintf("step %d in %s", t, strings.Join(g.steps[t], ", ")))
	}
	all := "boxes are at different steps: " + strings.Join(words, "; ")
	if g.partial {
		g.warn("%s", all)
		return nil
	}
	return fmt.Errorf("%w: %s", ErrPartial, all)
}

// memories returns what every node of the network remembers, of which some have run.
func (g *gathering) memories(p *agent.Plan, before *online.Snapshot, nodes []agent.NodeID) ([]agent.Memory, error) {
	scratch := new(agent.Scratch)
	var all []agent.Memory
	var missing []agent.NodeID
	for i := range g.Nodes {
		id := agent.NodeID(i)
		node := agent.NewNode(id, p, scratch)
		m, ok := g.found[id]
		if ok {
			if err := node.Restore(m); err != nil {
				return nil, fmt.Errorf("%s: %w; the checkpoint is damaged", g.from[id], err)
			}
			all = append(all, node.Memory())
			continue
		}
		if _, run := slices.BinarySearch(nodes, id); run { // numbers that nobody has are not missed
			missing = append(missing, id)
		}
		if i < len(before.Nodes) {
			seed, err := snapshot.Agent(g.file, before, id)
			if err == nil {
				err = node.Seed(seed)
			}
			if err != nil {
				return nil, err
			}
		}
		all = append(all, node.Memory())
	}
	g.Found = g.Nodes - len(missing)
	if missing == nil {
		return all, nil
	}
	g.Missing = host.FormatNodes(missing)
	if g.partial {
		g.warn("nodes %s have no checkpoint here and stay as the model has them", g.Missing)
		return all, nil
	}
	return nil, fmt.Errorf("%w: nodes %s have no checkpoint here", ErrPartial, g.Missing)
}
