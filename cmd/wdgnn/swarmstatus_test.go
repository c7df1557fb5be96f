package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
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

// Several agents on one machine are seen by what a configuration says of their metrics;
// one that says nothing of them is refused, instead of seeing one of them.
func TestStatusOfOneMachine(t *testing.T) {
	var at []string
	for id := range transport.HostID(3) {
		agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			json.NewEncoder(w).Encode(&host.Report{Run: "yard", Host: id, Time: 7})
		}))
		defer agent.Close()
		at = append(at, strings.TrimPrefix(agent.URL, "http://"))
	}
	status := func(metrics ...string) (int, string) {
		text := fmt.Sprintf("run: yard\nhost: 1\nmodel: m.safetensors\nmetrics: %q\nbus: {kind: tcp}\nworld: {kind: lines}\nhosts:\n", at[1])
		for id := range at {
			text += fmt.Sprintf("  %d: {nodes: \"%d\", address: \"127.0.0.1:741%d\", metrics: %q}\n", id, id, id, metrics[id])
		}
		path := filepath.Join(t.TempDir(), "host-1.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		code := run(t.Context(), []string{"swarm", "status", "--config", path}, &out, &out)
		return code, out.String()
	}
	_, port, err := net.SplitHostPort(at[2])
	if err != nil {
		t.Fatal(err)
	}
	if code, out := status(at[0], "", "0.0.0.0:"+port); code != exitOK || strings.Count(out, "  ok\n") != 3 {
		t.Errorf("got code %d\n%s, want three hosts that are well", code, out)
	}
	if code, out := status("", "", ""); code != exitFailure || !strings.Contains(out, "hosts 0 and 1 would both serve metrics at "+at[1]) {
		t.Errorf("all at one port: got code %d\n%s, want an error that names both", code, out)
	}
}
