package config

import (
	"path/filepath"
	"reflect"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/rule"
	"github.com/wdgnn/wdgnn/scenario/sourceloc"
)

// Load reads and validates a file. Every complaint names the file, and those
// about its form the line.
func Load(path string) (*Config, error) {
	c := Default()
	if err := Read(path, &c); err != nil {
		return nil, err
	}
	if err := c.Validate(); err != nil {
		return nil, InFile(path, err)
	}
	c.dir = filepath.Dir(path)
	return &c, nil
}

// Parse reads and validates the text of a configuration. Relative paths begin
// at the working directory.
func Parse(text []byte) (*Config, error) {
	c := Default()
	if err := decode(text, &c); err != nil {
		return nil, err
	}
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return &c, nil
}

// Sections begin with these values.

func (d *Data) setDefaults() {
	*d = Data{Shift: graph.ShiftSpectral, Split: Split{Valid: 0.1, Test: 0.1}}
}

func (s *Sourceloc) setDefaults() {
	d := sourceloc.Default()
	*s = Sourceloc{
		Communities: d.Communities, Members: d.Members, Intra: d.Intra, Inter: d.Inter, MaxTime: d.MaxTime, Noise: d.Noise,
		TrainSamples: 10000, ValidSamples: 1000, TestSamples: 1000,
	}
}

func (g *Gains) setDefaults()     { *g = Gains{Wide: 1, Deep: 1} }
func (a *Adam) setDefaults()      { *a = Adam{StepSize: 0.001, Beta1: 0.9, Beta2: 0.999, Epsilon: 1e-8} }
func (s *SGD) setDefaults()       { *s = SGD{StepSize: 0.01} }
func (l *Lipschitz) setDefaults() { *l = Lipschitz{Low: -1, High: 1} }

func (o *Online) setDefaults() {
	*o = Online{Out: "online", Mode: Distributed, Settings: rule.Settings{Preset: rule.DefaultPreset}}
}

func freshOf[T any]() *T { return fresh(reflect.TypeFor[T]()).Interface().(*T) }
