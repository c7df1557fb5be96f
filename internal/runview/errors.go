package runview

import "math"

// forecasts are what a run said, steps×N×C, what else could have been said,
// steps×N×C×4 and first of all by the model as trained, and what came true, steps×N.
type forecasts struct{ said, compared, truth []float32 }

// others is how many numbers stand in forecasts.compared for each forecast.
const others = 4

// middle returns which of the horizons is shown.
func middle(horizons []int) int { return (len(horizons) - 1) / 2 }

// errorsOf returns About.Errors of n sensors.
func errorsOf(horizons []int, n int, read func() forecasts) func(step, node int) [2]float64 {
	c := middle(horizons)
	h := horizons[c]
	return func(step, node int) [2]float64 {
		f, none := read(), [2]float64{math.NaN(), math.NaN()}
		at := ((step-h)*n+node)*len(horizons) + c
		if step < h || step*n+node >= len(f.truth) || at >= len(f.said) || at*others >= len(f.compared) {
			return none
		}
		truth := f.truth[step*n+node]
		return [2]float64{
			learnerFrozen: math.Abs(float64(f.compared[at*others] - truth)),
			learnerOnline: math.Abs(float64(f.said[at] - truth)),
		}
	}
}
