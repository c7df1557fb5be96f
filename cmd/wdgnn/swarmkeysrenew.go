package main

import (
	"errors"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/wdgnn/wdgnn/internal/keys"
)

// SwarmKeysRenewCommand writes new certificates for a deployment that runs.
type SwarmKeysRenewCommand struct {
	Stdout io.Writer

	keys    string
	renewal keys.Renewal
}

func (c *SwarmKeysRenewCommand) command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "renew [PARTY...]",
		Short: "Write new certificates for a deployment, which goes on running",
		Long: `Writes new certificates for the same names and keys into the folder --keys, for
the parties that are named (host-3, server) or for all. Copy each to its machine,
host.crt or server.crt alone: boxes and servers take them by themselves in the
next handshake, and connections go on.

With --rekey the parties that are named get new secrets too, NKey and key, for
when the old ones may be in other hands; their whole folders are to be copied,
and they are to be started again.`,
		Example: `  wdgnn swarm keys renew --keys keys
  scp keys/host-3/host.crt box-3:host-3/        a file for each box
  wdgnn swarm keys renew --keys keys --rekey host-3`,
		RunE: func(cmd *cobra.Command, args []string) error {
			c.Stdout = cmd.OutOrStdout()
			if c.renewal.Rekey && len(args) == 0 {
				return usageError{cmd.CommandPath(), errors.New("--rekey needs the parties that get new keys, such as host-3")}
			}
			return during("swarm keys renew", c.Run(args))
		},
	}
	f := cmd.Flags()
	f.StringVar(&c.keys, "keys", "keys", "folder of wdgnn swarm keys, with the authority in it")
	f.IntVar(&c.renewal.Years, "years", 0, "how long certificates are valid; 0 means 1")
	f.BoolVar(&c.renewal.Rekey, "rekey", false, "new secrets too, for the parties that are named")
	return cmd
}

// Run writes the certificates.
func (c *SwarmKeysRenewCommand) Run(parties []string) error {
	c.renewal.Parties = parties
	done, err := keys.Renew(c.keys, c.renewal)
	out := lines{w: c.Stdout}
	for _, d := range done {
		if d.Until.IsZero() {
			out.printf("%-10s a new NKey\n", d.Party)
			continue
		}
		out.printf("%-10s valid until %s\n", d.Party, d.Until.Format(time.DateOnly))
	}
	if err != nil {
		return err
	}
	if c.renewal.Rekey {
		out.printf("Next: copy these folders to their machines and start them again, and the folder server to the servers\n")
	} else {
		out.printf("Next: copy host.crt or server.crt of each to its machine; nobody has to stop\n")
	}
	return out.err
}

// SwarmKeysRevokeCommand shuts parties out of a deployment that runs.
type SwarmKeysRevokeCommand struct {
	Stdout io.Writer

	keys string
}

func (c *SwarmKeysRevokeCommand) command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "revoke PARTY...",
		Short: "Shut out who has a stolen key, without a restart of the others",
		Long: `Takes the keys of parties (host-3, world, observer, server) out of use: servers
no longer know their NKeys, and revoked.txt in every folder lists the keys of
their certificates. Copy the folder server to the servers, which hang up on them
within a second (nats-server: --signal reload), and for direct links revoked.txt
to every box, which do the same.

wdgnn swarm keys renew --rekey gives a party new keys.`,
		Example: `  wdgnn swarm keys revoke --keys keys host-3`,
		RunE: func(cmd *cobra.Command, args []string) error {
			c.Stdout = cmd.OutOrStdout()
			if len(args) == 0 {
				return usageError{cmd.CommandPath(), errors.New("name the parties whose keys are revoked, such as host-3")}
			}
			return during("swarm keys revoke", c.Run(args))
		},
	}
	cmd.Flags().StringVar(&c.keys, "keys", "keys", "folder of wdgnn swarm keys, with the authority in it")
	return cmd
}

// Run revokes.
func (c *SwarmKeysRevokeCommand) Run(parties []string) error {
	if err := keys.Revoke(c.keys, parties...); err != nil {
		return err
	}
	out := lines{w: c.Stdout}
	for _, p := range parties {
		out.printf("%-10s revoked\n", p)
	}
	out.printf("Next: copy %s/server to the servers, and for direct links %s/ca/revoked.txt into the folder of every box\n", c.keys, c.keys)
	return out.err
}
