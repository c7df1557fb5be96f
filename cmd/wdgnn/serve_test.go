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

	"github.com/wdgnn/wdgnn/internal/journal"
	"github.com/wdgnn/wdgnn/internal/shop/dataset"
	"github.com/wdgnn/wdgnn/internal/shop/recommend"
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
	open := filepath.Join(dir, "open")
	if err := os.WriteFile(open, []byte("correct-horse-battery\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(open, 0o640); err != nil {
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
		{"recommend ratings", exitUsage, "--data names the folder"},
		{"recommend fly", exitUsage, `has no command "fly"`},
		{"serve", exitUsage, "--data names the folder"},
		{"recommend train", exitUsage, "--data names the folder"},
		{"recommend train --data " + data + " --movies 1", exitUsage, "movies is 1"},
		{"serve --data " + data + " --step-size -1", exitUsage, "step_size"},
		{"serve --data " + data + " --guard-window 0", exitUsage, "want at least 1"},
		{"serve --data " + data + " --addr 0.0.0.0:0 --state " + state, exitFailure, "needs a token"},
		{"serve --data " + data + " --addr here --state " + state, exitUsage, "want an address and a port"},
		{"serve --data " + data + " --addr 127.0.0.1:0 --token-file " + short + " --state " + state, exitFailure, "16 characters"},
		{"serve --data " + data + " --addr 127.0.0.1:0 --token-file " + open + " --state " + state, exitFailure, "mode 0640\nTry: chmod 600"},
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

// What a service was told is a file to train again with: without users who were deleted, with new items.
func TestRecommendRatings(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	var b strings.Builder
	b.WriteString("user,item,rating,title\n")
	for u := range 30 {
		for n := range 8 {
			if (u*n+u)%3 > 0 {
				fmt.Fprintf(&b, "\"user, %d\",ware %d,%d,Ware №%d\n", u, n, (u*n)%11, n)
			}
		}
	}
	if err := os.WriteFile(in("shop.csv"), []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(want int, args ...string) string {
		t.Helper()
		code, stdout, stderr := exec(context.Background(), args...)
		if code != want {
			t.Fatalf("%v: exit code %d, want %d: %s", args, code, want, stderr)
		}
		return stdout + stderr
	}
	run(exitOK, "recommend", "train", "-q", "--epochs", "1", "--ratings", in("shop.csv"), "--out", in("m.safetensors"))
	command := []string{
		"recommend", "ratings", "--ratings", in("shop.csv"), "--model", in("m.safetensors"), "--state", in("state"),
		"--out", in("now.csv"),
	}
	if said := run(exitFailure, command...); !strings.Contains(said, "Try: --state, the folder of the service") {
		t.Errorf("without a state: got %s", said)
	}
	before := serveShop(t, in("shop.csv"), in("m.safetensors"), in("state"))
	if said := run(exitOK, command...); !strings.Contains(said, fmt.Sprintf("%d ratings", before)) {
		t.Errorf("got %s, want %d ratings", said, before)
	}
	text, err := os.ReadFile(in("now.csv"))
	if err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]bool{
		"Zoë,ware 1,7.5,Ware №1": true, "Zoë,honey,9,\"Honey, wild\"": true, "\"user, 2\",ware 1,10,Ware №1": true, "\"user, 1\",": false,
	} {
		if strings.Contains("\n"+string(text), "\n"+line) != want {
			t.Errorf("a line %q: want %v in\n%s", line, want, text)
		}
	}
	run(exitOK, "recommend", "train", "-q", "--epochs", "1", "--ratings", in("now.csv"), "--out", in("again.safetensors"))
	if said := run(exitFailure, command...); !strings.Contains(said, "exists already") {
		t.Errorf("a second time: got %s", said)
	}
	for _, c := range []struct{ ratings, model, want string }{
		{"now.csv", "m.safetensors", "Try: the ratings that it was trained with"},
		{"now.csv", "again.safetensors", "wdgnn recommend ratings writes what was told"},
	} {
		said := run(exitFailure, "serve", "--ratings", in(c.ratings), "--model", in(c.model), "--state", in("state"), "--addr", "127.0.0.1:0")
		if !strings.Contains(said, c.want) {
			t.Errorf("%+v: got %s", c, said)
		}
	}
}

// serveShop tells a service of a new user and a new item, deletes another user, and returns how many ratings there are.
func serveShop(t *testing.T, ratings, model, state string) int {
	t.Helper()
	ctx := context.Background()
	shop, err := dataset.LoadShop(ratings, "")
	if err != nil {
		t.Fatal(err)
	}
	m, err := recommend.Load(model)
	if err != nil {
		t.Fatal(err)
	}
	disk, err := journal.OpenDir(state)
	if err != nil {
		t.Fatal(err)
	}
	defer disk.Close()
	s, err := recommend.OpenShop(m, shop, disk, recommend.Config{Rule: recommend.Paper(0.01)})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Add(ctx, "honey", "Honey, wild"); err != nil {
		t.Fatal(err)
	}
	for _, r := range []struct {
		user, item string
		rating     float64
	}{{"Zoë", "ware 1", 7.5}, {"Zoë", "honey", 9}, {"user, 2", "ware 1", 10}} {
		item, err := s.FindItem(r.item)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.RateAs(ctx, r.user, item, r.rating); err != nil {
			t.Fatal(err)
		}
	}
	gone, err := s.FindUser("user, 1")
	if err != nil {
		t.Fatal(err)
	}
	out, err := s.Forget(ctx, gone)
	if err != nil {
		t.Fatal(err)
	}
	all, err := s.All(ctx)
	if err != nil || len(all) < shop.Ratings.Count()-out.Ratings+2 {
		t.Fatalf("got %d ratings, %v", len(all), err)
	}
	return len(all)
}
