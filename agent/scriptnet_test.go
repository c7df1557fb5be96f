package agent_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/internal/script"
)

// scriptNet is the network of a script. Messages wait in it until a command
// says what happens to them.
type scriptNet struct {
	plan    *agent.Plan
	nodes   []*agent.Node
	links   [][]agent.Link
	waiting []delivery
	trace   strings.Builder
}

// commands by name. A link is written 0->1; without one, all nodes are meant.
var commands = map[string]func(n *scriptNet, w script.Words) error{
	// 0-1 1-2:0.5 order=1 in=1 out=1 step-size=0.1 deep=1,1 delayed frozen operator=…
	// scale= mixing= max-norm= clip-norm=
	"nodes": (*scriptNet).create,

	"links":     (*scriptNet).connect,                                               // 0-1 1-2: from the next step on
	"observe":   (*scriptNet).observe,                                               // t=0 x=(1 0 0): a step begins at all nodes
	"begin":     (*scriptNet).observe,                                               // 1 t=7 x=(2): at one node
	"deliver":   (*scriptNet).deliver,                                               // 0->1, the oldest; or all, until nothing waits
	"drop":      func(n *scriptNet, w script.Words) error { return n.take(w, nil) }, // 0->1
	"duplicate": (*scriptNet).duplicate,                                             // 0->1: a copy goes to the end of the queue
	"corrupt":   (*scriptNet).corrupt,                                               // 0->1 nan, short or huge: delivered like that
	"expire":    func(n *scriptNet, w script.Words) error { return n.each(w, agent.Expire{}) },
	"retry":     func(n *scriptNet, w script.Words) error { return n.each(w, agent.Retry{}) },
	"feedback":  (*scriptNet).feedback, // y=(1 0 2): targets of a squared error; without, nobody told
	"restart":   (*scriptNet).restart,  // 1: from its memory
	"state":     (*scriptNet).state,    // where nodes are, their parameters, what they counted
	"mean":      (*scriptNet).mean,     // of the parameters
}

// run carries out a line and returns its trace.
func (n *scriptNet) run(line string) (string, error) {
	n.trace.Reset()
	name, rest, _ := strings.Cut(line, " ")
	do := commands[name]
	if do == nil {
		return "", fmt.Errorf("no command is called %q", name)
	}
	err := do(n, script.Split(rest))
	return n.trace.String(), err
}

// each applies an event to the nodes that are named, to all if there are none.
func (n *scriptNet) each(w script.Words, ev agent.Event) error {
	for _, i := range n.named(w) {
		n.step(i, ev)
	}
	return nil
}

func (n *scriptNet) named(w script.Words) []int {
	var list []int
	for _, p := range w.Plain {
		if i, err := strconv.Atoi(p); err == nil && i < len(n.nodes) {
			list = append(list, i)
		}
	}
	if len(w.Plain) == 0 {
		for i := range n.nodes {
			list = append(list, i)
		}
	}
	return list
}

// step applies an event to node i and writes down what came of it.
func (n *scriptNet) step(i int, ev agent.Event) {
	node := n.nodes[i]
	r, err := node.Step(ev)
	if err != nil {
		n.printf("%d refuses: %s", i, strings.TrimPrefix(err.Error(), "agent: "))
	}
	for _, m := range r.Send {
		n.printf("%s", n.show(&m))
		m.Values = slices.Clone(m.Values)
		for j := range n.nodes {
			if j == int(m.To) || m.To == agent.Everyone && slices.ContainsFunc(n.links[j], func(l agent.Link) bool { return l.Node == m.From }) {
				n.waiting = append(n.waiting, delivery{j, m})
			}
		}
	}
	if r.Ahead > 0 {
		n.printf("%d ahead %d", i, r.Ahead)
	}
	if r.Prediction != nil {
		n.printf("%d predicts (%s)", i, script.Numbers(r.Prediction))
	}
	if r.Done {
		n.printf("%d done%s", i, parameters(node))
	}
	n.waits(i)
}

// waits writes down whom node i waits for.
func (n *scriptNet) waits(i int) {
	if e, ok := n.nodes[i].Waits(); ok {
		n.printf("%d waits for %s, e=%d", i, strings.Trim(fmt.Sprint(n.nodes[i].Missing(nil)), "[]"), e)
	}
}

func (n *scriptNet) printf(format string, args ...any) { fmt.Fprintf(&n.trace, format+"\n", args...) }

// show writes a message with what it carries.
func (n *scriptNet) show(m *agent.Message) string {
	text := m.String()
	if m.Kind != agent.Row {
		return text
	}
	width := len(m.Values)
	if m.Exchange == 0 {
		text += fmt.Sprintf(" links=%d degree=%v", m.Links, m.Degree)
		width -= len(n.nodes[m.From].Params())
	}
	text += " (" + script.Numbers(m.Values[:width])
	if width < len(m.Values) {
		text += "; " + script.Numbers(m.Values[width:])
	}
	return text + ")"
}

// parameters writes what a node has learned, nothing if it does not learn.
func parameters(node *agent.Node) string {
	if node.Params() == nil {
		return ""
	}
	return " (" + script.Numbers(node.Params()) + ")"
}
