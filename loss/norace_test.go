//go:build !race

package loss_test

const raceEnabled = false
