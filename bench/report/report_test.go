package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The committed page is what the committed lines give.
func TestPageIsCurrent(t *testing.T) {
	lines, err := readAll("..")
	if err != nil {
		t.Fatal(err)
	}
	agents, err := readAgents("..")
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join("..", "results.md"))
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != page(lines, agents) {
		t.Error("bench/results.md does not match bench/results/*.jsonl; try: make bench-report")
	}
	before, after, err := readme(filepath.Join("..", "..", "README.md"), lines)
	if err != nil {
		t.Fatal(err)
	}
	if before != after {
		t.Error("the table of speed in README.md does not match bench/results/*.jsonl; try: make bench-report")
	}
}

// The table of README.md needs a machine that ran all that it shows.
func TestSpeedNeedsAllTasks(t *testing.T) {
	lines, err := read(strings.NewReader(lineOf(ours, "sourceloc_infer_one", "1", `"best_s":1e-6`)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := speed(lines); err == nil {
		t.Error("got a table of speed from one task, want an error")
	}
}

// lineOf returns one line of a CPU run with the given fields.
func lineOf(side, task, run, fields string) string {
	return `{"side":"` + side + `","task":"` + task + `","run":"` + run + `","round":1,"load":0.5,"cpu":"Test CPU","threads":1,` +
		`"commit":"abc","go":"go1","kernels":"avx2","torch":"1.13","blas":"openblas",` + fields + "}\n"
}

// threaded returns a line of more threads.
func threaded(n int, line string) string {
	return strings.Replace(line, `"threads":1`, fmt.Sprintf(`"threads":%d`, n), 1)
}

func pageOf(t *testing.T, text ...string) string {
	t.Helper()
	lines, err := read(strings.NewReader(strings.Join(text, "")))
	if err != nil {
		t.Fatal(err)
	}
	return page(lines, nil)
}

func TestVerdicts(t *testing.T) {
	const gemm, movie, large = "gemm_2500_192_32", "movie_train_step", "large_filter_forward"
	for _, c := range []struct {
		name  string
		lines []string
		want  string
	}{
		{"met, to the last digit", []string{
			lineOf(ours, gemm, "1", `"best_s":100e-6`), lineOf(theirs, gemm, "1", `"best_s":100e-6,"variant":"mm"`),
		}, "| gemm_2500_192_32 | 100 µs | 100 µs | 1× | 1× | met | – |"},
		{"missed by little: the ratio is rounded down", []string{
			lineOf(ours, gemm, "1", `"best_s":100e-6`), lineOf(theirs, gemm, "1", `"best_s":99.9e-6,"variant":"mm"`),
		}, "| gemm_2500_192_32 | 99.9 µs | 100 µs | 0.99× | 1× | **missed** | – |"},
		{"the best of all rounds counts", []string{
			lineOf(ours, gemm, "1", `"best_s":3e-3`), lineOf(ours, gemm, "1", `"best_s":1e-3`),
			lineOf(theirs, gemm, "1", `"best_s":2e-3`), lineOf(theirs, gemm, "1", `"best_s":5e-3`),
		}, "| 2 ms | 1 ms | 2× |"},
		{"the fastest variant counts, the usual one is shown", []string{
			lineOf(ours, movie, "1", `"best_s":1e-3`),
			lineOf(theirs, movie, "1", `"best_s":9e-3,"variant":"batch"`), lineOf(theirs, movie, "1", `"best_s":6e-3,"variant":"node"`),
		}, "| movie_train_step | 6 ms | 1 ms | 6× | 7× | **missed**; met against the usual way | 9 ms, 9× |"},
		{"the newest run with both sides counts", []string{
			lineOf(ours, gemm, "1", `"best_s":1e-3`), lineOf(theirs, gemm, "1", `"best_s":1e-3`),
			lineOf(ours, gemm, "2", `"best_s":2e-3`), lineOf(theirs, gemm, "2", `"best_s":6e-3`),
			lineOf(ours, gemm, "3", `"best_s":1e-9`),
		}, "| 6 ms | 2 ms | 3× |"},
		{"memory counts", []string{
			lineOf(ours, large, "1", `"best_s":1,"max_rss_bytes":701000000`), lineOf(theirs, large, "1", `"best_s":10`),
		}, "| large_filter_forward | 10 s | 1 s | 10× | 3×, 700 MB | **missed** | – |"},
		{"in words", []string{
			lineOf(ours, gemm, "1", `"best_s":1e-3`), lineOf(theirs, gemm, "1", `"best_s":1e-3`),
			lineOf(ours, movie, "1", `"best_s":1e-3`), lineOf(theirs, movie, "1", `"best_s":1e-3`),
		}, "1 of 2 tasks reach what was wanted. Missed: movie_train_step."},
		{"a peer without a good BLAS", []string{
			lineOf(ours, gemm, "1", `"best_s":1e-3`), lineOf(theirs, gemm, "1", `"best_s":20e-3,"blas":"reference"`),
		}, "**NOT A FAIR COMPARISON.**"},
		{"the version and BLAS of the peer", []string{
			lineOf(ours, gemm, "1", `"best_s":1e-3`), lineOf(theirs, gemm, "1", `"best_s":2e-3`),
		}, "## Test CPU, one thread, against PyTorch 1.13 with openblas\n"},
		{"a compiled peer", []string{
			lineOf(ours, movie, "1", `"best_s":1e-3`),
			lineOf(theirs, movie, "1", `"best_s":9e-3,"variant":"batch"`),
			lineOf(theirs, movie, "1", `"best_s":8e-3,"variant":"batch","compiled":true`),
		}, "| movie_train_step | 8 ms, compiled | 1 ms | 8× | 7× | met | – |"},
		{"what is wanted on 16 threads", []string{
			threaded(16, lineOf(ours, movie, "1", `"best_s":1e-3`)), threaded(16, lineOf(theirs, movie, "1", `"best_s":3e-3,"variant":"batch"`)),
		}, "| movie_train_step | 3 ms | 1 ms | 3× | 3.5× | **missed** | – |"},
		{"nothing is wanted on others", []string{
			threaded(8, lineOf(ours, movie, "1", `"best_s":1e-3`)), threaded(8, lineOf(theirs, movie, "1", `"best_s":3e-3,"variant":"batch"`)),
		}, "| movie_train_step | 3 ms | 1 ms | 3× | – | – | – |"},
		{"shares of the peak", []string{
			lineOf(ours, gemm, "1", `"best_s":1e-3,"gflops":90`), lineOf(theirs, gemm, "1", `"best_s":2e-3,"gflops":45`),
			lineOf(ours, peakTask, "1", `"best_s":1e-3,"gflops":100`),
		}, "| gemm_2500_192_32 | 90 | 90 % | 45 | 45 % |\n\nThe peak, 100 GFLOP/s,"},
		{"shares of STREAM", []string{
			lineOf(ours, "spmm_random", "1", `"best_s":1,"bytes":1400,"edges":10,"gbytes_s":7.5`),
			lineOf(theirs, "spmm_random", "1", `"best_s":2,"bytes":1400,"edges":10,"gbytes_s":3.7`),
			lineOf(ours, streamTask, "1", `"best_s":1,"gbytes_s":10`),
		}, "| spmm_random | 140 | 7.5 | 75 % | 3.7, 37 % |\n\nThe triad of STREAM reaches 10.0 GB/s"},
		{"what threads gain", []string{
			lineOf(ours, large, "1", `"best_s":4`), lineOf(theirs, large, "1", `"best_s":4`), lineOf(ours, streamTask, "1", `"best_s":4`),
			threaded(2, lineOf(ours, large, "1", `"best_s":2.5`)), threaded(2, lineOf(ours, streamTask, "1", `"best_s":2`)),
		}, "| large_filter_forward | 4 s | 2.5 s, 1.6× |\n| stream_triad | 4 s | 2 s, 2× |\n\n" +
			"On 2 threads `large_filter_forward` gains 80 % of what the triad of STREAM gains."},
		{"several of them", []string{
			lineOf(ours, gemm, "1", `"best_s":1e-3`), lineOf(theirs, gemm, "1", `"best_s":2e-3`),
			lineOf(ours, movie, "2", `"best_s":1e-3`), lineOf(theirs, movie, "2", `"best_s":2e-3,"blas":"mkl"`),
		}, "against PyTorch 1.13 with openblas and PyTorch 1.13 with mkl\n"},
		{"an accelerator", []string{
			lineOf(ours, movie, "1", `"best_s":0.25e-3`), lineOf(theirs, movie, "1", `"best_s":2e-3`),
			`{"side":"torch","task":"movie_train_step","best_s":1e-3,"device":"cuda","device_name":"Test GPU",` +
				`"torch":"2.0","blas":"cuBLAS","date":"2026-01-02T03:04:05Z"}`,
		}, "PyTorch 2.0 with cuBLAS on one Test GPU, as written, against one thread of Test CPU\n\n" +
			"| task | PyTorch on the accelerator | wdgnn on one thread | ratio | measured |\n" +
			"| --- | ---: | ---: | ---: | --- |\n| movie_train_step | 1 ms | 250 µs | 4× | 2026-01-02T03:04:05Z |"},
		{"nothing", nil, "Nothing has been measured yet."},
	} {
		if got := pageOf(t, c.lines...); !strings.Contains(got, c.want) {
			t.Errorf("%s: want %q in\n%s", c.name, c.want, got)
		}
	}
}

func TestBadLines(t *testing.T) {
	good := lineOf(ours, "a", "1", `"best_s":1`)
	for _, c := range []struct{ text, want string }{
		{good + "{", "2: unexpected end"},
		{lineOf("us", "a", "1", `"best_s":1`), `1: side is "us"`},
		{lineOf(ours, "", "1", `"best_s":1`), "no task"},
		{lineOf(ours, "a", "1", `"best_s":0`), "best_s is 0"},
		{lineOf(ours, "a", "", `"best_s":1`), "was it written by bench/run?"},
		{`{"side":"torch","task":"a","best_s":1,"device":"cuda"}`, "needs device_name and date"},
	} {
		if _, err := read(strings.NewReader(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.text, err, c.want)
		}
	}
}
