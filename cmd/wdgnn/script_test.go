package main

import (
	"bytes"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/wdgnn/wdgnn/modelfile"
)

func TestMain(m *testing.M) {
	flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0))) // scripts wait for processes much of the time
	testscript.Main(m, map[string]func(){"wdgnn": main})
}

// Every script runs the program as a user would. Beside the commands of
// testscript there are:
//
//	npy FILE SHAPE KIND      write an array: zeros, ramp, nan, huge, gaps:2, classes:3, known:2
//	shape FILE SHAPE         fail unless the array has that shape
//	cut FILE BYTES           keep the first bytes of a file
//	await FILE PATTERN       wait until a file matches
//	same FILE FILE           fail unless the files are equal
//	edit FILE OLD NEW        replace a text, which must be there; \n ends a line
//	spoil FILE KIND FILE     write a table of readings as people have them: scale:1.6, twice:3 (a row comes
//	                         twice), still:NAME (constant for the last 96 rows), without:NAME, gaps:40 (percent),
//	                         first:5 (rows), reversed:20 (rows from there on in another order)
func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"npy": writeArray, "shape": checkShape, "cut": cut, "await": await, "same": same, "edit": edit, "spoil": spoil,
		},
	})
}

// The files in examples train end to end, and are those that init writes.
func TestExamples(t *testing.T) {
	if testing.Short() {
		t.Skipf("SKIPPED %s: it trains every example; it runs without -short", t.Name())
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/examples",
		Setup: func(e *testscript.Env) error {
			return os.CopyFS(e.WorkDir+"/own-data", os.DirFS("../../examples/own-data"))
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){"shape": checkShape, "same": same},
	})
}

// Movies are rated in MovieLens, which lies beside the checkout and is not part of
// it. At a desk without it the test is skipped, loudly; in CI that is a failure.
// There is one more command:
//
//	within FILE LOW HIGH     fail unless all numbers of the array lie between
func TestMoviesScript(t *testing.T) {
	if testing.Short() {
		t.Skipf("SKIPPED %s: it trains recommenders; it runs without -short", t.Name())
	}
	data, err := filepath.Abs(sharedData + "ml-100k")
	if err == nil {
		_, err = os.Stat(data)
	}
	if os.IsNotExist(err) && os.Getenv("CI") != "true" {
		t.Skipf("SKIPPED %s: no MovieLens at %s", t.Name(), sharedData)
	}
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/movies",
		Setup: func(e *testscript.Env) error {
			e.Setenv("DATA", filepath.ToSlash(data))
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"shape": checkShape, "same": same, "edit": edit, "within": within,
		},
	})
}

func within(ts *testscript.TestScript, _ bool, args []string) {
	a, err := modelfile.LoadArray(ts.MkAbs(args[0]))
	ts.Check(err)
	low, err := strconv.ParseFloat(args[1], 32)
	ts.Check(err)
	high, err := strconv.ParseFloat(args[2], 32)
	ts.Check(err)
	values, err := a.Float32s()
	ts.Check(err)
	for i, v := range values {
		if !(float64(v) >= low && float64(v) <= high) {
			ts.Fatalf("%s: number %d is %v, want %v to %v", args[0], i, v, low, high)
		}
	}
}

func writeArray(ts *testscript.TestScript, _ bool, args []string) {
	shape := parseShape(ts, args[1])
	n := 1
	for _, d := range shape {
		n *= d
	}
	values := make([]float32, n)
	kind, number, _ := strings.Cut(args[2], ":")
	k, _ := strconv.Atoi(number)
	for i := range values {
		switch kind {
		case "ramp":
			values[i] = float32(i%7) / 7
		case "classes", "known":
			values[i] = float32(i % k)
		case "nan":
			values[i] = float32(math.NaN())
		case "huge":
			values[i] = 3e38
		case "gaps": // in rows of three, NaN where known:k is 0
			values[i] = float32(i%7) / 7
			if i/3%k == 0 {
				values[i] = float32(math.NaN())
			}
		}
	}
	if kind == "nan" || kind == "gaps" {
		ts.Check(writeRaw(ts.MkAbs(args[0]), shape, values))
		return
	}
	ts.Check(modelfile.SaveArray(ts.MkAbs(args[0]), shape, values))
}

// writeRaw writes an array with NaN, whatever modelfile thinks of it.
func writeRaw(path string, shape []int, values []float32) error {
	header := fmt.Sprintf("{'descr': '<f4', 'fortran_order': False, 'shape': (%s,), }\n",
		strings.Trim(strings.ReplaceAll(fmt.Sprint(shape), " ", ","), "[]"))
	var b bytes.Buffer
	b.WriteString("\x93NUMPY\x01\x00")
	b.Write([]byte{byte(len(header)), byte(len(header) >> 8)})
	b.WriteString(header)
	for _, v := range values {
		bits := math.Float32bits(v)
		b.Write([]byte{byte(bits), byte(bits >> 8), byte(bits >> 16), byte(bits >> 24)})
	}
	return os.WriteFile(path, b.Bytes(), 0o644)
}

func parseShape(ts *testscript.TestScript, text string) []int {
	var shape []int
	for field := range strings.SplitSeq(text, "x") {
		n, err := strconv.Atoi(field)
		ts.Check(err)
		shape = append(shape, n)
	}
	return shape
}

func checkShape(ts *testscript.TestScript, _ bool, args []string) {
	a, err := modelfile.LoadArray(ts.MkAbs(args[0]))
	ts.Check(err)
	if got, want := fmt.Sprint(a.Shape), fmt.Sprint(parseShape(ts, args[1])); got != want {
		ts.Fatalf("%s has shape %s, want %s", args[0], got, want)
	}
}

func cut(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	ts.Check(os.Truncate(ts.MkAbs(args[0]), n))
}

// await polls: the file is another process's.
func await(ts *testscript.TestScript, _ bool, args []string) {
	pattern := regexp.MustCompile(args[1])
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		if text, err := os.ReadFile(ts.MkAbs(args[0])); err == nil && pattern.Match(text) {
			return
		}
	}
	ts.Fatalf("%s does not match %q after 30 s", args[0], args[1])
}

func same(ts *testscript.TestScript, neg bool, args []string) {
	a, err := os.ReadFile(ts.MkAbs(args[0]))
	ts.Check(err)
	b, err := os.ReadFile(ts.MkAbs(args[1]))
	ts.Check(err)
	if bytes.Equal(a, b) == neg {
		ts.Fatalf("%s and %s: equal is %v", args[0], args[1], !neg)
	}
}

func edit(ts *testscript.TestScript, _ bool, args []string) {
	text := ts.ReadFile(args[0])
	if !strings.Contains(text, args[1]) {
		ts.Fatalf("%s does not contain %q", args[0], args[1])
	}
	to := strings.ReplaceAll(args[2], `\n`, "\n")
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.Replace(text, args[1], to, 1)), 0o644))
}
