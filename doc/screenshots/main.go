// Command screenshots takes the pictures of the live page for the
// documentation: it builds the program, runs it as anybody would, and looks at
// its pages with the system's Chromium.
//
//	go run ./doc/screenshots -out doc/pictures -data data/ml-100k
//
// Without -data there is no picture of the rating service.
package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"time"
)

func main() {
	out := flag.String("out", "doc/pictures", "folder for the pictures")
	data := flag.String("data", "", "folder of ratings for the rating service")
	only := flag.String("only", "", "take the pictures of this scene alone: acts, demo, own, deployment, swarm, flock, tables or ratings")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *out, *data, *only); err != nil {
		fmt.Fprintln(os.Stderr, "screenshots:", err)
		os.Exit(1)
	}
}

// studio is a folder for work, the program, and a browser.
type studio struct {
	out, work, program string
	browser            context.Context
}

func run(ctx context.Context, out, data, only string) (err error) {
	work, err := os.MkdirTemp("", "wdgnn-screenshots")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	s := &studio{out: out, work: work, program: filepath.Join(work, "wdgnn")}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	if text, err := exec.CommandContext(ctx, "go", "build", "-o", s.program, "./cmd/wdgnn").CombinedOutput(); err != nil {
		return fmt.Errorf("build: %w: %s", err, text)
	}
	browser, stop, err := newBrowser(ctx)
	if err != nil {
		return fmt.Errorf("chromium: %w; it is Debian's package chromium", err)
	}
	defer stop()
	s.browser = browser
	for _, scene := range []struct {
		name string
		take func(context.Context) error
	}{
		{"acts", s.acts},
		{"demo", s.demo},
		{"own", s.own},
		{"deployment", s.deployment},
		{"swarm", s.swarm},
		{"flock", s.flock},
		{"tables", s.tables},
		{"ratings", func(ctx context.Context) error { return s.ratings(ctx, data) }},
	} {
		if only != "" && only != scene.name || scene.name == "ratings" && data == "" {
			continue
		}
		if err := scene.take(ctx); err != nil {
			return err
		}
	}
	return nil
}

// acts are pictures of the demo's acts: which, when in it, and how they are taken.
var acts = []struct {
	act  int
	at   float64 // seconds
	name string
	picture
}{
	{0, 2.9, "act1", picture{width: 1280, height: 800, scheme: "light"}},
	{1, 4, "act2", picture{width: 1280, height: 800, scheme: "light"}},
	{2, 1.5, "act3", picture{width: 1280, height: 800, scheme: "light"}},
	{2, 9, "act3-dark", picture{width: 1280, height: 800, scheme: "dark"}},
	{3, 24, "act4", picture{width: 1280, height: 800, scheme: "light"}},
	{0, 2.9, "act1-narrow", picture{width: 390, height: 844, scheme: "dark"}},
	{1, 4, "act2-narrow", picture{width: 390, height: 844, scheme: "dark"}},
	{2, 9, "act3-narrow", picture{width: 390, height: 844, scheme: "light"}},
	{3, 24, "act4-narrow", picture{width: 390, height: 844, scheme: "dark"}},
}

// acts are the acts of the demo, each held at a moment of it.
func (s *studio) acts(ctx context.Context) error {
	url, stop, err := s.start(ctx, "demo", "--page=127.0.0.1:0")
	if err != nil {
		return err
	}
	defer stop()
	for _, a := range acts {
		a.picture.name = a.name
		a.steps = []string{
			`wdgnn.last.frame?.t > 1`, "do " + set("speed", 60), `wdgnn.last.frame.t > 500 && wdgnn.story.story().opened`,
			fmt.Sprintf(`do document.querySelector("[data-act='%d']").click(), wdgnn.story.seek(%v)`, a.act, a.at),
			`do document.querySelector("#hold").click()`,
			"do new Promise(done => setTimeout(done, 700))",
		}
		if err := s.shoot(url, a.picture); err != nil {
			return err
		}
	}
	return nil
}

