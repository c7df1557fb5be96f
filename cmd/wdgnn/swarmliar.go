package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/wdgnn/wdgnn/bench/agents"
)

// newSwarmLiarCommand returns the agent that swarm bench measures others against: it
// lies to them. People have no use for it.
func newSwarmLiarCommand() *cobra.Command {
	var config string
	cmd := &cobra.Command{
		Use:    "liar LIE --config FILE",
		Short:  "Run an agent that lies to its neighbours",
		Hidden: true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usageError{cmd.CommandPath(), errors.New("want the name of a lie")}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return during("swarm liar", agents.Lie(cmd.Context(), args[0], config, cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr()))
		},
	}
	cmd.Flags().StringVar(&config, "config", "", "configuration of the box, agent.yaml")
	return cmd
}
