package main

import (
	"embed"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/internal/lifecycle"
	"github.com/wdgnn/wdgnn/modelfile"
)

//go:embed template
var templates embed.FS

// tasks are those that init knows: three for a user's own data, then the scenarios.
var tasks = []string{"classify", "regress", "forecast", "sourceloc", "flocking", "movies"}

// InitCommand writes a configuration and data to begin with.
type InitCommand struct {
	Stdout io.Writer

	dir   string
	task  string
	force bool
}

func (c *InitCommand) command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "init DIR",
		Short: "Write a configuration, and data to begin with",
		Long: `Makes a folder with a commented config.yaml. For your own data (classify,
regress) it adds a small example set that trains in seconds: a graph of 50 nodes
(graph.csv), signals and targets (.npy), and a stream to keep learning from
(stream_….csv, .npy). For forecast it is three weeks of readings of 24 sensors
(readings.csv), the links between them (sensors.csv), and the week after, in which
a sensor breaks and another joins (later.csv, later_sensors.csv). Put your files
in their place. The scenarios need no data, but for movies, which are rated in
MovieLens: wdgnn data get.`,
		Example: `  wdgnn init first && wdgnn train first/config.yaml
  wdgnn init --task regress values
  wdgnn init --task forecast sensors
  wdgnn init --task sourceloc paper
  wdgnn init --task flocking robots
  wdgnn init --task movies films`,
		Args: arguments("DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c.Stdout, c.dir = cmd.OutOrStdout(), args[0]
			return c.Run()
		},
	}
	cmd.Flags().StringVar(&c.task, "task", "classify",
		"classify, regress or forecast for your own data, or a scenario: sourceloc, flocking or movies")
	forced(cmd.Flags(), &c.force)
	words(cmd, "task", tasks...)
	return cmd
}

// Run writes the files.
func (c *InitCommand) Run() error {
	if !slices.Contains(tasks, c.task) {
		return usageError{"wdgnn init", fmt.Errorf("--task is %q, want %s%s", c.task, strings.Join(tasks, ", "), meant(c.task, tasks))}
	}
	files, err := c.files()
	if err != nil {
		return during("init", err)
	}
	for _, f := range files {
		if err := kept(c.force, "another folder", f.path); err != nil {
			return during("init", err)
		}
	}
	if err := os.MkdirAll(c.dir, 0o755); err != nil {
		return helpful{during("init", err), "a folder that you may write to"}
	}
	w := &lines{w: c.Stdout}
	for _, f := range files {
		if err := f.write(f.path); err != nil {
			return during("init", err)
		}
		w.printf("wrote %s\n", f.path)
	}
	if c.task == "movies" {
		w.printf("Try: wdgnn data get movielens-100k --out %s, and then\n", filepath.Join(c.dir, "data", "ml-100k"))
	}
	w.printf("Try: wdgnn train %s\n", files[0].path)
	if c.task == "forecast" {
		model, later := filepath.Join(c.dir, "run", "model.safetensors"), filepath.Join(c.dir, "later")
		w.printf("and: wdgnn forecast %s --series %s.csv --graph %s_sensors.csv --out f.csv\n", model, later, later)
		w.printf("and: wdgnn online %s %s\n", model, files[0].path)
	}
	return w.err
}

// file is something to write.
type file struct {
	path  string
	write func(path string) error
}

// files lists what the task needs, the configuration first.
func (c *InitCommand) files() ([]file, error) {
	text, err := templates.ReadFile("template/" + c.task + ".yaml")
	if err != nil {
		return nil, err
	}
	files := []file{{filepath.Join(c.dir, "config.yaml"), content(text)}}
	if c.task == "forecast" {
		return append(files, c.series()...), nil
	}
	if task := config.Task(c.task); task != config.Classify && task != config.Regress {
		return files, nil // a scenario
	}
	set, err := lifecycle.NewExampleSet(config.Task(c.task))
	if err != nil {
		return nil, err
	}
	array := func(name string, shape []int, values []float32) file {
		return file{filepath.Join(c.dir, name), func(path string) error { return modelfile.SaveArray(path, shape, values) }}
	}
	return append(files,
		file{filepath.Join(c.dir, "graph.csv"), content([]byte(set.Graph))},
		array("signals.npy", set.SignalsShape, set.Signals),
		array("targets.npy", set.TargetsShape, set.Targets),
		file{filepath.Join(c.dir, "stream_graph.csv"), content([]byte(set.StreamGraph))},
		array("stream_signals.npy", set.StreamSignalsShape, set.StreamSignals),
		array("stream_targets.npy", set.StreamTargetsShape, set.StreamTargets),
	), nil
}

// series lists the readings of the forecast example.
func (c *InitCommand) series() []file {
	e := lifecycle.NewForecastExample()
	text := func(name, text string) file { return file{filepath.Join(c.dir, name), content([]byte(text))} }
	return []file{
		text("readings.csv", e.Readings),
		text("sensors.csv", e.Sensors),
		text("later.csv", e.Later),
		text("later_sensors.csv", e.LaterSensors),
	}
}

// content writes text, whole or not at all.
func content(text []byte) func(path string) error {
	return func(path string) error {
		return modelfile.WriteFile(path, func(w io.Writer) error {
			_, err := w.Write(text)
			return err
		})
	}
}
