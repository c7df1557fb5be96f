package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/wdgnn/wdgnn/internal/data"
	"github.com/wdgnn/wdgnn/internal/lifecycle"
	"github.com/wdgnn/wdgnn/internal/robust"
	"github.com/wdgnn/wdgnn/modelfile"
)

// CertifyCommand says which answers of a model nothing can flip.
type CertifyCommand struct {
	Stdout, Stderr io.Writer

	model   string // paths
	graph   string
	signals string
	config  string // instead of graph and signals
	other   string
	run     string
	out     string

	on       string
	read     string
	samples  int
	directed bool

	lost       int
	of         string
	drop       []float64
	draws      int
	confidence float64
	within     float64
	least      float64
	time       time.Duration
	seed       uint64
	threads    int

	noise float64
	norm  string
	liar  bool

	paper bool
	nodes int
	quiet bool
	json  bool

	given map[string]bool // flags that somebody gave
}

func (c *CertifyCommand) command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "certify MODEL (--graph G --signals X.npy | --config CONFIG.yaml) [--lost 2] [--drop 0.3] [--paper]",
		Short: "Say which answers lost links, dead nodes and outages cannot flip, and which link is the weak one",
		Long: `Asks a model signals on a graph and says which of its answers survive what may
happen to the network. Answers are those of the nodes that training read, or of
--read. Of a classification an answer is flipped if another class is said; values
move, by so much in the units of the data, and hold if that is within --within.

--lost 1 takes every link away, one at a time, builds the shift of what remains as
the model does, and runs the model: what holds then cannot be flipped by any lost
link. --lost 2 takes every two. --of nodes does so with nodes, whose own answers
do not count while they are lost.

--drop 0.3 loses every link with that probability, --draws times, and says how many
answers stay as they are in more than half of all such outages, with a confidence
of 99.9 % (Clopper and Pearson). Several probabilities, as 0.05,0.1, share draws.

--noise 0.3 bounds what noise at the sensors does, whatever it is, by linear bound
propagation (CROWN), and says how much noise every answer withstands; an attack by
gradients stands beside it. --liar lets one node send anything that its neighbours
accept, each node in turn, and says whom it can flip.

Without any, it tries one lost link, 5 % random loss and, on some answers, noise. Ctrl-C or --time ends it
and keeps what was done; what was not tried is never called certified.

--paper computes the paper's three theorems instead: which hypotheses hold, with the
number behind each, every constant, the bounds, and what was measured. Theorem 1
compares the graph with --perturbed or with one that lost --drop of its links;
Theorems 2 and 3 are about the online run in --run. doc/certify.md shows how to
read the page, doc/theory.md derives the bounds.

--out DIR writes charts.`,
		Example: `  wdgnn certify first/run/model.safetensors --graph first/graph.csv --signals first/signals.npy
  wdgnn certify first/run/model.safetensors --config first/config.yaml --on test --lost 2 --time 1m
  wdgnn certify first/run/model.safetensors --config first/config.yaml --drop 0.05,0.1,0.3 --draws 10000
  wdgnn certify first/run/model.safetensors --config first/config.yaml --noise 0.1 --liar
  wdgnn certify first/run/model.safetensors --config first/config.yaml --least 0.9 --json | jq .lost.levels
  wdgnn certify first/run/model.safetensors --paper --graph first/graph.csv --perturbed storm.csv
  wdgnn certify first/run/model.safetensors --paper --run first/online --out charts`,
		Args: arguments("MODEL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c.Stdout, c.Stderr = cmd.OutOrStdout(), told(cmd, c.quiet)
			c.model, c.given = args[0], map[string]bool{}
			cmd.Flags().Visit(func(f *pflag.Flag) { c.given[f.Name] = true })
			return c.Run(cmd.Context())
		},
	}
	c.flags(cmd)
	return cmd
}

