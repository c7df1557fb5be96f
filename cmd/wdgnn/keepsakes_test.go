package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/internal/box"
	"github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/internal/dataset"
	"github.com/wdgnn/wdgnn/internal/journal"
	"github.com/wdgnn/wdgnn/internal/live"
	"github.com/wdgnn/wdgnn/internal/recommend"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/transport"
)

// keepsakes holds what earlier versions wrote; its README says what each file
// is. Whatever changes, all of it is still read, and still means the same.
const keepsakes = "testdata/keepsakes"

// unpack makes a copy of the keepsakes the working directory.
func unpack(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(keepsakes)); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	asBefore(t)
}

// asBefore turns off in the configurations here what those who wrote them did not
// have: gates, sets of answers, and neighbours that are clipped. Where no preset is
// named, the one that was the default then is: what they said is what is said with it.
func asBefore(t *testing.T) {
	t.Helper()
	err := filepath.WalkDir(".", func(path string, _ os.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".yaml" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		block, inline := "\n  gate: off\n  clip: off\n  coverage: 0", "gate: off, clip: off, coverage: 0, "
		if !bytes.Contains(text, []byte("preset:")) {
			block += "\n  preset: personal"
		}
		text = regexp.MustCompile(`(?m)^(online|learn):( *#.*)?$`).ReplaceAll(text, []byte("$0"+block))
		text = regexp.MustCompile(`(?m)^learn: \{p`).ReplaceAll(text, []byte("learn: {"+inline+"p"))
		return os.WriteFile(path, text, 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Every command line that was kept still says the same.
func TestKeepsakeOutputs(t *testing.T) {
	unpack(t)
	for _, line := range linesOf(t, "commands.txt")[1:] {
		name, args, _ := strings.Cut(line, ": ")
		args = strings.Replace(args, "--perturbed", "--read all --perturbed", 1) // the default then
		code, stdout, stderr := exec(t.Context(), strings.Fields(args)...)
		if code != exitOK {
			t.Fatalf("wdgnn %s: exit code %d and %s, want 0", args, code, stderr)
		}
		was, err := os.ReadFile("outputs/" + name)
		if err != nil {
			t.Fatal(err)
		}
		differ := sameText
		if strings.HasSuffix(name, ".json") {
			differ = sameJSON
		}
		if what := differ(string(was), stdout); what != "" {
			t.Errorf("wdgnn %s: %s", args, what)
		}
	}
	was, is := arrayOf(t, "outputs/predict.npy"), arrayOf(t, "outputs.npy")
	for k, want := range was {
		if got := is[k]; !near(float64(got), float64(want)) {
			t.Fatalf("number %d of the predictions is %v, want %v", k, got, want)
		}
	}
}

func arrayOf(t *testing.T, path string) []float32 {
	t.Helper()
	a, err := modelfile.LoadArray(path)
	if err != nil {
		t.Fatal(err)
	}
	values, err := a.Float32s()
	if err != nil {
		t.Fatal(err)
	}
	return values
}

func linesOf(t *testing.T, path string) []string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

var (
	took    = regexp.MustCompile(`\bin [0-9.]+(ns|µs|ms|s|m)\b`)
	later   = regexp.MustCompile(`(?m)^(online\.(heard|scores|sharing)|sharing ).*\n`)    // lines of what model files did not hold then
	tighter = regexp.MustCompile(`(?m)^  (direct certificate, |all layers together).*\n`) // bounds that are closer than they were
	numbers = regexp.MustCompile(`[-+]?\d+(\.\d+)?(e[-+]?\d+)?`)
)

// sameText says how the numbers of two texts differ. Words may change; times that
// were taken are no result, and what model files hold since then is not in the old.
func sameText(was, is string) string {
	of := func(text string) []string {
		for _, left := range []*regexp.Regexp{took, later, tighter} {
			text = left.ReplaceAllString(text, "")
		}
		return numbers.FindAllString(text, -1)
	}
	want, got := of(was), of(is)
	if len(got) != len(want) {
		return fmt.Sprintf("got %d numbers in\n%swant %d as in\n%s", len(got), is, len(want), was)
	}
	for k := range want {
		w, _ := strconv.ParseFloat(want[k], 64)
		g, _ := strconv.ParseFloat(got[k], 64)
		if math.Abs(g-w) > 1e-3*math.Abs(w) {
			return fmt.Sprintf("number %d: got %s, want %s in\n%s", k, got[k], want[k], is)
		}
	}
	return ""
}

// sameJSON says where an object differs from what it was. It may have more keys.
func sameJSON(was, is string) string {
	var want, got any
	if err := errors.Join(json.Unmarshal([]byte(was), &want), json.Unmarshal([]byte(is), &got)); err != nil {
		return err.Error()
	}
	return compare("", want, got)
}

// compare says where got is not what want is.
func compare(at string, want, got any) string {
	switch w := want.(type) {
	case map[string]any:
		g, _ := got.(map[string]any)
		for key, v := range w {
			if slices.Contains([]string{"seconds", "version", "kernels", "threads"}, key) {
				continue // of the machine, not of the result
			}
			if what := compare(at+"."+key, v, g[key]); what != "" {
				return what
			}
		}
		return ""
	case []any:
		g, _ := got.([]any)
		if len(g) != len(w) {
			return fmt.Sprintf("%s has %d items, want %d", at, len(g), len(w))
		}
		for k := range w {
			if what := compare(fmt.Sprintf("%s[%d]", at, k), w[k], g[k]); what != "" {
				return what
			}
		}
		return ""
	case float64:
		if g, ok := got.(float64); ok && near(g, w) {
			return ""
		}
	case string:
		if g, ok := got.(string); ok && strings.Contains(w, " ") {
			return sameText(w, g) // a sentence
		}
	}
	if got != want {
		return fmt.Sprintf("%s is %v, want %v", at, got, want)
	}
	return ""
}

func near(got, want float64) bool { return math.Abs(got-want) <= 1e-4*math.Abs(want)+1e-6 }

// Every command and every flag of the helps is still there, with its default.
func TestKeepsakeHelps(t *testing.T) {
	files, err := filepath.Glob(keepsakes + "/help/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no helps: %v", err)
	}
	flag := regexp.MustCompile(`^ +(?:-\w, +|    )(--[\w-]+(?: \w+|\[[^]]*\])?) `)
	preset := regexp.MustCompile(`\(default .*\)$`)
	command := regexp.MustCompile(`^  ([a-z]+) {2,}[A-Z]`)
	for _, file := range files {
		args := strings.Split(strings.TrimSuffix(filepath.Base(file), ".txt"), "-")[1:]
		code, help, stderr := exec(context.Background(), append(args, "-h")...)
		if code != exitOK {
			t.Errorf("wdgnn %s -h: exit code %d and %s", strings.Join(args, " "), code, stderr)
		}
		for _, line := range linesOf(t, file) {
			var want []string
			if m := flag.FindStringSubmatch(line); m != nil {
				want = []string{m[1], preset.FindString(line)}
				if f := flagOf(t, args, m[1]); f != nil { // by its name of today
					want[0] = strings.Replace(m[1], firstWord(m[1]), "--"+f.Name, 1)
				}
				want[0] = strings.TrimSuffix(want[0], "stringArray") // what it takes is said in words since then
				if m[1] == "--guard-window int" {                    // it counts those who judge since then
					want[1] = "(default 1000)"
				}
				if m[1] == "--preset string" { // auto since then; the other names are still read
					want = want[:1]
				}
				if strings.HasPrefix(m[1], "--page") { // where it is, --addr says since then
					want = []string{"--addr address", `(default "127.0.0.1:8089")`}
				}
				if len(args) > 0 && args[0] == "certify" && m[1] == "--drop float" { // several since then, and what 0.1 means is said with --paper
					want = []string{"--drop float", "of --paper one, 0.1 unless said"}
				}
			} else if m := command.FindStringSubmatch(line); m != nil {
				want = []string{"  " + m[1] + " "}
			}
			if want != nil && !slices.ContainsFunc(strings.Split(help, "\n"), func(l string) bool {
				return !slices.ContainsFunc(want, func(part string) bool { return !strings.Contains(l, part) })
			}) {
				t.Errorf("wdgnn %s -h has no line with %q", strings.Join(args, " "), want)
			}
		}
	}
}

// flagOf returns the flag of a command that text begins with, by whatever name.
func flagOf(t *testing.T, args []string, text string) *pflag.Flag {
	t.Helper()
	cmd, _, err := newRoot().Find(args)
	if err != nil {
		t.Fatal(err)
	}
	return cmd.Flags().Lookup(strings.TrimPrefix(firstWord(text), "--"))
}

func firstWord(text string) string { return regexp.MustCompile(`^[\w-]+`).FindString(text) }

// Configurations mean what they meant. The fingerprint is what a checkpoint is
// known by: with another one no run could be continued.
func TestKeepsakeConfigurations(t *testing.T) {
	unpack(t)
	for file, want := range map[string]string{
		"config.yaml": "5b7690adc85184cc", "values.yaml": "0a7a301edc04b388", "run/config.yaml": "5b7690adc85184cc",
		"init/classify.yaml": "cc67d088e7685da2", "init/regress.yaml": "4e3c407dae6d4ad2", "init/sourceloc.yaml": "c3c99ab26c6eb974",
	} {
		c, err := config.Load(file)
		if err != nil {
			t.Error(err)
		} else if got := c.Fingerprint(); got != want {
			t.Errorf("%s: fingerprint %s, want %s", file, got, want)
		}
	}
	c, err := config.Load("config.yaml")
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(c.Abs(c.Online.Stream.Signals), ", ", c.Online.MixingMatrix, ", ", c.Online.Mode)
	if want := "stream_signals.npy, max-degree, distributed"; got != want {
		t.Errorf("the stream is %s, want %s", got, want)
	}
	c, err = config.Load("stream.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if c.Trains() || c.Online.Preset != "personal" {
		t.Errorf("stream.yaml: trains is %v, preset %s, want a stream alone with personal", c.Trains(), c.Online.Preset)
	}
}

// A box of a fleet is what it was, anchors and all.
func TestKeepsakeFleet(t *testing.T) {
	c, err := box.Load(keepsakes + "/fleet.yaml")
	if err != nil {
		t.Fatal(err)
	}
	start := time.Date(2030, 1, 2, 15, 4, 5, 0, time.UTC)
	cut := transport.Partition{Hosts: []transport.HostID{2}, From: time.Second, To: 2 * time.Second}
	for what, pair := range map[string][2]any{
		"run and host": {fmt.Sprint(c.Run, " ", c.Host), "fleet_1 1"},
		"hosts": {c.Hosts, map[transport.HostID]box.Peer{
			0: {Nodes: "0-2", Address: "10.0.0.1:7411"}, 1: {Nodes: "3,4-5", Address: "10.0.0.2:7411"},
			2: {Nodes: "6-8", Address: "10.0.0.3:7411"}, 3: {Nodes: "9", Address: "10.0.0.1:7411"},
		}},
		"scale, diameter and norm": {fmt.Sprint(c.Scale, " ", c.Diameter, c.MaxNorm), "2.5 4 -1"},
		"bus":                      {c.Bus, box.Bus{Kind: box.BusTCP, Listen: "0.0.0.0:7411", Keys: "keys/host-1"}},
		"world":                    {c.World, box.World{Kind: box.WorldStream, Signals: "stream_signals.npy", Graph: "stream_graph.csv"}},
		"pace":                     {c.Pace, box.Pace{Mode: host.RealTime, Period: 100 * time.Millisecond, Start: start}},
		"metrics":                  {c.Metrics, "127.0.0.1:9100"},
		"faults": {c.Faults, &transport.Faults{
			Seed: 1<<64 - 1, Loss: 0.1, Duplicate: 0.05, Reorder: 0.01, Delay: 5 * time.Millisecond, Jitter: 90 * time.Second,
			Partitions: []transport.Partition{cut, cut},
		}},
	} {
		if !reflect.DeepEqual(pair[0], pair[1]) {
			t.Errorf("%s: got %+v, want %+v", what, pair[0], pair[1])
		}
	}
}

// A box goes on from the checkpoint that was kept as the one that wrote it did:
// every answer from step 15 to the end.
func TestKeepsakeState(t *testing.T) {
	unpack(t)
	want := linesOf(t, "answers.jsonl")
	if err := os.Remove("answers.jsonl"); err != nil {
		t.Fatal(err)
	}
	code, _, stderr := exec(t.Context(), "agent", "--config", "agent.yaml")
	if code != exitOK || !strings.Contains(stderr, "goes on from a checkpoint") {
		t.Fatalf("exit code %d and %s, want to go on from a checkpoint", code, stderr)
	}
	sameLines(t, linesOf(t, "answers.jsonl"), want[15:])
}

// Its checkpoint, with windows that the short ones of package host do not have, is
// read without a word too many or too few.
func TestKeepsakeCheckpoint(t *testing.T) {
	text, err := os.ReadFile(keepsakes + "/state/snapshot-0000000000000003")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ = bytes.Cut(text, []byte("\n"))
	var c host.Checkpoint
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&c); err != nil {
		t.Fatal(err)
	}
	if again, err := json.Marshal(c); err != nil || sameJSON(string(text), string(again)) != "" {
		t.Errorf("it is written as\n%s (%v)\nwant\n%s", again, err, text)
	}
}

// Lines of the world are answered as they were.
func TestKeepsakeLines(t *testing.T) {
	unpack(t)
	want := linesOf(t, "said.jsonl")
	if err := os.Remove("said.jsonl"); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := exec(t.Context(), "agent", "--config", "lines.yaml"); code != exitOK {
		t.Fatalf("exit code %d and %s, want 0", code, stderr)
	}
	sameLines(t, linesOf(t, "said.jsonl"), want)
}

func sameLines(t *testing.T, got, want []string) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("got %d lines, want %d", len(got), len(want))
	}
	for k := range want {
		if what := sameJSON(want[k], got[k]); what != "" {
			t.Errorf("line %d: %s", k, what)
		}
	}
}

