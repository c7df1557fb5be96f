package rule

import "fmt"

// GateSettings are a Gate as people write it: `off`, `on`, or its numbers, each
// with a default. The zero value is on.
type GateSettings struct {
	Off  bool `yaml:"-"`
	Gate `yaml:",inline"`
}

// Config returns the gate that g asks for, nil for none.
func (g GateSettings) Config() *Gate {
	if g.Off {
		return nil
	}
	c := g.Gate
	return &c
}

// settings returns how a gate is written.
func (g *Gate) settings() GateSettings {
	if g == nil {
		return GateSettings{Off: true}
	}
	return GateSettings{Gate: *g}
}

// UnmarshalText reads on or off.
func (g *GateSettings) UnmarshalText(text []byte) error {
	switch string(text) {
	case "off", "false":
		*g = GateSettings{Off: true}
	case "on", "true":
		*g = GateSettings{}
	default:
		return fmt.Errorf("rule: gate %.40q: want on, off, or keys and values, such as {margin: %v}", text, defaultMargin)
	}
	return nil
}

// MarshalYAML writes a word, or keys and values.
func (g GateSettings) MarshalYAML() (any, error) {
	switch {
	case g.Off:
		return "off", nil
	case g == GateSettings{}:
		return "on", nil
	}
	return g.Gate, nil
}
