package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wdgnn/wdgnn/internal/perf"
)

// row is a task of the table in README.md, in its words.
type row struct {
	task, words string
	threads     int
}

// shown are these tasks; those where PyTorch is ahead are among them.
var shown = []row{
	{"sourceloc_train_step", "training step: 50 nodes, 50 signals", perf.ManyThreads},
	{"flocking_train_step", "training step: 50 robots, 20 flights", perf.ManyThreads},
	{"movie_train_step", "training step: 400 movies", perf.ManyThreads},
	{"large_filter_forward", "a filter on a million nodes", perf.ManyThreads},
	{"gemm_1024_1024_1024", "a dense product, 1024³", perf.ManyThreads},
	{"sourceloc_infer_one", "one answer of 50 nodes", 1},
	{"sourceloc_online_distributed_step", "one step of learning at 50 nodes", 1},
}

// speed returns the table of README.md: the machine that was measured last among
// those that ran all of its tasks.
func speed(lines []line) (string, error) {
	on, ok := measured(lines)
	if !ok {
		return "", fmt.Errorf("no machine has run all tasks of the table in README.md, on 1 and on %d threads", perf.ManyThreads)
	}
	accelerators := slices.DeleteFunc(slices.Clone(lines), func(l line) bool { return !l.accelerator() })
	var b strings.Builder
	peer, device := "", "an accelerator"
	for _, s := range shown {
		on.threads = s.threads
		p, _ := newest(lines, on, s.task, "")
		gpu := "–"
		if l, ok := lastOf(accelerators, s.task); ok {
			gpu, device = duration(l.Best), "one "+l.DeviceName
		}
		fmt.Fprintf(&b, "| %s | %d | %s | %s | %s | %s |\n",
			s.words, s.threads, duration(p.fastest.Best), duration(p.ours.Best), times(p.ratio()), gpu)
		peer = p.fastest.peer()
	}
	return fmt.Sprintf("%s; %s, written in the fastest way we found.\n\n| | threads | PyTorch | wdgnn | ratio | PyTorch on %s |\n"+
		"| --- | ---: | ---: | ---: | ---: | ---: |\n%s", on.name(), peer, device, b.String()), nil
}

// measured returns the machine that was measured last of those that ran every task
// that is shown.
func measured(lines []line) (machine, bool) {
	for _, m := range machines(lines) {
		lacking := slices.ContainsFunc(shown, func(s row) bool {
			_, ok := newest(lines, machine{m.cpu, m.cores, s.threads}, s.task, "")
			return !ok
		})
		if !lacking {
			return m, true
		}
	}
	return machine{}, false
}
