// Package swarm runs many hosts on one machine, as goroutines or as processes,
// and the world around them: a [Stage] plays a world to hosts line by line,
// gathers their answers and tells what they cost, in lockstep or by the clock.
// It injects faults and verifies parameters against online.Consensus bit for
// bit. Package bench/agents measures.
package swarm
