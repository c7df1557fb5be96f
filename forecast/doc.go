// Package forecast turns readings of sensors into the inputs of a model and its
// outputs into forecasts: units, lags, clocks, gaps, and sensors that die or join.
//
// A [Spec] is what a forecast model knows of its sensors; [Fit] measures it on the
// training part of a series. Time is a number of steps since [Spec.Origin]. At step
// t every node turns its reading, in the user's units, into a row of inputs:
//
//	x(t), x(t-1), …, x(t-Lags+1)     normalised, (reading - mean)/scale
//	flag                             1 if x(t) is an estimate, 0 if it was read or told
//	extras                           further numbers of the reading, normalised
//	calendar                         from tables by time of day and day of week
//
// A [Sensor] does that for one node and a [Network] for all of one process; they
// give the same bits, since all a sensor asks of others is what its neighbours sent
// in the step before (an [Ear] adds it up).
//
// A reading that is missing, far outside what training saw, or from a sensor that
// is broken is replaced: by the truth, if somebody tells it, or else by an estimate
// between its last reading x, k steps ago, and what its neighbours read:
//
//	x̂(t) = ℓ + κᵏ (x - ℓ) + (1-κᵏ) β (near(t-1) - ℓ')
//	x̂(t) = ℓ + λᵏ (x - ℓ)                                 if no neighbour was heard
//
// where near is the weighted mean of the newest readings of neighbours that could be
// trusted, ℓ and ℓ' are the means of x and near in training, and β, κ and λ are fitted
// there by least squares. Whether a sensor is broken is in the comment of
// [Sensor.Broken].
//
// Letters: x reading, v truth, ℓ level, β near, κ keep, λ alone, σ rms error of the
// trained model, all in normalised units but for readings as they come.
package forecast
