package swarm

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/internal/keys"
	"github.com/wdgnn/wdgnn/transport"
	"github.com/wdgnn/wdgnn/transport/natsbus"
)

// ReportSource says where reports are listened for.
type ReportSource struct {
	URL, Run string
	Keys     string // folder; empty means a server without keys
	Party    string // whose key of it
	Wait     time.Duration
}

// OnReports calls take with every report of a run's hosts, until stop is called.
// What cannot be read, and what one host says of another, is left out.
func OnReports(conn *natsbus.Conn, run string, take func(*host.Report)) (stop func(), err error) {
	return conn.Subscribe(natsbus.ReportSubjects(run), func(subject string, data []byte) {
		r := new(host.Report)
		if from, err := natsbus.HostOf(subject); err == nil && json.Unmarshal(data, r) == nil && r.Host == from {
			take(r)
		}
	})
}

// dial opens the bus of a deployment.
func (o *ReportSource) dial(ctx context.Context) (*natsbus.Conn, error) {
	c := natsbus.Config{URL: o.URL, Run: o.Run, Name: "observer"}
	if o.Keys != "" {
		secrets, err := keys.LoadClient(o.Keys, o.Party)
		if err != nil {
			return nil, err
		}
		c.Seed = secrets.Seed
		if strings.HasPrefix(o.URL, "tls://") {
			c.TLS = secrets.TLS
		}
	}
	return natsbus.Dial(ctx, c)
}

// Listen listens on the bus of a deployment and returns what every host said that
// spoke.
func Listen(ctx context.Context, o ReportSource) (map[transport.HostID]Sighting, error) {
	ctx, cancel := context.WithTimeout(ctx, o.Wait)
	defer cancel()
	conn, err := o.dial(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	var mu sync.Mutex
	heard, began := map[transport.HostID]Sighting{}, map[transport.HostID]time.Time{}
	stop, err := OnReports(conn, o.Run, func(r *host.Report) {
		mu.Lock()
		defer mu.Unlock()
		s, ok := heard[r.Host]
		if !ok {
			s.First, began[r.Host] = r, time.Now()
		}
		s.Last, s.Between = r, time.Since(began[r.Host])
		heard[r.Host] = s
	})
	if err != nil {
		return nil, err
	}
	defer stop()
	<-ctx.Done()
	mu.Lock()
	defer mu.Unlock()
	return maps.Clone(heard), nil // the last call may still come
}

// Table returns reports as lines of text, at most so many hosts.
func Table(reports []*host.Report, most int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%5s %8s %9s %9s %9s %8s %8s %9s  %s\n", "host", "step", "received", "expired", "late", "lost", "asked", "p99", "nodes")
	for k, r := range reports {
		if k == most {
			fmt.Fprintf(&b, "%5s and %d more\n", "…", len(reports)-most)
			break
		}
		nodes := r.Nodes
		if len(nodes) > 24 {
			nodes = nodes[:23] + "…"
		}
		fmt.Fprintf(&b, "%5d %8d %9d %9d %9d %8d %8d %9s  %s\n",
			r.Host, r.Time, r.Agents.Received, r.Agents.Expired, r.Stats.LateRows, r.Stats.Gaps, r.Agents.Asked,
			r.Latency.P99.Round(10*time.Microsecond), nodes)
	}
	return b.String()
}
