package lifecycle

import (
	"fmt"
	"strings"
)

// Verdicts says of forecasts whether they are worth having.
type Verdicts struct {
	List []Verdict `json:"verdicts,omitempty"` // by horizon; none where nothing came true

	// Warning is set where forecasts that need no model err less, or as much: at which
	// horizons, and what to try.
	Warning string `json:"warning,omitempty"`
}

// Verdict compares the mean absolute error of what was answered for one horizon with
// that of forecasts that need no model.
type Verdict struct {
	Ahead string  `json:"ahead"` // in words
	MAE   float64 `json:"mae"`   // in the user's units
	Count uint64  `json:"count"` // forecasts that came true or not

	Better []Rival `json:"better,omitempty"` // than these
	Worse  []Rival `json:"worse,omitempty"`  // than these, or as bad
}

// Rival is a way to forecast that needs no model, and its mean absolute error.
type Rival struct {
	Name string  `json:"name"`
	MAE  float64 `json:"mae"`
}

// judged returns the verdicts on the last of the methods, which answers.
func judged(horizons []HorizonResult) (v Verdicts) {
	var lost []string
	for _, h := range horizons {
		answers := h.Methods[len(h.Methods)-1]
		if answers.Count == 0 {
			continue
		}
		one := Verdict{Ahead: h.Ahead, MAE: answers.MAE, Count: answers.Count}
		for _, name := range []string{MethodLast, MethodSeason, MethodClock} {
			switch m := h.Method(name); {
			case m.Count == 0:
			case answers.MAE < m.MAE:
				one.Better = append(one.Better, Rival{name, m.MAE})
			default:
				one.Worse = append(one.Worse, Rival{name, m.MAE})
			}
		}
		if len(one.Worse) > 0 {
			lost = append(lost, h.Ahead)
		}
		v.List = append(v.List, one)
	}
	if len(lost) > 0 {
		v.Warning = fmt.Sprintf("forecasts %s ahead are no better than some that need no model; try more train.epochs, "+
			"a smaller train.adam.step_size, or forecast.missing if a number such as -999 stands for no reading", strings.Join(lost, ", "))
	}
	return v
}

// Verdicts returns those on what a run of forecasts answered.
func (r *OnlineRun) Verdicts() Verdicts {
	return judged(horizonResults(r.Stream.sensors.spec, r.methods()))
}

// Say writes the verdict for people; unit is that of the readings.
func (v Verdict) Say(unit string) string {
	if unit != "" {
		unit = " " + unit
	}
	text := fmt.Sprintf("%s ahead: off by %.4g%s", v.Ahead, v.MAE, unit)
	for _, part := range []struct {
		words string
		than  []Rival
	}{{"NO BETTER than", v.Worse}, {"better than", v.Better}} {
		var names []string
		for _, r := range part.than {
			names = append(names, fmt.Sprintf("%s (%.4g)", r.Name, r.MAE))
		}
		if len(names) > 0 {
			text += fmt.Sprintf("; %s %s", part.words, strings.Join(names, ", "))
		}
	}
	return text
}
