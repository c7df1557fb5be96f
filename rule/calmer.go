package rule

import "fmt"

// Calmer returns settings that make nodes learn more calmly than they do under
// c, written as in a configuration, the first to be tried first. It is what to
// say where learning diverges or does harm, and never names what is set already.
//
// Of own, neighbours and season it is a stronger pull to the trained taps, of
// gradient steps a shorter one. A gate makes nobody learn better, but keeps what was
// learned badly from being answered.
func (c *Config) Calmer() []string {
	var try []string
	switch s := c.StepSize; {
	case c.Season != nil:
		f := c.Season.filled()
		if f.Taps > 0 {
			try = append(try, fmt.Sprintf("season: {taps: %g}", 10*f.Taps), "season: {taps: -1}")
		}
		try = append(try, fmt.Sprintf("season: {ridge: %g}", 10*f.Ridge))
	case c.Newton != nil:
		prior := c.Newton.Prior / 10
		if prior == 0 {
			prior = 0.001
		}
		try = append(try, fmt.Sprintf("newton: {prior: %.2g}", prior))
	case s.Schedule == Decaying:
		try = append(try, fmt.Sprintf("step_size: {schedule: decaying, value: %.2g}", s.Value/10), "preset: own")
	default:
		try = append(try, fmt.Sprintf("step_size: {value: %.2g}", s.Value/10), "preset: own")
	}
	if c.Gate == nil {
		try = append(try, "gate: on")
	}
	return try
}
