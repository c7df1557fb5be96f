package traffic

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/wdgnn/wdgnn/internal/paper/reproduce/study"
)

// Experiment forecasts traffic.
var Experiment = study.Experiment{
	Name:  "traffic",
	Title: "Forecasts of traffic: METR-LA, a world that stays and one that changes",
	About: texts.Say("about", nil),
	Gates: true,
	Do:    run,
}

// Who forecasts.
const (
	last     = "last value"
	seasonal = "value of a day before"
	ridge    = "ridge on the sensor's own readings"
	plain    = "as trained, without the time of day"
	believed = "as trained, every reading believed"
	frozen   = "as trained"
	season   = "season (default)"
)

// learner is a preset that is compared, as the configuration has it.
type learner struct{ Name, Preset, Loss string }

// learners are the presets. The step of paper is a thousandth of the one for classes,
// for which the preset is: with a hundredth it diverges.
var learners = []learner{
	{season, "season", ""},
	{"own", "own", ""},
	{"neighbours", "neighbours", ""},
	{"paper, γ = 0.003", "paper\n  step_size: {value: 0.003}", ""},
}

// Ways in which answers come, in the world that changes.
var tellings = []struct{ Name, File string }{
	{"true answers", "truth.csv"},
	{"answers of dead sensors never come", "withheld.csv"},
	{"readings are the answers", ""},
}

// settings are all that changes a number.
type settings struct {
	Seed    uint64 `json:"seed"`
	Epochs  int    `json:"epochs"`
	Origins int    `json:"origins"`
	Presets int    `json:"presets"`
	Data    string `json:"data"` // a fingerprint
}

func from(o study.Options, w *week) settings {
	s := settings{Seed: o.Seed, Epochs: 40, Origins: 3, Presets: len(learners), Data: study.Fingerprint(w)}
	if o.Quick {
		s.Epochs, s.Origins = 10, 1
	}
	if o.Epochs > 0 {
		s.Epochs = o.Epochs
	}
	if o.Repeats > 0 {
		s.Origins = min(o.Repeats, 3)
	}
	return s
}

// Costs of what a unit does, in epochs of training, for progress.
const (
	replayCost = 10
	playCost   = 10
)

// work is what unit k takes: two models, each with what it meets.
func (s *settings) work(k int) float64 {
	plays := s.Presets + 1
	if k == 0 {
		plays += 1 + len(tellings)*s.Presets
	}
	return float64(2*(s.Epochs+replayCost) + plays*playCost)
}

// unit is what one origin leaves.
type unit struct {
	Origin int      `json:"origin"` // 0 ends with the series, each other a tenth of it earlier
	First  int      `json:"first"`  // row that the test begins with
	Models []string `json:"models"`
	Played []played `json:"played"`
	Curves []curve  `json:"curves,omitempty"`
}

// played is how one of them did in one world.
type played struct {
	World   string `json:"world"` // unchanged, or how answers come in the one that changes
	Who     string `json:"who"`
	Steps   int    `json:"steps"` // ahead
	All     score  `json:"all"`
	Live    score  `json:"live,omitzero"` // sensors that never die
	Dead    score  `json:"dead,omitzero"` // the others, once they are dead
	Refused string `json:"refused,omitempty"`
}

// curve is the mean error of blocks of steps.
type curve struct {
	World string    `json:"world"`
	Who   string    `json:"who"`
	MAE   []float64 `json:"mae"`
}

const unchanged = "unchanged"

func run(ctx context.Context, r *study.Run) (*study.Result, error) {
	w, err := readWeek(r.Data)
	if err != nil {
		return nil, err
	}
	s := from(r.Options, w)
	all, err := study.Units(ctx, r, s.Origins, s.work(0), func(k int) string { return fmt.Sprintf("origin-%d", k+1) }, s,
		func(ctx context.Context, k int) (*unit, error) {
			o := &origin{run: r, settings: s, week: w, number: k, threads: r.Inside(s.Origins)}
			u, err := o.compute(ctx)
			if err == nil {
				r.Advance(s.work(0)-s.work(k), "origin %d of %d", k+1, s.Origins)
			}
			return u, err
		})
	if err != nil {
		return nil, err
	}
	return result(s, w, all), nil
}

// origin computes a unit.
type origin struct {
	run      *study.Run
	settings settings
	week     *week // the whole
	number   int
	threads  int

	cut   *week // what is known at this origin
	first int   // row that the test begins with
	dir   string
	unit  *unit
}

