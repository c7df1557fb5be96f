package config

// What the page of all keys is made of, for its test, which links a scenario.
var (
	Keyed    = keyed
	Fresh    = fresh
	Defaults = defaults
	Decode   = decode
)

// Key returns the key of a field.
func (f field) Key() string { return f.key }
