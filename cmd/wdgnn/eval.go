package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/internal/lifecycle"
)

// EvalCommand scores a model on the data of a configuration.
type EvalCommand struct {
	Stdout, Stderr io.Writer

	model, config string // paths
	part          string
	changes       []config.Change
	json          bool
}

func (c *EvalCommand) command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "eval MODEL CONFIG.yaml",
		Short: "Score a model on the data of a configuration",
		Long: `Runs a model on the test samples of a configuration, which its split or its
files set aside, and prints its loss and what the task has beside: accuracy for
classify; for the scenario flocking the cost of flights that the model flies, and
that of the expert; for movies the RMSE of the ratings; for forecasts their errors
in the units of the readings, by horizon, beside those of simple ways to forecast.
What a model of forecasts has not met yet it meets step by step, and the table says
how it does with learning and without; what it has met it forecasts as trained.`,
		Example: `  wdgnn eval first/run/model.safetensors first/config.yaml
  wdgnn eval first/run/model.safetensors first/config.yaml --on valid --json`,
		Args: arguments("MODEL", "CONFIG.yaml"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c.Stdout, c.Stderr, c.model, c.config = cmd.OutOrStdout(), cmd.ErrOrStderr(), args[0], args[1]
			c.changes = changed(cmd.Flags(), c.config, map[string]string{"threads": "threads"})
			return c.Run(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&c.part, "on", "test", "samples to score: train, valid or test")
	cmd.Flags().Int("threads", 0, "threads to compute on, -1 for all, instead of what the configuration says; they do not change the result")
	cmd.Flags().BoolVar(&c.json, "json", false, "print the score as one JSON object")
	words(cmd, "on", "train", "valid", "test")
	return cmd
}

// Run scores the model.
func (c *EvalCommand) Run(ctx context.Context) error {
	if c.part != "train" && c.part != "valid" && c.part != "test" {
		return usageError{"wdgnn eval", fmt.Errorf("--on is %q, want train, valid or test", c.part)}
	}
	m, err := loadModel(c.model)
	if err != nil {
		return during("eval", err)
	}
	cfg, err := loadConfig(c.config, c.changes...)
	if err != nil {
		return during("eval", err)
	}
	score, err := lifecycle.Evaluate(ctx, m, cfg, c.part)
	if err != nil {
		return helpful{during("eval", err), hint(err, fmt.Sprintf("wdgnn inspect %s, which says what the model reads", c.model))}
	}
	if score.Forecast != nil {
		defer warn(c.Stderr, score.Forecast.Verdicts)
	}
	if c.json {
		return writeJSON(c.Stdout, score)
	}
	w := &lines{w: c.Stdout}
	w.printf("%s  %s\n", c.part, score)
	if score.Forecast != nil {
		printScores(w, score.Forecast.Unit, score.Forecast.Horizons)
		printVerdicts(w, score.Forecast.Unit, score.Forecast.Verdicts)
	}
	return w.err
}
