package lifecycle

import (
	"context"
	"math"

	"github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/internal/data"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/train"
)

// loadForecast reads the series that a configuration names.
func loadForecast(c *config.Config) (*Dataset, error) {
	s, truths, err := loadSeries(c)
	if err != nil {
		return nil, err
	}
	return newForecasts(c, s, truths)
}

// loadSeries reads the series that a configuration names, and what is known of its
// readings otherwise: answers, and which of them a mask lets count. It is T·N numbers
// in the user's units, NaN where nobody knows; nil if there is neither.
func loadSeries(c *config.Config) (s *data.Series, truths []float32, err error) {
	f := c.Forecast
	if s, err = data.LoadSeries(c.Abs(f.Series), data.SeriesOptions{Every: f.Every, Missing: f.Missing}); err != nil {
		return nil, nil, err
	}
	if f.Answers != "" {
		if truths, err = data.LoadAnswers(c.Abs(f.Answers), s, f.Missing); err != nil {
			return nil, nil, err
		}
	}
	if f.Mask == "" {
		return s, truths, nil
	}
	right, err := data.LoadAnswers(c.Abs(f.Mask), s, nil)
	if err != nil {
		return nil, nil, err
	}
	if truths == nil {
		truths = make([]float32, len(right))
		for k := range truths {
			truths[k] = s.Values.At(k, 0)
		}
	}
	for k, v := range right {
		if v == 0 || v != v {
			truths[k] = float32(math.NaN())
		}
	}
	return s, truths, nil
}

// trainForecast trains as c says on the steps of a series before upto, and returns
// the model with what it remembers of them. Of these steps as many are for validation
// as c sets aside of those that are not for the test. Epochs are reported to onEpoch,
// which may be nil.
func trainForecast(
	ctx context.Context, c *config.Config, s *data.Series, truths []float32, upto int, version string, onEpoch func(train.Epoch) error,
) (*modelfile.Model, error) {
	own, section := *c, *c.Forecast
	section.Split = config.ForecastSplit{Valid: section.Split.Valid / (1 - section.Split.Test)}
	own.Forecast = &section
	if truths != nil {
		truths = truths[:upto*s.Nodes]
	}
	d, err := newForecasts(&own, s.Part(0, upto), truths)
	if err != nil {
		return nil, err
	}
	t, err := newTraining(&own, d)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	if _, err := t.Run(ctx, nil, onEpoch, nil); err != nil {
		return nil, err
	}
	if err := t.Calibrate(ctx); err != nil {
		return nil, err
	}
	return t.File(version), nil
}
