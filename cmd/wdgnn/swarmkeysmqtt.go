package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wdgnn/wdgnn/internal/keys"
)

// SwarmKeysMQTTCommand lets sensors and others speak MQTT with the server.
type SwarmKeysMQTTCommand struct {
	Stdout io.Writer

	keys               string
	publish, subscribe []string
}

func (c *SwarmKeysMQTTCommand) command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "mqtt NAME --publish TOPIC --subscribe TOPIC",
		Short: "Let a sensor, a box or Home Assistant speak MQTT with wdgnn swarm server --mqtt",
		Long: `Makes a user of the server's MQTT: a password in a folder of its own, beside the
certificate that the server is known by, and the topics that it may write and read.
Topics may hold + for one level and # for all that follow. For a name that is there
already the topics are replaced and the password stays.

Copy the folder server to the server, which takes it within a second. wdgnn swarm
keys revoke mqtt-NAME shuts a user out, renew --rekey mqtt-NAME draws a new password.`,
		Example: `  wdgnn swarm keys mqtt pump-7 --publish sensors/pump-7/temperature
  wdgnn swarm keys mqtt box-0 --subscribe 'sensors/+/temperature' --publish 'answers/#','homeassistant/#'
  wdgnn swarm keys mqtt hass --subscribe 'answers/#','homeassistant/#'`,
		RunE: func(cmd *cobra.Command, args []string) error {
			c.Stdout = cmd.OutOrStdout()
			if len(args) != 1 {
				return usageError{cmd.CommandPath(), errors.New("name one user, such as pump-7")}
			}
			if len(c.publish)+len(c.subscribe) == 0 {
				return usageError{cmd.CommandPath(), fmt.Errorf("--publish or --subscribe is missing: the topics that %s may write and read", args[0])}
			}
			return during("swarm keys mqtt", c.Run(args[0]))
		},
	}
	f := cmd.Flags()
	f.StringVar(&c.keys, "keys", "keys", "folder of wdgnn swarm keys, with the authority in it")
	f.StringSliceVar(&c.publish, "publish", nil, "topics that it may write, such as sensors/pump-7/#")
	f.StringSliceVar(&c.subscribe, "subscribe", nil, "topics that it may read, such as answers/#")
	return cmd
}

// Run makes the user.
func (c *SwarmKeysMQTTCommand) Run(name string) error {
	folder, err := keys.AddMQTT(c.keys, name, c.publish, c.subscribe)
	if err != nil {
		return err
	}
	out := lines{w: c.Stdout}
	out.printf("%s: password and ca.crt of the MQTT user %s\n", folder, name)
	out.printf("  writes   %s\n", topicList(c.publish))
	out.printf("  reads    %s\n", topicList(c.subscribe))
	out.printf("Next: copy %s/server to the server, which takes it within a second, and %s to its machine\n", c.keys, folder)
	return out.err
}

// topicList names topics.
func topicList(topics []string) string {
	if len(topics) == 0 {
		return "nothing"
	}
	return strings.Join(topics, ", ")
}
