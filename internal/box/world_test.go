package box_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/internal/box"
	"github.com/wdgnn/wdgnn/internal/broker"
	"github.com/wdgnn/wdgnn/transport/natsbus"
)

// Lines on stdin give the answers of the stream; those that cannot be read are
// counted and skipped, and the rest goes on as if they had not been there.
func TestStdinLines(t *testing.T) {
	f := newFixture(t, graph.ShiftSymmetric, false)
	c := f.config(0, 1)
	c.World = box.World{Kind: box.WorldLines}
	c.State = "state"
	k := open(t, f.load(t, c))
	bad := []string{"{", `{"time":"now"}`, `{"tme":1}`, "[]", `{"time":1} {"time":2}`, strings.Repeat("x", 200_000), `{"time":-1}`}
	want := f.reference(t)
	for s := range steps {
		if s < len(bad) {
			k.say(bad[s], "")
		}
		k.say(f.line(s, everybody()...))
		a := k.hear(func(l *spoken) bool { return l.Report == nil && l.Error == "" })
		for _, o := range a.Outputs {
			if got, want := fmt.Sprint(o.Value), fmt.Sprint(want.outputs[s][int(o.Node)*classes:(int(o.Node)+1)*classes]); got != want {
				t.Fatalf("step %d, node %d: got %s, want %s", s, o.Node, got, want)
			}
		}
	}
	k.in.Close()
	final := k.hear(func(l *spoken) bool { return l.Report != nil && l.Report.Final }).Report
	check(t, k.end())
	if got := final.Stats.BadLines; got != uint64(len(bad)) {
		t.Errorf("%d lines were refused, want %d", got, len(bad))
	}
	if got := final.Stats.Steps; got != steps {
		t.Errorf("%d steps, want %d", got, steps)
	}
	want.checkParams(t, f.memory(t, "state"))
}

// A box that is stopped and started again goes on from its checkpoint.
func TestRestart(t *testing.T) {
	f := newFixture(t, graph.ShiftSymmetric, false)
	c := f.config(0, 1)
	c.World = box.World{Kind: box.WorldLines}
	c.State = "state"
	for from := 0; from < steps; from += 5 {
		k := open(t, f.load(t, c))
		for s := range from + 5 {
			k.say(f.line(s, everybody()...)) // what was done already is stale
		}
		k.hear(func(l *spoken) bool { return l.Report == nil && l.Time == uint64(from+4) })
		k.stop()
		check(t, k.end())
	}
	f.reference(t).checkParams(t, f.memory(t, "state"))

	c.World = box.World{Kind: box.WorldStream, Signals: "x.npy", Targets: "y.npy", Graph: "g.csv"}
	if got := run(t, f.load(t, c)); len(got) > 0 {
		t.Errorf("a stream that was over began anew: %s", got)
	}
}

// /metrics, /status and reports say the same, and every counter is there.
func TestMetrics(t *testing.T) {
	f := newFixture(t, graph.ShiftSymmetric, false)
	c := f.config(0, 1)
	c.World, c.Metrics = box.World{Kind: box.WorldLines}, freeAddresses(t, 1)[0]
	k := open(t, f.load(t, c))
	k.say("nonsense")
	for s := range 7 {
		k.say(f.line(s, everybody()...))
	}
	k.hear(func(l *spoken) bool { return l.Report != nil && l.Report.Stats.Steps == 7 && l.Report.Latency.Max > 0 })
	var status host.Report
	check(t, json.Unmarshal([]byte(get(t, "http://"+c.Metrics+"/status")), &status))
	if status.Stats.BadLines != 1 || status.Agents.Predicted != 7*nodes || status.Nodes != "0-11" {
		t.Errorf("status %+v, want 1 refused line, %d predictions, nodes 0-11", status, 7*nodes)
	}
	if got := get(t, "http://"+c.Metrics+"/healthz"); got != "ok\n" {
		t.Errorf("health: got %q, want ok", got)
	}
	metrics := parseMetrics(get(t, "http://"+c.Metrics+"/metrics"))
	for part, stats := range map[string]any{"host": status.Stats, "agent": status.Agents, "bus": status.Bus} {
		v := reflect.ValueOf(stats)
		for f := range v.Type().Fields() {
			key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			name := fmt.Sprintf("wdgnn_%s_%s_total", part, key)
			got, ok := metrics[name]
			if want := float64(v.FieldByIndex(f.Index).Uint()); !ok || got != want {
				t.Errorf("%s: got %v, there: %v; want %v", name, got, ok, want)
			}
		}
	}
	if got, want := metrics[`wdgnn_step_seconds{quantile="0.5"}`], status.Latency.Median.Seconds(); got != want {
		t.Errorf("median latency %v, want %v", got, want)
	}
	if got := metrics["wdgnn_time"]; got != 6 {
		t.Errorf("time %v, want 6", got)
	}
	k.stop()
	check(t, k.end())
}

