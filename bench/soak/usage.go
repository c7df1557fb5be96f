//go:build linux

package main

import (
	"bufio"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

// Usage is what a process takes; less than 0 is not known.
type Usage struct {
	ResidentMB float64 `json:"resident_mb"`
	Files      int     `json:"files"`
	Goroutines int     `json:"goroutines"`
	Checkpoint float64 `json:"checkpoint"` // seconds since the last was written
}

// worst takes the larger of each.
func (u *Usage) worst(o Usage) {
	u.ResidentMB, u.Files = max(u.ResidentMB, o.ResidentMB), max(u.Files, o.Files)
	u.Goroutines, u.Checkpoint = max(u.Goroutines, o.Goroutines), max(u.Checkpoint, o.Checkpoint)
}

// usageOf returns what a process takes.
func usageOf(pid int) Usage {
	u := Usage{ResidentMB: -1, Files: -1, Goroutines: -1, Checkpoint: -1}
	if entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid)); err == nil {
		u.Files = len(entries)
	}
	if text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)); err == nil {
		if v, found := numberBehind(string(text), "VmRSS:"); found {
			u.ResidentMB = v / 1024
		}
	}
	return u
}

// numberBehind returns the number behind a word at the beginning of a line.
func numberBehind(text, word string) (float64, bool) {
	lines := bufio.NewScanner(strings.NewReader(text))
	for lines.Scan() {
		if rest, found := strings.CutPrefix(lines.Text(), word); found {
			if words := strings.Fields(rest); len(words) > 0 {
				v, err := strconv.ParseFloat(words[0], 64)
				return v, err == nil
			}
		}
	}
	return 0, false
}

var asker = &http.Client{Timeout: time.Second, Transport: &http.Transport{DisableKeepAlives: true}}

// usage returns what the process of a box takes, false if it is down.
func (b *box) usage() (Usage, bool) {
	p := b.live()
	if p == nil {
		return Usage{}, false
	}
	u := usageOf(p.cmd.Process.Pid)
	if r, err := asker.Get("http://" + b.metrics + "/metrics"); err == nil {
		defer r.Body.Close()
		lines := bufio.NewScanner(r.Body)
		for lines.Scan() {
			if v, found := numberBehind(lines.Text(), "go_goroutines "); found {
				u.Goroutines = int(v)
			}
		}
	}
	if r := b.report(); r != nil && r.Health != nil && r.Health.Checkpoint > 0 {
		u.Checkpoint = r.Health.Checkpoint
	}
	return u, true
}

// Sample is what a deployment takes at a moment.
type Sample struct {
	Second  float64 `json:"second"` // of the soak
	Bus     string  `json:"bus"`
	Oldest  Usage   `json:"oldest"` // of the box that is never killed
	Worst   Usage   `json:"worst"`  // of all boxes
	Server  *Usage  `json:"server,omitempty"`
	Down    int     `json:"down,omitempty"` // boxes
	Learned float64 `json:"learned"`        // mean cost of recent answers, over boxes
	Frozen  float64 `json:"frozen"`         // what those of the model as trained would have cost
}

// sample looks at a deployment.
func (y *yard) sample(began time.Time) *Sample {
	s := &Sample{Bus: y.Bus, Worst: Usage{-1, -1, -1, -1}}
	judged := 0
	for k, b := range y.boxes {
		u, up := b.usage()
		if !up {
			s.Down++
			continue
		}
		if k == 0 {
			s.Oldest = u
		}
		s.Worst.worst(u)
		if r := b.report(); r != nil && r.Learning != nil {
			judged++
			s.Learned += r.Learning.Learned
			s.Frozen += r.Learning.Frozen
		}
	}
	if judged > 0 {
		s.Learned, s.Frozen = s.Learned/float64(judged), s.Frozen/float64(judged)
	}
	if pid := y.serverPID(); pid > 0 {
		u := usageOf(pid)
		s.Server = &u
	}
	s.Second = time.Since(began).Seconds()
	return s
}
