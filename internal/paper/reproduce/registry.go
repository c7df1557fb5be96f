package reproduce

import (
	"fmt"

	"github.com/wdgnn/wdgnn/internal/paper/reproduce/agents"
	"github.com/wdgnn/wdgnn/internal/paper/reproduce/flocking"
	"github.com/wdgnn/wdgnn/internal/paper/reproduce/movies"
	"github.com/wdgnn/wdgnn/internal/paper/reproduce/sourceloc"
	"github.com/wdgnn/wdgnn/internal/paper/reproduce/study"
	"github.com/wdgnn/wdgnn/internal/paper/reproduce/theory"
	"github.com/wdgnn/wdgnn/internal/paper/reproduce/traffic"
)

// Experiments lists all of them in the paper's order.
func Experiments() []study.Experiment {
	return []study.Experiment{
		sourceloc.Table1, sourceloc.Fig2a, sourceloc.Fig2b, sourceloc.Gains, sourceloc.Robust,
		flocking.Table2, flocking.Table3,
		movies.Table4, movies.Million, movies.AllMovies,
		theory.Certify, theory.Lipschitz, theory.Certified, sourceloc.LocalShift, sourceloc.Learners, agents.Experiment,
		traffic.Experiment,
	}
}

// Find returns the experiment with the given name.
func Find(name string) (study.Experiment, bool) {
	for _, e := range Experiments() {
		if e.Name == name {
			return e, true
		}
	}
	return study.Experiment{}, false
}

// ReadManifest reads a manifest that a run left.
func ReadManifest(path string) (study.Manifest, error) {
	m, err := study.ReadManifest(path)
	if err != nil {
		return m, err
	}
	if _, ok := Find(m.Experiment); !ok {
		return m, fmt.Errorf("manifest %s: no experiment is called %.40q", path, m.Experiment)
	}
	return m, nil
}
