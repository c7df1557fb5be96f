package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/internal/broker"
	"github.com/wdgnn/wdgnn/internal/keys"
	"github.com/wdgnn/wdgnn/transport"
	"github.com/wdgnn/wdgnn/transport/natsbus"
)

// From the keys of a deployment alone status names the host that is down, shows the
// one that reports, and fails; with both it does not.
func TestStatusByKeys(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "keys")
	plan := keys.Plan{Run: "yard", Hosts: []keys.Host{{ID: 0, Hears: []transport.HostID{1}}, {ID: 1, Hears: []transport.HostID{0}}}}
	if err := keys.Make(dir, plan); err != nil {
		t.Fatal(err)
	}
	permissions, err := keys.LoadPermissions(dir)
	if err != nil {
		t.Fatal(err)
	}
	secure, err := keys.ServerTLS(dir)
	if err != nil {
		t.Fatal(err)
	}
	server, err := broker.Start(broker.Config{Keys: permissions, TLS: secure})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Stop()
	halt := make(chan struct{})
	defer close(halt)
	report := func(id transport.HostID) {
		client, err := keys.LoadClient(dir, keys.HostName(id))
		if err != nil {
			t.Fatal(err)
		}
		conn, err := natsbus.Dial(t.Context(), natsbus.Config{URL: server.URL(), Run: "yard", Host: id, Seed: client.Seed, TLS: client.TLS})
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(&host.Report{Run: "yard", Host: id, Time: 40, Health: &host.Health{Certificate: 300 * 86400}})
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			defer conn.Close()
			tick := time.NewTicker(10 * time.Millisecond)
			defer tick.Stop()
			for {
				select {
				case <-halt:
					return
				case <-tick.C:
					_ = conn.Publish(natsbus.ReportSubject("yard", id), text)
				}
			}
		}()
	}
	status := func(args ...string) (code int, out, errs string) {
		var stdout, stderr bytes.Buffer
		args = append([]string{"swarm", "status", "--keys", dir, "--nats", server.URL(), "--wait", "1s"}, args...)
		code = run(t.Context(), args, &stdout, &stderr)
		return code, stdout.String(), stderr.String()
	}
	report(0)
	code, out, errs := status()
	if code != exitFailure || !strings.Contains(out, "host 1: nothing is heard of it") || !strings.Contains(out, "300 days  ok") ||
		!strings.Contains(errs, "1 of 2 hosts are not well") {
		t.Errorf("one host is down: got code %d\n%s%s", code, out, errs)
	}
	report(1)
	if code, out, errs = status("--json"); code != exitOK {
		t.Errorf("all are well: got code %d\n%s%s", code, out, errs)
	}
	var list []struct {
		Host  int
		Heard bool
	}
	if err := json.Unmarshal([]byte(out), &list); err != nil || len(list) != 2 || !list[1].Heard {
		t.Errorf("got %v (%v), want both hosts heard", list, err)
	}
}

// By metrics addresses, agents that do not answer are named and the others shown.
func TestStatusByAddress(t *testing.T) {
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		json.NewEncoder(w).Encode(&host.Report{Run: "yard", Host: 3, Time: 7})
	}))
	defer agent.Close()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	var stdout, stderr bytes.Buffer
	code := run(t.Context(), []string{"swarm", "status", agent.URL, gone.URL}, &stdout, &stderr)
	if code != exitFailure || !strings.Contains(stdout.String(), "    3        7") || !strings.Contains(stderr.String(), gone.URL) {
		t.Errorf("got code %d\n%s%s, want host 3 and the address that does not answer", code, stdout.String(), stderr.String())
	}
}
