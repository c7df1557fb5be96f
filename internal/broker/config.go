package broker

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/wdgnn/wdgnn/internal/keys"
	"github.com/wdgnn/wdgnn/transport"
)

// Config says where a server listens and to whom.
type Config struct {
	Addr string // host:port; empty means 127.0.0.1:0, port 0 any that is free

	// Keys says who may do what. Without, everybody may do everything, and
	// Addr must be a loopback address unless Insecure is true.
	Keys     *keys.Permissions
	Insecure bool

	TLS        *tls.Config  // nil means none
	MaxPayload int          // bytes; 0 means 64 MiB, a frame's limit
	Name       string       // for logs; empty means one that is made up
	Cluster    *Cluster     // nil means a single server
	MQTT       *MQTT        // nil means that it does not speak MQTT
	Log        *slog.Logger // nil means silence

	keeper string // the public key of the server itself, where it sets the bounds of its store
}

// Cluster says which other servers share the load. Servers with TLS and keys
// accept from each other only the server certificate of those keys.
type Cluster struct {
	Name   string   // the same for all
	Addr   string   // host:port for other servers
	Routes []string // some of the others, nats://host:port each
}

// MQTT says where a server also speaks MQTT 3.1.1, with the same TLS. With keys, whoever
// connects needs a name and a password of theirs.
type MQTT struct {
	Addr  string // host:port, as Config.Addr
	Store string // folder for sessions, retained messages and what is to be delivered

	// MaxStore bounds the folder, in bytes; 0 means 1 GiB. Of each kind of thing the oldest
	// goes where there is no room.
	MaxStore int64
}

const (
	defaultAddr  = "127.0.0.1:0"
	pingInterval = 10 * time.Second
	maxPingsOut  = 2
)

// options returns what c means to the server, or all that is wrong with c.
func (c Config) options() (*server.Options, error) {
	var wrong []error
	o := &server.Options{
		ServerName:            c.Name,
		NoSigs:                true,
		NoFastProducerStall:   true, // a slow reader must not delay others
		DisableShortFirstPing: true,
		PingInterval:          pingInterval,
		MaxPingsOut:           maxPingsOut,
		MaxPayload:            int32(min(c.MaxPayload, math.MaxInt32)),
		MaxPending:            max(keys.MaxPending, 2*int64(c.MaxPayload)),
		TLSConfig:             c.TLS,
		TLS:                   c.TLS != nil,
		TLSVerify:             c.TLS != nil && c.TLS.ClientAuth == tls.RequireAndVerifyClientCert,
	}
	if c.MaxPayload == 0 {
		o.MaxPayload = transport.MaxFrame
	}
	if c.MaxPayload < 0 || c.MaxPayload > transport.MaxFrame {
		wrong = append(wrong, fmt.Errorf("a payload of at most %d bytes, want 1 to %d", c.MaxPayload, transport.MaxFrame))
	}
	addr := c.Addr
	if addr == "" {
		addr = defaultAddr
	}
	var err error
	if o.Host, o.Port, err = split(addr); err != nil {
		wrong = append(wrong, err)
	} else if c.Keys == nil && !c.Insecure && !loopback(o.Host) {
		wrong = append(wrong, fmt.Errorf("address %s is open to other machines and there are no keys: "+
			"anybody could speak as any host; try keys made by wdgnn swarm keys, or a loopback address", addr))
	}
	if c.Keys != nil {
		if err := c.Keys.Validate(); err != nil {
			wrong = append(wrong, err)
		}
		o.Nkeys = users(c.Keys)
	}
	if c.Cluster != nil {
		wrong = append(wrong, c.cluster(o)...)
	}
	if c.MQTT != nil {
		wrong = append(wrong, c.mqtt(o)...)
	}
	if len(wrong) > 0 {
		return nil, fmt.Errorf("broker: %w", errors.Join(wrong...))
	}
	return o, nil
}

// cluster adds the options for other servers.
func (c Config) cluster(o *server.Options) (wrong []error) {
	host, port, err := split(c.Cluster.Addr)
	if err != nil {
		wrong = append(wrong, fmt.Errorf("cluster: %w", err))
	} else if !loopback(host) && (c.Keys == nil || c.TLS == nil) && !c.Insecure {
		wrong = append(wrong, fmt.Errorf("cluster: address %s is open to other machines and there are no keys or no TLS: "+
			"anybody could pose as a server", c.Cluster.Addr))
	}
	if c.Cluster.Name == "" {
		wrong = append(wrong, errors.New("cluster: no name"))
	}
	o.Cluster = server.ClusterOpts{Name: c.Cluster.Name, Host: host, Port: port}
	if c.TLS != nil {
		routes := c.TLS.Clone()
		routes.ClientAuth = tls.RequireAndVerifyClientCert
		o.Cluster.TLSConfig = routes
		o.Cluster.TLSTimeout = 5
		if c.Keys != nil {
			o.Cluster.TLSPinnedCerts = server.PinnedCertSet{c.Keys.ServerPin: struct{}{}}
		}
	}
	for _, text := range c.Cluster.Routes {
		u, err := url.Parse(text)
		if err != nil || u.Host == "" {
			wrong = append(wrong, fmt.Errorf("cluster: route %q, want nats://host:port", text))
			continue
		}
		o.Routes = append(o.Routes, u)
	}
	return wrong
}

// only is a permission for the given subjects; to the server an empty list means everything.
func only(subjects []string) *server.SubjectPermission {
	if len(subjects) == 0 {
		return &server.SubjectPermission{Deny: []string{">"}}
	}
	return &server.SubjectPermission{Allow: subjects}
}

// users turns permissions into those of the server.
func users(p *keys.Permissions) []*server.NkeyUser {
	var list []*server.NkeyUser
	for _, u := range p.Users {
		list = append(list, &server.NkeyUser{
			Nkey:        u.Key,
			Permissions: &server.Permissions{Publish: only(u.Publish), Subscribe: only(u.Subscribe)},
		})
	}
	return list
}

// split reads host:port as the server wants it, with -1 for any free port.
func split(addr string) (string, int, error) {
	host, text, err := net.SplitHostPort(addr)
	if err != nil {
		return "", 0, fmt.Errorf("address %q: %w; want host:port", addr, err)
	}
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return "", 0, fmt.Errorf("address %q: want a port from 0 to 65535", addr)
	}
	if host == "" {
		host = "0.0.0.0"
	}
	if port == 0 {
		return host, server.RANDOM_PORT, nil
	}
	return host, int(port), nil
}

func loopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}
