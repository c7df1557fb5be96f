package config

import "reflect"

// Section is what a configuration says of a scenario that the program links in: a
// pointer to a struct whose fields have keys.
type Section interface {
	// Default sets what holds where nothing is said.
	Default()

	// Validate reports everything that is wrong with it, a line each.
	Validate() error

	// Unplaced returns a copy without paths.
	Unplaced() Section
}

// linked are the sections of such scenarios by their names, which are their keys.
var linked = map[string]Section{}

// Link makes a scenario and the keys of its section known. Programs call it before
// they read anything.
func Link(name string, s Section) { linked[name] = s }

// Linked returns the section of the linked scenario that c names, with its defaults if
// nothing was said; nil if it names none.
func (c *Config) Linked() Section {
	if s := linked[c.Scenario]; s == nil {
		return nil
	} else if c.Movies == nil {
		return fresh(reflect.TypeOf(s).Elem()).Interface().(Section)
	}
	return c.Movies
}
