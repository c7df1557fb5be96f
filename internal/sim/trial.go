package sim

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/internal/defect"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/rule"
	"github.com/wdgnn/wdgnn/transport"
)

// Trial is a history before it happens: boxes, their world, and what will go
// wrong.
type Trial struct {
	Seed   uint64
	Faults []Fault // by the time they begin

	pace   host.Pace
	period time.Duration // of the world's clock; 0 means that a line follows the answer
	think  time.Duration // between an answer and the next line, without a clock
	delay  time.Duration // of a frame
	hosts  [][]agent.NodeID
	owner  []int // host of a node
	graph  *graph.Graph
	plan   *agent.Plan
	other  *agent.Plan // that a deployment brings
	rule   rule.Config
	links  [][]agent.Link
	base   int // hosts that are there from the start
	nodes  int // and their nodes

	lateHost, lateNode bool // one joins

	steps  uint64        // of a box's stream
	healed time.Duration // when the last fault is over
	check  time.Duration // when boxes must be together again
}

const (
	leastHosts, mostHosts = 4, 8
	mostNodes             = 3 // of a host
	leastSteps            = 60
	leastFaults           = 3
	mostFaults            = 6

	// together is within how many deadlines after the last fault hosts that are
	// neighbours must be on the same step again, however far apart they are then: a few
	// until they hear each other again, two for each host that speaks against being
	// left behind, and three for each of the last steps, which are not left out.
	together = 24

	// quarantine is how many deadlines more a trial lasts in which somebody lies.
	quarantine = 16
)

// Draw returns the trial of a seed.
func Draw(seed uint64) (*Trial, error) {
	t := &Trial{Seed: seed}
	rng := random.Stream(seed, "trial")
	t.drawHosts(rng)
	t.drawPace(rng)
	if err := t.drawGraph(rng); err != nil {
		return nil, err
	}
	if err := t.drawPlan(rng); err != nil {
		return nil, err
	}
	t.base, t.nodes = len(t.hosts), len(t.owner)
	t.drawFaults(rng)
	t.schedule()
	return t, t.drawOther()
}

func (t *Trial) drawHosts(rng *rand.Rand) {
	node := agent.NodeID(0)
	for h := range leastHosts + rng.IntN(mostHosts-leastHosts+1) {
		var nodes []agent.NodeID
		for range 1 + rng.IntN(mostNodes) {
			nodes = append(nodes, node)
			t.owner = append(t.owner, h)
			node++
		}
		t.hosts = append(t.hosts, nodes)
	}
}

// drawPace chooses lockstep, of boxes that read their streams as fast as answers come or
// by a clock, or real time.
func (t *Trial) drawPace(rng *rand.Rand) {
	deadline := time.Duration(50+rng.IntN(200)) * time.Millisecond
	t.delay = deadline / time.Duration(40+rng.IntN(100))
	switch rng.IntN(5) {
	case 0:
		t.pace = host.Pace{Mode: host.RealTime}
		t.period = deadline * 10 / 8
		deadline = host.TickDeadline(t.period)
	case 1, 2:
		t.period = deadline * 2 / time.Duration([]int{1, 3, 4}[rng.IntN(3)])
	default:
		t.think = deadline / time.Duration([]int{1, 2, 2, 32}[rng.IntN(4)])
	}
	t.pace.Deadline = deadline
	t.pace.Linger = time.Hour
}

// drawGraph links all nodes to a ring, and some of them across.
func (t *Trial) drawGraph(rng *rand.Rand) error {
	n := len(t.owner)
	order := rng.Perm(n)
	var edges []graph.Edge
	seen := map[[2]int]bool{}
	link := func(a, b int) {
		if a > b {
			a, b = b, a
		}
		if a != b && !seen[[2]int{a, b}] {
			seen[[2]int{a, b}] = true
			edges = append(edges, graph.Edge{From: a, To: b, Weight: 1})
		}
	}
	for k := range n {
		link(order[k], order[(k+1)%n])
	}
	for range n / 3 {
		link(rng.IntN(n), rng.IntN(n))
	}
	g, err := graph.FromEdges(n, edges, false)
	if err != nil {
		return err
	}
	t.graph = g
	for i := range n {
		t.links = append(t.links, agent.LinksOf(nil, g.Adjacency(), i))
	}
	return nil
}

