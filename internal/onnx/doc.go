// Package onnx writes a wide and deep graph neural network as an ONNX model,
// which other programs run: onnxruntime on servers, phones and web pages.
//
//	inputs    S: N×N, the graph shift   X: B×N×F, signals
//	output    Y: B×N×C
//
// B and N are symbols: the file fits any number of samples, and any graph unless
// nodes have taps of their own. The operators are MatMul, Add, Mul, Relu and Tanh
// of operator set 13, nothing else.
//
// Filters that are delayed, eq. (24), compute one step; what they remember goes in
// and comes out as further values:
//
//	inputs    S: N×N, S_t   X: B×N×F, X_t   line.ℓ: B×N×(K_ℓ·F_ℓ), [Z_0 … Z_{K-1}] of step t-1
//	outputs   Y: B×N×C, Y_t                  next.ℓ: the same of step t
//
// with zeros before the first step. Leaky ReLU is max(x, 0) - 0.01 max(-x, 0).
//
// The bytes are protocol buffers, written by the few lines that this takes.
package onnx