func (c *CertifyCommand) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&c.graph, "graph", "", "edge list .csv or .tsv, or sparse matrix .npz")
	f.StringVar(&c.signals, "signals", "", "what the nodes observe, .npy")
	f.StringVar(&c.config, "config", "", "configuration whose samples to take instead of --graph and --signals")
	f.StringVar(&c.on, "on", "test", "samples of --config: train, valid or test")
	f.StringVar(&c.read, "read", "trained", "nodes that answer, such as 1,5; or trained, those that training read; or all")
	f.IntVar(&c.samples, "samples", 100, "signals to ask at most, evenly spread over all that there are; 0 for all")
	f.BoolVar(&c.directed, "directed", false, "links have a direction: src is heard by dst")
	f.IntVar(&c.lost, "lost", 0, "try the loss of any 1, or any 2")
	f.StringVar(&c.of, "of", "links", "what is lost: links or nodes")
	f.Float64SliceVar(&c.drop, "drop", nil, "`floats`, probabilities that a link is lost at random; of --paper one, 0.1 unless said")
	f.IntVar(&c.draws, "draws", 1000, "outages to draw")
	f.Float64Var(&c.confidence, "confidence", 0.999, "of what is said of random loss")
	f.Float64Var(&c.noise, "noise", 0, "noise at the sensors, in the units of the data; 0 for 10 % of what they usually read")
	f.StringVar(&c.norm, "norm", "l2", "how noise is measured: l2, of all sensors together, or linf, of each by itself")
	f.BoolVar(&c.liar, "liar", false, "let every node lie in turn, within what its neighbours accept")
	f.Float64Var(&c.within, "within", 0, "how far a value may move and still hold, in the units of the data; 0 says how far only")
	f.Float64Var(&c.least, "least", 0, "fail, with exit code 1, if fewer answers than this share hold; 0 never does")
	f.DurationVar(&c.time, "time", 0, "how long to try at most, such as 1m; 0 until all is tried")
	f.Uint64Var(&c.seed, "seed", 1, "of links that are lost at random, and of random signals")
	f.IntVar(&c.threads, "threads", -1, "threads to compute on, -1 for all; they do not change the result")
	f.StringVar(&c.out, "out", "", "folder to write charts to")
	f.BoolVarP(&c.quiet, "quiet", "q", false, "show no progress")
	f.BoolVar(&c.json, "json", false, "print one JSON object, with every answer")
	words(cmd, "on", "train", "valid", "test")
	words(cmd, "of", "links", "nodes")
	words(cmd, "norm", "l2", "linf")
	f.BoolVar(&c.paper, "paper", false, "compute the paper's theorems; --perturbed and --run do too")
	f.StringVar(&c.other, "perturbed", "", "the graph as it may become, on the same nodes")
	f.StringVar(&c.run, "run", "", "folder of an online run to hold against Theorems 2 and 3")
	f.IntVar(&c.nodes, "nodes", 0, "with --paper: number of nodes, if the last ones have no links; 0 takes it from the graph")
}

// Run computes and prints.
func (c *CertifyCommand) Run(ctx context.Context) error {
	theorems := c.paper || c.run != "" || c.other != ""
	err := c.check()
	if err == nil && theorems {
		err = c.checkPaper()
	} else if err == nil {
		err = c.checkPage()
	}
	if err != nil {
		return usageError{"wdgnn certify", err}
	}
	m, err := loadModel(c.model)
	if err != nil {
		return during("certify", err)
	}
	if c.out != "" {
		if err := os.MkdirAll(c.out, 0o755); err != nil {
			return helpful{during("certify", err), "another --out, a folder that you may write to"}
		}
	}
	if theorems {
		return c.runPaper(ctx, m)
	}
	return c.runPage(ctx, m)
}

// check says what is wrong with flags that mean the same everywhere.
func (c *CertifyCommand) check() error {
	if c.given["drop"] && len(c.drop) == 0 {
		return errors.New("--drop says nothing, want a probability such as 0.3")
	}
	for _, p := range c.drop {
		if !(p >= 0 && p < 1) {
			return fmt.Errorf("--drop is %v, want 0 ≤ p < 1", p)
		}
	}
	return nil
}

// pageFlags mean nothing to the theorems.
var pageFlags = []string{
	"lost", "of", "draws", "confidence", "noise", "norm", "liar", "config", "on", "samples", "within", "least", "time",
}