// drawPlan makes a small model, and a rule to learn by.
func (t *Trial) drawPlan(rng *rand.Rand) error {
	c := gnn.Config{In: 1 + rng.IntN(2), Features: 2, Outputs: 1 + rng.IntN(2), Wide: &gnn.WideConfig{Order: 1 + rng.IntN(2)}}
	for range rng.IntN(3) {
		c.Deep = append(c.Deep, gnn.LayerConfig{Order: 1 + rng.IntN(2), Features: 2})
	}
	m, err := gnn.NewRandom(c, random.Stream(t.Seed, "init"))
	if err != nil {
		return err
	}
	t.rule = rule.Config{StepSize: rule.StepSize{Value: 0.02}}
	operator := []graph.Shift{graph.ShiftRowStochastic, graph.ShiftRowStochastic, graph.ShiftSymmetric}[rng.IntN(3)]
	p := agent.PlanConfig{
		Model: m, Operator: operator, Delayed: rng.IntN(5) == 0, Rule: &t.rule, Cost: host.MSE.Kind(), Forgiving: rng.IntN(3) > 0,
	}
	if p.Basis, err = online.NewBasis(m, t.rule, nil); err != nil {
		return err
	}
	if defect.Number != 6 {
		p.MaxRows = slices.Repeat([]float64{mostRow}, agent.Hops(m))
	}
	t.plan, err = agent.NewPlan(p)
	return err
}

// schedule says how long the trial lasts: a whole while after the last fault, and
// leastSteps steps.
func (t *Trial) schedule() {
	t.healed = 0
	for _, f := range t.Faults {
		t.healed = max(t.healed, t.aftermath(&f))
	}
	t.check = t.healed + together*t.pace.Deadline
	if slices.ContainsFunc(t.Faults, func(f Fault) bool { return f.Kind == faultNonsense }) {
		t.check += quarantine * t.pace.Deadline
	}
	t.steps = max(t.within(t.check)+12, leastSteps)
}

// within returns how many steps there are in a time at most, of hosts that wait for nobody.
func (t *Trial) within(d time.Duration) uint64 {
	return uint64(d / max(t.period, t.think+time.Duration(t.plan.Exchanges())*t.delay/2))
}

// aftermath returns when nothing of a fault is left that makes anybody silent.
func (t *Trial) aftermath(f *Fault) time.Duration {
	switch {
	case f.Kind == faultJump && f.Size > 0 && t.period > 0: // until its clock is where it was, its world says nothing
		return f.To + time.Duration(f.Size*float64(t.pace.Deadline))
	case f.Kind == faultDeploy: // until the step that hosts may have agreed on
		return f.To + mostMargin*max(t.period, t.think)
	}
	return f.To
}

// config returns the configuration of a host.
func (t *Trial) config(h int, d *host.Directory) host.Config {
	c := host.Config{
		Run: "sim", Host: transport.HostID(h), Nodes: t.hosts[h], Plan: t.plan, Cost: host.MSE, Directory: d, Pace: t.pace,
		Links: map[agent.NodeID][]agent.Link{}, Every: 4 * t.pace.Deadline,
	}
	c.Vouch = vouch
	if h < t.base {
		c.Nodes = t.first(h)
		for _, node := range c.Nodes { // records bring the others
			c.Links[node] = slices.DeleteFunc(slices.Clone(t.links[node]), func(l agent.Link) bool { return int(l.Node) >= t.nodes })
		}
	}
	return c
}

// String describes the trial in a few lines.
func (t *Trial) String() string {
	mode := string(cmp.Or(t.pace.Mode, host.Lockstep))
	switch {
	case t.pace.Mode == host.RealTime:
	case t.period > 0:
		mode += ", lines by the clock"
	default:
		mode += ", a line follows the answer"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d: %d nodes on %d hosts, %d exchanges per step, %s, deadline %v, frames take %v, %d steps\n",
		t.Seed, len(t.owner), len(t.hosts), t.plan.Exchanges(), mode, t.pace.Deadline, t.delay, t.steps)
	for k, f := range t.Faults {
		fmt.Fprintf(&b, "  fault %d: %s\n", k, f)
	}
	return b.String()
}
