package main

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/mat"
)

// benchLine is what the comparison with peers reads.
type benchLine struct {
	Task    string  `json:"task"`
	Best    float64 `json:"best_s"`
	Mean    float64 `json:"mean_s"`
	Runs    int     `json:"runs"`
	Threads int     `json:"threads"`
	Kernels string  `json:"kernels"`
	Gflops  float64 `json:"gflops"`
}

func benchLines(t *testing.T, text string) []benchLine {
	t.Helper()
	var lines []benchLine
	for text := range strings.Lines(text) {
		var l benchLine
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatalf("line %q: %v", text, err)
		}
		if !(0 < l.Best && l.Best <= l.Mean) || l.Runs < 3 {
			t.Errorf("%s: best %v s, mean %v s, %d runs", l.Task, l.Best, l.Mean, l.Runs)
		}
		lines = append(lines, l)
	}
	return lines
}

func TestBenchJSON(t *testing.T) {
	code, stdout, stderr := exec(context.Background(), "bench", "--json", "--seconds", "0.01", "--threads", "2",
		"--tasks", "movie_train_step_pruned,gemm_2500_192_32")
	if code != exitOK {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	lines := benchLines(t, stdout)
	if len(lines) != 2 || lines[0].Task != "movie_train_step_pruned" || lines[1].Task != "gemm_2500_192_32" {
		t.Fatalf("got %+v, want the two tasks in the order given", lines)
	}
	for _, l := range lines {
		if l.Threads != 2 || l.Kernels != mat.Kernels() {
			t.Errorf("%s: %d threads and kernels %s, want 2 and %s", l.Task, l.Threads, l.Kernels, mat.Kernels())
		}
	}
	if lines[1].Gflops <= 0 {
		t.Errorf("gflops %v, want a positive number", lines[1].Gflops)
	}
}

func TestBenchTable(t *testing.T) {
	code, stdout, stderr := exec(context.Background(), "bench", "--seconds", "0.01", "--tasks", "movie_train_step_pruned")
	if code != exitOK || !strings.Contains(stdout, mat.Kernels()+" kernels") || !strings.Contains(stdout, "\nmovie_train_step_pruned ") {
		t.Errorf("exit code %d, stdout %q, stderr %q", code, stdout, stderr)
	}
}

func TestBenchErrors(t *testing.T) {
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"--tasks gem", exitUsage, `no task is called "gem"; there are gemm_2500_192_32, `},
		{"--seconds 0", exitUsage, "--seconds is 0, want a positive number"},
		{"--seconds NaN", exitUsage, "--seconds is NaN"},
		{"--threads 0", exitUsage, "--threads is 0, want -1 for all processors"},
		{"--kernel sse", exitUsage, `kernel set "sse": there is no such set`},
		{"--kernels sse", exitUsage, `kernel set "sse": there is no such set`},
		{"now", exitUsage, "takes no arguments"},
	} {
		code, _, stderr := exec(context.Background(), append([]string{"bench"}, strings.Fields(c.args)...)...)
		if code != c.code || !strings.Contains(stderr, c.want) {
			t.Errorf("wdgnn bench %s: exit code %d and %q, want %d and %q", c.args, code, stderr, c.code, c.want)
		}
	}
}

func TestBenchInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	code, _, stderr := exec(ctx, "bench", "--tasks", "movie_train_step_pruned")
	if code != exitInterrupted || !strings.Contains(stderr, "wdgnn: interrupted") {
		t.Errorf("exit code %d and %q, want %d and word of the interruption", code, stderr, exitInterrupted)
	}
}

// The kernel set that was asked for is the one in use.
func TestBenchKernel(t *testing.T) {
	before := mat.Kernels()
	defer mat.UseKernels(before)
	for _, flag := range []string{"--kernel", "--kernels"} {
		if err := mat.UseKernels(before); err != nil {
			t.Fatal(err)
		}
		t.Setenv(kernelsVariable, "")
		code, stdout, stderr := exec(t.Context(), "bench", "--json", "--tasks", "movie_train_step_pruned", "--seconds", "0.01", flag, "portable")
		if lines := benchLines(t, stdout); code != exitOK || len(lines) != 1 || lines[0].Kernels != "portable" {
			t.Errorf("%s: got exit code %d, %+v and %s, want one line of portable kernels", flag, code, lines, stderr)
		}
	}
}
