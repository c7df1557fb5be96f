package rule

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// GateSettings are a Gate as people write it: `off`, `on`, or its numbers, each
// with a default. The zero value is on.
type GateSettings struct {
	Off bool
	Gate
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

// IsZero says that nothing was said: the gate is on.
func (g GateSettings) IsZero() bool { return g == GateSettings{} }

// MarshalText returns on or off.
func (g GateSettings) MarshalText() ([]byte, error) {
	if g.Off {
		return []byte("off"), nil
	}
	return []byte("on"), nil
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

// MarshalYAML writes what UnmarshalYAML reads.
func (g GateSettings) MarshalYAML() (any, error) {
	if g.Off || g.IsZero() {
		text, err := g.MarshalText()
		return string(text), err
	}
	keys := map[string]float64{}
	for name, v := range g.keys() {
		if *v != 0 {
			keys[name] = *v
		}
	}
	return keys, nil
}

// UnmarshalYAML reads a word, or keys and values.
func (g *GateSettings) UnmarshalYAML(unmarshal func(any) error) error {
	var word string
	if unmarshal(&word) == nil {
		if err := g.UnmarshalText([]byte(word)); err != nil {
			_, what, _ := strings.Cut(err.Error(), ": ")
			return fmt.Errorf("%s", what)
		}
		return nil
	}
	var said map[string]float64
	if err := unmarshal(&said); err != nil {
		return fmt.Errorf("want on, off, or keys with numbers, such as {margin: %v}", defaultMargin)
	}
	*g = GateSettings{}
	numbers := g.keys()
	for key, v := range said {
		to, ok := numbers[key]
		if !ok {
			return fmt.Errorf("unknown key %q; the keys here are %s", key, strings.Join(slices.Sorted(maps.Keys(numbers)), ", "))
		}
		*to = v
	}
	window, patience := *numbers["window"], *numbers["patience"]
	if !whole(window) || !whole(patience) {
		return fmt.Errorf("a window of %v and patience of %v, want whole numbers", window, patience)
	}
	g.Margin, g.Slack, g.Window, g.Patience = *numbers["margin"], *numbers["slack"], int(window), int(patience)
	return nil
}

// whole says whether v is a whole number that an int holds.
func whole(v float64) bool { return v == math.Trunc(v) && math.Abs(v) <= 1<<31 }

// keys returns the numbers of g by their keys.
func (g *GateSettings) keys() map[string]*float64 {
	window, patience := float64(g.Window), float64(g.Patience)
	return map[string]*float64{"margin": &g.Margin, "slack": &g.Slack, "window": &window, "patience": &patience}
}
