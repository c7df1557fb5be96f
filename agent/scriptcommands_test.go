package agent_test

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/script"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/rule"
)

// create makes the network.
func (n *scriptNet) create(w script.Words) error {
	order, in, out := int(w.Number("order", 1)), int(w.Number("in", 1)), int(w.Number("out", 1))
	c := gnn.Config{In: in, Features: out, Outputs: out, NoBias: true, Wide: &gnn.WideConfig{Order: order}}
	for _, f := range strings.FieldsFunc(w.Values["deep"], func(r rune) bool { return r == ',' }) {
		k, err := strconv.Atoi(f)
		if err != nil {
			return err
		}
		c.Deep = append(c.Deep, gnn.LayerConfig{Order: k, Features: out})
	}
	m, err := gnn.New(c)
	if err != nil {
		return err
	}
	for k, tap := range m.Params.Wide.Taps { // 1, 10, 100 …
		fill(tap, float32(math.Pow10(k)))
	}
	for _, layer := range m.Params.Deep { // σ(x + Sx + …)
		for _, tap := range layer.Taps {
			fill(tap, 1)
		}
	}
	for g := range out {
		m.Params.Readout.Weight.Set(g, g, 1)
	}
	if len(m.Params.Gain) > 0 {
		m.Params.Gain[gnn.GainWide], m.Params.Gain[gnn.GainDeep] = 1, 1
	}
	r := rule.Paper(false).Ungated()
	r.StepSize.Value = w.Number("step-size", 0.1)
	plan := agent.PlanConfig{
		Model: m, Operator: graph.ShiftAdjacency, Scale: w.Number("scale", 0), Delayed: slices.Contains(w.Plain, "delayed"),
		Rule: &r, Cost: loss.MSE{}, MaxNorm: w.Number("max-norm", 0), ClipNorm: w.Number("clip-norm", 0),
	}
	if name, ok := w.Values["operator"]; ok {
		if plan.Operator, err = graph.ParseShift(name); err != nil {
			return err
		}
	}
	if !slices.Contains(w.Plain, "frozen") {
		if plan.Basis, err = rule.NewBasis(rule.BasisConfig{
			Inputs: (order + 1) * in, Features: out, Gain: 1, Readout: m.Params.Readout.Weight,
		}); err != nil {
			return err
		}
	}
	if n.plan, err = agent.NewPlan(plan); err != nil {
		return err
	}
	if err := n.connect(w); err != nil {
		return err
	}
	for i := range n.links {
		n.nodes = append(n.nodes, agent.NewNode(agent.NodeID(i), n.plan, nil))
	}
	return nil
}

func fill(a mat.Dense, v float32) {
	for i := range a.Rows {
		for j := range a.Cols {
			a.Set(i, j, v)
		}
	}
}

// connect sets the links of the steps to come.
func (n *scriptNet) connect(w script.Words) error {
	clear(n.links)
	for _, p := range w.Plain {
		var i, j int
		weight := float32(1)
		if k, err := fmt.Sscanf(p, "%d-%d:%g", &i, &j, &weight); k < 2 {
			if k == 0 {
				continue // an option without a value
			}
			return fmt.Errorf("link %q: %w", p, err)
		}
		for len(n.links) <= max(i, j) {
			n.links = append(n.links, nil)
		}
		n.links[i] = append(n.links[i], agent.Link{Node: agent.NodeID(j), Weight: weight})
		n.links[j] = append(n.links[j], agent.Link{Node: agent.NodeID(i), Weight: weight})
	}
	for _, list := range n.links {
		slices.SortFunc(list, func(a, b agent.Link) int { return int(a.Node) - int(b.Node) })
	}
	return nil
}

// observe begins a step.
func (n *scriptNet) observe(w script.Words) error {
	x, in, list := w.List("x"), n.plan.Model.Config.In, n.named(w)
	if len(x) != len(list)*in {
		return fmt.Errorf("%d values for %d nodes with %d features", len(x), len(list), in)
	}
	for k, i := range list {
		n.step(i, agent.Begin{Time: uint64(w.Number("t", 0)), Links: n.links[i], Row: x[k*in : (k+1)*in]})
	}
	return nil
}