// Models that are read and written again are the same files, byte for byte: whoever
// changes what is written adds a file, and if an earlier program would misread it
// gives wdgnn.format the next number.
func TestKeepsakeModels(t *testing.T) {
	for _, name := range []string{
		"run/model.safetensors", "values/model.safetensors", "shop/model.safetensors",
		"online/adapted.safetensors", "values-online/adapted.safetensors",
	} {
		was, err := os.ReadFile(filepath.Join(keepsakes, name))
		if err != nil {
			t.Fatal(err)
		}
		m, err := modelfile.Decode(bytes.NewReader(was), int64(len(was)))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var again bytes.Buffer
		if err := modelfile.Encode(&again, m); err != nil || !bytes.Equal(again.Bytes(), was) {
			t.Errorf("%s: written again it has %d bytes, others than the %d before (%v)", name, again.Len(), len(was), err)
		}
	}
}

// A run that a newer program has written is refused by its version and left as it
// is; one without a version, as they all were once, goes on and gets one.
func TestKeepsakeTraining(t *testing.T) {
	unpack(t)
	const path = "run/checkpoint.json"
	was, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	newer := []byte(strings.Replace(string(was), "{", `{"version":7,`, 1))
	if err := os.WriteFile(path, newer, 0o644); err != nil {
		t.Fatal(err)
	}
	code, _, stderr := exec(t.Context(), "train", "longer.yaml", "--resume", "-q")
	want := path + " is of version 7, this program reads 1: a newer wdgnn wrote it\nTry: a newer wdgnn to go on with it"
	if code != exitFailure || !strings.Contains(filepath.ToSlash(stderr), want) {
		t.Errorf("exit code %d and %s, want %d and %q", code, stderr, exitFailure, want)
	}
	if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, newer) {
		t.Errorf("the checkpoint was changed, or is gone (%v)", err)
	}
	if err := os.WriteFile(path, was, 0o644); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := exec(t.Context(), "train", "longer.yaml", "--resume", "-q"); code != exitOK {
		t.Fatalf("without a version: exit code %d and %s, want 0", code, stderr)
	}
	if now, err := os.ReadFile(path); err != nil || !bytes.HasPrefix(now, []byte(`{"version":1,`)) {
		t.Errorf("it begins with %.40s (%v), want version 1", now, err)
	}
}

