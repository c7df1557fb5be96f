// Package outside uses this module as its users do, from a module of its own, so
// that whatever it takes is public. Every file does one thing that people come
// for; it needs no more lines than are shown.
//
//	train_test.go    load a graph, build and train a model, ask it about a signal
//	online_test.go   keep learning from a stream
//	loss_test.go     a cost of one's own, offline and online
//	rule_test.go     a rule of one's own, in one process and in agents
//	bus_test.go      a network of one's own, under the suite that all of them pass
//	host_test.go     agents on hosts, with that rule, that network and a world of one's own
//	own-agent        wdgnn-agent with a rule of one's own, for boxes
package outside
