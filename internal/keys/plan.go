package keys

import (
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/wdgnn/wdgnn/transport"
	"github.com/wdgnn/wdgnn/transport/natsbus"
)

// Plan says for whom keys are made.
type Plan struct {
	Run   string `json:"run"`
	Hosts []Host `json:"hosts"`

	// Server lists DNS names and IP addresses of the NATS servers. Empty means
	// localhost, 127.0.0.1 and ::1.
	Server []string `json:"server,omitempty"`

	// Years is how long certificates are valid. 0 means 1. The authority's own,
	// which stays at home and signs the next, is valid for 20 or, if that is more, as long.
	Years int `json:"years,omitempty"`
}

// Host is one host of a Plan.
type Host struct {
	ID    transport.HostID   `json:"id"`
	Hears []transport.HostID `json:"hears"`           // all it may ever hear: its possible neighbours
	Names []string           `json:"names,omitempty"` // DNS names and IP addresses, for clients that check them
}

const (
	defaultYears   = 1
	authorityYears = 20
	mostYears      = 100
)

// Validate returns all that is wrong with p.
func (p Plan) Validate() error {
	var wrong []error
	if err := natsbus.ValidRun(p.Run); err != nil {
		wrong = append(wrong, err)
	}
	if len(p.Hosts) == 0 {
		wrong = append(wrong, errors.New("keys: no hosts"))
	}
	if p.Years < 0 || p.Years > mostYears {
		wrong = append(wrong, fmt.Errorf("keys: certificates for %d years, want 1 to %d, or 0 for %d", p.Years, mostYears, defaultYears))
	}
	wrong = append(wrong, checkNames("server", p.Server)...)
	known := map[transport.HostID]bool{}
	for _, h := range p.Hosts {
		if known[h.ID] {
			wrong = append(wrong, fmt.Errorf("keys: host %d is there twice", h.ID))
		}
		known[h.ID] = true
		wrong = append(wrong, checkNames(HostName(h.ID), h.Names)...)
	}
	for _, h := range p.Hosts {
		for _, j := range h.Hears {
			if j == h.ID || !known[j] {
				wrong = append(wrong, fmt.Errorf("keys: host %d hears %d, want another host of the plan", h.ID, j))
			}
		}
	}
	return errors.Join(wrong...)
}

func checkNames(who string, names []string) []error {
	var wrong []error
	for _, n := range names {
		if net.ParseIP(n) == nil && (n == "" || strings.ContainsAny(n, " \t\r\n\"'/:@#,\\")) {
			wrong = append(wrong, fmt.Errorf("keys: %s: %q is neither a DNS name nor an IP address; leave out ports and schemes", who, n))
		}
	}
	return wrong
}

func (p Plan) years() int {
	if p.Years == 0 {
		return defaultYears
	}
	return p.Years
}

// servers returns the names of the servers.
func (p Plan) servers() []string {
	if len(p.Server) == 0 {
		return []string{"localhost", "127.0.0.1", "::1"}
	}
	return p.Server
}
