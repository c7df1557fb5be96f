package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/wdgnn/wdgnn/internal/perf"
)

const head = `# Speed compared with PyTorch

<!-- Written by "go run ./bench/report" from the lines in bench/results; a test checks that it matches them. -->

Each row is one task that both sides run with the same mathematics, sizes and number of threads: ours is
"wdgnn bench", the peer's is [peers/torch_bench.py](peers/torch_bench.py). The two take turns within a run, so that both
meet the same noise; a time is the best of all runs of all rounds. "make bench-peers" measures again
and adds to the raw lines in [results/](results); for each task the table shows the newest run.

Where there are several sensible ways to write a task for PyTorch, all are measured, and the ratio is that to the
fastest, with torch.compile where that is faster and works. The usual way has tensors of batch × nodes × features; where
it was not the fastest, it stands beside. A ratio above 1 means that we are faster. The wanted ratios were set beforehand,
for PyTorch 2.11 with MKL, on one thread and on 16.
`

// page returns bench/results.md.
func page(lines []line, agents []agentLine) string {
	var b strings.Builder
	b.WriteString(head)
	list := machines(lines)
	if len(list) == 0 {
		b.WriteString("\nNothing has been measured yet.\n")
	}
	for i, m := range list {
		machinePage(&b, lines, m)
		if i+1 == len(list) || list[i+1].name() != m.name() {
			threadsPage(&b, lines, m)
		}
	}
	acceleratorPage(&b, lines)
	b.WriteString("\n## What each side may skip\n\n| task | what it is | wdgnn | PyTorch |\n| --- | --- | --- | --- |\n")
	for _, t := range perf.Tasks() {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", t.Name, t.Doc, cmp.Or(t.Skips, t.Missing), cmp.Or(t.Peer, "–"))
	}
	b.WriteString(`
Every training step zeroes the gradients, runs the model forward and backward with its loss, and takes a step of Adam.
Our filters then have a bias, the peer's have none. PyTorch's shift is a dense matrix where that is the faster choice
for it, ours is always sparse. Arithmetic is in float32, except in closed-loop flights, ` +
		`whose simulator is in float64 on both sides; accelerators compute float32 without TensorFloat-32.
`)
	b.WriteString(agentsPage(agents))
	return b.String()
}

func machinePage(b *strings.Builder, lines []line, m machine) {
	var (
		rows, remarks []string
		peers         []string // versions of PyTorch and of its BLAS
		runs          []line   // one of ours per run
		met, missed   []string
		unfair        bool
	)
	for _, t := range perf.Tasks() {
		p, ok := newest(lines, m, t.Name, "")
		if !ok {
			continue
		}
		v := judge(t, p, m)
		switch {
		case v.unfair:
			unfair = true
		case v.met:
			met = append(met, t.Name)
		case v.judged:
			missed = append(missed, t.Name)
		}
		other := "–"
		if p.usual != nil {
			other = fmt.Sprintf("%s, %s", duration(p.usual.Best), times(p.usual.Best/p.ours.Best))
		}
		rows = append(rows, fmt.Sprintf("| %s | %s | %s | %s | %s | %s | %s |\n",
			t.Name, p.fastest.how(), duration(p.ours.Best), times(p.ratio()), wanted(t, m), v, other))
		if t.WantedBytes > 0 && p.ours.Memory > 0 {
			remarks = append(remarks, fmt.Sprintf("`%s` took %s of resident memory at most, PyTorch %s.",
				t.Name, megabytes(p.ours.Memory), megabytes(p.fastest.Memory)))
		}
		if peer := p.fastest.peer(); !slices.Contains(peers, peer) {
			peers = append(peers, peer)
		}
		if !slices.ContainsFunc(runs, func(l line) bool { return l.Run == p.ours.Run }) {
			l := p.ours
			l.Torch, l.BLAS = p.fastest.Torch, p.fastest.BLAS
			runs = append(runs, l)
		}
	}
	if len(rows) == 0 {
		return
	}
	fmt.Fprintf(b, "\n## %s, %s, against %s\n", m.name(), threads(m.threads), strings.Join(peers, " and "))
	if unfair {
		fmt.Fprintf(b, "\n**NOT A FAIR COMPARISON.** PyTorch had no optimised BLAS in these runs, "+
			"and its products depend on one.\nInstall one (on Debian libopenblas0-pthread) and measure again.\n")
	}
	b.WriteString("\n| task | PyTorch, fastest way | wdgnn | ratio | wanted | | PyTorch, usual way |\n" +
		"| --- | ---: | ---: | ---: | ---: | --- | ---: |\n")
	b.WriteString(strings.Join(rows, ""))
	b.WriteString(verdicts(met, missed))
	if len(remarks) > 0 {
		fmt.Fprintf(b, "\n%s\n", strings.Join(remarks, "\n"))
	}
	shapesPage(b, lines, m)
	memoryPage(b, lines, m)
	b.WriteString("\nMeasured:\n\n")
	slices.SortFunc(runs, func(x, y line) int { return cmp.Compare(x.Run, y.Run) })
	for _, l := range runs {
		fmt.Fprintf(b, "- %s, commit %s, %s, %s kernels; %s; %d rounds; load average %s\n",
			l.Run, l.Commit, l.Go, l.Kernels, l.peer(), rounds(lines, l.Run), load(lines, l.Run))
	}
}