// The service finds in its journal what was accepted, and the parameters that it
// had.
func TestKeepsakeJournal(t *testing.T) {
	unpack(t)
	all, err := dataset.Load("shop")
	if err != nil {
		t.Fatal(err)
	}
	m, err := recommend.Load("shop/model.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	disk, err := journal.OpenDir("shop/state")
	if err != nil {
		t.Fatal(err)
	}
	defer disk.Close()
	s, err := recommend.Open(m, all, disk, recommend.Config{Rule: recommend.Literal(0.05)})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	got := s.Status()
	if got.Version != 6 || got.Learned != 6 || got.Changed != 4 || got.Users != 24 || !near(got.Moved, 0.10998924170782964) {
		t.Errorf("got %+v, want version 6, 6 ratings learned from, 4 changed, 24 users, moved by 0.10999", got)
	}
	p, err := s.Predict(17, []int{4})
	if err != nil || !near(p.List[0].Rating, 3.1772751893073528) {
		t.Errorf("user 17 would rate movie 4 with %+v (%v), want 3.17728 as when it was said", p, err)
	}
}

// Frames of this version are read to the last number, and written as they were;
// those of an earlier one are refused by name. Whoever changes what is written
// gives the version another number, and adds a frame of it.
func TestKeepsakeFrames(t *testing.T) {
	text, err := os.ReadFile(keepsakes + "/frames/version-2.bin")
	if err != nil {
		t.Fatal(err)
	}
	h, messages, err := new(agent.Reader).Read(text)
	if want := (agent.Header{Run: 0x57d6, Plan: 0xa53398, Host: 3, Sequence: 41}); err != nil || h != want || len(messages) != 4 {
		t.Fatalf("got %+v and %d messages (%v), want %+v and 4", h, len(messages), err, want)
	}
	if again := agent.AppendFrame(nil, h, messages); !bytes.Equal(again, text) {
		t.Errorf("version 2 is written as\n% x\nwant\n% x", again, text)
	}
	for k, want := range []string{"4->all row t=9 e=0", "4->7 row t=9 e=2", "5->4 ask t=8 e=1", "5->all estimate t=1 e=6"} {
		if got := messages[k].String(); got != want {
			t.Errorf("message %d: got %s, want %s", k, got, want)
		}
	}
	m := messages[0]
	if m.Links != 2 || m.Degree != 1.5 || !slices.Equal(m.Values, []float32{0.5, -1.25, 3e-5, 1e30}) || len(messages[2].Values) != 0 {
		t.Errorf("got %+v and %+v, want a degree of 1.5, four numbers, and none", m, messages[2])
	}
	if text, err = os.ReadFile(keepsakes + "/frames/version-1.bin"); err != nil {
		t.Fatal(err)
	}
	_, _, err = new(agent.Reader).Read(text)
	if !errors.Is(err, agent.ErrVersion) || !strings.Contains(err.Error(), "1, this program speaks") {
		t.Errorf("version 1: got %v, want %v by its number", err, agent.ErrVersion)
	}
}

// A recorded run has its nodes, its steps and what was said.
func TestKeepsakeRecording(t *testing.T) {
	r, err := live.Open(keepsakes + "/recording")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if r.Scene.Title != "50 nodes on 10 hosts" || len(r.Scene.Nodes) != 50 || r.Skipped != 0 {
		t.Errorf("got %q with %d nodes, %d lines skipped, want 50 nodes on 10 hosts and none", r.Scene.Title, len(r.Scene.Nodes), r.Skipped)
	}
	frames, err := r.Read(0, r.Frames(), 1<<20)
	if err != nil || len(frames) != 5 {
		t.Fatalf("got %d frames (%v), want 5", len(frames), err)
	}
	var last live.Frame
	if err := json.Unmarshal(frames[len(frames)-1], &last); err != nil || last.Time != 5 {
		t.Errorf("the last frame is at %v (%v), want step 5", last.Time, err)
	}
}

// The README has a line for everything that was kept.
func TestKeepsakeReadme(t *testing.T) {
	entries, err := os.ReadDir(keepsakes)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(keepsakes + "/README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() != "README.md" && !strings.Contains(string(text), "`"+e.Name()+"`") {
			t.Errorf("README.md does not name %s", e.Name())
		}
	}
}

