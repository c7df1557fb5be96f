package config

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/wdgnn/wdgnn/gnn"
)

// checker collects complaints, each about one key.
type checker struct{ errs []error }

func (c *checker) complain(format string, args ...any) {
	c.errs = append(c.errs, fmt.Errorf(format, args...))
}

func (c *checker) check(ok bool, format string, args ...any) {
	if !ok {
		c.complain(format, args...)
	}
}

// take adds the complaints of another package, with the section in the place
// of the package's name.
func (c *checker) take(section, pkg string, err error) {
	if err != nil {
		c.errs = append(c.errs, Under(section+": ", pkg+": ", err))
	}
}

// Under returns the complaints of another package about a section, a line each,
// with the section in the place of the package's prefix.
func Under(section, prefix string, err error) error {
	var errs []error
	for line := range strings.Lines(err.Error()) {
		errs = append(errs, errors.New(section+strings.TrimPrefix(strings.TrimSpace(line), prefix)))
	}
	return errors.Join(errs...)
}

// Validate reports everything that is wrong with c, as far as it can be known
// without opening a file.
func (c *Config) Validate() error {
	k := &checker{}
	k.check(c.Out != "", "out is empty, want a folder")
	k.check(c.Threads >= -1 && c.Threads <= MostThreads, "threads is %d, want -1 for all processors, or up to %d", c.Threads, MostThreads)
	if c.Online != nil {
		k.online(c)
	}
	if !c.Trains() {
		return errors.Join(k.errs...)
	}
	k.source(c)
	for _, s := range []struct {
		name string
		said bool
	}{{"sourceloc", c.Sourceloc != nil}, {"flocking", c.Flocking != nil}, {"movies", c.Movies != nil}} {
		k.check(!s.said || c.Scenario == s.name, "%s has settings, but scenario is %q", s.name, c.Scenario)
	}
	if c.Online == nil || c.Scenario != "" || c.Model.Said() {
		k.model(&c.Model)
	}
	k.train(c)
	return errors.Join(k.errs...)
}

// source checks what c trains on, which is one thing.
func (k *checker) source(c *Config) {
	var named []string
	if c.Data != nil {
		named = append(named, "data")
		k.data(c.Data)
	}
	if c.Forecast != nil {
		named = append(named, "forecast")
		k.forecast(c.Forecast)
	}
	if c.Scenario != "" {
		named = append(named, "scenario")
		k.scenario(c)
	}
	switch len(named) {
	case 0:
		k.complain("neither data nor scenario nor forecast: say what to train on")
	case 1:
	default:
		k.complain("both %s: choose one", strings.Join(named, " and "))
	}
}

func (k *checker) share(key string, p float64) {
	k.check(p >= 0 && p <= 1, "%s is %v, want 0 to 1", key, p)
}

func (k *checker) data(d *Data) {
	for _, f := range []struct {
		key  string
		path Path
	}{{"graph", d.Graph}, {"signals", d.Signals}, {"targets", d.Targets}} {
		k.check(f.path != "", "data.%s is missing: name a file", f.key)
	}
	k.check(d.Nodes >= 0 && d.Nodes <= math.MaxInt32, "data.nodes is %d, want 0 or more", d.Nodes)
	k.task(d)
	k.read("data.read", d.Read)
	k.check(d.Read == nil || len(d.Read) > 0, "data.read is empty; leave it out to read all nodes")
	s := d.Split
	k.check(s.Valid >= 0 && s.Test >= 0 && s.Valid+s.Test < 1,
		"data.split sets %v and %v of the samples aside, want shares that leave some to train on", s.Valid, s.Test)
	k.files("data.valid", d.Valid)
	k.files("data.test", d.Test)
}

// read checks a list of nodes.
func (k *checker) read(key string, nodes []int) {
	seen := map[int]bool{}
	for _, i := range nodes {
		k.check(i >= 0, "%s names node %d; nodes count from 0", key, i)
		k.check(!seen[i], "%s names node %d twice", key, i)
		seen[i] = true
	}
}

func (k *checker) task(d *Data) {
	switch d.Task {
	case Classify:
		k.check(d.Classes == 0 || d.Classes >= 2 && d.Classes <= mostClasses, "data.classes is %d, want 2 to %d", d.Classes, mostClasses)
		k.check(d.Loss == "", "data.loss is %q, but the loss of classify is the cross-entropy; leave it out", d.Loss)
		for _, f := range []*Files{{Mask: d.Mask}, d.Valid, d.Test} {
			k.check(f == nil || f.Mask == "", "mask is for regress; in classify the label -1 means that none is known")
		}
	case Regress:
		k.check(d.Classes == 0, "data.classes is %d, but regress has no classes", d.Classes)
		k.check(d.Criterion() != nil, "data.loss is %q, want %s", d.Loss, criteria())
	case "":
		k.complain("data.task is missing: classify or regress")
	default:
		k.complain("data.task is %q, want classify or regress", d.Task)
	}
}

