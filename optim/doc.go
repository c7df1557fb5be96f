// Package optim takes steps down a gradient: [SGD] and [Adam] over one flat
// slice of parameters, and [ClipNorm] for gradients that are too long.
//
//	p, g     parameters, gradient
//	γ        step size, constant
//	μ        momentum
//	m, v     Adam's running means of g and g²
//	t        steps taken, this one included
//
// An [Optimizer] knows the number of parameters and nothing of the model they
// belong to. Its [State] is all that a later step depends on beside the
// parameters: a run that saves both, stops and restores them goes on with the
// bits of the run that never stopped.
//
// Scalars are worked out in float64 and rounded to float32 once per step; the
// loops over parameters are those of the fastest kernel set of the machine, so
// bits are promised per family of sets.
package optim