// Its table of formats names files and tests that there are, and all files of
// formats that have versions.
func TestKeepsakeFormats(t *testing.T) {
	text, err := os.ReadFile(keepsakes + "/README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "## Every format so far")
	var tests strings.Builder
	for _, folder := range []string{".", "../../host", "../../internal/lifecycle", "../../internal/recommend"} {
		files, _ := filepath.Glob(folder + "/*_test.go")
		for _, file := range files {
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			tests.Write(source)
		}
	}
	named := map[string]bool{}
	for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(table, -1) {
		name := m[1]
		if strings.HasPrefix(name, "Test") {
			if !strings.Contains(tests.String(), "func "+name+"(") {
				t.Errorf("there is no %s", name)
			}
			continue
		}
		if inside, ok := strings.CutPrefix(name, "keepsakes"); ok {
			name = "cmd/wdgnn/" + keepsakes + inside
		}
		named[name] = true
		if _, err := os.Stat("../../" + name); err != nil {
			t.Error(err)
		}
	}
	for _, pattern := range []string{
		"cmd/wdgnn/testdata/keepsakes/frames/*", "host/testdata/checkpoint-*", "internal/lifecycle/testdata/*", "internal/recommend/testdata/*",
	} {
		files, _ := filepath.Glob("../../" + pattern)
		if len(files) == 0 {
			t.Errorf("no file is called %s", pattern)
		}
		for _, file := range files {
			if name := strings.TrimPrefix(filepath.ToSlash(file), "../../"); !named[name] {
				t.Errorf("README.md does not name %s", name)
			}
		}
	}
}
