package broker

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/wdgnn/wdgnn/internal/keys"
)

const (
	mqttStore   = 1 << 30          // bytes on disk that sessions and messages may take, unless MQTT.MaxStore says otherwise
	mqttMemory  = 64 << 20         // bytes of memory
	mqttAckWait = 10 * time.Second // until a message that was not acknowledged is sent again
	mqttPending = 1000             // messages of a subscription that may wait to be acknowledged
	mqttType    = "MQTT"           // the server's word for such connections
	mqttName    = "wdgnn"          // of a server without one: stored sessions belong to a name
	mqttTLSTime = 5                // seconds for a handshake
)

// mqtt adds the options of MQTT.
func (c Config) mqtt(o *server.Options) (wrong []error) {
	host, port, err := split(c.MQTT.Addr)
	if err != nil {
		wrong = append(wrong, fmt.Errorf("mqtt: %w", err))
	} else if c.Keys == nil && !c.Insecure && !loopback(host) {
		wrong = append(wrong, fmt.Errorf("mqtt: address %s is open to other machines and there are no keys: "+
			"anybody could speak as any sensor; try keys made by wdgnn swarm keys, or a loopback address", c.MQTT.Addr))
	}
	if c.MQTT.Store == "" {
		wrong = append(wrong, errors.New("mqtt: no folder for what is stored; retained messages and sessions outlive the server"))
	}
	if c.Cluster != nil {
		wrong = append(wrong, errors.New("mqtt: a server of a cluster does not speak MQTT here, what is stored would need three of them; "+
			"start one server for MQTT beside the cluster"))
	}
	if o.ServerName == "" {
		o.ServerName = mqttName
	}
	o.JetStream, o.StoreDir, o.JetStreamMaxStore, o.JetStreamMaxMemory = true, c.MQTT.Store, c.MQTT.maxStore(), mqttMemory
	o.MQTT = server.MQTTOpts{Host: host, Port: port, AckWait: mqttAckWait, MaxAckPending: mqttPending}
	if c.TLS != nil {
		o.MQTT.TLSConfig = c.TLS.Clone()
		o.MQTT.TLSConfig.MinVersion = tls.VersionTLS12 // of what small sensors can
		o.MQTT.TLSTimeout = mqttTLSTime
	}
	if c.Keys != nil {
		o.Users = mqttUsers(c.Keys)
	}
	if c.Keys != nil && c.keeper != "" {
		o.Nkeys = append(o.Nkeys, storeKeeper(c.keeper))
	}
	return wrong
}

// mqttUsers turns those who speak MQTT into users of the server, who may do nothing else.
func mqttUsers(p *keys.Permissions) []*server.User {
	var list []*server.User
	for _, u := range p.MQTT {
		list = append(list, &server.User{
			Username: u.Name, Password: u.Password,
			Permissions:            &server.Permissions{Publish: only(u.Publishes()), Subscribe: only(u.Subscribes())},
			AllowedConnectionTypes: map[string]struct{}{mqttType: {}},
		})
	}
	return list
}

// mqttURL returns where clients on this machine find MQTT.
func (s *Server) mqttURL() (string, error) {
	v, err := s.nats().Varz(nil)
	if err != nil {
		return "", err
	}
	return clientURL(net.JoinHostPort(v.MQTT.Host, strconv.Itoa(v.MQTT.Port)), "mqtt", s.config.TLS != nil), nil
}

// MQTT is where clients on this machine find the server by MQTT, "" if it does not speak it.
func (s *Server) MQTT() string { return s.mqtt }