// peer names what a line of theirs was measured with: no time of theirs means
// anything without it.
func (l *line) peer() string {
	return fmt.Sprintf("PyTorch %s with %s", l.Torch, cmp.Or(l.BLAS, "an unknown BLAS"))
}

// how is a time of theirs and, where it was compiled, that it was.
func (l *line) how() string {
	if l.Compiled {
		return duration(l.Best) + ", compiled"
	}
	return duration(l.Best)
}

// verdicts says in words how many of the wanted ratios were reached.
func verdicts(met, missed []string) string {
	switch all := len(met) + len(missed); {
	case all == 0:
		return ""
	case len(missed) == 0:
		return fmt.Sprintf("\nAll %d tasks reach what was wanted.\n", all)
	default:
		return fmt.Sprintf("\n%d of %d tasks reach what was wanted. Missed: %s.\n", len(met), all, strings.Join(missed, ", "))
	}
}

// verdict is whether a task reached what was wanted.
type verdict struct {
	judged, met, unfair, usual bool
}

func judge(t perf.Task, p pair, m machine) verdict {
	if p.fastest.BLAS == reference {
		return verdict{unfair: true}
	}
	least := wantedRatio(t, m)
	if least == 0 {
		return verdict{}
	}
	fits := t.WantedBytes == 0 || p.ours.Memory <= t.WantedBytes
	return verdict{
		judged: true,
		met:    fits && p.ratio() >= least,
		usual:  fits && p.usual != nil && p.usual.Best/p.ours.Best >= least,
	}
}

// wantedRatio returns what is wanted of a task on that many threads, 0 if nothing
// is.
func wantedRatio(t perf.Task, m machine) float64 {
	switch m.threads {
	case 1:
		return t.Wanted
	case perf.ManyThreads:
		return t.WantedMany
	}
	return 0
}

func (v verdict) String() string {
	switch {
	case v.unfair:
		return "not fair"
	case !v.judged:
		return "–"
	case v.met:
		return "met"
	case v.usual:
		return "**missed**; met against the usual way"
	}
	return "**missed**"
}

func (p pair) ratio() float64 { return p.fastest.Best / p.ours.Best }

// acceleratorPage compares one CPU thread of ours with PyTorch on an
// accelerator.
func acceleratorPage(b *strings.Builder, lines []line) {
	type device struct {
		name, peer string
		compiled   bool
	}
	var devices []device
	for _, l := range lines {
		if d := (device{l.DeviceName, l.peer(), l.Compiled}); l.accelerator() && !slices.Contains(devices, d) {
			devices = append(devices, d)
		}
	}
	slices.SortFunc(devices, func(x, y device) int {
		return cmp.Or(cmp.Compare(x.name, y.name), cmp.Compare(x.peer, y.peer), cmp.Compare(fmt.Sprint(x.compiled), fmt.Sprint(y.compiled)))
	})
	for _, m := range machines(lines) {
		for _, d := range devices {
			of := slices.DeleteFunc(slices.Clone(lines), func(l line) bool {
				return !l.accelerator() || d != device{l.DeviceName, l.peer(), l.Compiled}
			})
			if m.threads == 1 {
				how := "as written"
				if d.compiled {
					how = "with torch.compile"
				}
				fmt.Fprintf(b, "\n## %s on one %s, %s, against one thread of %s\n\n", d.peer, d.name, how, m.name())
				acceleratorTable(b, lines, of, m)
			}
		}
	}
}

