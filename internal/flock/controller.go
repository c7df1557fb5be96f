package flock

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/recipe"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/rule"
)

// Controller is a trained model and what it expects of its inputs.
type Controller struct {
	Model *gnn.WideDeep
	Shift graph.Shift // that it was trained with

	// NearCap bounds a feature as in training; 0 means no bound. See
	// [flocking.Config].
	NearCap float64
}

// cappedName finds the bound in names that the tables give to models.
var cappedName = regexp.MustCompile(`-cap([0-9.]*[0-9])-`)

// Load reads a controller from a model file. The bound of the features comes
// from nearCap if that is not negative, and else from the file or from the
// description that lies beside models of the tables. A model whose name speaks
// of a bound that nothing else tells is refused: with features that it never
// saw it would fly badly and nobody would know why.
func Load(path string, nearCap float64) (*Controller, error) {
	file, err := modelfile.Load(path)
	if err != nil {
		return nil, err
	}
	c := &Controller{Model: file.Network, Shift: file.Meta.Shift, NearCap: nearCap}
	if err := c.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if !file.Meta.Delayed {
		return nil, fmt.Errorf("%s: flocking: the model was not trained with delayed filters, eq. (24), which robots need; "+
			"train one on flights", path)
	}
	if nearCap >= 0 {
		return c, nil
	}
	var found bool
	if c.NearCap, found = recipe.NearCapOf(file); found {
		return c, nil
	}
	return c, c.describe(path)
}

// describe takes the bound from the description beside a model of the tables.
func (c *Controller) describe(path string) error {
	var info struct {
		Model struct {
			NearCap float64 `json:"near_cap"`
		} `json:"model"`
	}
	text, err := os.ReadFile(path + ".json")
	switch {
	case err == nil:
		if err := json.Unmarshal(text, &info); err != nil {
			return fmt.Errorf("%s.json: %w", path, err)
		}
		c.NearCap = info.Model.NearCap
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if m := cappedName.FindStringSubmatch(filepath.Base(path) + "-"); m != nil {
		if limit, err := strconv.ParseFloat(m[1], 64); err == nil && limit > 0 {
			return fmt.Errorf("%s: by its name the model was trained with features bounded by %v, and %s.json, "+
				"which would say so, is not there; give the bound with --near-cap %v, or --near-cap 0 if there is none",
				path, limit, filepath.Base(path), limit)
		}
	}
	return nil
}

// check says whether the model can fly robots.
func (c *Controller) check() error {
	_, err := c.frozen().Learner(1)
	return err
}

// frozen returns the controller as it flies without learning.
func (c *Controller) frozen() *recipe.Pilot { return &recipe.Pilot{Model: c.Model, Shift: c.Shift} }

// pilot returns the controller as it flies by the plan, which is valid.
func (c *Controller) pilot(p *Plan) *recipe.Pilot {
	pilot := c.frozen()
	if p.learns() {
		pilot.Cost, pilot.Centralized = p.cost(), p.Online == OnlineCentralized
		pilot.Rule = recipe.OnlineFlight(p.Gamma, p.Clip)
		if p.gated() {
			pilot.Rule.Gate = &rule.Gate{}
		}
	}
	return pilot
}

// File returns the controller as a model file.
func (c *Controller) File(seed uint64, version string) *modelfile.Model {
	m := &modelfile.Model{Network: c.Model, Meta: modelfile.Meta{
		Shift: c.Shift, Delayed: true, Task: "regress", Seed: seed, Version: version,
	}}
	recipe.PutNearCap(m, c.NearCap)
	return m
}
