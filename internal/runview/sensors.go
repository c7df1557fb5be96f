package runview

import (
	"fmt"
	"math"

	"github.com/wdgnn/wdgnn/internal/lifecycle"
	"github.com/wdgnn/wdgnn/internal/live"
)

// mostCharts is how many sensors have a chart of their own.
const mostCharts = 3

// sensor is what was forecast of one, at one horizon, beside what came true. A
// forecast is drawn at the step that it was made for.
type sensor struct {
	name    string
	at      int // of the horizon, among all
	horizon int // steps
	sets    bool
	made    []said // not due yet
}

// said is what was forecast at a step.
type said struct{ forecast, low, high float64 }

var nothing = said{math.NaN(), math.NaN(), math.NaN()}

// chooseSensors returns some of the sensors of which the lines speak, spread over all,
// at the middle one of the horizons.
func chooseSensors(a *About) (list []*sensor) {
	at := middle(a.Horizons)
	spoken := spokenOf(a.Sensors)
	count := min(mostCharts, len(spoken))
	for k := range count {
		name := spoken[(2*k+1)*len(spoken)/(2*count)]
		list = append(list, &sensor{name: name, at: at, horizon: a.Horizons[at], sets: a.Sets})
	}
	return list
}

// recentSteps is how many steps the chart of a sensor shows.
const recentSteps = 200

// mostSpoken is how many sensors a line speaks of at most, whatever happens.
const mostSpoken = 16

// spokenOf returns the sensors of which every line speaks.
func spokenOf(all []string) (list []string) {
	every := (len(all) + mostSpoken - 1) / mostSpoken
	for i := 0; i < len(all); i += every {
		list = append(list, all[i])
	}
	return list
}

// scene adds the chart of the sensor.
func (k *sensor) scene(s *live.Scene, a *About) {
	chart := fmt.Sprintf("sensor %s, forecast %s ahead", k.name, a.Ahead[k.at])
	if a.Unit != "" {
		chart += ", " + a.Unit
	}
	note := "What was forecast for each moment, beside what the sensor then read."
	if a.Sets {
		note = "What was forecast for each moment, with its interval, beside what the sensor then read."
	}
	s.Curves = append(s.Curves,
		live.Curve{Name: "came true", Chart: chart, Learner: -1, Recent: recentSteps, Note: note},
		live.Curve{Name: "forecast", Chart: chart, Learner: learnerOnline})
	if a.Sets {
		s.Curves = append(s.Curves,
			live.Curve{Name: "from", Chart: chart, Learner: learnerOnline, Edge: live.EdgeLow},
			live.Curve{Name: "to", Chart: chart, Learner: learnerOnline, Edge: live.EdgeHigh})
	}
}

// take returns the numbers of a step, by curve.
func (k *sensor) take(s lifecycle.OnlineStep) live.Numbers {
	now, truth := nothing, math.NaN()
	for _, one := range s.Sensors {
		if one.Sensor != k.name || len(one.Forecast) <= k.at {
			continue
		}
		truth, now.forecast = numberOf(one.Truth), numberOf(one.Forecast[k.at])
		if len(one.Low) > k.at && len(one.High) > k.at {
			now.low, now.high = numberOf(one.Low[k.at]), numberOf(one.High[k.at])
		}
	}
	k.made = append(k.made, now)
	due := nothing
	if len(k.made) > k.horizon {
		due = k.made[0]
		k.made = k.made[1:]
	}
	if k.sets {
		return live.Numbers{truth, due.forecast, due.low, due.high}
	}
	return live.Numbers{truth, due.forecast}
}

func numberOf(v *float32) float64 {
	if v == nil {
		return math.NaN()
	}
	return float64(*v)
}
