// Package config reads what users write in YAML, strictly: a key that does not
// exist is an error that names its line and the nearest key that does. [Read]
// takes any struct; a box reads agent.yaml with it.
//
// [Config] is the description of a training run: the data or scenario, the
// model, how to train it and where to leave the result. Validate reports every
// complaint at once. The comments of the fields are the text of doc/config.md,
// which a test keeps up to date:
//
//	go generate ./internal/config
package config

//go:generate go test -run TestReference -update .
