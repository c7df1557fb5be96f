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
	"unicode/utf8"

	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/internal/broker"
	"github.com/wdgnn/wdgnn/internal/keys"
	"github.com/wdgnn/wdgnn/internal/swarm"
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
	if code != exitFailure || !strings.Contains(out, "host 1: nothing is heard of it") || !strings.Contains(out, "300 days\n") ||
		!strings.Contains(errs, "not well: 1 of 2 hosts") {
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
	if code != exitFailure || !strings.Contains(stdout.String(), "\n3        ok     7 ") || !strings.Contains(stderr.String(), gone.URL) {
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
	if code, out := status(at[0], "", "0.0.0.0:"+port); code != exitOK || strings.Count(out, "  ok  ") != 3 {
		t.Errorf("got code %d\n%s, want three hosts that are well", code, out)
	}
	if code, out := status("", "", ""); code != exitFailure || !strings.Contains(out, "hosts 0 and 1 would both serve metrics at "+at[1]) {
		t.Errorf("all at one port: got code %d\n%s, want an error that names both", code, out)
	}
}

// The table fits a terminal of 80 columns, and of 50 where rows become columns; long
// sentences below it are broken between words.
func TestStatusFitsTheTerminal(t *testing.T) {
	list := []swarm.Standing{
		{Heard: true, Report: &host.Report{Host: 0, Time: 123456, Health: &host.Health{Checkpoint: 150, Certificate: 364 * 86400}}},
		{Heard: true, Report: &host.Report{Host: 1, Time: 123400}, Behind: 56, Problems: []string{"it is 56 steps behind"}},
		{Report: &host.Report{Host: 2}, Problems: []string{"nothing is heard of it: it is down, cut off, shut out, or of another run"}},
	}
	for _, wide := range []int{50, 80} {
		var b bytes.Buffer
		c := SwarmStatusCommand{Stdout: &terminal{out: &b, wide: func() int { return wide }}}
		if err := c.print(list); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(b.String()) {
			if n := utf8.RuneCountInString(line) - 1; n > wide {
				t.Errorf("%d columns: %q has %d", wide, line, n)
			}
		}
		want := map[int]string{50: "host                0        1         2", 80: "host     state"}[wide]
		if !strings.HasPrefix(b.String(), want) {
			t.Errorf("%d columns: got\n%s\nwant the head %q", wide, b.String(), want)
		}
	}
}

// Keys say what to do next: a server of this program where the bus is NATS, none for
// direct links; and one host is one host.
func TestKeysSayWhatIsNext(t *testing.T) {
	for bus, wants := range map[string]bool{
		`{kind: nats, url: "nats://127.0.0.1:4222", keys: host-0}`: true,
		`{kind: tcp, keys: host-0}`:                                false,
	} {
		dir := t.TempDir()
		text := "run: yard\nhost: 0\nmodel: m.safetensors\nworld: {kind: lines}\nbus: " + bus +
			"\nhosts: {0: {nodes: 0-3, address: \"127.0.0.1:7411\"}}\n"
		if err := os.WriteFile(filepath.Join(dir, "agent.yaml"), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		keys := filepath.Join(dir, "keys")
		code, out, errs := exec(t.Context(), "swarm", "keys", "--config", filepath.Join(dir, "agent.yaml"), "--out", keys)
		if code != exitOK || !strings.Contains(out, "keys of 1 host, the world") {
			t.Errorf("%s: got code %d and %s%s, want keys of 1 host", bus, code, out, errs)
		}
		if got := strings.Contains(out, "  wdgnn swarm server --keys "+keys+" --addr 127.0.0.1:4222 "); got != wants {
			t.Errorf("%s: a server is named: %v, want %v:\n%s", bus, got, wants, out)
		}
	}
}

// A swarm that has ended is not behind: the folder keeps the last look at its hosts, a
// second before the end.
func TestStatusAfterTheEnd(t *testing.T) {
	dir, short := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(short, swarmResult), []byte("{}"), 0o666); err != nil {
		t.Fatal(err)
	}
	expect(t, "swarm status "+short, exitFailure, "ended before its hosts reported\nTry: "+filepath.Join(short, swarmResult))
	reports := []*host.Report{{Run: "swarm", Host: 0, Time: 100}, {Run: "swarm", Host: 1, Time: 40}}
	if err := swarm.WriteStatus(dir, &swarm.View{Reports: reports}); err != nil {
		t.Fatal(err)
	}
	expect(t, "swarm status "+dir, exitFailure, "not well: 1 of 2 hosts")
	if err := os.WriteFile(filepath.Join(dir, swarmResult), []byte("{}"), 0o666); err != nil {
		t.Fatal(err)
	}
	expect(t, "swarm status "+dir, exitOK, "ended")
}
