package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/internal/live"
)

var pageURL = regexp.MustCompile(`The page is at (http://\S+)`)

// showPage runs a command until it prints where its page is, gets paths from
// there, and ends it with Ctrl-C. It returns the answers.
func showPage(t *testing.T, args []string, paths ...string) map[string]string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	read, write := io.Pipe()
	code := make(chan int, 1)
	go func() {
		code <- run(ctx, args, write, write)
		write.Close()
	}()
	lines, url, log := bufio.NewScanner(read), "", ""
	for url == "" && lines.Scan() {
		log += lines.Text() + "\n"
		if m := pageURL.FindStringSubmatch(lines.Text()); m != nil {
			url = m[1]
		}
	}
	go io.Copy(io.Discard, read)
	if url == "" {
		t.Fatalf("%q shows no page: %s", args, log)
	}
	client, got := http.Client{Timeout: time.Minute}, map[string]string{}
	for _, path := range paths {
		a, err := client.Get(url + path)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(io.LimitReader(a.Body, 300)) // a stream has no end
		a.Body.Close()
		if err != nil || a.StatusCode != http.StatusOK {
			t.Errorf("%s: %d %s, %v", path, a.StatusCode, text, err)
		}
		got[path] = string(text)
	}
	client.CloseIdleConnections()
	cancel()
	if c := <-code; c != exitOK {
		t.Errorf("%q: exit code %d, want 0", args, c)
	}
	return got
}

// The demo shows its page at once and records; view replays what it recorded.
func TestDemoPageAndView(t *testing.T) {
	run := filepath.Join(t.TempDir(), "run")
	got := showPage(t, []string{"demo", "--page=127.0.0.1:0", "--record", run, "--results", ""}, "", "page.json", "events")
	for path, want := range map[string]string{"": "<!doctype html>", "page.json": `"mode":"live","control":true`, "events": "event: scene"} {
		if !strings.Contains(got[path], want) {
			t.Errorf("/%s: %q, want %q", path, got[path], want)
		}
	}
	got = showPage(t, []string{"view", run, "--addr", "127.0.0.1:0", "--results", ""}, "page.json", "replay")
	for path, want := range map[string]string{
		"page.json": `"mode":"replay","control":false,"tables":false`,
		"replay":    `"title":"Where did the pulse start?"`,
	} {
		if !strings.Contains(got[path], want) {
			t.Errorf("/%s: %q, want %q", path, got[path], want)
		}
	}
	if code, _, stderr := exec(t.Context(), "demo", "--page=127.0.0.1:0", "--record", run); code != exitFailure ||
		!strings.Contains(stderr, "Try: another --record folder") {
		t.Errorf("recording over a recording: %d %s", code, stderr)
	}
}

// Metrics are curves, and results are tables.
func TestViewFolders(t *testing.T) {
	dir := t.TempDir()
	var b strings.Builder
	for k := range 5 {
		fmt.Fprintf(&b, `{"epoch": %d, "loss": %v}`+"\n", k+1, 1/float64(k+1))
	}
	if err := os.WriteFile(filepath.Join(dir, "metrics.jsonl"), []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	got := showPage(t, []string{"view", dir, "--addr", "127.0.0.1:0", "--results", ""}, "replay")
	if !strings.Contains(got["replay"], `"curves":[{"name":"loss"`) {
		t.Errorf("metrics: %q", got["replay"])
	}
	got = showPage(t, []string{"view", "../../doc/results", "--addr", "127.0.0.1:0"}, "page.json", "tables", "figures/fig2a.svg")
	for path, want := range map[string]string{
		"page.json": `"mode":"tables"`, "tables": `"title":"Table 1: source localization"`, "figures/fig2a.svg": "<svg",
	} {
		if !strings.Contains(got[path], want) {
			t.Errorf("/%s: %q, want %q", path, got[path], want)
		}
	}
}

func TestPageRefuses(t *testing.T) {
	empty := t.TempDir()
	recorded := filepath.Join(t.TempDir(), "run")
	hub, err := live.NewHub(live.Scene{Layout: live.LayoutNone})
	if err != nil {
		t.Fatal(err)
	}
	recorder, err := live.Record(hub, recorded, live.RecordConfig{})
	if err != nil {
		t.Fatal(err)
	}
	if err := recorder.Close(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"view", exitUsage, "wants FOLDER"},
		{"view " + empty, exitFailure, "nothing to replay"},
		{"view " + filepath.Join(empty, "none"), exitFailure, "stat "},
		{"view " + recorded + " --addr 0.0.0.0:0", exitFailure, "needs a token"},
		{"view " + recorded + " --addr here", exitUsage, "want an address and a port"},
		{"view " + recorded + " --addr 127.0.0.1:0 --results " + filepath.Join(empty, "none"), exitFailure, "results"},
		{"demo --page=0.0.0.0:0", exitFailure, "needs a token"},
	} {
		code, _, stderr := exec(t.Context(), strings.Fields(c.args)...)
		if code != c.code || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: exit code %d, %q; want %d, %q", c.args, code, stderr, c.code, c.want)
		}
	}
}