// acceleratorTable compares the lines of one accelerator with one thread of a
// machine.
func acceleratorTable(b *strings.Builder, lines, of []line, m machine) {
	b.WriteString("| task | PyTorch on the accelerator | wdgnn on one thread | ratio | measured |\n| --- | ---: | ---: | ---: | --- |\n")
	for _, t := range perf.Tasks() {
		own, ok := newest(lines, m, t.Name, "")
		if !ok {
			continue
		}
		if peer, ok := lastOf(of, t.Name); ok {
			fmt.Fprintf(b, "| %s | %s | %s | %s | %s |\n",
				t.Name, duration(peer.Best), duration(own.ours.Best), times(peer.Best/own.ours.Best), peer.Date)
		}
	}
}

// lastOf returns the best line of a task on the last day it was measured.
func lastOf(lines []line, task string) (found line, ok bool) {
	day := func(l line) string { return l.Date[:min(len(l.Date), len("2006-01-02"))] }
	for _, l := range lines {
		if l.Task != task {
			continue
		}
		if !ok || day(l) > day(found) || day(l) == day(found) && l.Best < found.Best {
			found, ok = l, true
		}
	}
	return found, ok
}

// summary is the table of one run, for a terminal.
func summary(lines []line, run string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%-34s %10s %10s %8s %8s\n", "task", "PyTorch", "wdgnn", "ratio", "wanted")
	for _, m := range machines(lines) {
		for _, t := range perf.Tasks() {
			if p, ok := newest(lines, m, t.Name, run); ok {
				fmt.Fprintf(&b, "%-34s %10s %10s %8s %8s  %s\n", t.Name, duration(p.fastest.Best), duration(p.ours.Best),
					times(p.ratio()), wanted(t, m), strings.ReplaceAll(judge(t, p, m).String(), "**", ""))
			}
		}
	}
	return b.String()
}

// rounds returns how many rounds a run had.
func rounds(lines []line, run string) int {
	n := 0
	for _, l := range lines {
		if l.Run == run {
			n = max(n, l.Round)
		}
	}
	return n
}

// load returns the range of the load average during a run.
func load(lines []line, run string) string {
	lo, hi := math.Inf(1), -1.0
	for _, l := range lines {
		if l.Run == run && l.Load >= 0 {
			lo, hi = min(lo, l.Load), max(hi, l.Load)
		}
	}
	if hi < 0 {
		return "unknown"
	}
	return fmt.Sprintf("%.1f to %.1f", lo, hi)
}

func wanted(t perf.Task, m machine) string {
	least := wantedRatio(t, m)
	if least == 0 {
		return "–"
	}
	s := times(least)
	if t.WantedBytes > 0 {
		s += ", " + megabytes(t.WantedBytes)
	}
	return s
}

func threads(n int) string {
	if n == 1 {
		return "one thread"
	}
	return fmt.Sprintf("%d threads", n)
}

func megabytes(n int64) string { return fmt.Sprintf("%d MB", n/1e6) }

// times writes a ratio with three digits, rounded down so that it is never
// better than what was measured.
func times(r float64) string { return digits(r, math.Floor) + "×" }

// duration writes a time with three digits.
func duration(s float64) string {
	switch {
	case s < 1e-3:
		return digits(s*1e6, math.Round) + " µs"
	case s < 1:
		return digits(s*1e3, math.Round) + " ms"
	}
	return digits(s, math.Round) + " s"
}

func digits(v float64, round func(float64) float64) string {
	places := 2
	switch {
	case v >= 100:
		places = 0
	case v >= 10:
		places = 1
	case v < 0.1:
		places = 4
	}
	scale := math.Pow10(places)
	// A hair above, so that 0.95 does not become 0.94.
	text := strconv.FormatFloat(round(v*scale+1e-9)/scale, 'f', places, 64)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}
