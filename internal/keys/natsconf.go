package keys

import (
	"bytes"
	"fmt"
	"net"
	"strconv"
	"strings"

	"github.com/wdgnn/wdgnn/transport"
)

// MaxPending is how many bytes a server keeps for a client that reads slowly
// before it ends the connection. It holds some of the largest frames.
const MaxPending = 4 * transport.MaxFrame

// authorization writes the permissions in the language of the NATS server.
func authorization(p *Permissions) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Who may do what in run %s. Included by %s.\n", p.Run, serverConfigFile)
	b.WriteString("authorization {\n  users = [\n")
	for _, u := range p.Users {
		fmt.Fprintf(&b, "    # %s\n    {nkey: %q, permissions: {publish: %s, subscribe: %s}}\n",
			u.Name, u.Key, subjects(u.Publish), subjects(u.Subscribe))
	}
	for _, u := range p.MQTT {
		fmt.Fprintf(&b, "    {user: %q, password: %q, allowed_connection_types: [MQTT], permissions: {publish: %s, subscribe: %s}}\n",
			u.Name, u.Password, subjects(u.Publishes()), subjects(u.Subscribes()))
	}
	b.WriteString("  ]\n}\n")
	return b.Bytes()
}

// subjects writes a permission. To the server an empty list means everything.
func subjects(allowed []string) string {
	if len(allowed) == 0 {
		return `{deny: [">"]}`
	}
	quoted := make([]string, len(allowed))
	for i, s := range allowed {
		quoted[i] = strconv.Quote(s)
	}
	return "{allow: [" + strings.Join(quoted, ", ") + "]}"
}

// serverConfig writes the configuration of a NATS server of its own.
func serverConfig(p *Permissions, servers []string) []byte {
	routes := make([]string, len(servers))
	for i, s := range servers {
		routes[i] = strconv.Quote("nats://" + net.JoinHostPort(s, "6222"))
	}
	return fmt.Appendf(nil, `# The NATS server of run %[1]s. Start it in this folder: nats-server -c %[2]s
listen: "0.0.0.0:4222"
max_payload: %[3]d  # the largest frame
max_pending: %[4]d
no_fast_producer_stall: true  # a slow reader must not delay others
ping_interval: "10s"
tls {
  cert_file: "server.crt"
  key_file: "server.key"
  ca_file: "ca.crt"
  min_version: "1.3"
}
include %[5]q

# Several servers in a cluster: take away the leading # and name their machines
# in routes. The same folder serves all of them.
#cluster {
#  name: %[1]q
#  listen: "0.0.0.0:6222"
#  routes: [%[6]s]
#  tls {
#    cert_file: "server.crt"
#    key_file: "server.key"
#    ca_file: "ca.crt"
#    verify: true
#    pinned_certs: [%[7]q]  # a host's certificate does not make it a server
#  }
#}
`, p.Run, serverConfigFile, transport.MaxFrame, MaxPending, authorizationFile, strings.Join(routes, ", "), p.ServerPin)
}