func (c *CertifyCommand) checkPaper() error {
	for _, name := range pageFlags {
		if c.given[name] {
			return fmt.Errorf("--%s is not for the paper's theorems, which --paper, --perturbed and --run ask for", name)
		}
	}
	switch {
	case c.graph == "" && c.run == "":
		return errors.New("--graph is missing, and so is --run: certify what?")
	case c.other != "" && c.given["drop"]:
		return errors.New("--perturbed and --drop: choose one")
	case len(c.drop) > 1:
		return errors.New("--paper compares with one graph: --drop takes one probability")
	case c.nodes < 0:
		return fmt.Errorf("--nodes is %d, want 0 or more", c.nodes)
	}
	return nil
}

func (c *CertifyCommand) checkPage() error {
	switch {
	case c.config != "" && (c.graph != "" || c.signals != "" || c.directed || c.read != "trained"):
		return errors.New("--config says what the graph, the signals and the nodes are: leave --graph, --signals, --read and --directed out")
	case c.config != "" && c.on != "train" && c.on != "valid" && c.on != "test":
		return fmt.Errorf("--on is %q, want train, valid or test", c.on)
	case c.config == "" && c.given["on"]:
		return errors.New("--on names samples of --config, which is missing")
	case c.config == "" && c.graph == "":
		return errors.New("--graph is missing, with the signals to ask; or --config")
	case c.config == "" && c.signals == "":
		return errors.New("--signals is missing: of which answers? The theorems of --paper need none")
	case c.lost < 0 || c.lost > 2 || c.lost == 0 && c.given["lost"]:
		return fmt.Errorf("--lost is %d, want 1 or 2", c.lost)
	case c.of != string(robust.Links) && c.of != string(robust.Nodes):
		return fmt.Errorf("--of is %q, want links or nodes", c.of)
	case c.draws < 1:
		return fmt.Errorf("--draws is %d, want 1 or more", c.draws)
	case !(c.confidence > 0 && c.confidence < 1):
		return fmt.Errorf("--confidence is %v, want a share between 0 and 1, such as 0.999", c.confidence)
	case !(c.within >= 0 && c.within < math.Inf(1)) || !(c.least >= 0 && c.least <= 1) || c.samples < 0 || c.time < 0:
		return errors.New("--within, --samples and --time are 0 or more, --least is a share between 0 and 1")
	case !(c.noise >= 0 && c.noise < math.Inf(1)):
		return fmt.Errorf("--noise is %v, want a number, 0 or more", c.noise)
	case c.nodes != 0:
		return errors.New("--nodes is for --paper; --read names the nodes that answer")
	}
	if _, err := normOf(c.norm); err != nil {
		return err
	}
	_, err := parseNodes("--read", c.read)
	return err
}

// question asks the model what the flags say.
func (c *CertifyCommand) question(ctx context.Context, m *modelfile.Model) (*robust.Question, error) {
	var q *robust.Question
	if c.config != "" {
		cfg, err := loadConfig(c.config)
		if err != nil {
			return nil, err
		}
		if q, err = lifecycle.QuestionPart(ctx, m, cfg, c.on); err != nil {
			return nil, err
		}
	} else {
		read, err := parseNodes("--read", c.read)
		if err != nil {
			return nil, err
		}
		if c.read == "trained" {
			read = m.Meta.Nodes
		}
		observed, err := data.Load(data.Files{Graph: c.graph, Signals: c.signals, Directed: c.directed})
		if err != nil {
			return nil, err
		}
		if q, err = lifecycle.QuestionOf(m, observed, read); err != nil {
			return nil, err
		}
		if k := slices.IndexFunc(q.Read, func(i int) bool { return i >= q.Nodes() }); k >= 0 {
			return nil, helpful{
				fmt.Errorf("no node %d in a graph of %d nodes, which count from 0", q.Read[k], q.Nodes()),
				"--read all, --read with other nodes, or the graph that the model was trained on",
			}
		}
	}
	if q.Within = c.within; q.Within > 0 && q.Classify {
		return nil, helpful{errors.New("--within is for values, and the model says classes, which flip or do not"), "no --within"}
	}
	return q, q.Validate()
}

// workers returns how many threads to compute on.
func (c *CertifyCommand) workers() int {
	if c.threads < 0 {
		return runtime.GOMAXPROCS(0)
	}
	return max(c.threads, 1)
}
