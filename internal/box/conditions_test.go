package box

import (
	"bytes"
	"crypto/x509"
	"io"
	"log/slog"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/internal/keys"
	"github.com/wdgnn/wdgnn/transport"
)

// A box that owes an answer for longer than it may is not well, in lockstep, where a
// step waits, as in real time, where steps end without one; one that nobody asks is.
func TestOwesAnswers(t *testing.T) {
	began := time.Now()
	for name, c := range map[string]struct {
		report func(second int) *host.Report
		want   string
	}{
		"nobody asks":  {func(int) *host.Report { return &host.Report{Time: 7} }, ""},
		"a step waits": {func(int) *host.Report { return &host.Report{Time: 7, Waits: true} }, "no answer for 20s: step 7 waits for one"},
		"steps end without an answer": {func(s int) *host.Report {
			return &host.Report{Time: uint64(7 + s), Stats: host.Stats{Unanswered: uint64(s)}}
		}, "no answer for 19s: step 27 waits for one"},
		"steps wait and are answered": {func(s int) *host.Report {
			return &host.Report{Time: uint64(7 + s), Waits: true, Agents: agent.Stats{Predicted: uint64(s)}}
		}, ""},
	} {
		c.report(0)
		box := conditions{patience: 15 * time.Second}
		var last *seen
		now := began
		for second := range 21 {
			now = began.Add(time.Duration(second) * time.Second)
			last = box.observe(c.report(second), last, now)
		}
		if got := strings.Join(box.problems(last, now), "; "); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// A box whose neighbours are all silent says so.
func TestAllSilent(t *testing.T) {
	var box conditions
	now := time.Now()
	r := &host.Report{Silent: []agent.NodeID{3, 4}, Outside: 2}
	s := box.observe(r, nil, now)
	if got := strings.Join(box.problems(s, now.Add(silentFor)), "; "); !strings.Contains(got, "all neighbours have been silent") {
		t.Errorf("got %q, want that all are silent", got)
	}
}

// A box of whose nodes nobody has said whom they hear is not well: they answer, and badly.
func TestUnlinked(t *testing.T) {
	var box conditions
	now := time.Now()
	s := box.observe(&host.Report{Unlinked: true}, nil, now)
	if got := strings.Join(box.problems(s, now), "; "); !strings.Contains(got, "whom the nodes here hear") {
		t.Errorf("got %q, want that nobody has said it", got)
	}
}

// A box whose lines wait is not well: its answers are late. A while of it is not worth a word.
func TestLinesWait(t *testing.T) {
	var box conditions
	now := time.Now()
	for late, want := range map[time.Duration]bool{lateFor - time.Second: false, lateFor: true} {
		s := box.observe(&host.Report{Late: late.Seconds()}, nil, now)
		got := strings.Join(box.problems(s, now), "; ")
		if strings.Contains(got, "lines of the world have been waiting for 30s") != want {
			t.Errorf("%v late: got %q, want a word about it: %t", late, got, want)
		}
	}
}

// A box that has refused what its world says for ten seconds is not well.
func TestLinesAreRefused(t *testing.T) {
	var box conditions
	now := time.Now()
	s := box.observe(&host.Report{Time: 500, Stale: 300}, nil, now)
	for after, want := range map[time.Duration]bool{healthyFor - time.Second: false, healthyFor: true} {
		got := strings.Join(box.problems(box.observe(s.report, s, now.Add(after)), now.Add(after)), "; ")
		if strings.Contains(got, "lines of the world are refused: they are 300 steps and more before step 500") != want {
			t.Errorf("after %v: got %q, want a word about it: %t", after, got, want)
		}
	}
	taken := now.Add(healthyFor)
	if got := box.problems(box.observe(&host.Report{Time: 501}, s, taken), taken); got != nil {
		t.Errorf("after a line was taken: got %q, want nothing", got)
	}
}

// A box says who is in other steps, and how far away.
func TestApart(t *testing.T) {
	var box conditions
	now := time.Now()
	s := box.observe(&host.Report{Apart: []host.Apart{{Host: 1, Steps: 30}, {Host: 2, Steps: -4}}}, nil, now)
	got := strings.Join(box.problems(s, now), "; ")
	for _, want := range []string{"host 1 is 30 steps ahead", "host 2 is 4 steps behind", "clocks"} {
		if !strings.Contains(got, want) {
			t.Errorf("got %q, want %q in it", got, want)
		}
	}
}

// Metrics and reports say how old the last checkpoint is, and how many were damaged.
func TestCheckpointAge(t *testing.T) {
	now := time.Now()
	box := conditions{damaged: 1, saved: now.Add(-time.Hour)}
	first := box.observe(&host.Report{}, nil, now)
	if got := first.report.Health.Checkpoint; got != 3600 {
		t.Errorf("before the first: got %v s, want that of the file, 3600", got)
	}
	next := box.observe(&host.Report{Stats: host.Stats{Checkpoints: 1}}, first, now.Add(time.Second))
	later := box.observe(&host.Report{Stats: host.Stats{Checkpoints: 1}}, next, now.Add(6*time.Second))
	if got := later.report.Health.Checkpoint; got != 5 {
		t.Errorf("five seconds after the first: got %v s", got)
	}
	w := httptest.NewRecorder()
	metricsHandler("test", func() *host.Report { return later.report }).ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	for _, want := range []string{
		`wdgnn_checkpoint_age_seconds{run="test"} 5`, `wdgnn_checkpoints_damaged{run="test"} 1`, `wdgnn_healthy{run="test"} 1`,
	} {
		if !strings.Contains(w.Body.String(), want+"\n") {
			t.Errorf("got\n%s\nwant %s in it", w.Body.String(), want)
		}
	}
}

// A box with direct links warns before its certificate ends, is not well after, is
// well again with a renewed file, and hangs up on revoked peers: all while it runs.
func TestCertificateWatched(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "keys")
	plan := keys.Plan{Run: "test", Hosts: []keys.Host{{ID: 0, Hears: []transport.HostID{1}}, {ID: 1, Hears: []transport.HostID{0}}}}
	if err := keys.Make(dir, plan); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	c := &Config{Run: "test", Bus: Bus{Kind: BusTCP, Keys: dir}, jumps: &jumps{log: slog.New(slog.NewTextHandler(io.Discard, nil))}}
	k := c.newCertificate(slog.New(slog.NewTextHandler(&log, nil)))
	box := conditions{certificate: k}
	var refuse func(*x509.Certificate) error
	look := func(now time.Time) string {
		k.look(func(f func(*x509.Certificate) error) { refuse = f }, now)
		return strings.Join(box.problems(box.observe(&host.Report{}, nil, now), now), "; ")
	}
	if got := look(time.Now()); got != "" || log.Len() > 0 {
		t.Errorf("a new certificate: got %q, said %q, want nothing", got, log.String())
	}
	if got := look(time.Now().AddDate(0, 0, 340)); got != "" || !strings.Contains(log.String(), "level=WARN") {
		t.Errorf("25 days before its end: got %q, said %q, want a warning in the log", got, log.String())
	}
	after := time.Now().AddDate(0, 0, 370)
	if got := look(after); !strings.Contains(got, "the certificate of host-0 expired") || !strings.Contains(got, "keys renew") {
		t.Errorf("after its end: got %q, want that it expired and what to do", got)
	}
	if _, err := keys.Renew(dir, keys.Renewal{Years: 3}); err != nil {
		t.Fatal(err)
	}
	if got := look(after); got != "" {
		t.Errorf("renewed: got %q, want nothing", got)
	}
	if err := keys.Revoke(dir, "host-1"); err != nil {
		t.Fatal(err)
	}
	refuse = nil
	look(after)
	if refuse == nil {
		t.Error("after keys were revoked links were not looked at")
	}
}
