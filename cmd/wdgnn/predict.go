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

	"github.com/wdgnn/wdgnn/internal/config"
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

With --config the signals are those of a configuration that trains, its test
samples or those that --on names: of robots the model says the accelerations,
flights×steps×robots×2, of movies each user's rating of the target.`,
		Example: `  wdgnn predict first/run/model.safetensors --graph first/graph.csv --signals first/signals.npy --out y.npy
  wdgnn predict first/run/model.safetensors --graph first/graph.csv --signals first/signals.npy --nodes 1,5 --out y.npy
  wdgnn predict first/run/model.safetensors --graph first/graph.csv --signals first/signals.npy --nodes trained --out y.npy
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
	cmd.Flags().BoolVar(&c.directed, "directed", false, "links have a direction: src is heard by dst")
	cmd.Flags().IntVar(&c.threads, "threads", 1, "threads to compute on, -1 for all; they do not change the result")
	cmd.Flags().BoolVar(&c.json, "json", false, "print what was written as one JSON object")
	return cmd
}

// Run predicts.
func (c *PredictCommand) Run(ctx context.Context) error {
	if err := c.check(); err != nil {
		return usageError{"wdgnn predict", err}
	}
	if c.threads > config.MostThreads {
		return usageError{"wdgnn predict", fmt.Errorf("--threads is %d, want at most %d", c.threads, config.MostThreads)}
	}
	nodes, err := parseNodes(c.nodes)
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
		return helpful{during("predict", err), hint(err, fmt.Sprintf("wdgnn inspect %s, which says what the model reads", c.model))}
	}
	if err := modelfile.SaveArray(c.out, p.Shape, p.Values); err != nil {
		return helpful{during("predict", err), "another --out, a file in a folder that you may write to"}
	}
	return c.print(p, nodes)
}

// check says which flags are missing, or too many.
func (c *PredictCommand) check() error {
	if c.out == "" {
		return errors.New("--out is missing")
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
func (c *PredictCommand) print(p *lifecycle.Prediction, nodes []int) error {
	if c.json {
		return writeJSON(c.Stdout, struct {
			Out   string `json:"out"`
			Shape []int  `json:"shape"`
			Nodes []int  `json:"nodes,omitempty"`
		}{c.out, p.Shape, nodes})
	}
	shape := strings.ReplaceAll(strings.Trim(fmt.Sprint(p.Shape), "[]"), " ", "×")
	_, err := fmt.Fprintf(c.Stdout, "wrote %s, %s\n", c.out, shape)
	return err
}

// parseNodes reads a list of nodes; nil means all.
func parseNodes(text string) ([]int, error) {
	if text == "all" || text == "trained" {
		return nil, nil
	}
	var nodes []int
	for field := range strings.SplitSeq(text, ",") {
		i, err := strconv.Atoi(strings.TrimSpace(field))
		if err != nil || i < 0 {
			return nil, fmt.Errorf("--nodes %s: %q is no node; want numbers from 0, such as 1,5", text, field)
		}
		if slices.Contains(nodes, i) {
			return nil, fmt.Errorf("--nodes %s: node %d twice", text, i)
		}
		nodes = append(nodes, i)
	}
	return nodes, nil
}

// loadModel reads a model file for a command.
func loadModel(path string) (*modelfile.Model, error) {
	m, err := modelfile.Load(path)
	if err != nil {
		return nil, helpful{err, "wdgnn train CONFIG.yaml, which writes model.safetensors to its run folder"}
	}
	return m, nil
}
