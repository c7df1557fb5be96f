package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/wdgnn/wdgnn/internal/broker"
	"github.com/wdgnn/wdgnn/internal/grid"
	"github.com/wdgnn/wdgnn/internal/keys"
)

// SwarmServerCommand runs a NATS server for agents elsewhere.
type SwarmServerCommand struct {
	Stdout, Stderr io.Writer

	addr, keys, name string
	plain            bool
	mqtt             broker.MQTT
	cluster          broker.Cluster
}

func (c *SwarmServerCommand) command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "server --keys DIR",
		Short: "Run a NATS server for the agents of a deployment",
		Long: `Runs the NATS server that is inside this program, for deployments that want no
other one. It holds everybody to the permissions of --keys, encrypts, and, without
--mqtt, stores nothing. Keys that change are in force within a second. Without --keys
anybody may say anything, so that it listens on this machine only.

Several servers share the load and stand in for each other: give each of them
--cluster-addr, and --route to the others. They know each other by the server
certificate of the same keys.

With --mqtt the server also speaks MQTT 3.1.1, for sensors as they are (world.kind
mqtt of a box): with TLS, and the users of wdgnn swarm keys mqtt. Sessions, retained
messages and what is still to be delivered are in --store, and outlive the server.`,
		Example: `  wdgnn swarm server --keys keys --addr 0.0.0.0:4222
  wdgnn swarm server --keys server --addr 0.0.0.0:4222 --cluster-addr 0.0.0.0:6222 \
    --route nats://10.77.0.2:6222 --route nats://10.77.0.3:6222
  wdgnn swarm server --keys keys --addr 0.0.0.0:4222 --mqtt 0.0.0.0:8883 --store mqtt`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c.Stdout, c.Stderr = cmd.OutOrStdout(), cmd.ErrOrStderr()
			if len(c.cluster.Routes) > 0 && c.cluster.Addr == "" {
				return usageError{cmd.CommandPath(), errors.New("--route needs --cluster-addr, where the others reach this server")}
			}
			return during("swarm server", c.Run(cmd.Context()))
		},
	}
	f := cmd.Flags()
	f.StringVar(&c.addr, "addr", "127.0.0.1:4222", "address for agents, host:port")
	f.StringVar(&c.keys, "keys", "", "folder written by wdgnn swarm keys, or its part server")
	f.BoolVar(&c.plain, "plain", false, "keys without encryption, for one machine")
	f.StringVar(&c.name, "name", "", "name in logs; nothing means one that is made up")
	f.StringVar(&c.cluster.Name, "cluster", "wdgnn", "name of the cluster, the same for all servers")
	f.StringVar(&c.cluster.Addr, "cluster-addr", "", "address for other servers, host:port; nothing means a single server")
	f.StringArrayVar(&c.cluster.Routes, "route", nil, "`nats://host:port` of another server's --cluster-addr; may be given more than once")
	f.StringVar(&c.mqtt.Addr, "mqtt", "", "address for MQTT, host:port, such as :8883; nothing means no MQTT")
	f.StringVar(&c.mqtt.Store, "store", "mqtt-store", "folder of what MQTT stores: sessions, retained messages, deliveries")
	return cmd
}

// Run serves until ctx ends.
func (c *SwarmServerCommand) Run(ctx context.Context) error {
	b := broker.Config{Addr: c.addr, Name: c.name, Log: slog.New(slog.NewTextHandler(c.Stderr, nil))}
	if c.cluster.Addr != "" {
		b.Cluster = &c.cluster
	}
	if c.mqtt.Addr != "" {
		b.MQTT = &c.mqtt
	}
	if c.keys != "" {
		var err error
		if b.Keys, err = keys.LoadPermissions(c.keys); err != nil {
			return helpful{err, "wdgnn swarm keys, which writes them"}
		}
		if !c.plain {
			if b.TLS, err = keys.ServerTLS(c.keys); err != nil {
				return helpful{err, "wdgnn swarm keys, which writes them"}
			}
		}
	}
	s, err := broker.Start(b)
	if err != nil {
		return err
	}
	defer s.Stop()
	if _, err := fmt.Fprintf(c.Stdout, "%s  (agents: bus.url; Ctrl-C ends it)\n", s.URL()); err != nil {
		return err
	}
	if s.MQTT() != "" {
		if _, err := fmt.Fprintf(c.Stdout, "%s  (sensors and world.broker; stored in %s)\n", s.MQTT(), c.mqtt.Store); err != nil {
			return err
		}
	}
	s.Follow(ctx, c.keys, b.Log)
	n := s.Stats()
	_, err = fmt.Fprintf(c.Stdout, "%s, delivered %d times, %d refused\n", grid.Count(n.Messages, "message"), n.Deliveries, n.Refused)
	return err
}
