package main

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wdgnn/wdgnn/internal/lifecycle"
	"github.com/wdgnn/wdgnn/modelfile"
)

// ForecastCommand says what sensors will read.
type ForecastCommand struct {
	Stdout, Stderr io.Writer

	model   string // paths
	files   lifecycle.SeriesFiles
	out     string
	all     bool
	frozen  bool
	threads int
	json    bool
}

func (c *ForecastCommand) command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "forecast MODEL --series NEW.csv [--out F.csv]",
		Short: "Say what sensors will read, with intervals",
		Long: `Reads the latest readings of sensors, plays them step by step to a model that
was trained on such a series, and says what every sensor will read next: at each
horizon of the model, with an interval that holds the truth nine times of ten, in
the units of the readings.

The series is a table with a time column and a column per sensor, found by its
name, or any other form that training takes. Empty cells are readings that are
missing. The more of the past it holds the better: the model learns on the way from
what its forecasts should have been, when that is known and no sooner, and notices
sensors that cannot be believed. Rows that it was trained on are not played again.
The model file is not changed; wdgnn online keeps what is learned.

F.csv has a line for every sensor and horizon: made_at, the last time of the
series; time, that is forecast; sensor, horizon, forecast, low, high. With --all
there are lines of every time, each as it would have been said then.

The last lines say how far off the forecasts were that came true within the series,
and whether those that need no model were better.

A sensor that was not in training joins with what its neighbours know, if --graph
says who they are; a time column there says since when.`,
		Example: `  wdgnn init --task forecast first && wdgnn train first/config.yaml
  wdgnn forecast first/run/model.safetensors --series first/later.csv
  wdgnn forecast first/run/model.safetensors --series first/later.csv --graph first/later_sensors.csv --out f.csv
  wdgnn forecast first/run/model.safetensors --series first/later.csv --all --out every.csv
  wdgnn forecast first/run/model.safetensors --series first/later.csv --json | jq '.forecasts[0]'`,
		Args: arguments("MODEL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c.Stdout, c.Stderr, c.model = cmd.OutOrStdout(), cmd.ErrOrStderr(), args[0]
			return c.Run(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&c.files.Series, "series", "", "the readings: .csv or .tsv with times and sensors, or .npy")
	cmd.Flags().StringVar(&c.files.Answers, "answers", "", "what the readings should have been, where that is known otherwise")
	cmd.Flags().StringVar(&c.files.Graph, "graph", "", "links between sensors, by name, instead of those of the model file")
	cmd.Flags().BoolVar(&c.files.Directed, "directed", false, "links have a direction: src is heard by dst")
	cmd.Flags().StringVar(&c.out, "out", "", "file to write the forecasts to, .csv or .json")
	cmd.Flags().BoolVar(&c.all, "all", false, "write the forecasts of every time, not of the last alone")
	cmd.Flags().BoolVar(&c.frozen, "frozen", false, "forecast as trained, without learning from the series")
	cmd.Flags().BoolVar(&c.files.AnyUnits, "any-units", false, "take readings that are far outside what training saw")
	cmd.Flags().IntVar(&c.threads, "threads", 1, "threads to compute on, -1 for all; they do not change the result")
	cmd.Flags().BoolVar(&c.json, "json", false, "print the forecasts as one JSON object")
	return cmd
}

// Run forecasts.
func (c *ForecastCommand) Run(ctx context.Context) error {
	if err := c.check(); err != nil {
		return usageError{"wdgnn forecast", err}
	}
	m, err := loadModel(c.model)
	if err != nil {
		return during("forecast", err)
	}
	run, err := lifecycle.NewForecastRun(m, c.files, c.frozen, c.threads)
	if err != nil {
		return helpful{during("forecast", err), c.advice(err)}
	}
	defer run.Close()
	err = run.Play(ctx, func() error { return nil }, func(s lifecycle.OnlineStep) error { return nil })
	if err != nil {
		return helpful{during("forecast", err), "wdgnn forecast --frozen, which learns nothing"}
	}
	if c.out != "" {
		if err := c.write(run); err != nil {
			return helpful{during("forecast", err), "another --out, a file in a folder that you may write to"}
		}
	}
	defer warn(c.Stderr, run.Verdicts())
	if c.json {
		return writeForecasts(c.Stdout, run, c.all)
	}
	return c.print(run)
}

// check says which flags make no sense.
func (c *ForecastCommand) check() error {
	switch {
	case c.files.Series == "":
		return errors.New("--series is missing: name a file of readings")
	case c.out == "":
		if c.all && !c.json {
			return errors.New("--all needs --out or --json: the table is of the last time")
		}
		return nil
	}
	if end := filepath.Ext(c.out); end != ".csv" && end != ".json" {
		return fmt.Errorf("--out is %s, want a file that ends in .csv or .json", c.out)
	}
	if info, err := os.Stat(filepath.Dir(c.out)); err != nil || !info.IsDir() {
		return fmt.Errorf("--out %s: there is no folder %s", c.out, filepath.Dir(c.out))
	}
	return nil
}

// advice says what to try after an error.
func (c *ForecastCommand) advice(err error) string {
	if errors.Is(err, lifecycle.ErrNoForecast) {
		return "wdgnn predict " + c.model + " --graph G --signals X.npy --out Y.npy; or a model that does: wdgnn init --task forecast DIR"
	}
	if strings.Contains(err.Error(), "for sensor") {
		return fmt.Sprintf("wdgnn inspect %s, which says which sensors the model knows", c.model)
	}
	return hint(err, "wdgnn forecast -h, which shows what a series looks like, or doc/forecast.md")
}

// write writes the file that --out names.
func (c *ForecastCommand) write(run *lifecycle.OnlineRun) error {
	return modelfile.WriteFile(c.out, func(w io.Writer) error {
		if strings.HasSuffix(c.out, ".json") {
			return writeForecasts(w, run, c.all)
		}
		return writeTable(w, run, c.all)
	})
}

// writeTable writes forecasts as CSV.
func writeTable(w io.Writer, run *lifecycle.OnlineRun, all bool) error {
	out := csv.NewWriter(w)
	if err := out.Write([]string{"made_at", "time", "sensor", "horizon", "forecast", "low", "high"}); err != nil {
		return err
	}
	err := run.EachForecast(all, func(f lifecycle.Forecast) error {
		return out.Write([]string{f.MadeAt, f.Time, f.Sensor, f.Horizon, plainNumber(f.Forecast), plainNumber(f.Low), plainNumber(f.High)})
	})
	out.Flush()
	return errors.Join(err, out.Error())
}

// writeForecasts writes forecasts as one JSON object.
func writeForecasts(w io.Writer, run *lifecycle.OnlineRun, all bool) error {
	result := struct {
		Unit      string                 `json:"unit,omitempty"`
		Notes     []string               `json:"notes,omitempty"`
		News      []lifecycle.SensorNews `json:"news,omitempty"`
		Forecasts []lifecycle.Forecast   `json:"forecasts"`
		lifecycle.Verdicts
	}{Unit: run.Unit(), Notes: run.Notes(), News: run.News, Verdicts: run.Verdicts()}
	err := run.EachForecast(all, func(f lifecycle.Forecast) error {
		result.Forecasts = append(result.Forecasts, f)
		return nil
	})
	if err != nil {
		return err
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", " ")
	return enc.Encode(result)
}

// plainNumber writes a number for a file; empty if it is not known.
func plainNumber(v *float32) string {
	if v == nil {
		return ""
	}
	return strconv.FormatFloat(float64(*v), 'g', -1, 32)
}
