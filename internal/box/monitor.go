package box

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/wdgnn/wdgnn/internal/host"
)

// monitor shows the latest report over HTTP. It is safe for concurrent use.
type monitor struct {
	latest atomic.Pointer[seen]
	server *http.Server
	addr   net.Addr
}

// seen is a report and when it came.
type seen struct {
	report *host.Report
	at     time.Time
}

// reportEvery is the time between two reports; a host that sent none for
// healthyFor is not well.
const (
	reportEvery = time.Second
	healthyFor  = 10 * reportEvery
)

// newMonitor listens at an address; empty means nowhere.
func newMonitor(ctx context.Context, address string) (*monitor, error) {
	m := new(monitor)
	if address == "" {
		return m, nil
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("metrics: %w; choose another address", err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", metricsHandler(m.report))
	mux.HandleFunc("GET /status", m.status)
	mux.HandleFunc("GET /healthz", m.health)
	m.addr = l.Addr()
	m.server = &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10}
	go m.server.Serve(l) // ends with close
	return m, nil
}

// see takes a report.
func (m *monitor) see(r *host.Report) { m.latest.Store(&seen{r, time.Now()}) }

// report returns the latest report, nil if there is none.
func (m *monitor) report() *host.Report {
	if s := m.latest.Load(); s != nil {
		return s.report
	}
	return nil
}

func (m *monitor) status(w http.ResponseWriter, _ *http.Request) {
	r := m.report()
	if r == nil {
		http.Error(w, "starting", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(r) // whoever hung up does not want to know
}

func (m *monitor) health(w http.ResponseWriter, _ *http.Request) {
	s := m.latest.Load()
	switch {
	case s == nil:
		http.Error(w, "starting", http.StatusServiceUnavailable)
	case time.Since(s.at) > healthyFor:
		http.Error(w, fmt.Sprintf("the last report is %v old", time.Since(s.at).Round(time.Second)), http.StatusServiceUnavailable)
	default:
		fmt.Fprintln(w, "ok")
	}
}

// close ends the server and its connections.
func (m *monitor) close() error {
	if m.server == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := m.server.Shutdown(ctx); err != nil {
		return errors.Join(err, m.server.Close())
	}
	return nil
}
