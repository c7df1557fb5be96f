package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wdgnn/wdgnn/internal/grid"
	"github.com/wdgnn/wdgnn/internal/lifecycle"
)

// InspectCommand says what is in a model file.
type InspectCommand struct {
	Stdout io.Writer

	model string // path
	json  bool
}

func (c *InspectCommand) command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "inspect MODEL",
		Short: "Say what is in a model file: architecture, counts, gains, norms",
		Example: `  wdgnn inspect first/run/model.safetensors
  wdgnn inspect first/run/model.safetensors --json | jq .gains`,
		Args: arguments("MODEL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c.Stdout, c.model = cmd.OutOrStdout(), args[0]
			return c.Run()
		},
	}
	cmd.Flags().BoolVar(&c.json, "json", false, "print one JSON object")
	return cmd
}

// Run describes the model.
func (c *InspectCommand) Run() error {
	m, err := loadModel(c.model)
	if err != nil {
		return during("inspect", err)
	}
	in, err := lifecycle.Inspect(m)
	if err != nil {
		return helpful{during("inspect", err), "the model that wdgnn train wrote, if you have it"}
	}
	if c.json {
		return writeJSON(c.Stdout, in)
	}
	return c.print(in)
}

func (c *InspectCommand) print(in *lifecycle.Inspection) error {
	w, a := &lines{w: c.Stdout}, in.Architecture
	w.printf("features   %d in, %d inside, %d out\n", a.In, a.Features, in.Outputs)
	if a.Wide != nil {
		w.printf("wide       order %d: %d parameters\n", a.Wide.Order, in.Wide)
	}
	for l, layer := range a.Deep {
		w.printf("deep %-5d order %d, %s, %s\n", l+1, layer.Order, grid.Count(layer.Features, "feature"), layer.Activation)
	}
	if len(a.Deep) > 0 {
		w.printf("deep       %d parameters\n", in.Deep)
	}
	if a.Outputs > 0 {
		w.printf("readout    %d parameters\n", in.Readout)
	}
	w.printf("in all     %d parameters\n", in.Parameters)
	if len(in.Gains) == 3 {
		w.printf("gains      wide %.4g, deep %.4g, bias %.4g\n", in.Gains[0], in.Gains[1], in.Gains[2])
	}
	kind := ""
	if in.Meta.Delayed {
		kind = ", delayed: one hop takes one step"
	}
	w.printf("shift      %s%s\n", in.Meta.Shift, kind)
	w.printf("task       %s\n", in.Meta.Task)
	nodes := "all"
	if in.Meta.Nodes != nil {
		nodes = strings.Trim(fmt.Sprint(in.Meta.Nodes), "[]")
	}
	w.printf("read       %s\n", nodes)
	w.printf("seed       %d\nversion    %s\n", in.Meta.Seed, in.Meta.Version)
	if f := in.Forecast; f != nil {
		w.printf("forecasts  %s\n", f)
		w.printf("sensors    %d with %s: %s\n", len(f.Sensors), grid.Count(f.Links, "link"), someNames(f.Sensors))
	}
	printOnline(w, in)
	w.printf("\n")
	w.printf("%-20s %9s %9s %10s %10s\n", "tensor", "shape", "numbers", "norm", "largest")
	left := 0
	for _, t := range append(in.Tensors, in.Extra...) {
		if strings.HasPrefix(t.Name, "online.scores") {
			continue // said above, in words
		}
		if strings.HasPrefix(t.Name, "node.") {
			left++
			if left > mostNodeTensors {
				continue
			}
		}
		w.printf("%-20s %9s %9d %10.4g %10.4g\n", t.Name, fmt.Sprintf("%d×%d", t.Shape[0], t.Shape[1]), t.Count, t.Norm, t.Largest)
	}
	if left > mostNodeTensors {
		w.printf("… and %d more tensors of nodes; --json lists them\n", left-mostNodeTensors)
	}
	return w.err
}

// mostNodeTensors is how many tensors of single nodes are listed.
const mostNodeTensors = 10

// printOnline says what online learning left, or needs.
func printOnline(w *lines, in *lifecycle.Inspection) {
	if a := in.Online; a != nil {
		w.printf("online     %s, %s\n", a.Mode, describeRule(a.Preset, &a.Rule, a.Mode))
		w.printf("learned    %d steps on %d nodes; moved %.4g from the trained taps, disagreement %.4g\n",
			a.Steps, a.Nodes, a.Moved, a.Disagreement)
		if a.Diverged {
			w.printf("           it diverged at step %d of its stream; these are the parameters before that\n", a.At)
		} else if a.At < a.Length {
			w.printf("           it stopped at step %d of %d of its stream\n", a.At, a.Length)
		}
		if warning := a.Warning(); warning != "" {
			w.printf("warning    %s\n", warning)
		}
	} else if in.Architecture.Wide != nil && !in.Moment {
		w.printf("online     with one scale for all inputs: the file holds no second moment of them\n")
	}
	if in.Calibrated {
		w.printf("trust      sets or intervals by the scores of validation samples: wdgnn predict --coverage\n")
	}
	if in.NodeTaps > 0 {
		w.printf("taps       of their own at %s\n", grid.Count(in.NodeTaps, "node"))
	}
	if in.Heard > 0 {
		w.printf("weights    for every neighbour at %s\n", grid.Count(in.Heard, "node"))
	}
}
