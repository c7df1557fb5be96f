package reproduce

import (
	"fmt"

	"github.com/wdgnn/wdgnn/internal/reproduce/movies"
	"github.com/wdgnn/wdgnn/internal/reproduce/study"
)

// Experiments lists all of them in the paper's order.
func Experiments() []study.Experiment {
	return []study.Experiment{
		table1, fig2a, fig2b, gains, table2, table3, movies.Table4, movies.Million, movies.AllMovies, certificates, lipschitz, localshift, agents,
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
