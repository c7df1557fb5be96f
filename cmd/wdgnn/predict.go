package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wdgnn/wdgnn/internal/data"
	"github.com/wdgnn/wdgnn/internal/lifecycle"
	"github.com/wdgnn/wdgnn/modelfile"
)

// PredictCommand runs a model on signals.
type PredictCommand struct {
	Stdout io.Writer

	model    string // paths
	graph    string
	signals  string
	config   string // instead of graph and signals
	on       string
	out      string
	nodes    string
	coverage float64 // of sets or intervals; 0 for none
	directed bool
	threads  int
	json     bool
}

func (c *PredictCommand) command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "predict MODEL (--graph G --signals X.npy | --config CONFIG.yaml) --out Y.npy",
		Short: "Run a trained model on signals",
		Long: `Reads a graph and signals, samples×nodes×features, runs the model and writes
its outputs, samples×nodes×outputs: scores of classes, or values. The graph may
be another one than that of training. On a graph with a time column, signals
are samples×steps×nodes×features. Outputs that are not finite are an error that
says where; nothing is written then.

With --coverage 0.9 it writes beside Y.npy what the truth may be, with 90 % of the
answers right: Y.sets.npy, 1 for each class that it may be and otherwise 0, or
Y.intervals.npy, between which two numbers it is. That holds for each node on its
own and on average, for samples like those that training set aside to validate
on; doc/uncertainty.md says more.

With --config the signals are those of a configuration that trains, its test
samples or those that --on names: of robots the model says the accelerations,
flights×steps×robots×2, of movies each user's rating of the target.`,
		Example: `  wdgnn predict first/run/model.safetensors --graph first/graph.csv --signals first/signals.npy --out y.npy
  wdgnn predict first/run/model.safetensors --graph first/graph.csv --signals first/signals.npy --nodes 1,5 --out y.npy
  wdgnn predict first/run/model.safetensors --graph first/graph.csv --signals first/signals.npy --nodes trained --out y.npy
  wdgnn predict first/run/model.safetensors --config first/config.yaml --coverage 0.9 --out y.npy
  wdgnn predict robots/run/model.safetensors --config robots/config.yaml --on test --out accelerations.npy`,
		Args: arguments("MODEL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c.Stdout, c.model = cmd.OutOrStdout(), args[0]
			return c.Run(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&c.graph, "graph", "", "edge list .csv or .tsv, or sparse matrix .npz")
	cmd.Flags().StringVar(&c.signals, "signals", "", "what the nodes observe, .npy")
	cmd.Flags().StringVar(&c.config, "config", "", "configuration whose samples to take instead of --graph and --signals")
	cmd.Flags().StringVar(&c.on, "on", "test", "samples of --config: train, valid or test")
	cmd.Flags().StringVar(&c.out, "out", "", "file to write the outputs to, .npy")
	cmd.Flags().StringVar(&c.nodes, "nodes", "all", "nodes to read, such as 1,5; or trained, those that training read; or all")
	cmd.Flags().Float64Var(&c.coverage, "coverage", 0, "share of answers whose set or interval holds the truth, such as 0.9; 0 writes none")
	cmd.Flags().BoolVar(&c.directed, "directed", false, "links have a direction: src is heard by dst")
	cmd.Flags().IntVar(&c.threads, "threads", 1, "threads to compute on, -1 for all; they do not change the result")
	cmd.Flags().BoolVar(&c.json, "json", false, "print what was written as one JSON object")
	words(cmd, "on", "train", "valid", "test")
	return cmd
}

// Run predicts.
func (c *PredictCommand) Run(ctx context.Context) error {
	if err := c.check(); err != nil {
		command := "wdgnn predict"
		if m, _ := loadModel(c.model); m != nil && m.Meta.Forecast != "" {
			command, err = "wdgnn forecast", fmt.Errorf("%w; %s forecasts readings", err, c.model)
		}
		return usageError{command, err}
	}
	nodes, err := parseNodes("--nodes", c.nodes)
	if err != nil {
		return usageError{"wdgnn predict", err}
	}
	m, err := loadModel(c.model)
	if err != nil {
		return during("predict", err)
	}
	if c.nodes == "trained" {
		nodes = m.Meta.Nodes
	}
	if info, err := os.Stat(filepath.Dir(c.out)); err != nil || !info.IsDir() {
		return helpful{fmt.Errorf("predict: --out %s: there is no folder %s", c.out, filepath.Dir(c.out)), "a file in a folder that exists"}
	}
	p, err := c.predict(ctx, m, nodes)
	if err != nil {
		try := fmt.Sprintf("wdgnn inspect %s, which says what the model reads", c.model)
		if m.Meta.Forecast != "" {
			try = fmt.Sprintf("wdgnn forecast %s --series READINGS.csv, which takes readings as they are; or %s", c.model, try)
		}
		return helpful{during("predict", err), hint(err, try)}
	}
	trust, err := c.confidence(m, p)
	if err != nil {
		return helpful{during("predict", err), "wdgnn predict without --coverage, which needs no such scores"}
	}
	err = modelfile.SaveArray(c.out, p.Shape, p.Values)
	if err == nil && trust != nil {
		err = modelfile.SaveArray(trust.Out, trust.Shape, trust.values)
	}
	if err != nil {
		return helpful{during("predict", err), "another --out, a file in a folder that you may write to"}
	}
	return c.print(p, nodes, trust)
}