func (k *checker) files(key string, f *Files) {
	if f != nil {
		k.check(f.Signals != "", "%s.signals is missing: name a file", key)
		k.check(f.Targets != "", "%s.targets is missing: name a file", key)
	}
}

// Bounds that keep a slip of the pen from asking for all memory.
const (
	MostThreads = 1024
	mostClasses = 1 << 20
	mostParams  = 1 << 28

	mostSubgraphs = 1 << 20
)

func (k *checker) model(m *Model) {
	k.check(m.Features > 0 || len(m.Deep) > 0, "model.features is %d, want at least 1, or a deep part to take it from", m.Features)
	for _, v := range append([]int{m.Features}, m.sizes()...) {
		k.check(v <= 1<<16, "model: %d is too large for an order or a number of features, want at most %d", v, 1<<16)
	}
	if len(k.errs) > 0 {
		return // sizes below could overflow
	}
	c := m.Architecture(1, 1)
	if m.NoReadout && c.Features > 0 {
		c.Outputs = 0
	}
	k.take("model", "gnn", c.Validate())
	if err := m.CheckSize(1, 1); err != nil {
		k.complain("%w", err)
	}
	if g := m.Gains; g != nil {
		for _, v := range []float32{g.Wide, g.Deep, g.Bias} {
			k.check(!math.IsNaN(float64(v)) && !math.IsInf(float64(v), 0), "model.gains: %v is not a finite number", v)
		}
		k.check(*g != gnn.Gains{}, "model.gains are all 0: the model could not learn")
	}
}

// CheckSize reports a model with too many parameters for signals of the given
// number of features and the given number of outputs.
func (m *Model) CheckSize(in, outputs int) error {
	c := m.Architecture(in, outputs)
	params := 0.0
	add := func(order, in, out int) { params += float64(order+1) * float64(in) * float64(out) }
	if c.Wide != nil {
		add(c.Wide.Order, in, c.Features)
	}
	for _, l := range c.Deep {
		add(l.Order, in, l.Features)
		in = l.Features
	}
	add(0, c.Features, c.Outputs)
	if params > mostParams {
		return fmt.Errorf("model: %.3g parameters, want at most %d", params, mostParams)
	}
	return nil
}

// sizes lists the orders and numbers of features.
func (m *Model) sizes() []int {
	var s []int
	if m.Wide != nil {
		s = append(s, m.Wide.Order)
	}
	for _, l := range m.Deep {
		s = append(s, l.Order, l.Features)
	}
	return s
}

// Order returns how many times the inputs of the model are shifted.
func (m *Model) Order() (order int) {
	if m.Wide != nil {
		order = m.Wide.Order
	}
	if len(m.Deep) > 0 {
		order = max(order, m.Deep[0].Order)
	}
	return order
}

func (k *checker) train(c *Config) {
	t := &c.Train
	k.check(t.Adam == nil || t.SGD == nil, "train: both adam and sgd: choose one")
	cfg := c.Training()
	if t.Adam != nil && t.SGD != nil {
		cfg.SGD = nil
	}
	k.take("train", "train", cfg.Validate())
	if l := t.Lipschitz; l != nil {
		k.check(l.Strength != 0, "train.lipschitz.strength is missing: want a number above 0")
		k.check(l.Low < l.High, "train.lipschitz: eigenvalues from %v to %v, want low below high", l.Low, l.High)
	}
	k.check(t.OutageProb >= 0 && t.OutageProb < 1, "train.outage_prob is %v, want 0 ≤ p < 1", t.OutageProb)
	if o := t.Outage; o != nil {
		k.take("train", "train", o.Validate())
		k.check(o.To != 0, "train.outage.to is missing: want a probability above 0")
		k.check(t.OutageProb == 0, "train: both outage and outage_prob: choose one")
		k.check(o.Subgraphs <= mostSubgraphs, "train.outage.subgraphs is %d, want at most %d", o.Subgraphs, mostSubgraphs)
	}
	switch t.Select {
	case "", "loss":
	case "accuracy", "cost", "rmse":
		of := "the scenario " + c.Scenario
		switch {
		case c.Data != nil:
			of = string(c.Data.Task)
		case c.Forecast != nil:
			of = "forecast"
		}
		k.check(t.Select == c.measure(), "train.select is %s, but %s has none; want %s", t.Select, of, c.measure())
	default:
		k.complain("train.select is %q, want accuracy, cost, rmse or loss", t.Select)
	}
}
