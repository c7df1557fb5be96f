package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/wdgnn/wdgnn/internal/box"
)

// AgentCommand runs the agents of one box.
type AgentCommand struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer

	config  string
	check   bool
	verbose bool
}

func (c *AgentCommand) command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "agent --config FILE",
		Short: "Run the agents of one box: a robot, a sensor, or many nodes",
		Long: `Runs one or many nodes of a network on this machine. Nodes talk to their
neighbours, here or on other machines, and to nobody else; they predict, and go
on learning from what their answers cost.

` + box.Example + `
The world is what nodes observe, one JSON object per line:

  {"time":7,"nodes":[{"node":3,"row":[0.5],"links":[4,9],"target":[2]}]}

Answers are lines, too:

  {"host":1,"time":7,"outputs":[{"node":3,"output":[0.1,0.9]}]}

Ctrl-C and SIGTERM stop after a last checkpoint. A box that is started again
goes on from its checkpoint. doc/runtime.md walks from one machine to three and
lists every key.`,
		Example: `  wdgnn agent --config agent.yaml --check     what it would do, in words
  wdgnn agent --config agent.yaml < world.jsonl
  curl http://127.0.0.1:9100/status`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 && c.config == "" {
				return usageError{cmd.CommandPath(), fmt.Errorf("%s stands alone; did you mean --config %s?", args[0], args[0])}
			}
			return noArguments(cmd, args)
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			c.Stdin, c.Stdout, c.Stderr = cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr()
			if c.config == "" {
				return usageError{cmd.CommandPath(), errors.New("--config FILE says what to run")}
			}
			return c.Run(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&c.config, "config", "", "configuration of the box, agent.yaml")
	cmd.Flags().BoolVar(&c.check, "check", false, "say what would be done, and start nothing")
	cmd.Flags().BoolVarP(&c.verbose, "verbose", "v", false, "log more")
	return cmd
}

// Run runs the box until its world ends.
func (c *AgentCommand) Run(ctx context.Context) error {
	level := slog.LevelInfo
	if c.verbose {
		level = slog.LevelDebug
	}
	config, err := readBox(c.config, box.Load)
	if err != nil {
		return during("agent", err)
	}
	if c.check {
		text, err := box.Describe(config)
		if err != nil {
			return during("agent", err)
		}
		_, err = fmt.Fprint(c.Stdout, text)
		return err
	}
	log := slog.New(slog.NewTextHandler(c.Stderr, &slog.HandlerOptions{Level: level}))
	return during("agent", box.Run(ctx, config, box.Streams{In: c.Stdin, Out: c.Stdout, Log: log}))
}
