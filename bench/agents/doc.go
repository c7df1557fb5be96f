// Package agents measures the decentralised runtime: agents that infer and
// learn with their neighbours only, as goroutines and as processes. A
// [Measurement] runs swarms of internal/swarm and finds [Figure] values; a
// [Probe] passes the same frames and computes nothing, for comparison. Nothing
// that users deploy imports it; wdgnn swarm bench prints what it finds.
package agents
