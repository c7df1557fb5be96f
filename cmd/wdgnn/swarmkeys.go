package main

import (
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/box"
	"github.com/wdgnn/wdgnn/internal/grid"
	"github.com/wdgnn/wdgnn/internal/keys"
	"github.com/wdgnn/wdgnn/internal/swarm"
)

// SwarmKeysCommand makes the secrets of a deployment.
type SwarmKeysCommand struct {
	Stdout, Stderr io.Writer

	config, graph, out string
	servers            []string
	years              int
	force              bool
}

func (c *SwarmKeysCommand) command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "keys --config agent.yaml",
		Short: "Make the secrets of a deployment",
		Long: `Makes everything that decides who may speak as whom and hear whom, for all hosts
that the configuration of one of them lists:

  an NKey per host, for the world, an observer (swarm status) and an operator (deploy)
  permissions for the embedded NATS server, and nats.conf for external ones
  an authority of its own, certificates of the servers and of every host

A host may publish as itself only, and hear its world and those hosts with
which one of its nodes has a link in --graph; without --graph it may hear all.
Where the model of the configuration forecasts, --graph names sensors, as for
wdgnn train, and links of all times count.
Each host needs its own folder of the result, and nothing else of it; the keys
of the authority should not stay on any of them. Certificates are valid for a year:

  renew    writes the next ones, which running boxes and servers take by themselves
  revoke   shuts out who has a stolen key
  join     adds a host, or nodes of one, while the others run
  mqtt     adds a sensor, or Home Assistant, that speaks MQTT with the server`,
		Example: `  wdgnn swarm keys --config agent.yaml --graph field.csv --server box-1,10.0.0.1 --out keys
  scp -r keys/host-3 box-3:                     a folder for each box`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c.Stdout, c.Stderr = cmd.OutOrStdout(), cmd.ErrOrStderr()
			if c.config == "" {
				return usageError{cmd.CommandPath(), fmt.Errorf("--config is missing: the file of any host, which lists all")}
			}
			return during("swarm keys", c.Run())
		},
	}
	f := cmd.Flags()
	f.StringVar(&c.config, "config", "", "configuration of any host: run, hosts, nodes, addresses")
	f.StringVar(&c.graph, "graph", "",
		"every link that there may ever be, as wdgnn train reads graphs: by number, or by name where the model forecasts")
	f.StringVar(&c.out, "out", "keys", "folder to write")
	f.StringSliceVar(&c.servers, "server", nil, "names and addresses of the NATS servers; nothing means this machine only")
	f.IntVar(&c.years, "years", 0, "how long certificates are valid; 0 means 1")
	f.BoolVar(&c.force, "force", false, "replace what is there already; all hosts need their keys anew")
	cmd.AddCommand((&SwarmKeysRenewCommand{}).command(), (&SwarmKeysRevokeCommand{}).command(), (&SwarmKeysJoinCommand{}).command(),
		(&SwarmKeysMQTTCommand{}).command())
	return cmd
}

// tryNames is what helps where a graph names nodes that are not known.
const tryNames = "model: in the configuration, a model of forecasts whose sensors have these names; sensors: {24: bypass} names newcomers"

// Run writes the keys.
func (c *SwarmKeysCommand) Run() error {
	config, err := readBox(c.config, box.Read)
	if err != nil {
		return err
	}
	var g *graph.Graph
	if c.graph != "" {
		if g, err = config.EveryLink(c.graph); err != nil {
			return helpful{err, tryNames}
		}
	}
	plan, err := swarm.KeyPlan(config, g, c.servers, c.years)
	if err != nil {
		return err
	}
	make := keys.Make
	if c.force {
		make = keys.Replace
	}
	if err := make(c.out, plan); err != nil {
		return helpful{err, "another --out, a folder that is not there yet, or --force"}
	}
	out := lines{w: c.Stdout}
	out.printf("%s: keys of %s, the world, an observer and an operator, run %s\n", c.out, grid.Count(len(plan.Hosts), "host"), plan.Run)
	for _, h := range plan.Hosts {
		out.printf("  host %d hears %s\n", h.ID, grid.Count(len(h.Hears), "other"))
	}
	c.printNext(&out, config.Bus.Kind)
	return out.err
}

// printNext says what to do with the keys.
func (c *SwarmKeysCommand) printNext(out *lines, bus string) {
	out.printf("Next:\n")
	if bus == box.BusNATS {
		at := "127.0.0.1:4222"
		if len(c.servers) > 0 {
			at = "0.0.0.0:4222" // others are to reach it
		}
		out.printf("  wdgnn swarm server --keys %s --addr %s   the bus; or nats-server -c %s\n",
			c.out, at, filepath.Join(c.out, "server", "nats.conf"))
	}
	out.printf("  copy to every box its own folder, such as %s for host 0, and name it in its file: bus: {keys: host-0}\n",
		filepath.Join(c.out, "host-0"))
}
