package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/wdgnn/wdgnn/internal/box"
	"github.com/wdgnn/wdgnn/internal/keys"
	"github.com/wdgnn/wdgnn/internal/swarm"
	"github.com/wdgnn/wdgnn/transport"
)

// SwarmDeployCommand brings a model to running boxes.
type SwarmDeployCommand struct {
	Stdout, Stderr io.Writer

	nats, keys, config      string
	back, reset, drop, json bool
	steps                   int
}

func (c *SwarmDeployCommand) command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "deploy MODEL | --back | --drop",
		Short: "Bring another model to boxes while they run",
		Long: `Brings a model to all boxes of a deployment, which go on running: the file is
staged and compared by its SHA-256 on every box, every box is armed for a step, and
only when all are do they agree. All boxes begin that step with the new model, or
none does. One that was cut off in between follows when it is back.

Inputs, outputs, and for forecasts sensors, horizons and the time of step 0 must be
those of the model that runs. What nodes have learned is kept where the rule and the
shape of the wide part are the same, unless --reset.

  --keys      folder of wdgnn swarm keys, with the key of the operator in it
  --config    configuration of any box: its bus, and for direct links the
              addresses of all boxes

The exit code is 0 if all boxes run the model, 1 if nobody changed anything, or a
box was not seen to have changed yet: the last line says which.`,
		Example: `  wdgnn swarm deploy new.safetensors --keys keys
  wdgnn swarm deploy new.safetensors --keys keys --config agent.yaml     direct links
  wdgnn swarm deploy --back --keys keys                                  the model before`,
		RunE: func(cmd *cobra.Command, args []string) error {
			c.Stdout, c.Stderr = cmd.OutOrStdout(), cmd.ErrOrStderr()
			what := len(args)
			for _, set := range []bool{c.back, c.drop} {
				if set {
					what++
				}
			}
			if what != 1 || c.keys == "" && c.config == "" {
				return usageError{cmd.CommandPath(), errors.New("name one model, --back or --drop, and --keys or --config")}
			}
			return during("swarm deploy", c.Run(cmd.Context(), args))
		},
	}
	f := cmd.Flags()
	f.StringVar(&c.keys, "keys", "", "folder of wdgnn swarm keys, or the operator's part of it")
	f.StringVar(&c.config, "config", "", "configuration of any box: run, hosts, bus")
	f.StringVar(&c.nats, "nats", "", "address of a NATS server; nothing means that of the keys or the configuration")
	f.BoolVar(&c.back, "back", false, "to the model that ran before, which the boxes still have")
	f.BoolVar(&c.reset, "reset", false, "what nodes have learned is not kept")
	f.BoolVar(&c.drop, "drop", false, "have boxes drop what somebody armed and did not bring to an end")
	f.IntVar(&c.steps, "steps", 0, "steps from now until the change; 0 means those of three seconds, and one for each box")
	f.BoolVar(&c.json, "json", false, "print the result as one JSON object")
	return cmd
}

// Run deploys.
func (c *SwarmDeployCommand) Run(ctx context.Context, args []string) error {
	want := swarm.Deployment{Back: c.back, Reset: c.reset, Drop: c.drop, Steps: c.steps}
	if len(args) > 0 {
		want.Model = args[0]
	}
	if err := c.reach(&want); err != nil {
		return err
	}
	out := lines{w: c.Stdout}
	if !c.json {
		want.Say = func(text string) { out.printf("%s\n", text) }
	}
	r, err := swarm.Deploy(ctx, want)
	if c.json && r != nil {
		err = errors.Join(err, writeJSON(c.Stdout, r))
	}
	if errors.Is(err, swarm.ErrPending) {
		return helpful{err, "wdgnn swarm status, and the same command again"}
	}
	return errors.Join(err, out.err)
}

// reach finds out who the boxes are, and where.
func (c *SwarmDeployCommand) reach(want *swarm.Deployment) error {
	l := &want.Links
	l.Keys = c.keys
	if c.config != "" {
		config, err := readBox(c.config, box.Read)
		if err != nil {
			return err
		}
		want.Hosts, l.Run = slices.Sorted(maps.Keys(config.Hosts)), config.Run
		if config.Bus.Kind == box.BusTCP {
			l.Addresses = map[transport.HostID]string{}
			for id, p := range config.Hosts {
				l.Addresses[id] = p.Address
			}
			return nil
		}
		l.URL = config.Bus.URL
	}
	if c.keys != "" {
		run, hosts, err := swarm.ExpectedHosts(c.keys)
		if err != nil && c.config == "" {
			return helpful{err, "the whole folder of wdgnn swarm keys, or --config beside the operator's part of it"}
		}
		if err == nil {
			want.Hosts = hosts
			l.Run, l.URL = run, cmp.Or(c.nats, l.URL, keys.ServerURL(c.keys))
		}
	}
	if l.URL = cmp.Or(c.nats, l.URL); l.URL == "" {
		return fmt.Errorf("nobody says where the NATS server is; name it with --nats, or a configuration with --config")
	}
	return nil
}
