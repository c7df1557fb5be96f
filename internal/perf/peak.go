package perf

import "errors"

// peakRounds makes a run of some hundred microseconds.
const peakRounds = 1 << 17

// fmaPeak is what no product can exceed.
var fmaPeak = Task{
	Name:    "fma_peak",
	Doc:     "multiply-adds on registers alone, those of the kernels in use: what no product can exceed",
	Skips:   "memory",
	Missing: missingPeak(),
	New: func(env Env) (func(), map[string]any, error) {
		loop, values := multiplyAdds()
		if loop == nil {
			return nil, nil, errors.New(missingPeak())
		}
		threads := env.Engine.Threads()
		part := func(_, _ int) { loop(peakRounds) }
		return func() { env.Engine.Share(threads, part) },
			map[string]any{"flops": 2 * float64(values) * peakRounds * float64(threads)}, nil
	},
}

func missingPeak() string {
	if loop, _ := multiplyAdds(); loop == nil {
		return "is known for assembly on amd64 only"
	}
	return ""
}
