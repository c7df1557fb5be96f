package main

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/internal/swarm"
	"github.com/wdgnn/wdgnn/transport"
)

// Hosts with direct links are asked at their metrics addresses; of one that no longer
// answers nothing is heard.
func TestAskedHosts(t *testing.T) {
	var urls []string
	var servers []*httptest.Server
	for id := range transport.HostID(2) {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_ = json.NewEncoder(w).Encode(host.Report{Host: id, Time: 7})
		}))
		defer s.Close()
		urls, servers = append(urls, s.URL), append(servers, s)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	both, one := false, false
	err := swarm.Follow(ctx, asked(urls), func(heard map[transport.HostID]swarm.Sighting) error {
		_, still := heard[0]
		switch both = both || len(heard) == 2; {
		case !both:
		case !one:
			servers[1].Close()
			one = true
		case still && len(heard) == 1:
			cancel()
		}
		return nil
	})
	if err != nil || !one || ctx.Err() != context.Canceled {
		t.Errorf("got %v, both heard %v, then one: %v; want both, then one", err, both, ctx.Err())
	}
}
