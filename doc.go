// Package wdgnn is the front door of a module for wide and deep graph neural
// networks, models that keep learning inside the network they run on. It holds
// no code; these packages do.
//
// Build a model and train it offline:
//
//	gnn        graph filters, the deep part and the wide and deep model, forward and backward
//	graph      graphs, and what is made of them: shift operators, mixing matrices, outages
//	loss       the cost of an output and its gradient, of the whole graph and of one node
//	optim      steps down a gradient
//	train      offline training
//	mat        dense and sparse float32 matrices and their few products
//	random     named random streams from one seed
//	modelfile  models, arrays and graphs in files
//
// Let it learn online, all nodes in one process:
//
//	online             learners that predict, are told what it cost, and adapt
//	conformal          sets of classes and intervals of numbers that hold the truth as often as asked for
//	forecast           readings of sensors as inputs, forecasts in their units; gaps, sensors that die and join; scores
//	rule               the update of one node, eq. (9), and rules of one's own
//
// Or each node by itself, with its neighbours only:
//
//	agent                    one node as a state machine, and the wire format
//	agent/agenttest          a network of agents under a schedule of one's own choosing
//	host                     the nodes of one process: clock, bus, world and disk around their agents
//	host/agentcmd            the program wdgnn-agent, for rules of one's own
//	transport                what carries messages between hosts, as an interface; faults on purpose
//	transport/mem            hosts of one process
//	transport/natsbus        a NATS server or cluster
//	transport/tcpbus         direct links with mutual TLS
//	transport/transporttest  the contract of a transport as a suite, for networks of one's own
//
// The worlds of the paper's experiments:
//
//	scenario/sourceloc  in which community of a network did a pulse start?
//	scenario/flocking   robots that are to fly at one velocity
//
// examples/tiny is the method in one file that uses none of this;
// examples/forecast trains on a table of readings and keeps learning;
// examples/outside has short programs for what most people come for: train and
// predict, learn from a stream, a cost, a rule, a network or a world of one's
// own, and wdgnn-agent with that rule. The program is in cmd/wdgnn.
// ARCHITECTURE.md says how the packages fit together and which may import
// which.
//
// Equation numbers in comments are those of the paper, Gao, Gama and Ribeiro,
// "Wide and Deep Graph Neural Network with Distributed Online Learning".
// Comments that start with "Deviation:" say where the code differs from it.
package wdgnn
