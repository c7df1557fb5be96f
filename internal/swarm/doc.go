// Package swarm runs many hosts on one machine, as goroutines or as processes,
// and the world around them: a launcher starts the hosts, a simulator sends them
// what their nodes observe, gathers their answers and sends what these cost, in
// lockstep or by the clock.
// It injects faults and verifies parameters against online.Consensus bit for
// bit. Package bench/agents measures.
package swarm
