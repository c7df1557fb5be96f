package main

import (
	"encoding/json"
	"errors"
	"os"

	"github.com/spf13/cobra"

	"github.com/wdgnn/wdgnn/bench/agents"
)

// newSwarmProbeCommand returns the process that swarm bench compares agents
// with. People have no use for it.
func newSwarmProbeCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "probe FILE",
		Short:  "Pass frames as an agent would, and nothing else",
		Hidden: true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usageError{cmd.CommandPath(), errors.New("want one file, as wdgnn swarm bench writes it")}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := os.ReadFile(args[0])
			if err != nil {
				return during("swarm probe", err)
			}
			var p agents.Probe
			if err := json.Unmarshal(text, &p); err != nil {
				return during("swarm probe", err)
			}
			return during("swarm probe", p.Serve(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout()))
		},
	}
}
