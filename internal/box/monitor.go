package box

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/internal/hostname"
)

// monitor shows the latest report over HTTP. It is safe for concurrent use.
type monitor struct {
	box    conditions // set before the first report
	latest atomic.Pointer[seen]
	answer atomic.Pointer[func() error] // says why answers are not written; see watch
	server *http.Server
	addr   net.Addr
}

// seen is a report and when it came, since when neighbours have been silent and an
// answer is owed, and when the last checkpoint was written.
type seen struct {
	report      *host.Report
	at          time.Time
	silent      map[agent.NodeID]time.Time
	owed, saved time.Time // zero if none is
	stale       time.Time // since when lines are refused; zero if they are not
}

// reportEvery is the time between two reports; a host that sent none for
// healthyFor is not well, nor is one that has missed a neighbour for silentFor, or has
// let lines of its world wait for lateFor.
const (
	reportEvery = time.Second
	healthyFor  = 10 * reportEvery
	silentFor   = 30 * time.Second
	lateFor     = 30 * time.Second
)

// newMonitor listens at an address for who asks about a box of a run; empty means nowhere.
func newMonitor(ctx context.Context, run, address string) (*monitor, error) {
	m := new(monitor)
	if address == "" {
		return m, nil
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("metrics: %w; choose another address", err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", metricsHandler(run, m.report))
	mux.HandleFunc("GET /status", m.status)
	mux.HandleFunc("GET /healthz", m.health)
	m.addr = l.Addr()
	m.server = &http.Server{
		Handler: guarded(address, mux), ReadHeaderTimeout: 5 * time.Second, IdleTimeout: time.Minute,
		MaxHeaderBytes: 16 << 10,
	}
	go m.server.Serve(l) // ends with close
	return m, nil
}

// guarded refuses requests that do not mean this machine, as the live page does:
// reports hold parameters, and no page of another site may read them.
func guarded(address string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !hostname.Means(address, r.Host) {
			http.Error(w, fmt.Sprintf("host %.60q is not this machine; ask by its address, or by the name under metrics",
				r.Host), http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// watch asks about answers when it is asked how the host is.
func (m *monitor) watch(answers func() error) { m.answer.Store(&answers) }

// see takes a report, and returns it with what the box knows of itself. It is called
// by one goroutine at a time.
func (m *monitor) see(r *host.Report) *host.Report {
	now := time.Now()
	s := m.box.observe(r, m.latest.Load(), now)
	s.report.Health.Problems = m.ills(s, now)
	m.latest.Store(s)
	return s.report
}

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
	if problems := m.problems(time.Now()); len(problems) > 0 {
		http.Error(w, strings.Join(problems, "\n"), http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintln(w, "ok")
}

// problems says what is wrong with the host, a line for each thing.
func (m *monitor) problems(now time.Time) (list []string) {
	s := m.latest.Load()
	if s == nil {
		return []string{"starting"}
	}
	return m.ills(s, now)
}

// ills says what is wrong by what was seen, and with answers.
func (m *monitor) ills(s *seen, now time.Time) []string {
	list := m.box.problems(s, now)
	if answers := m.answer.Load(); answers != nil {
		if err := (*answers)(); err != nil {
			list = append(list, fmt.Sprintf("answers are lost: %v", err))
		}
	}
	return list
}

// close ends the server and its connections. Whoever is being answered has a moment
// for it; that somebody is cut off then, who may have asked nothing, is no fault of the
// box.
func (m *monitor) close() error {
	if m.server == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if m.server.Shutdown(ctx) != nil {
		return m.server.Close()
	}
	return nil
}
