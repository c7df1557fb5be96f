package traffic

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/online"
)

// play lets a learner meet what c says. One that diverges is said to, and forecasts
// nothing.
func (o *origin) play(ctx context.Context, name, model, who string, c experimentConfig) (forecasts, error) {
	path, err := writeConfig(o.dir, name, c)
	if err != nil {
		return nil, err
	}
	said, err := play(ctx, path, model, who)
	if errors.Is(err, online.ErrDiverged) {
		said, err = forecasts{who: nil}, nil
	}
	if err == nil {
		o.run.Advance(playCost, "origin %d: %s", o.number+1, who)
	}
	return said, err
}

// believing scores the model as trained where every reading is believed, in the world
// that changes, whatever is answered.
func (o *origin) believing(ctx context.Context, s *stream) error {
	name := o.name(true)
	c := o.config(true)
	c.Preset, c.Stream = learners[0].Preset, &streamConfig{"changing.csv", "", "left.csv"}
	path, err := writeConfig(o.dir, name+"-believing", c)
	if err != nil {
		return err
	}
	file, err := modelfile.Load(modelPath(o.run.Models(), name))
	if err != nil {
		return err
	}
	if file, err = trusting(file); err != nil {
		return err
	}
	settings, err := config.Load(path)
	if err != nil {
		return err
	}
	said, err := playFile(ctx, settings, file, season)
	if err != nil {
		return err
	}
	for _, telling := range tellings {
		o.score(telling.Name, forecasts{believed: said[frozen]}, s)
	}
	o.run.Advance(playCost, "origin %d: %s", o.number+1, believed)
	return nil
}

// score adds how forecasts did. In the world that changes sensors that never die are
// scored apart from those that do, once they are dead.
func (o *origin) score(world string, said forecasts, s *stream) {
	for _, who := range slices.Sorted(maps.Keys(said)) {
		list := said[who]
		for c, h := range horizons {
			p := played{World: world, Who: who, Steps: h}
			if list == nil {
				p.Refused = "diverged"
				o.unit.Played = append(o.unit.Played, p)
				continue
			}
			p.All = judge(o.cut, list, o.first, c, func(int, int) bool { return true })
			if s != nil {
				dead := s.dead(len(o.cut.Sensors))
				p.Live = judge(o.cut, list, o.first, c, func(_, i int) bool { return !dead[i] })
				p.Dead = judge(o.cut, list, o.first, c, func(t, i int) bool { return dead[i] && t >= s.BrokenFrom })
			}
			o.unit.Played = append(o.unit.Played, p)
		}
		if s != nil && (who == season || who == believed) {
			o.unit.Curves = append(o.unit.Curves, curve{world, who, o.blocks(list)})
		}
	}
}

// block is how many steps a point of a curve covers: half an hour.
const block = 6

// shown is the index of the horizon that tables of the changing world show.
const shown = 1

// blocks returns the mean error of forecasts of the shown horizon by block of steps.
func (o *origin) blocks(list []float32) (means []float64) {
	for t := o.first; t+horizons[shown]+block <= len(o.cut.Speeds); t += block {
		s := judge(o.cut, list, o.first, shown, func(row, _ int) bool { return row >= t && row < t+block })
		means = append(means, s.MAE)
	}
	return means
}
