package main

import "github.com/spf13/cobra"

// newSwarmCommand gathers what concerns many agents at once.
func newSwarmCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "swarm",
		Short: "Run many agents: processes that infer and learn with their neighbours only",
		Long: `Agents are processes that run the nodes of a network. Each hears its one-hop
neighbours and nobody else; together they predict, and each keeps learning.

One box of a deployment is run by wdgnn agent, or by the small program
wdgnn-agent; doc/runtime.md walks from one machine to three.`,
		Example: `  wdgnn swarm up --task sourceloc --processes 50 --verify
  wdgnn swarm up --task flocking --processes 10 --rate 100 --kill 3@5s-8s
  wdgnn swarm status swarm`,
		Args: onlyCommands,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(
		(&SwarmUpCommand{}).command(), (&SwarmCollectCommand{}).command(), (&SwarmKeysCommand{}).command(), (&SwarmStatusCommand{}).command(),
		(&SwarmServerCommand{}).command(), (&SwarmSimCommand{}).command(), (&SwarmBenchCommand{}).command(),
		(&SwarmDeployCommand{}).command(), newSwarmProbeCommand(), newSwarmLiarCommand(),
	)
	return cmd
}