// telling is a moment of the demo in which two detectors at least are wrong if they are
// frozen, and none where they learn.
const telling = `(({ trial, answers }) => {
	const wrong = learner => trial.answers[learner].filter(a => a >= 0 && a !== trial.truth).length;
	return answers === 1 && wrong(0) > 1 && wrong(trial.shown) === 0;
})(wdgnn.right.shot)`

// demo is the demo after links were lost.
func (s *studio) demo(ctx context.Context) error {
	url, stop, err := s.start(ctx, "demo", "--page=127.0.0.1:0")
	if err != nil {
		return err
	}
	defer stop()
	faster, skip := set("speed", 60), `do document.querySelector("[data-act='4']")?.click()`
	if err := s.shoot(url, picture{"demo", 1440, 940, "light", []string{
		`wdgnn.story.story().before`, skip, "do " + faster, `wdgnn.last.frame.t > 620`,
		"do " + set("speed", 10), `wdgnn.last.frame.settings[2] === 10`, telling,
	}}); err != nil {
		return err
	}
	return s.shoot(url, picture{"demo-narrow", 390, 844, "dark", []string{
		`wdgnn.story.story().opened`, skip, `wdgnn.stats.drawn > 30`, telling,
	}})
}

// set is a script that uses a control of the page, for node 23 if it is about
// nodes.
func set(name string, value float64) string {
	return fmt.Sprintf(`fetch("control", {method: "POST", headers: {"Content-Type": "application/json"},
		body: JSON.stringify({name: %q, value: %v, node: 23})})`, name, value)
}

// swarm is ten processes that localize sources, one of which was killed.
func (s *studio) swarm(ctx context.Context) error {
	url, stop, err := s.start(ctx, "swarm", "up", "--processes", "10", "--steps", "100000", "--out", filepath.Join(s.work, "swarm"),
		"--page", "--addr", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer stop()
	pinned := []string{
		`wdgnn.last.frame?.t > 600`, "do " + set("kill", 0), "do wdgnn.pin(23)",
		`wdgnn.last.frame.down.length > 0`, "do " + set("speed", 5), "do new Promise(done => setTimeout(done, 3000))",
	}
	return s.shoots(url, []picture{
		{"swarm", 1440, 940, "light", pinned},
		{"swarm-narrow", 390, 844, "dark", []string{`wdgnn.last.frame`, settled}},
	})
}

// flock is the replay of a flight.
func (s *studio) flock(ctx context.Context) error {
	dir := filepath.Join(s.work, "flight")
	if _, err := s.wdgnn(ctx, "flock", "--online", "distributed", "--stop", "3@0.5s", "--out", dir); err != nil {
		return err
	}
	url, stop, err := s.start(ctx, "view", dir, "--addr", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer stop()
	steps := []string{
		`wdgnn.last.frame`, `do document.querySelector("#pace").value = 0.25, document.querySelector("#play").click()`,
		`wdgnn.last.frame.t > 0.9`,
		`do document.querySelector("#play").click()`, "do new Promise(done => setTimeout(done, 700))",
	}
	return s.shoots(url, both("flock", "dark", "light", steps...))
}

// tables are the results in doc/results.
func (s *studio) tables(ctx context.Context) error {
	url, stop, err := s.start(ctx, "view", "doc/results", "--addr", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer stop()
	return s.shoots(url, both("tables", "light", "dark", `document.querySelectorAll("#tables table").length > 3`))
}

var address = regexp.MustCompile(`http://\S+:\d+`)

// start runs the program until stop is called, and returns where its page is.
func (s *studio) start(ctx context.Context, args ...string) (url string, stop func(), err error) {
	cmd := exec.CommandContext(ctx, s.program, args...)
	from, to := io.Pipe()
	cmd.Stdout, cmd.Stderr = to, to
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // the page is all that matters
		to.Close()
		close(ended)
	}()
	stop = func() {
		_ = cmd.Process.Signal(os.Interrupt)
		<-ended
	}
	lines := bufio.NewScanner(from)
	for lines.Scan() {
		if url = address.FindString(lines.Text()); url != "" {
			go func() { _, _ = io.Copy(io.Discard, from) }()
			return url + "/", stop, nil
		}
	}
	stop()
	return "", nil, fmt.Errorf("wdgnn %s shows no page", args[0])
}
