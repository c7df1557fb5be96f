// Package wdgnn is the front door of a module for wide and deep graph neural
// networks, models that keep learning inside the network they run on. It holds
// no code; these packages do:
//
//	mat     dense and sparse float32 matrices and their few products
//	graph   graph shift operators, mixing matrices, generators of graphs
//	gnn     graph filters, the deep part and the wide and deep model, forward and backward
//	loss    the cost of an output and its gradient, global and per node
//	optim   steps down a gradient
//	train   offline training
//	random  named random streams from one seed
//
// The program is in cmd/wdgnn. ARCHITECTURE.md says how the packages fit
// together and which may import which.
//
// Equation numbers in comments are those of the paper, Gao, Gama and Ribeiro,
// "Wide and Deep Graph Neural Network with Distributed Online Learning".
// Comments that start with "Deviation:" say where the code differs from it.
package wdgnn