func get(t *testing.T, url string) string {
	t.Helper()
	r, err := http.Get(url)
	check(t, err)
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	check(t, err)
	return string(text)
}

// parseMetrics reads numbers by name and labels, less that of the run test.
func parseMetrics(text string) map[string]float64 {
	m := map[string]float64{}
	for line := range strings.Lines(strings.NewReplacer(`{run="test"}`, "", `,run="test"`, "", `run="test",`, "").Replace(text)) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), " "); ok && !strings.HasPrefix(line, "#") {
			m[name], _ = strconv.ParseFloat(value, 64)
		}
	}
	return m
}

// A world over NATS is answered over NATS, and reports come there, too.
func TestSubjectWorld(t *testing.T) {
	f := newFixture(t, graph.ShiftSymmetric, true)
	s, err := broker.Start(broker.Config{})
	check(t, err)
	t.Cleanup(s.Stop)
	c := f.config(0, 1)
	c.Bus = box.Bus{Kind: box.BusNATS, URL: s.URL()}
	c.World = box.World{Kind: box.WorldSubject}
	conn, err := natsbus.Dial(t.Context(), natsbus.Config{URL: s.URL(), Run: "test", Host: 99})
	check(t, err)
	t.Cleanup(func() { conn.Close() })
	answers, reports := make(chan host.Answer, 100), make(chan host.Report, 100)
	_, err = conn.Subscribe(natsbus.AnswerSubject("test", 0), func(_ string, data []byte) {
		var a host.Answer
		if err := json.Unmarshal(data, &a); err == nil {
			answers <- a
		}
	})
	check(t, err)
	_, err = conn.Subscribe(natsbus.ReportSubject("test", 0), func(_ string, data []byte) {
		var r host.Report
		if err := json.Unmarshal(data, &r); err == nil {
			reports <- r
		}
	})
	check(t, err)
	check(t, conn.Flush(t.Context()))
	k := open(t, f.load(t, c))
	receive(t, reports) // the box is up
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	end := time.After(patience)
	for step := 0; step < 3; { // a line that comes before the box listens is lost
		select {
		case <-ticker.C:
			check(t, conn.Publish(natsbus.WorldSubject("test", 0), []byte(f.line(step, everybody()...))))
		case a := <-answers:
			if a.Time != uint64(step) || len(a.Outputs) != nodes {
				t.Fatalf("answer at %d of %d nodes, want at %d of %d", a.Time, len(a.Outputs), step, nodes)
			}
			step++
		case <-end:
			t.Fatal("no answer")
		}
	}
	k.stop()
	check(t, k.end())
	for r := receive(t, reports); !r.Final; {
		r = receive(t, reports)
	}
}

func receive[T any](t *testing.T, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(patience):
		t.Fatal("nothing came")
		panic("unreachable")
	}
}

// A reader who stops reading does not stop a box.
func TestStuckReader(t *testing.T) {
	f := newFixture(t, graph.ShiftSymmetric, true)
	c := f.config(0, 1)
	c.World, c.Pace.Deadline, c.Metrics = box.World{Kind: box.WorldLines}, time.Millisecond, freeAddresses(t, 1)[0]
	inR, inW := io.Pipe()
	stuck := make(chan struct{})
	done := make(chan error, 1)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go func() { done <- box.Run(ctx, f.load(t, c), box.Streams{In: inR, Out: blocked(stuck)}) }()
	for s := range 600 {
		l := strings.Replace(f.line(s%steps, everybody()...), fmt.Sprintf(`{"time":%d,`, s%steps), fmt.Sprintf(`{"time":%d,`, s), 1)
		_, err := io.WriteString(inW, l+"\n")
		check(t, err)
	}
	close(stuck)
	inW.Close()
	select {
	case err := <-done:
		check(t, err)
	case <-time.After(patience):
		t.Fatal("the box did not end")
	}
}

// blocked is a writer that waits until it is closed.
type blocked chan struct{}

func (b blocked) Write(p []byte) (int, error) {
	<-b
	return len(p), nil
}

