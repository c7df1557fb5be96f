package main

import (
	"fmt"
	"path/filepath"

	"github.com/wdgnn/wdgnn/internal/grid"
	"github.com/wdgnn/wdgnn/internal/lifecycle"
	"github.com/wdgnn/wdgnn/internal/paper/figure"
)

// Names of the charts of forecasts, without their endings.
const (
	typicalChart = "typical"
	worstChart   = "worst"
)

// drawForecasts writes charts of what a run forecast and what came true, of the sensor
// whose error is the median of all and of the one that errs most; nothing if the model
// does not forecast or nothing came true.
func drawForecasts(dir string, run *lifecycle.OnlineRun) error {
	typical, worst, ok := run.Curves()
	if !ok {
		return nil
	}
	for _, c := range []struct {
		name, what string
		curve      *lifecycle.ForecastCurve
	}{{typicalChart, "a typical sensor", typical}, {worstChart, "the sensor with the largest error", worst}} {
		if err := forecastChart(c.what, c.curve).Save(filepath.Join(dir, c.name)); err != nil {
			return err
		}
	}
	return nil
}

// forecastChart draws the forecasts of one sensor.
func forecastChart(what string, c *lifecycle.ForecastCurve) *figure.Figure {
	y := "Reading"
	if c.Unit != "" {
		y += ", " + c.Unit
	}
	note := fmt.Sprintf("every forecast was made %s before; the band holds the truth in %.0f of 100 cases, %.0f asked for",
		c.Ahead, 100*c.Score.Coverage, 100*c.Asked)
	if c.Score.Unknown > 0 {
		note += fmt.Sprintf("; at %s of %d it has no ends", grid.Count(int(c.Score.Unknown), "step"), c.Score.Intervals)
	}
	if c.Untold > 0 {
		note += fmt.Sprintf("; at %s of %d no reading came, or none that is believed", grid.Count(c.Untold, "step"), len(c.X))
	}
	return &figure.Figure{
		Title:    fmt.Sprintf("Sensor %s, forecast %s ahead", c.Sensor, c.Ahead),
		Subtitle: fmt.Sprintf("%s of %d: mean absolute error %.3g, as trained %.3g", upper(what), c.Of, c.Score.MAE, c.FrozenMAE),
		X:        figure.Axis{Label: c.Axis}, Y: figure.Axis{Label: y},
		Series: []figure.Series{
			{Name: "forecast", X: c.X, Y: c.Forecast, Low: c.Low, High: c.High, Color: 1},
			{Name: "came true", X: c.X, Y: c.Truth, Color: 7},
		},
		Note: note,
	}
}

// upper writes the first letter large.
func upper(text string) string { return string(text[0]-'a'+'A') + text[1:] }
