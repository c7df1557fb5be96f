//go:build race

package flocking_test

const raceEnabled = true
