package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wdgnn/wdgnn/internal/box"
	"github.com/wdgnn/wdgnn/internal/grid"
	"github.com/wdgnn/wdgnn/internal/keys"
	"github.com/wdgnn/wdgnn/internal/swarm"
	"github.com/wdgnn/wdgnn/transport"
)

// SwarmKeysJoinCommand adds a host, or nodes of one, to a deployment that runs.
type SwarmKeysJoinCommand struct {
	Stdout io.Writer

	keys, config, graph string
	host                int
	sensors             []string
	joining             swarm.Joining
}

func (c *SwarmKeysJoinCommand) command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "join --config agent.yaml",
		Short: "Add a host, or nodes of one, to a deployment that goes on running",
		Long: `Makes the keys of a host that comes later and signs a record of it: its nodes,
their links, its address, whom it hears and who hears it. Boxes that run take the
record from the new one, or from each other; nobody has to stop.

With --config the new box's own agent.yaml, which lists all hosts and itself,
nothing else need be said. With that of another host, name --host, --nodes and,
for direct links, --addr. Links are those of the configuration, of --graph that
have a new node at one end, and --links. Without any, the new host and all others
may hear each other, and worlds say who has links with whom.

For more nodes of a host that runs, a new sensor for example, name it and them:
its box takes member.json from its folder of keys, and makes the nodes when its
world first speaks of them.`,
		Example: `  wdgnn swarm keys join --keys keys --config box-5/agent.yaml
  scp -r keys/host-5 box-5:                     its folder, and server/ to the servers
  wdgnn swarm keys join --config agent.yaml --host 5 --nodes 50-54 --links 50-3,51-4:0.5 --addr box-5:7411
  wdgnn swarm keys join --config agent.yaml --host 2 --nodes 55 --links 55-21,55-30 --sensor 55=bypass
  scp keys/host-2/member.json box-2:host-2/     the others hear of it from box 2`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c.Stdout = cmd.OutOrStdout()
			if c.config == "" {
				return usageError{cmd.CommandPath(), fmt.Errorf("--config is missing: the file of the new host, or of any other, which lists all")}
			}
			return during("swarm keys join", c.Run())
		},
	}
	f := cmd.Flags()
	f.StringVar(&c.keys, "keys", "keys", "folder of wdgnn swarm keys, with the authority in it")
	f.StringVar(&c.config, "config", "", "configuration of the new host, or of any other: run, hosts, nodes, addresses")
	f.IntVar(&c.host, "host", -1, "number of the host; that of the configuration by default")
	f.StringVar(&c.joining.Nodes, "nodes", "", "nodes that it gets, such as 50-54; those of the configuration by default")
	f.StringVar(&c.joining.Address, "addr", "", "where others find it, for direct links; that of the configuration by default")
	f.StringSliceVar(&c.joining.Links, "links", nil, "links of its nodes, such as 50-3,51-4:0.5")
	f.StringVar(&c.graph, "graph", "", "links of its nodes, as wdgnn train reads graphs")
	f.StringSliceVar(&c.sensors, "sensor", nil, "names of its nodes where they forecast, such as 55=bypass")
	f.IntVar(&c.joining.Years, "years", 0, "how long the certificate of a new host is valid; 0 means 1")
	renamed(f, map[string]string{"address": "addr"})
	return cmd
}

// Run makes the keys and the record.
func (c *SwarmKeysJoinCommand) Run() error {
	config, err := readBox(c.config, box.Read)
	if err != nil {
		return err
	}
	if c.joining.Host = config.Host; c.host >= 0 {
		c.joining.Host = transport.HostID(c.host)
	}
	if c.graph != "" {
		if c.joining.Graph, err = config.EveryLink(c.graph); err != nil {
			return helpful{err, tryNames}
		}
	}
	if c.joining.Sensors, err = sensorNames(c.sensors); err != nil {
		return err
	}
	entry, member, err := swarm.JoinPlan(c.keys, config, c.joining)
	if err != nil {
		return err
	}
	done, err := keys.Join(c.keys, entry)
	if err != nil {
		return err
	}
	links := 0
	for _, list := range member.Links {
		links += len(list)
	}
	name, out := keys.HostName(member.Host), lines{w: c.Stdout}
	out.printf("%-10s nodes %s, %s; valid until %s\n", name, member.Nodes, grid.Count(links/2, "link"), done.Until.Format(time.DateOnly))
	out.printf("%-10s hosts %s, and they hear it\n", "  hears", hostList(member.Hears))
	what := fmt.Sprintf("copy %s/%s to its machine and start it", c.keys, name)
	if !done.New {
		what = fmt.Sprintf("copy %s/%s/member.json into the folder of keys of host %d", c.keys, name, member.Host)
	}
	if config.Bus.Kind != box.BusTCP {
		out.printf("Next: copy %s/server to the servers, and wdgnn swarm server takes it at once (nats-server: --signal reload); "+
			"then %s. Nobody has to stop\n", c.keys, what)
		return out.err
	}
	out.printf("Next: %s. Nobody has to stop\n", what)
	return out.err
}

// hostList names hosts.
func hostList(hosts []transport.HostID) string {
	words := make([]string, len(hosts))
	for k, h := range hosts {
		words[k] = fmt.Sprint(h)
	}
	return strings.Join(words, ", ")
}

// sensorNames reads 55=bypass.
func sensorNames(list []string) (map[uint32]string, error) {
	names := map[uint32]string{}
	for _, text := range list {
		number, name, ok := strings.Cut(text, "=")
		node, err := strconv.ParseUint(number, 10, 32)
		if !ok || err != nil || name == "" {
			return nil, fmt.Errorf("sensor %q, want a node and its name, such as 55=bypass", text)
		}
		names[uint32(node)] = name
	}
	return names, nil
}