// prepare writes the files that all models of the unit read.
func (o *origin) prepare() error {
	steps := len(o.week.Speeds) - o.number*len(o.week.Speeds)/10
	cut := *o.week
	cut.Speeds = cut.Speeds[:steps]
	o.cut, o.first = &cut, steps-len(o.week.Speeds)/5
	o.dir = filepath.Join(o.run.Out, "traffic", "files", fmt.Sprintf("origin-%d", o.number+1))
	o.unit = &unit{Origin: o.number, First: o.first}
	if err := os.MkdirAll(o.dir, 0o755); err != nil {
		return err
	}
	if err := writeSeries(filepath.Join(o.dir, "series.csv"), cut.Sensors, cut.Speeds, 0); err != nil {
		return err
	}
	return writeLinks(filepath.Join(o.dir, "links.csv"), cut.Sensors, cut.Links)
}

func (o *origin) compute(ctx context.Context) (*unit, error) {
	if err := o.prepare(); err != nil {
		return nil, err
	}
	for _, calendar := range []bool{false, true} {
		if err := o.still(ctx, calendar); err != nil {
			return nil, err
		}
	}
	if o.number == 0 {
		if err := o.changing(ctx); err != nil {
			return nil, err
		}
	}
	return o.unit, nil
}

// config returns what is common to all configurations of the unit. The test begins at
// row first: the model forecasts from its row of lags on, and not from the last row.
func (o *origin) config(calendar bool) experimentConfig {
	const lags = 12
	forecasts := float64(len(o.cut.Speeds) - lags)
	test := float64(len(o.cut.Speeds) - o.first - 1)
	valid := float64(len(o.week.Speeds) / 10)
	return experimentConfig{
		Seed: o.settings.Seed, Epochs: o.settings.Epochs, Threads: o.threads, Series: "series.csv",
		Valid: (valid + 0.5) / forecasts, Test: (test + 0.5) / forecasts, Calendar: calendar,
	}
}

// name is that of the model with or without calendar inputs.
func (o *origin) name(calendar bool) string {
	name := fmt.Sprintf("traffic-origin-%d", o.number+1)
	if !calendar {
		name += "-plain"
	}
	return name
}

// still trains a model and lets it meet the world that stays as it is: with all
// presets, or with the default where the time of day is no input.
func (o *origin) still(ctx context.Context, calendar bool) error {
	name, c := o.name(calendar), o.config(calendar)
	path, err := writeConfig(o.dir, name, c)
	if err != nil {
		return err
	}
	model := modelPath(o.run.Models(), name)
	_, err = trainModel(ctx, path, model, o.run.Version, func(of int) {
		o.run.Advance(float64(o.settings.Epochs)/float64(of), "origin %d: training", o.number+1)
	})
	if err != nil {
		return err
	}
	o.unit.Models = append(o.unit.Models, filepath.Join("models", name+".safetensors"))
	o.run.Advance(replayCost, "origin %d: trained", o.number+1)
	for k, l := range learners[:o.settings.Presets] {
		if !calendar && k > 0 {
			break
		}
		c.Preset, c.Loss = l.Preset, l.Loss
		said, err := o.play(ctx, fmt.Sprintf("%s-%d", name, k+1), model, l.Name, c)
		if err != nil {
			return err
		}
		switch {
		case !calendar:
			o.score(unchanged, forecasts{plain: said[frozen]}, nil)
		case k == 0:
			o.score(unchanged, said, nil)
		default:
			o.score(unchanged, forecasts{l.Name: said[l.Name]}, nil)
		}
	}
	return nil
}

// changing lets the model meet the world that loses links and sensors.
func (o *origin) changing(ctx context.Context) error {
	s := o.week.Stream
	if s == nil {
		s = drawStream(o.week, o.settings.Seed, o.first)
	}
	for _, f := range []struct {
		name string
		rows [][]float64
	}{
		{"changing.csv", s.readings(o.week, o.first)},
		{"truth.csv", o.week.Speeds[o.first:]},
		{"withheld.csv", s.withheld(o.week, o.first)},
	} {
		if err := writeSeries(filepath.Join(o.dir, f.name), o.week.Sensors, f.rows, o.first); err != nil {
			return err
		}
	}
	if err := writeLinks(filepath.Join(o.dir, "left.csv"), o.week.Sensors, s.left(o.week)); err != nil {
		return err
	}
	if err := o.believing(ctx, s); err != nil {
		return err
	}
	name := o.name(true)
	for m, telling := range tellings {
		for k, l := range learners[:o.settings.Presets] {
			c := o.config(true)
			c.Preset, c.Loss, c.Stream = l.Preset, l.Loss, &streamConfig{"changing.csv", telling.File, "left.csv"}
			said, err := o.play(ctx, fmt.Sprintf("%s-changing-%d-%d", name, m+1, k+1), modelPath(o.run.Models(), name), l.Name, c)
			if err != nil {
				return err
			}
			if k > 0 {
				said = forecasts{l.Name: said[l.Name]}
			}
			o.score(telling.Name, said, s)
		}
	}
	return nil
}