// find returns the place of the oldest message over a link.
func (n *scriptNet) find(w script.Words) (int, error) {
	var from, to int
	if _, err := fmt.Sscanf(strings.Join(w.Plain, " "), "%d->%d", &from, &to); err != nil {
		return 0, fmt.Errorf("link: %w", err)
	}
	k := slices.IndexFunc(n.waiting, func(d delivery) bool { return int(d.m.From) == from && d.to == to })
	if k < 0 {
		return 0, fmt.Errorf("no message waits on %d->%d", from, to)
	}
	return k, nil
}

// take removes the oldest message over a link and gives it to use.
func (n *scriptNet) take(w script.Words, use func(d delivery)) error {
	k, err := n.find(w)
	if err != nil {
		return err
	}
	d := n.waiting[k]
	n.waiting = slices.Delete(n.waiting, k, k+1)
	if use != nil {
		use(d)
	}
	return nil
}

func (n *scriptNet) receive(d delivery) { n.step(d.to, agent.Receive{Message: &d.m}) }

func (n *scriptNet) deliver(w script.Words) error {
	if !slices.Equal(w.Plain, []string{"all"}) {
		return n.take(w, n.receive)
	}
	for len(n.waiting) > 0 {
		d := n.waiting[0]
		n.waiting = n.waiting[1:]
		n.receive(d)
	}
	return nil
}

func (n *scriptNet) duplicate(w script.Words) error {
	k, err := n.find(w)
	if err == nil {
		n.waiting = append(n.waiting, n.waiting[k])
	}
	return err
}

func (n *scriptNet) corrupt(w script.Words) error {
	return n.take(w, func(d delivery) {
		values := slices.Clone(d.m.Values)
		switch w.Plain[len(w.Plain)-1] {
		case "nan":
			values[0] = float32(math.NaN())
		case "short":
			values = values[:len(values)-1]
		case "huge":
			values[len(values)-1] = 1e30
		}
		d.m.Values = values
		n.receive(d)
	})
}

func (n *scriptNet) feedback(w script.Words) error {
	ev := agent.Feedback{}
	out := n.plan.Model.Outputs()
	if y := w.List("y"); len(y) == len(n.nodes)*out {
		ev.Loss = loss.MSE{Target: mat.NewDense(len(n.nodes), out, y)}
	} else if y != nil {
		return fmt.Errorf("%d targets for %d nodes with %d outputs", len(y), len(n.nodes), out)
	}
	for _, i := range n.named(w) {
		ev.Index = i
		n.step(i, ev)
	}
	return nil
}

func (n *scriptNet) restart(w script.Words) error {
	for _, i := range n.named(w) {
		text, err := json.Marshal(n.nodes[i].Memory())
		if err != nil {
			return err
		}
		var m agent.Memory
		if err := json.Unmarshal(text, &m); err != nil {
			return err
		}
		n.nodes[i] = agent.NewNode(agent.NodeID(i), n.plan, nil)
		if err := n.nodes[i].Restore(m); err != nil {
			return err
		}
	}
	return n.state(w)
}

func (n *scriptNet) state(w script.Words) error {
	for _, i := range n.named(w) {
		node, counted := n.nodes[i], reflect.ValueOf(n.nodes[i].Stats())
		line := fmt.Sprintf("%d t=%d open=%v%s", i, node.Time(), node.Open(), parameters(node))
		for k := range counted.NumField() {
			if c := counted.Field(k).Uint(); c > 0 {
				name, _, _ := strings.Cut(counted.Type().Field(k).Tag.Get("json"), ",")
				line += fmt.Sprintf(" %s=%d", name, c)
			}
		}
		n.printf("%s", line)
		n.waits(i)
	}
	return nil
}

func (n *scriptNet) mean(script.Words) error {
	sum := make([]float32, len(n.nodes[0].Params()))
	for _, node := range n.nodes {
		for e, v := range node.Params() {
			sum[e] += v / float32(len(n.nodes))
		}
	}
	n.printf("mean (%s)", script.Numbers(sum))
	return nil
}
