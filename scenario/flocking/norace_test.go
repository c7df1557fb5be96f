//go:build !race

package flocking_test

const raceEnabled = false
