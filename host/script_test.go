package host_test

import (
	"testing"

	"github.com/wdgnn/wdgnn/internal/script"
)

// The scripts in testdata say what happens to one host, at which time, and what
// its machine then asks for; each is about one rule of the protocol. Package
// script says how they are read. "host" comes first and describes the network;
// hostCommands lists the rest. Host 0 is the machine. Every node that is not here
// lives on a host of the same number, whose frames are written by the script.
//
// A trace begins with the time and holds, in order,
//
//	logs … (node=1 time=2)                     a line for the log; those for debugging are left out
//	hears hosts 1 2                            whom the bus must hear from now on
//	sends #3 0->all row t=1 e=0 (1)            a message, and the number of its frame
//	answers t=1 0:(21)                         for the world: the output of each node, or what is wrong
//	ready for step 0                           the world may speak
//	saves step 4                               a checkpoint was due
//	ended                                      the world has
//	wake at 20ms; the world waits              when a tick is wanted, if that has changed
//
// Predictions are easy to read: tap k of the filter is 10ᵏ, so a prediction is
// x_i + 10 (Sx)_i + 100 (S²x)_i … before the node has learned.
//
// Two machines hear the same events in every script, and must ask for the same, to
// the byte: a machine is a function of what it is told.
func TestScripts(t *testing.T) {
	script.Run(t, "testdata/*.txt", func() script.Command { return new(scriptHost).run })
}
