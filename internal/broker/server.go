package broker

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// startTimeout is how long a server may take to listen.
const startTimeout = 10 * time.Second

// Server is a running server. Its methods may be called concurrently, but Reload and
// Follow, which belong to one goroutine.
type Server struct {
	inside atomic.Pointer[server.Server] // another after the store could not be written
	config Config                        // with the keys in force
	log    *logger
	url    string
	addr   string
	mqtt   string // URL for MQTT, "" if it does not speak it
}

func (s *Server) nats() *server.Server { return s.inside.Load() }

// Stats counts what a server did since it started.
type Stats struct {
	Connections   int    `json:"connections"` // now
	Routes        int    `json:"routes"`      // connections with other servers, now
	Messages      uint64 `json:"messages"`    // received
	Bytes         uint64 `json:"bytes"`
	Deliveries    uint64 `json:"deliveries"` // messages sent on, one for each who heard
	DeliveryBytes uint64 `json:"delivery_bytes"`
	SlowReaders   uint64 `json:"slow_readers"` // connections ended because the other end did not read
	Refused       uint64 `json:"refused"`      // wrong keys, forbidden subjects, things that are no messages
}

// Start starts a server and returns once it takes connections.
func Start(config Config) (*Server, error) {
	s := &Server{config: config, log: &logger{to: config.Log, fatal: make(chan string, 1)}}
	if err := s.launch(); err != nil {
		return nil, err
	}
	return s, nil
}

// launch starts the server inside. After an error none runs.
func (s *Server) launch() error {
	keeper, err := s.config.newKeeper()
	if err != nil {
		return err
	}
	options, err := s.config.options()
	if err != nil {
		return err
	}
	nats, err := server.NewServer(options)
	if err != nil {
		return fmt.Errorf("broker: %w", err)
	}
	s.inside.Store(nats)
	select {
	case <-s.log.fatal: // of the one before
	default:
	}
	nats.SetLoggerV2(s.log, false, false, false)
	nats.Start()
	if err := s.ready(); err != nil {
		s.Stop()
		return fmt.Errorf("broker: address %s: %w; is another server running there?",
			net.JoinHostPort(options.Host, strconv.Itoa(max(options.Port, 0))), err)
	}
	if s.addr == "" { // it stays the same when it is started again
		s.addr = nats.Addr().String()
		s.url = clientURL(s.addr, "nats", s.config.TLS != nil)
	}
	if s.config.MQTT != nil {
		if s.mqtt == "" {
			s.mqtt, err = s.mqttURL()
		}
		if err == nil {
			err = s.boundStore(keeper)
		}
		if err != nil {
			s.Stop()
			return fmt.Errorf("broker: mqtt: %w", err)
		}
	}
	return nil
}

// ready waits until a server that has started listens, or says why not.
func (s *Server) ready() error {
	for began := time.Now(); time.Since(began) < startTimeout; {
		select {
		case reason := <-s.log.fatal:
			return errors.New(reason)
		default:
		}
		if s.nats().ReadyForConnections(startTimeout / 100) {
			return nil
		}
	}
	return fmt.Errorf("not ready after %v", startTimeout)
}

// URL is where clients on this machine find the server.
func (s *Server) URL() string { return s.url }

// Addr is the host and port that the server listens on. A server started with
// it after Stop is the same one to its clients.
func (s *Server) Addr() string { return s.addr }

// Stop ends all connections, once what is under way is written, and waits until
// the port is free and everything has ended.
func (s *Server) Stop() {
	s.nats().Shutdown()
	s.nats().WaitForShutdown()
}

// Stats returns what was counted so far.
func (s *Server) Stats() Stats {
	stats := Stats{
		Connections: s.nats().NumClients(),
		Routes:      s.nats().NumRoutes(),
		SlowReaders: uint64(s.nats().NumSlowConsumers()),
		Refused:     s.log.refused.Load(),
	}
	if v, err := s.nats().Varz(nil); err == nil {
		stats.Messages, stats.Bytes = uint64(v.InMsgs), uint64(v.InBytes)
		stats.Deliveries, stats.DeliveryBytes = uint64(v.OutMsgs), uint64(v.OutBytes)
	}
	return stats
}

// clientURL is the URL of an address, as seen from this machine. TLS has another scheme.
func clientURL(addr, scheme string, secure bool) string {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return addr
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	if secure {
		scheme = map[string]string{"nats": "tls", "mqtt": "mqtts"}[scheme]
	}
	return scheme + "://" + net.JoinHostPort(host, port)
}
