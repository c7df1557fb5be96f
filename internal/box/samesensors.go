package box

import (
	"errors"
	"fmt"
	"slices"

	"github.com/wdgnn/wdgnn/forecast"
)

// sameSensors reports where readings or answers of a model would mean something else
// than those of the one that runs: boxes go on with the same steps.
func sameSensors(now, next *forecast.Spec) error {
	if (now == nil) != (next == nil) {
		return errors.New("one of the two models forecasts and the other does not")
	}
	if now == nil {
		return nil
	}
	switch {
	case !slices.Equal(now.Sensors, next.Sensors):
		return fmt.Errorf("it was trained with %d sensors, the model that runs with %d, or their names are others",
			len(next.Sensors), len(now.Sensors))
	case now.Interval != next.Interval || !now.Origin.Equal(next.Origin):
		return fmt.Errorf("it counts steps of %v from %v, the model that runs %v from %v; train with a series that begins at the same time",
			next.Interval, next.Origin, now.Interval, now.Origin)
	case !slices.Equal(now.Horizons, next.Horizons):
		return fmt.Errorf("it forecasts %v steps ahead, the model that runs %v", next.Horizons, now.Horizons)
	case now.Extras != next.Extras:
		return fmt.Errorf("it reads %d numbers beside a reading, the model that runs %d", next.Extras, now.Extras)
	case now.Unit != next.Unit:
		return fmt.Errorf("its readings are in %q, those of the model that runs in %q", next.Unit, now.Unit)
	}
	return nil
}
