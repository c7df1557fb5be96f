package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"time"
)

// wdgnn runs the program to its end and returns what it prints.
func (s *studio) wdgnn(ctx context.Context, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, s.program, args...)
	cmd.Stderr = os.Stderr
	text, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("wdgnn %s: %w", args[0], err)
	}
	return text, nil
}

// both returns a picture for a desktop and one for a telephone, of which one is dark.
func both(name, desktop, phone string, steps ...string) []picture {
	return []picture{{name, 1280, 800, desktop, steps}, {name + "-narrow", 390, 844, phone, steps}}
}

// view takes pictures of what wdgnn view shows.
func (s *studio) view(ctx context.Context, pictures []picture, args ...string) error {
	url, stop, err := s.start(ctx, append([]string{"view", "--addr", "127.0.0.1:0"}, args...)...)
	if err != nil {
		return err
	}
	defer stop()
	return s.shoots(url, pictures)
}

// settled waits for what is drawn a little later.
const settled = "do new Promise(done => setTimeout(done, 900))"

// own are one's own runs: training and what is learned online of the example of wdgnn
// init, with the links that were certified, and the forecasts of its sensors.
func (s *studio) own(ctx context.Context) error {
	first, sensors, lost := filepath.Join(s.work, "first"), filepath.Join(s.work, "sensors"), filepath.Join(s.work, "lost.json")
	config, model := filepath.Join(first, "config.yaml"), filepath.Join(first, "run", "model.safetensors")
	for _, args := range [][]string{
		{"init", first},
		{"train", config, "-q"},
		{"online", model, config, "--out", filepath.Join(first, "online"), "-q"},
		{"init", "--task", "forecast", sensors},
		{"train", filepath.Join(sensors, "config.yaml"), "-q"},
		{
			"online", filepath.Join(sensors, "run", "model.safetensors"), filepath.Join(sensors, "config.yaml"),
			"--out", filepath.Join(sensors, "online"), "-q",
		},
		{"backtest", filepath.Join(sensors, "config.yaml"), "--out", filepath.Join(sensors, "backtest"), "-q"},
	} {
		if _, err := s.wdgnn(ctx, args...); err != nil {
			return err
		}
	}
	text, err := s.wdgnn(ctx, "certify", model, "--config", config, "--lost", "1", "--json")
	if err != nil {
		return err
	}
	if err := os.WriteFile(lost, text, 0o600); err != nil {
		return err
	}
	for _, v := range []struct {
		name, desktop, phone string
		args                 []string
	}{
		{"train", "light", "dark", []string{filepath.Join(first, "run")}},
		{"online", "light", "dark", []string{filepath.Join(first, "online")}},
		{"forecast", "dark", "light", []string{filepath.Join(sensors, "online")}},
		{"backtest", "light", "dark", []string{filepath.Join(sensors, "backtest")}},
		{"certified", "light", "dark", []string{filepath.Join(first, "online"), "--certified", lost}},
	} {
		if err := s.view(ctx, both(v.name, v.desktop, v.phone, `wdgnn.last.frame`, settled), v.args...); err != nil {
			return err
		}
	}
	return nil
}

var busAddress = regexp.MustCompile(`url: "?(nats://[^\s"]+)`)

// deployment is a swarm of six boxes that is looked at from its keys, after one of them
// was killed.
func (s *studio) deployment(ctx context.Context) error {
	dir := filepath.Join(s.work, "field")
	cmd := exec.CommandContext(ctx, s.program, "swarm", "up", "--processes", "6", "--steps", "100000", "--rate", "20",
		"--out", dir, "--kill", "4@25s", "-q")
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	if err := cmd.Start(); err != nil {
		return err
	}
	defer func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait() // it was asked to end
	}()
	bus, err := s.bus(ctx, filepath.Join(dir, "host-0.yaml"))
	if err != nil {
		return err
	}
	steps := []string{`wdgnn.last.frame?.down.length === 1 && wdgnn.last.frame.t > 12`, settled}
	return s.view(ctx, both("deployment", "dark", "light", steps...), "--keys", filepath.Join(dir, "keys"), "--nats", bus)
}

// bus returns the server that the configuration of a box names, once it is written.
func (s *studio) bus(ctx context.Context, path string) (string, error) {
	for range 600 {
		if text, err := os.ReadFile(path); err == nil {
			if found := busAddress.FindSubmatch(text); found != nil {
				return string(found[1]), nil
			}
		}
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-time.After(200 * time.Millisecond):
		}
	}
	return "", fmt.Errorf("%s: no box was started in two minutes", filepath.Base(path))
}
