package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wdgnn/wdgnn/internal/lifecycle"
	"github.com/wdgnn/wdgnn/modelfile"
)

// ExportCommand writes a model in a form that other programs run.
type ExportCommand struct {
	Stdout io.Writer

	model    string // paths
	onnx     string
	graph    string
	shift    string
	directed bool
	force    bool
	json     bool
}

func (c *ExportCommand) command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "export MODEL --out OUT.onnx [--graph G --shift S.npy]",
		Short: "Write a model in ONNX, for programs that know nothing of wdgnn",
		Long: `Writes a model as a graph of a few operators in ONNX: MatMul, Add, Mul, Relu and
Tanh. It reads the shift S of the graph, nodes×nodes, and signals X,
samples×nodes×features, and gives the outputs Y of wdgnn predict within rounding.
Any number of samples and of nodes fits; a model whose nodes have taps of their
own is for their network alone. A model with delayed filters runs a step at a time,
with what it remembers as further inputs and outputs.

S is the adjacency matrix after the shift operator of the model, which wdgnn
inspect names. With --graph and --shift it is written out for a graph, one for
each step if that has a time column. doc/onnx.md shows how to run the file, and
how well it agrees.`,
		Example: `  wdgnn export first/run/model.safetensors --out model.onnx
  wdgnn export first/run/model.safetensors --out model.onnx --graph first/graph.csv --shift S.npy
  wdgnn export first/online/adapted.safetensors --out adapted.onnx --json`,
		Args: arguments("MODEL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c.Stdout, c.model = cmd.OutOrStdout(), args[0]
			return c.Run()
		},
	}
	cmd.Flags().StringVar(&c.onnx, "out", "", "file to write the model to, .onnx")
	cmd.Flags().StringVar(&c.graph, "graph", "", "edge list .csv or .tsv, or sparse matrix .npz, whose S to write")
	cmd.Flags().StringVar(&c.shift, "shift", "", "file to write S of --graph to, .npy")
	cmd.Flags().BoolVar(&c.directed, "directed", false, "links have a direction: src is heard by dst")
	forced(cmd.Flags(), &c.force)
	cmd.Flags().BoolVar(&c.json, "json", false, "print what was written as one JSON object")
	renamed(cmd.Flags(), map[string]string{"onnx": "out"})
	return cmd
}

// Run exports.
func (c *ExportCommand) Run() error {
	if err := mistaken(c.model, kindModel); err != nil {
		return during("export", err)
	}
	switch {
	case c.onnx == "":
		return usageError{"wdgnn export", errors.New("--out is missing: the file to write, such as model.onnx")}
	case c.shift != "" && c.graph == "":
		return usageError{"wdgnn export", errors.New("--shift wants a --graph to write it for")}
	}
	if err := kept(c.force, "another --out", c.onnx); err != nil {
		return during("export", err)
	}
	m, err := loadModel(c.model)
	if err != nil {
		return during("export", err)
	}
	var shape []int
	var values []float32
	if c.graph != "" {
		if shape, values, err = lifecycle.Shifts(m, c.graph, c.directed); err != nil {
			return helpful{during("export", err), "a graph that wdgnn predict takes for this model"}
		}
	}
	nodes := 0
	if len(shape) > 0 {
		nodes = shape[len(shape)-1]
	}
	e, err := lifecycle.Export(m, nodes, version())
	if err != nil {
		return helpful{during("export", err), fmt.Sprintf("wdgnn inspect %s, which says what the model is", c.model)}
	}
	err = modelfile.WriteFile(c.onnx, func(w io.Writer) error {
		_, err := w.Write(e.Bytes)
		return err
	})
	if err == nil && c.shift != "" {
		err = modelfile.SaveArray(c.shift, shape, values)
	}
	if err != nil {
		return helpful{during("export", err), "other files, in a folder that you may write to"}
	}
	return c.print(e, shape)
}

// print says what was written.
func (c *ExportCommand) print(e *lifecycle.Exported, shape []int) error {
	if c.json {
		return writeJSON(c.Stdout, struct {
			Out string `json:"out"`
			*lifecycle.Exported
			ShiftOut   string `json:"shift_out,omitempty"`
			ShiftShape []int  `json:"shift_shape,omitempty"`
		}{c.onnx, e, c.shift, shape})
	}
	w := &lines{w: c.Stdout}
	w.printf("wrote %s, %.1f kB\n", c.onnx, float64(e.Size)/1e3)
	w.printf("inputs     %s\n", strings.Join(e.Inputs, ", "))
	w.printf("outputs    %s\n", strings.Join(e.Outputs, ", "))
	var operators []string
	for _, name := range slices.Sorted(maps.Keys(e.Operators)) {
		operators = append(operators, fmt.Sprintf("%d %s", e.Operators[name], name))
	}
	w.printf("operators  %s, of set %d\n", strings.Join(operators, ", "), e.Opset)
	w.printf("shift      S is %s\n", shiftFormulas[e.Shift])
	for _, note := range e.Notes {
		w.printf("note       %s\n", note)
	}
	if c.shift != "" {
		w.printf("wrote %s, %s: S of %s\n", c.shift, shapeText(shape), c.graph)
	}
	return w.err
}

// shiftFormulas says how S is made of the adjacency matrix A, whose entry (i, j) is the
// weight with which node i hears node j.
var shiftFormulas = map[string]string{
	"adjacency":            "A, the adjacency matrix",
	"spectral":             "A / λmax, the adjacency matrix divided by its largest eigenvalue (spectral)",
	"symmetric":            "D^-½ A D^-½, with the degrees D of the adjacency matrix A (symmetric)",
	"laplacian":            "D - A, with the degrees D of the adjacency matrix A (laplacian)",
	"normalized-laplacian": "I - D^-½ A D^-½, with the degrees D of the adjacency matrix A, and rows of 0 for nodes without links",
	"row-stochastic":       "D^-1 A, the adjacency matrix with every row divided by its sum (row-stochastic)",
}
