package rule

import "fmt"

// Calmer returns settings that make nodes learn more calmly than they do under
// c, written as in a configuration, the first to be tried first. It is what to
// say where learning diverges or does harm, and never names what is set already.
//
// Of newton and season it is a stronger pull to the trained taps. Of gradient steps an
// automatic one comes first because it needs no number from the user: it follows
// from the cost at hand. A window steadies what single samples pull about,
// but does not shorten a step that is too long. A gate makes nobody learn better,
// but keeps what was learned badly from being answered.
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
		try = append(try, fmt.Sprintf("newton: {prior: %.2g}", prior), "preset: window")
	case s.Schedule == Automatic:
		try = append(try, fmt.Sprintf("step_size: {schedule: automatic, value: %.2g}", s.share()/10))
	case s.Schedule == Decaying:
		try = append(try, "step_size: {schedule: automatic}", fmt.Sprintf("step_size: {schedule: decaying, value: %.2g}", s.Value/10))
	default:
		try = append(try, "step_size: {schedule: automatic}", fmt.Sprintf("step_size: {value: %.2g}", s.Value/10))
	}
	if c.Window <= 1 && c.Newton == nil && c.Season == nil {
		try = append(try, fmt.Sprintf("window: %d", PersonalWindow))
	}
	if c.Gate == nil {
		try = append(try, "gate: on")
	}
	return try
}
