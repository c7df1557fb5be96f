package traffic

import (
	"context"
	"fmt"
	"math"
	"path/filepath"

	"github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/internal/lifecycle"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/train"
)

// trainModel trains the model of a configuration, with the replay after it, and saves
// it.
func trainModel(ctx context.Context, path, model, version string, onEpoch func(of int)) (*modelfile.Model, error) {
	c, err := config.Load(path)
	if err != nil {
		return nil, err
	}
	t, err := lifecycle.NewTraining(ctx, c)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	_, err = t.Run(ctx, nil, func(train.Epoch) error {
		onEpoch(t.Epochs())
		return ctx.Err()
	}, nil)
	if err == nil {
		err = t.Calibrate(ctx)
	}
	if err != nil {
		return nil, err
	}
	file := t.File(version)
	return file, modelfile.Save(model, file)
}

// forecasts are what was said of a stream of T steps, by whom: T×N×C each, in mph.
type forecasts map[string][]float32

// Who forecasts beside a learner, in the order of lifecycle.OnlineRun.Compared.
var compared = []string{frozen, ridge, seasonal, last}

// play lets a model meet what a configuration says, and learn.
func play(ctx context.Context, path, model, learner string) (forecasts, error) {
	c, err := config.Load(path)
	if err != nil {
		return nil, err
	}
	file, err := modelfile.Load(model)
	if err != nil {
		return nil, err
	}
	return playFile(ctx, c, file, learner)
}

func playFile(ctx context.Context, c *config.Config, file *modelfile.Model, learner string) (forecasts, error) {
	r, err := lifecycle.NewOnlineRun(c, file, false)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	err = r.Play(ctx, ctx.Err, func(lifecycle.OnlineStep) error { return nil })
	if err != nil {
		return nil, fmt.Errorf("%s: %w", learner, err)
	}
	said := forecasts{learner: r.Predictions}
	for k, who := range compared {
		list := make([]float32, len(r.Predictions))
		for at := range list {
			list[at] = r.Compared[at*len(compared)+k]
		}
		said[who] = list
	}
	return said, nil
}

// score is how forecasts turned out, mph.
type score struct {
	Count  int     `json:"count"`
	Unsaid int     `json:"unsaid,omitempty"` // nothing was forecast
	MAE    float64 `json:"mae"`
	RMSE   float64 `json:"rmse"`
	MAPE   float64 `json:"mape"` // %
}

// judge scores the forecasts of horizon c made in rows first, first+1, … by the true
// speeds, of the rows and sensors that keep accepts.
func judge(w *week, list []float32, first, c int, keep func(row, i int) bool) score {
	var s score
	n := len(w.Sensors)
	squares := 0.0
	for t := first; t+horizons[c] < len(w.Speeds); t++ {
		at := (t - first) * n * len(horizons)
		if at >= len(list) {
			break
		}
		for i := range n {
			if !keep(t, i) {
				continue
			}
			truth := w.Speeds[t+horizons[c]][i]
			e := math.Abs(float64(list[at+i*len(horizons)+c]) - truth)
			if e != e {
				s.Unsaid++
				continue
			}
			s.Count++
			s.MAE += e
			squares += float64(e * e)
			if truth > 0 {
				s.MAPE += 100 * e / truth
			}
		}
	}
	count := float64(max(s.Count, 1))
	s.MAE, s.RMSE, s.MAPE = s.MAE/count, math.Sqrt(squares/count), s.MAPE/count
	return s
}

// trusting returns a copy of a model whose sensors believe every reading: the model as
// trained on what is sent.
func trusting(file *modelfile.Model) (*modelfile.Model, error) {
	spec, err := file.Forecast()
	if err != nil {
		return nil, err
	}
	believe := *spec
	believe.Norms = nil
	for _, n := range spec.Norms {
		n.Rough, n.Longest, n.Low, n.High = math.MaxFloat32, math.MaxInt32, -math.MaxFloat32, math.MaxFloat32
		believe.Norms = append(believe.Norms, n)
	}
	same := *file
	return &same, same.SetForecast(&believe)
}

// modelPath is where the model of a unit lies.
func modelPath(models, name string) string { return filepath.Join(models, name+".safetensors") }