// An output that is not finite is lost for its node only: the others of the box
// have their answers, and the log says so once.
func TestOutputNotFinite(t *testing.T) {
	f := newFixture(t, graph.ShiftRowStochastic, true)
	c := f.config(0, 1)
	c.World = box.World{Kind: box.WorldLines}
	for e := range f.model.Network.Params.Readout.Weight.Data {
		f.model.Network.Params.Readout.Weight.Data[e] *= 1e3
	}
	f.save()
	k := open(t, f.load(t, c))
	line := `{"time":%d,"nodes":[{"node":0,"row":[3e38,3e38],"links":[]},{"node":1,"row":[1,1],"links":[]}]}`
	for s := range 3 {
		k.say(fmt.Sprintf(line, s))
		a := k.hear(func(l *spoken) bool { return l.Report == nil })
		if len(a.Outputs) != 1 || a.Outputs[0].Node != 1 || a.Time != uint64(s) {
			t.Fatalf("step %d: got %+v, want the answer of node 1", s, a)
		}
	}
	k.in.Close()
	final := k.hear(func(l *spoken) bool { return l.Report != nil && l.Report.Final }).Report
	check(t, k.end())
	if got := final.Stats; got.LostOutputs != 3 || got.LostAnswers != 0 {
		t.Errorf("%d outputs and %d answers lost, want 3 and 0", got.LostOutputs, got.LostAnswers)
	}
}

// A box that reads a file by the clock and is started late begins with the step whose
// time it is: lines of earlier steps are neither answered nor refused, however many
// there are.
func TestFileOfLinesByTheClockBeginsLate(t *testing.T) {
	f := newFixture(t, graph.ShiftSymmetric, false)
	const late, period = 12, time.Second // far more than a box takes to start
	var text strings.Builder
	for s := range steps {
		fmt.Fprintln(&text, f.line(s, everybody()...))
	}
	check(t, os.WriteFile(f.path("lines.jsonl"), []byte(text.String()), 0o644))
	c := f.config(0, 1)
	c.World = box.World{Kind: box.WorldLines, File: "lines.jsonl", Answers: "answers.jsonl"}
	c.Pace = box.Pace{Period: period, Start: time.Now().Add(-(late*period - period/2))}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- box.Run(ctx, f.load(t, c), box.Streams{}) }()
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for {
		answers, _ := os.ReadFile(f.path("answers.jsonl")) // which may not be there yet
		if line, _, whole := strings.Cut(string(answers), "\n"); whole {
			var first host.Answer
			check(t, json.Unmarshal([]byte(line), &first))
			if first.Time < late || first.Error != "" || len(first.Outputs) != nodes {
				t.Errorf("the first answer is of step %d, with %d outputs and the error %q; want step %d or later, %d and none",
					first.Time, len(first.Outputs), first.Error, late, nodes)
			}
			break
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			t.Fatal("no answer")
		}
	}
	cancel()
	check(t, <-done)
}

// By the clock the last line is answered like any other: two boxes need a moment to
// hear each other, and the end of their files, or of their streams, does not cut it off.
// On a machine that is busy they may not be ready in time: then they get more.
func TestLastStepByTheClock(t *testing.T) {
	got := 0
	for _, period := range []time.Duration{250 * time.Millisecond, time.Second, 4 * time.Second} {
		if got = lastStepByTheClock(t, period); got == nodes {
			return
		}
	}
	t.Errorf("the last step has %d outputs of both boxes, want %d", got, nodes)
}

// lastStepByTheClock returns how many outputs two boxes give in the last step.
func lastStepByTheClock(t *testing.T, period time.Duration) int {
	s, err := broker.Start(broker.Config{})
	check(t, err)
	defer s.Stop()
	f := newFixture(t, graph.ShiftSymmetric, false)
	start := time.Now().Add(-(steps - 4) * period) // the last four steps
	var boxes []*box.Config
	for id := range 2 {
		c := f.config(id, 2)
		c.Bus, c.Pace = box.Bus{Kind: box.BusNATS, URL: s.URL()}, box.Pace{Period: period, Start: start}
		if id == 1 {
			var text strings.Builder
			for s := range steps {
				fmt.Fprintln(&text, f.line(s, everybody()[nodes/2:]...))
			}
			check(t, os.WriteFile(f.path("lines.jsonl"), []byte(text.String()), 0o644))
			c.World = box.World{Kind: box.WorldLines, File: "lines.jsonl"}
		}
		boxes = append(boxes, f.load(t, c))
	}
	answered := map[uint64]int{}
	for line := range strings.Lines(string(run(t, boxes...))) {
		var a host.Answer
		check(t, json.Unmarshal([]byte(line), &a))
		answered[a.Time] += len(a.Outputs)
	}
	return answered[steps-1]
}
