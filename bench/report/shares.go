package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wdgnn/wdgnn/internal/perf"
)

// Tasks that others are measured by.
const (
	peakTask   = "fma_peak"
	streamTask = "stream_triad"
	filterTask = "large_filter_forward"
)

// shapesPage shows dense products as a share of what the processor can do.
func shapesPage(b *strings.Builder, lines []line, m machine) {
	peak, known := own(lines, m, peakTask)
	var rows []string
	for _, t := range perf.Tasks() {
		p, ok := newest(lines, m, t.Name, "")
		if !ok || p.ours.Gflops == 0 {
			continue
		}
		share := func(l line) string {
			if !known || peak.Gflops == 0 {
				return "–"
			}
			return percent(l.Gflops / peak.Gflops)
		}
		rows = append(rows, fmt.Sprintf("| %s | %.0f | %s | %.0f | %s |\n",
			t.Name, p.ours.Gflops, share(p.ours), p.fastest.Gflops, share(p.fastest)))
	}
	if len(rows) == 0 {
		return
	}
	b.WriteString("\n| dense product | wdgnn, GFLOP/s | share of the peak | PyTorch, GFLOP/s | share |\n" +
		"| --- | ---: | ---: | ---: | ---: |\n" + strings.Join(rows, ""))
	if known && peak.Gflops > 0 {
		fmt.Fprintf(b, "\nThe peak, %.0f GFLOP/s, is what multiply-adds on %s registers alone reach in the same run. PyTorch chooses "+
			"registers\nof its own. A share above 100 %% says that the clock was faster when the product was measured.\n", peak.Gflops, peak.Kernels)
	}
}

// memoryPage shows shifts of large graphs as a share of what memory can do.
func memoryPage(b *strings.Builder, lines []line, m machine) {
	stream, known := own(lines, m, streamTask)
	if !known {
		return
	}
	var rows []string
	for _, t := range perf.Tasks() {
		l, ok := own(lines, m, t.Name)
		if !ok || l.Gbytes == 0 || t.Name == streamTask {
			continue
		}
		theirs := "–"
		if p, ok := newest(lines, m, t.Name, ""); ok && p.fastest.Gbytes > 0 {
			theirs = fmt.Sprintf("%.1f, %s", p.fastest.Gbytes, percent(p.fastest.Gbytes/stream.Gbytes))
		}
		rows = append(rows, fmt.Sprintf("| %s | %.0f | %.1f | %s | %s |\n",
			t.Name, l.Bytes/l.Edges, l.Gbytes, percent(l.Gbytes/stream.Gbytes), theirs))
	}
	if len(rows) == 0 {
		return
	}
	b.WriteString("\n| shift | bytes an edge | wdgnn, GB/s | share of STREAM | PyTorch, GB/s |\n| --- | ---: | ---: | ---: | ---: |\n" +
		strings.Join(rows, ""))
	fmt.Fprintf(b, "\nThe triad of STREAM reaches %.1f GB/s in the same run. Where rows of X are found in a cache, a shift can be faster.\n",
		stream.Gbytes)
}

// threadsPage shows what more threads gain, in runs of one machine.
func threadsPage(b *strings.Builder, lines []line, m machine) {
	var counts []int
	for _, other := range machines(lines) {
		if other.name() == m.name() {
			counts = append(counts, other.threads)
		}
	}
	if len(counts) < 2 || !slices.Contains(counts, 1) {
		return
	}
	var rows []string
	for _, t := range perf.Tasks() {
		one, ok := own(lines, machine{m.cpu, m.cores, 1}, t.Name)
		if !ok {
			continue
		}
		row, several := fmt.Sprintf("| %s | %s |", t.Name, duration(one.Best)), false
		for _, n := range counts {
			if n == 1 {
				continue
			}
			l, ok := own(lines, machine{m.cpu, m.cores, n}, t.Name)
			if !ok {
				row += " – |"
				continue
			}
			several = true
			more, _ := gain(lines, m, t.Name, n)
			row += fmt.Sprintf(" %s, %s |", duration(l.Best), times(more))
		}
		if several {
			rows = append(rows, row+"\n")
		}
	}
	fmt.Fprintf(b, "\n## %s: what threads gain\n\n| task | one thread |", m.name())
	for _, n := range counts {
		if n > 1 {
			fmt.Fprintf(b, " %d threads |", n)
		}
	}
	fmt.Fprintf(b, "\n| --- |%s\n%s", strings.Repeat(" ---: |", len(counts)), strings.Join(rows, ""))
	for _, n := range counts {
		filter, ok := gain(lines, m, filterTask, n)
		stream, also := gain(lines, m, streamTask, n)
		if n > 1 && ok && also {
			fmt.Fprintf(b, "\nOn %d threads `%s` gains %s of what the triad of STREAM gains.\n", n, filterTask, percent(filter/stream))
		}
	}
}

// gain returns how many times as fast as on one thread a task is on n.
func gain(lines []line, m machine, task string, n int) (float64, bool) {
	one, ok := own(lines, machine{m.cpu, m.cores, 1}, task)
	l, also := own(lines, machine{m.cpu, m.cores, n}, task)
	if !ok || !also {
		return 0, false
	}
	if task == peakTask { // every thread does the work of one
		return l.Gflops / one.Gflops, true
	}
	return one.Best / l.Best, true
}

// percent writes a share, rounded down.
func percent(v float64) string { return fmt.Sprintf("%.0f %%", float64(int(v*100))) }
