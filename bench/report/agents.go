package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wdgnn/wdgnn/bench/agents"
)

// agentLine is one line of "wdgnn swarm bench --json".
type agentLine agents.Line

func (l *agentLine) check() error {
	var bad []error
	if l.Measurement == "" || l.Case == "" {
		bad = append(bad, errors.New("no measurement or no case"))
	}
	if l.CPU == "" || l.Date == "" {
		bad = append(bad, errors.New("no cpu or no date: was it written by wdgnn swarm bench --json?"))
	}
	if !(l.Rate > 0) && l.FileBytes == 0 {
		bad = append(bad, fmt.Errorf("a rate of %v steps/s and no size of a program", l.Rate))
	}
	return errors.Join(bad...)
}

// agentFiles are the names of files of agents' lines below results.
const agentFiles = "swarm-*.jsonl"

// readAgents reads the lines of agents below dir.
func readAgents(dir string) ([]agentLine, error) {
	files, err := filepath.Glob(filepath.Join(dir, "results", agentFiles))
	if err != nil {
		return nil, err
	}
	var all []agentLine
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		text := bufio.NewScanner(f)
		for n := 1; text.Scan(); n++ {
			var l agentLine
			if err := errors.Join(json.Unmarshal(text.Bytes(), &l), l.check()); err != nil {
				f.Close()
				return nil, fmt.Errorf("%s:%d: %w", name, n, err)
			}
			all = append(all, l)
		}
		f.Close()
		if err := text.Err(); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return all, nil
}

const agentsHead = `
## Agents

"wdgnn swarm bench" runs the decentralised runtime: agents that infer and learn with their neighbours only, as processes
over an embedded NATS server, with the world around them, on one machine. Messages are rows that nodes took in, frames what
hosts received with these rows in them; the latency is from the beginning of a step to the answer, of the worst host; the
processor time of a step is that of all processes, world and server included. Late are rows of neighbours that were given
up, after the first seconds of a run. Models are not trained: nothing here depends on what they know. "make bench-agents"
measures again and adds to the raw lines; the tables show the newest.
`

// agentsPage returns the section about agents, empty if nothing was measured.
func agentsPage(lines []agentLine) string {
	if len(lines) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(agentsHead)
	var cpus []string
	for _, l := range lines {
		if !slices.Contains(cpus, l.CPU) {
			cpus = append(cpus, l.CPU)
		}
	}
	slices.Sort(cpus)
	for _, cpu := range cpus {
		agentTable(&b, newestAgents(lines, cpu))
	}
	return b.String()
}

// newestAgents returns the newest line of every case on a machine, in the order
// in which measurements first appear.
func newestAgents(lines []agentLine, cpu string) []agentLine {
	var list []agentLine
	for _, l := range lines {
		if l.CPU != cpu {
			continue
		}
		k := slices.IndexFunc(list, func(o agentLine) bool { return o.Measurement == l.Measurement && o.Case == l.Case })
		switch {
		case k < 0:
			list = append(list, l)
		case l.Date >= list[k].Date:
			list[k] = l
		}
	}
	return list
}

func agentTable(b *strings.Builder, lines []agentLine) {
	fmt.Fprintf(b, "\n### %s, %d cores\n\n", lines[0].CPU, lines[0].Cores)
	b.WriteString("| measurement | case | steps/s | messages, frames, kB a step | processor time a step " +
		"| latency: median, 99 % | late | wanted | |\n")
	b.WriteString("| --- | --- | ---: | ---: | ---: | ---: | ---: | --- | --- |\n")
	var abouts []string
	missed := 0
	for i := range lines {
		l := &lines[i]
		b.WriteString(l.row())
		for _, g := range l.Goals {
			if !g.Met() {
				missed++
			}
		}
		if about := fmt.Sprintf("- `%s`: %s.", l.Measurement, l.About); !slices.Contains(abouts, about) {
			abouts = append(abouts, about)
		}
	}
	if missed == 0 {
		b.WriteString("\nEverything that was wanted is reached.\n")
	}
	fmt.Fprintf(b, "\n%s\n\nMeasured:\n\n%s\n", strings.Join(abouts, "\n"), strings.Join(occasions(lines), "\n"))
}

// occasions says when the lines were measured, and with what.
func occasions(lines []agentLine) []string {
	type occasion struct {
		commit, version string
		seed            uint64
		seconds         float64
	}
	var order []occasion
	of := map[occasion][]agentLine{}
	for _, l := range lines {
		o := occasion{cmp.Or(l.Commit, "unknown"), l.Go, l.Seed, l.Length}
		if of[o] == nil {
			order = append(order, o)
		}
		of[o] = append(of[o], l)
	}
	var words []string
	for _, o := range order {
		first, last := of[o][0], of[o][0]
		low, high := first.Load, first.Load
		for _, l := range of[o] {
			if l.Date < first.Date {
				first = l
			}
			if l.Date > last.Date {
				last = l
			}
			low, high = min(low, l.Load), max(high, l.Load)
		}
		words = append(words, fmt.Sprintf("- %s to %s, commit %s, %s, seed %d, runs of %s s; load average, ours included, %.1f to %.1f",
			first.Date, last.Date, o.commit, o.version, o.seed, digits(o.seconds, math.Round), low, high))
	}
	return words
}

// row returns the line of a table.
func (l *agentLine) row() string {
	cells := []string{l.Measurement, l.Case, "–", "–", "–", "–", "–"}
	if l.Rate > 0 {
		cells[2] = digits(l.Rate, math.Floor)
		cells[3] = fmt.Sprintf("%.0f, %.0f, %s", l.Messages, l.Frames, digits(l.Bytes/1e3, math.Round))
		cells[4] = duration(l.HostCPU + l.WorldCPU)
		cells[5] = fmt.Sprintf("%s, %s", duration(l.Latency.Median.Seconds()), duration(l.Latency.P99.Seconds()))
		cells[6] = fmt.Sprintf("%.2f %%", 100*l.LateShare)
	}
	if l.ProbeRate > 0 {
		cells[1] += fmt.Sprintf("; bare frames: %s steps/s", digits(l.ProbeRate, math.Round))
	}
	if l.CutEdges > 0 {
		cells[1] += fmt.Sprintf("; %d links between hosts, %s bytes each and step", l.CutEdges, digits(l.BytesPerCutEdge, math.Round))
	}
	if l.ResidentBytes > 0 && l.CutEdges > 0 {
		cells[1] += fmt.Sprintf("; %s resident", megabytes(l.ResidentBytes))
	}
	var wanted, verdicts []string
	for _, g := range l.Goals {
		sign, verdict := "≥", "met"
		if g.Below {
			sign = "<"
		}
		if !g.Met() {
			verdict = "**missed**"
		}
		wanted = append(wanted, fmt.Sprintf("%s %s %s", sign, digits(g.Wanted, math.Round), g.Unit))
		verdicts = append(verdicts, fmt.Sprintf("%s: %s", goalValue(g), verdict))
	}
	return fmt.Sprintf("| %s | %s | %s |\n", strings.Join(cells, " | "), strings.Join(wanted, "; "), strings.Join(verdicts, "; "))
}

// goalValue writes a value, rounded to the worse side.
func goalValue(g agents.Goal) string {
	if g.Below {
		return digits(g.Value, func(v float64) float64 { return max(math.Ceil(v-2e-9), 0) }) // without the hair that digits adds
	}
	return digits(g.Value, math.Floor)
}