// predictTrust is what is written and said of sets or intervals.
type predictTrust struct {
	Out      string  `json:"out"`
	Shape    []int   `json:"shape"`
	Coverage float64 `json:"coverage"`
	Size     float64 `json:"size"`  // mean number of classes, or width
	Known    int     `json:"known"` // answers of which something is known
	Nodes    int     `json:"nodes"`
	Own      int     `json:"own"` // nodes with scores of their own

	classes bool
	values  []float32
}

// confidence returns the sets or intervals of a prediction, nil if nobody asked.
func (c *PredictCommand) confidence(m *modelfile.Model, p *lifecycle.Prediction) (*predictTrust, error) {
	if c.coverage == 0 {
		return nil, nil
	}
	t, err := p.Confidence(m, c.coverage)
	if err != nil {
		return nil, err
	}
	kind := "intervals"
	if t.Classes {
		kind = "sets"
	}
	return &predictTrust{
		Out: strings.TrimSuffix(c.out, ".npy") + "." + kind + ".npy", Shape: t.Shape, Coverage: t.Coverage, Size: t.Size,
		Known: t.Known, Nodes: t.Nodes, Own: t.Own, classes: t.Classes, values: t.Values,
	}, nil
}

// String says what was written, and what it is worth.
func (t *predictTrust) String() string {
	text := fmt.Sprintf("wrote %s, %s: ", t.Out, shapeText(t.Shape))
	switch {
	case t.Known == 0:
		text += "nothing is known yet"
	case t.classes:
		text += fmt.Sprintf("%.2f classes on average for a coverage of %g %%", t.Size, 100*t.Coverage)
	default:
		text += fmt.Sprintf("%.4g wide on average for a coverage of %g %%", t.Size, 100*t.Coverage)
	}
	if t.Own < t.Nodes {
		text += fmt.Sprintf("\n%d of %d nodes have no scores of their own: those that training read have those of all nodes, "+
			"of the others nothing is known", t.Nodes-t.Own, t.Nodes)
	}
	return text
}

// check says which flags are missing, or too many.
func (c *PredictCommand) check() error {
	if c.out == "" {
		return errors.New("--out is missing")
	}
	if !(c.coverage >= 0 && c.coverage < 1) {
		return fmt.Errorf("--coverage is %v, want a share between 0 and 1, such as 0.9", c.coverage)
	}
	if c.config == "" {
		for _, f := range []struct{ name, value string }{{"--graph", c.graph}, {"--signals", c.signals}} {
			if f.value == "" {
				return fmt.Errorf("%s is missing", f.name)
			}
		}
		return nil
	}
	if c.graph != "" || c.signals != "" || c.directed || c.nodes != "all" {
		return errors.New("--config says what the graph, the signals and the nodes are: leave --graph, --signals, --nodes and --directed out")
	}
	if c.on != "train" && c.on != "valid" && c.on != "test" {
		return fmt.Errorf("--on is %q, want train, valid or test", c.on)
	}
	return nil
}

// predict runs the model on files, or on samples of a configuration.
func (c *PredictCommand) predict(ctx context.Context, m *modelfile.Model, nodes []int) (*lifecycle.Prediction, error) {
	if c.config != "" {
		cfg, err := loadConfig(c.config)
		if err != nil {
			return nil, err
		}
		return lifecycle.PredictPart(ctx, m, cfg, c.on, c.threads)
	}
	observed, err := data.Load(data.Files{Graph: c.graph, Signals: c.signals, Directed: c.directed})
	if err != nil {
		return nil, err
	}
	return lifecycle.Predict(ctx, m, observed, nodes, c.threads)
}

// print says what was written.
func (c *PredictCommand) print(p *lifecycle.Prediction, nodes []int, trust *predictTrust) error {
	if c.json {
		return writeJSON(c.Stdout, struct {
			Out   string        `json:"out"`
			Shape []int         `json:"shape"`
			Nodes []int         `json:"nodes,omitempty"`
			Trust *predictTrust `json:"trust,omitempty"`
		}{c.out, p.Shape, nodes, trust})
	}
	w := &lines{w: c.Stdout}
	w.printf("wrote %s, %s\n", c.out, shapeText(p.Shape))
	if trust != nil {
		w.printf("%s\n", trust)
	}
	return w.err
}

// shapeText writes 600×50×5.
func shapeText(shape []int) string {
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(shape), "[]"), " ", "×")
}

// parseNodes reads a list of nodes that a flag gives; nil means all.
func parseNodes(flag, text string) ([]int, error) {
	if text == "all" || text == "trained" {
		return nil, nil
	}
	var nodes []int
	for field := range strings.SplitSeq(text, ",") {
		i, err := strconv.Atoi(strings.TrimSpace(field))
		if err != nil || i < 0 {
			return nil, fmt.Errorf("%s %s: %q is no node; want numbers from 0, such as 1,5", flag, text, field)
		}
		if slices.Contains(nodes, i) {
			return nil, fmt.Errorf("%s %s: node %d twice", flag, text, i)
		}
		nodes = append(nodes, i)
	}
	return nodes, nil
}

// loadModel reads a model file for a command.
func loadModel(path string) (*modelfile.Model, error) {
	if err := mistaken(path, kindModel); err != nil {
		return nil, err
	}
	m, err := modelfile.Load(path)
	if err != nil {
		return nil, helpful{err, "wdgnn train CONFIG.yaml, which writes model.safetensors to its run folder"}
	}
	return m, nil
}
