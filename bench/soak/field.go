//go:build linux

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/internal/data"
)

// field is what all deployments share: the programs, a model, and a stream that
// feeders play over and over.
type field struct {
	program []string // wdgnn
	agent   []string // what runs a box
	dir     string   // with the model and the stream
	stream  *data.Stream
	place   map[int]int // of a node that is told, in the rows of targets
}

// Of the example that wdgnn init writes.
const (
	fieldNodes   = 50
	fieldClasses = 5
)

// fieldRead are the nodes that are told which class a step belongs to.
var fieldRead = []int{5, 15, 25, 35, 45}

// newField trains the model of the example, as a newcomer would.
func newField(ctx context.Context, dir string, program, agent []string) (*field, error) {
	f := &field{program: program, agent: agent, dir: filepath.Join(dir, "field"), place: map[int]int{}}
	for r, node := range fieldRead {
		f.place[node] = r
	}
	if _, err := os.Stat(f.model()); err != nil {
		if err := f.train(ctx); err != nil {
			return nil, err
		}
	}
	var err error
	f.stream, err = data.LoadStream(data.StreamFiles{
		Graph: filepath.Join(f.dir, "stream_graph.csv"), Signals: filepath.Join(f.dir, "stream_signals.npy"), Features: 1,
		TargetFiles: data.TargetFiles{
			Targets: filepath.Join(f.dir, "stream_targets.npy"), Read: fieldRead, Classify: true, Outputs: fieldClasses,
		},
	})
	return f, err
}

func (f *field) model() string { return filepath.Join(f.dir, "run", "model.safetensors") }

func (f *field) train(ctx context.Context) error {
	if err := f.call(ctx, "init", f.dir); err != nil {
		return err
	}
	config := filepath.Join(f.dir, "config.yaml")
	text, err := os.ReadFile(config)
	if err != nil {
		return err
	}
	local := strings.Replace(string(text), "shift: spectral", "shift: row-stochastic", 1)
	if err := os.WriteFile(config, []byte(local), 0o644); err != nil {
		return err
	}
	return f.call(ctx, "train", config)
}

// call runs wdgnn to its end.
func (f *field) call(ctx context.Context, args ...string) error {
	args = append(f.program[1:len(f.program):len(f.program)], args...)
	if out, err := exec.CommandContext(ctx, f.program[0], args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s %v: %w: %s", f.program[0], args, err, out)
	}
	return nil
}

// class returns what the answer of a node at a step should be, -1 if it is not told.
func (f *field) class(step uint64, node int) int {
	r, told := f.place[node]
	if !told {
		return -1
	}
	return int(f.stream.Labels[int(step%uint64(f.stream.Steps))*len(fieldRead)+r])
}

// say returns the line of some nodes at a step, which may name their links.
func (f *field) say(step uint64, nodes []int, links bool) ([]byte, error) {
	t := int(step % uint64(f.stream.Steps))
	adjacency := f.stream.Graph(t).Adjacency()
	l := host.Line{Time: step}
	for _, node := range nodes {
		n := host.NodeLine{Node: agent.NodeID(node), Row: f.stream.Signals.Row(t*f.stream.Nodes + node)}
		if links {
			n.SetLinks(agent.LinksOf(nil, adjacency, node))
		}
		if c := f.class(step, node); c >= 0 {
			n.Target = host.Numbers{float32(c)}
		}
		l.Nodes = append(l.Nodes, n)
	}
	text, err := json.Marshal(l)
	return append(text, '\n'), err
}
