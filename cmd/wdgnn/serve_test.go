package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// ratingsFolder makes a folder with a small ratings.csv.
func ratingsFolder(t *testing.T) string {
	t.Helper()
	dir, rng := t.TempDir(), rand.New(rand.NewPCG(1, 1))
	var b strings.Builder
	for u := range 60 {
		for n := range 20 {
			if rng.IntN(2) == 0 {
				fmt.Fprintf(&b, "%d,%d,%d\n", u+1, n+1, 1+(u%2*n%2*2+rng.IntN(3))%5)
			}
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "ratings.csv"), []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestServeRefuses(t *testing.T) {
	data, dir := ratingsFolder(t), t.TempDir()
	short := filepath.Join(dir, "short")
	if err := os.WriteFile(short, []byte("abc\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	state := filepath.Join(dir, "state")
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"serve -h", exitOK, "--token-file"},
		{"recommend -h", exitOK, "train"},
		{"recommend train -h", exitOK, "--movies"},
		{"recommend fly", exitUsage, `has no command "fly"`},
		{"serve", exitUsage, "--data names the folder"},
		{"recommend train", exitUsage, "--data names the folder"},
		{"recommend train --data " + data + " --movies 1", exitUsage, "movies is 1"},
		{"serve --data " + data + " --preset bold", exitUsage, `no preset is called "bold"`},
		{"serve --data " + data + " --step-size -1", exitUsage, "step_size"},
		{"serve --data " + data + " --guard-window 0", exitUsage, "want at least 1"},
		{"serve --data " + data + " --addr 0.0.0.0:0 --state " + state, exitFailure, "needs a token"},
		{"serve --data " + data + " --addr here --state " + state, exitUsage, "want an address and a port"},
		{"serve --data " + data + " --addr 127.0.0.1:0 --token-file " + short + " --state " + state, exitFailure, "16 characters"},
		{"serve --data " + dir + "/none --addr 127.0.0.1:0 --state " + state, exitFailure, "Try: wdgnn data get"},
		{"serve --data " + data + " --addr 127.0.0.1:0 --model " + dir + "/none --state " + state, exitFailure, "Try: wdgnn recommend train"},
	} {
		stderr := expect(t, c.args, c.code, c.want)
		if c.code != exitOK && !strings.Contains(stderr, "Try: ") {
			t.Errorf("wdgnn %s: %q does not say what to try", c.args, stderr)
		}
	}
}

// The first start trains and saves a model, the second finds it; both end in
// order when they are told to.
func TestServe(t *testing.T) {
	data, state := ratingsFolder(t), filepath.Join(t.TempDir(), "state")
	for round, trains := range []bool{true, false} {
		ctx, cancel := context.WithCancel(context.Background())
		read, write := io.Pipe()
		code := make(chan int, 1)
		go func() {
			code <- run(ctx, []string{"serve", "--data", data, "--state", state, "--addr", "127.0.0.1:0", "--movies", "15"}, io.Discard, write)
			write.Close()
		}()
		url, log := "", ""
		lines := bufio.NewScanner(read)
		for url == "" && lines.Scan() {
			log += lines.Text() + "\n"
			if m := regexp.MustCompile(`address=(\S+)`).FindStringSubmatch(lines.Text()); m != nil {
				url = m[1]
			}
		}
		go io.Copy(io.Discard, read)
		if url == "" {
			t.Fatalf("round %d: it does not serve: %s", round, log)
		}
		if got := strings.Contains(log, "training one"); got != trains {
			t.Errorf("round %d trains: %v, want %v", round, got, trains)
		}
		client := http.Client{Timeout: time.Minute}
		a, err := client.Post(url+"/v1/ratings", "application/json",
			strings.NewReader(fmt.Sprintf(`{"user": 1, "movie": 3, "rating": %d}`, 1+round)))
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(a.Body)
		a.Body.Close()
		if want := fmt.Sprintf(`"version":%d`, round+1); a.StatusCode != http.StatusOK || !strings.Contains(string(text), want) {
			t.Errorf("round %d: %d %s, want %s", round, a.StatusCode, text, want)
		}
		if round == 0 {
			c, _, stderr := exec(context.Background(), "serve", "--data", data, "--state", state, "--addr", "127.0.0.1:0")
			if c != exitFailure || !strings.Contains(stderr, "another process uses it") {
				t.Errorf("a second service on the same state: %d %s", c, stderr)
			}
		}
		client.CloseIdleConnections()
		cancel()
		if got := <-code; got != exitOK {
			t.Errorf("round %d: exit code %d, want 0", round, got)
		}
	}
}

func TestRecommendTrain(t *testing.T) {
	data, out := ratingsFolder(t), filepath.Join(t.TempDir(), "m.safetensors")
	code, stdout, stderr := exec(context.Background(), "recommend", "train", "--data", data, "--movies", "0", "--epochs", "3",
		"--out", out, "--json")
	if code != exitOK || !strings.Contains(stdout, `"rmse":`) || !strings.Contains(stderr, "the 20 most rated of 20 movies") {
		t.Errorf("exit code %d, %q and %q", code, stdout, stderr)
	}
	for _, path := range []string{out, strings.TrimSuffix(out, "safetensors") + "json"} {
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
}
