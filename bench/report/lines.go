package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
)

// line is one measurement: one task, one side, one round of one run.
type line struct {
	Side    string  `json:"side"` // "wdgnn" or "torch"
	Task    string  `json:"task"`
	Variant string  `json:"variant"` // how the peer wrote the task
	Best    float64 `json:"best_s"`
	Mean    float64 `json:"mean_s"`
	Threads int     `json:"threads"`
	Memory  int64   `json:"max_rss_bytes"`
	Gflops  float64 `json:"gflops"`
	Gbytes  float64 `json:"gbytes_s"`
	Bytes   float64 `json:"bytes"` // moved in one run
	Edges   float64 `json:"edges"`

	Run     string  `json:"run"` // when the run began; empty for lines that were not measured beside ours
	Round   int     `json:"round"`
	CPU     string  `json:"cpu"`
	Cores   int     `json:"cores"`
	Load    float64 `json:"load"` // average number of running processes of the last minute
	Commit  string  `json:"commit"`
	Go      string  `json:"go"`
	Kernels string  `json:"kernels"`

	Torch      string `json:"torch"`
	BLAS       string `json:"blas"`
	Device     string `json:"device"`
	DeviceName string `json:"device_name"`
	Compiled   bool   `json:"compiled"`
	Date       string `json:"date"`
}

const (
	ours   = "wdgnn"
	theirs = "torch"

	// usual is the variant that most users of PyTorch would write.
	usual = "batch"

	// reference is the name of a BLAS that is not optimised.
	reference = "reference"
)

func (l *line) check() error {
	var bad []error
	if l.Side != ours && l.Side != theirs {
		bad = append(bad, fmt.Errorf("side is %q, want %s or %s", l.Side, ours, theirs))
	}
	if l.Task == "" {
		bad = append(bad, errors.New("no task"))
	}
	if !(l.Best > 0) {
		bad = append(bad, fmt.Errorf("best_s is %v, want a positive number", l.Best))
	}
	if l.accelerator() {
		if l.DeviceName == "" || l.Date == "" {
			bad = append(bad, errors.New("a line of an accelerator needs device_name and date"))
		}
	} else if l.Run == "" || l.CPU == "" || l.Threads < 1 {
		bad = append(bad, errors.New("a line of a CPU needs run, cpu and threads: was it written by bench/run?"))
	}
	return errors.Join(bad...)
}

func (l *line) accelerator() bool { return l.Device != "" && l.Device != "cpu" }

// readAll reads every file of raw lines below dir, but those of agents.
func readAll(dir string) ([]line, error) {
	files, err := filepath.Glob(filepath.Join(dir, "results", "*.jsonl"))
	if err != nil {
		return nil, err
	}
	var all []line
	for _, name := range files {
		if agents, err := filepath.Match(agentFiles, filepath.Base(name)); err != nil || agents {
			continue
		}
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		lines, err := read(f)
		f.Close()
		if err != nil {
			return nil, fmt.Errorf("%s:%w", name, err)
		}
		all = append(all, lines...)
	}
	return all, nil
}

// read reads JSON lines; errors begin with the number of the line.
func read(r io.Reader) ([]line, error) {
	var lines []line
	text := bufio.NewScanner(r)
	for n := 1; text.Scan(); n++ {
		if len(text.Bytes()) == 0 {
			continue
		}
		var l line
		if err := json.Unmarshal(text.Bytes(), &l); err != nil {
			return nil, fmt.Errorf("%d: %w", n, err)
		}
		if err := l.check(); err != nil {
			return nil, fmt.Errorf("%d: %w", n, err)
		}
		lines = append(lines, l)
	}
	return lines, text.Err()
}

// machine is what must be equal for two measurements to be compared.
type machine struct {
	cpu     string
	cores   int // 0 if the lines do not say
	threads int
}

// on returns where a line was measured.
func (l *line) on() machine { return machine{l.CPU, l.Cores, l.Threads} }

// name returns the processor and its number of cores.
func (m machine) name() string {
	if m.cores == 0 {
		return m.cpu
	}
	return fmt.Sprintf("%s, %d cores", m.cpu, m.cores)
}

// machines lists the machines of the CPU lines: what was measured last first, and
// of each fewer threads first.
func machines(lines []line) []machine {
	var list []machine
	last := map[string]string{} // run, by name
	for _, l := range lines {
		if l.accelerator() {
			continue
		}
		m := l.on()
		if !slices.Contains(list, m) {
			list = append(list, m)
		}
		last[m.name()] = max(last[m.name()], l.Run)
	}
	slices.SortFunc(list, func(a, b machine) int {
		return cmp.Or(cmp.Compare(last[b.name()], last[a.name()]), cmp.Compare(a.name(), b.name()), cmp.Compare(a.threads, b.threads))
	})
	return list
}

// pair is what both sides took for one task in one run.
type pair struct {
	ours, fastest line
	usual         *line // nil if the peer knows one way only, or the usual one is the fastest
}

// newest returns the last run of a task on a machine in which both sides took
// part, the best over its rounds. An empty run stands for any.
func newest(lines []line, m machine, task, run string) (p pair, ok bool) {
	list := lastRun(lines, m, task, run, func(list []line) bool {
		return best(list, ours, "") != nil && best(list, theirs, "") != nil
	})
	if list == nil {
		return pair{}, false
	}
	p = pair{ours: *best(list, ours, ""), fastest: *best(list, theirs, "")}
	if p.fastest.Variant != usual {
		p.usual = best(list, theirs, usual)
	}
	return p, true
}

// own returns our best line of the last run of a task on a machine, whoever else
// took part.
func own(lines []line, m machine, task string) (line, bool) {
	list := lastRun(lines, m, task, "", func(list []line) bool { return best(list, ours, "") != nil })
	if list == nil {
		return line{}, false
	}
	return *best(list, ours, ""), true
}

// lastRun returns the lines of a task on a machine in the last run that is good;
// nil if none is. An empty run stands for any.
func lastRun(lines []line, m machine, task, run string, good func(list []line) bool) []line {
	runs := map[string][]line{}
	for _, l := range lines {
		if !l.accelerator() && l.Task == task && l.on() == m && (run == "" || l.Run == run) {
			runs[l.Run] = append(runs[l.Run], l)
		}
	}
	last := ""
	for at, list := range runs {
		if at > last && good(list) {
			last = at
		}
	}
	return runs[last]
}

// best returns the fastest of the lines of one side, and of one variant unless
// that is empty; nil if there is none.
func best(list []line, side, variant string) *line {
	var found *line
	for i := range list {
		l := &list[i]
		if l.Side == side && (variant == "" || l.Variant == variant) && (found == nil || l.Best < found.Best) {
			found = l
		}
	}
	return found
}
