package main

import (
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/wdgnn/wdgnn/bench/agents"
	"github.com/wdgnn/wdgnn/internal/grid"
)

// printFigure prints a figure for people.
func printFigure(w io.Writer, f *agents.Figure) error {
	out := lines{w: w}
	out.printf("  %s\n", f.Case)
	if f.Rate > 0 {
		out.printf("    %.1f steps/s; a step: %.0f messages in %.0f frames, %.1f kB; %.2f ms of processor time\n",
			f.Rate, f.Messages, f.Frames, f.Bytes/1000, 1000*(f.HostCPU+f.WorldCPU))
		out.printf("    latency: median %s, 90 %% %s, 99 %% %s, worst %s; late %.3f %%\n",
			fine(f.Latency.Median), fine(f.Latency.P90), fine(f.Latency.P99), fine(f.Latency.Max), 100*f.LateShare)
	}
	if f.Missing > 0 {
		out.printf("    answers that did not come in time: %d\n", f.Missing)
	}
	if f.Lie != "" {
		out.printf("    %.2f %% of the answers of the others are right; %s in quarantine\n", 100*f.Right, grid.Count(f.Quarantined, "frame"))
	}
	if f.ProbeRate > 0 {
		out.printf("    bare frames: %.1f steps/s\n", f.ProbeRate)
	}
	if f.CutEdges > 0 {
		out.printf("    %s between hosts, %.1f bytes each and step\n", grid.Count(f.CutEdges, "link"), f.BytesPerCutEdge)
	}
	if f.ResidentBytes > 0 {
		out.printf("    resident: %.1f MB in all, %.1f MB at most\n", float64(f.ResidentBytes)/1e6, float64(f.LargestBytes)/1e6)
	}
	if f.FileBytes > 0 {
		out.printf("    file: %.1f MB\n", float64(f.FileBytes)/1e6)
	}
	if f.StartSeconds > 0 {
		out.printf("    started in %.1f s\n", f.StartSeconds)
	}
	for _, g := range f.Goals {
		verdict, than := "met", "at least"
		if g.Below {
			than = "less than"
		}
		if !g.Met() {
			verdict = "MISSED"
		}
		out.printf("    %-10s %s %s, wanted %s %s: %s\n", g.Name, short(g.Value), g.Unit, than, short(g.Wanted), verdict)
	}
	return out.err
}

// printFigures prints figures as a table, a line for each.
func printFigures(w io.Writer, list []*agents.Figure) error {
	out := lines{w: w}
	out.printf("\n%-14s %-44s %9s %10s %9s %9s %8s  %s\n", "measurement", "case", "steps/s", "kB a step", "median", "99 %", "late", "wanted")
	for _, f := range list {
		verdicts := make([]string, len(f.Goals))
		for k, g := range f.Goals {
			verdicts[k] = g.Name + " met"
			if !g.Met() {
				verdicts[k] = g.Name + " MISSED"
			}
		}
		wanted := strings.Join(verdicts, ", ")
		if f.Rate == 0 {
			out.printf("%-14s %-44s %9s %10s %9s %9s %8s  %s\n", f.Measurement, f.Case, "", "", "", "", "", wanted)
			continue
		}
		out.printf("%-14s %-44s %9s %10s %9s %9s %6.2f %%  %s\n", f.Measurement, f.Case, short(f.Rate), short(f.Bytes/1000),
			shortTime(f.Latency.Median.Seconds()), shortTime(f.Latency.P99.Seconds()), 100*f.LateShare, wanted)
	}
	return out.err
}

// printLies prints what lies cost those who hear them, a line for each.
func printLies(w io.Writer, list []*agents.Figure) error {
	out := lines{w: w}
	out.printf("\n%-19s %-5s %-8s %7s %7s %7s %8s %9s %9s  %s\n",
		"lie", "bus", "preset", "right", "honest", "silent", "steps/s", "of honest", "of silent", "quarantine")
	share := func(a, b float64) string {
		if b == 0 {
			return "-"
		}
		return strconv.FormatFloat(100*a/b, 'f', 1, 64) + " %"
	}
	for _, f := range list {
		shut := "no"
		if f.Quarantined > 0 {
			shut = "yes"
		}
		out.printf("%-19s %-5s %-8s %7s %7s %7s %8.1f %9s %9s  %s\n", f.Lie, f.Bus, f.Preset, share(f.Right, 1), share(f.RightHonest, 1),
			share(f.RightSilent, 1), f.Rate, share(f.Rate, f.RateHonest), share(f.Rate, f.RateSilent), shut)
	}
	return out.err
}

// short writes a number with three digits at least.
func short(v float64) string {
	if v == 0 {
		return "0"
	}
	digits := max(0, 2-int(math.Floor(math.Log10(max(math.Abs(v), 0.001)))))
	return strconv.FormatFloat(v, 'f', digits, 64)
}
