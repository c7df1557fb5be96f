package config

import (
	"path/filepath"
	"reflect"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/optim"
	"github.com/wdgnn/wdgnn/rule"
	"github.com/wdgnn/wdgnn/scenario/flocking"
	"github.com/wdgnn/wdgnn/scenario/sourceloc"
	"github.com/wdgnn/wdgnn/train"
)

// Load reads and validates a file, with changes. Every complaint names the file,
// and those about its form the line.
func Load(path string, changes ...Change) (*Config, error) {
	c := defaults()
	if err := read(path, &c, changes); err != nil {
		return nil, err
	}
	if err := c.Validate(); err != nil {
		return nil, InFile(path, err)
	}
	c.dir = filepath.Dir(path)
	return &c, nil
}

// setDefaults fills what p points to, if it is a section, with what it holds
// where nothing is said. Those of libraries have zero values that mean the same
// for a whole section, not for one of its keys.
func setDefaults(p any) {
	switch p := p.(type) {
	case *Data:
		*p = Data{Shift: graph.ShiftSpectral, Split: Split{Valid: 0.1, Test: 0.1}}
	case *Forecast:
		*p = defaultForecast()
	case *Sourceloc:
		*p = Sourceloc{Config: sourceloc.Default(), TrainSamples: 10000, ValidSamples: 2500, TestSamples: 1000}
	case *Flocking:
		w := flocking.Default()
		*p = Flocking{
			Robots: w.Robots, CommRadiusMeters: w.CommRadiusMeters, DurationSeconds: w.DurationSeconds, SampleSeconds: w.SampleSeconds,
			MaxAccelMPS2: w.MaxAccelMPS2, Shift: graph.ShiftSpectral, TrainFlights: 400, ValidFlights: 10, TestFlights: 40,
		}
	case Section:
		p.Default()
	case *gnn.Gains:
		*p = gnn.Gains{Wide: 1, Deep: 1}
	case *gnn.Lipschitz:
		*p = gnn.Lipschitz{Low: -1, High: 1}
	case *train.Outage:
		*p = train.Outage{Subgraphs: 1024}
	case *optim.AdamConfig:
		*p = optim.AdamConfig{StepSize: 0.001, Beta1: 0.9, Beta2: 0.999, Epsilon: 1e-8}
	case *optim.SGDConfig:
		*p = optim.SGDConfig{StepSize: 0.01}
	case *Online:
		*p = Online{Out: "online", Mode: Distributed, Settings: rule.Settings{Preset: rule.DefaultPreset}}
	}
}

func freshOf[T any]() *T { return fresh(reflect.TypeFor[T]()).Interface().(*T) }
