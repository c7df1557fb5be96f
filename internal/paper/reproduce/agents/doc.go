// Package agents lets the models of Tables 1 and 2 run as agents, one per node,
// that lose messages and neighbours.
package agents
