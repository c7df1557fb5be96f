package box_test

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/box"
	"github.com/wdgnn/wdgnn/internal/broker"
	"github.com/wdgnn/wdgnn/transport/natsbus"
)

// refusedLines are lines that a box refuses, in whole or in part, when it is at
// step 5, and what its answer says.
var refusedLines = []struct {
	name, line string
	time       uint64
	outputs    int
	words      []string
}{
	{
		"a row too short", `{"time":6,"nodes":[{"node":0,"row":[1],"links":[]},{"node":1,"row":[1,1],"links":[]}]}`, 6, 1,
		[]string{"node 0", "1 values, want 2"},
	},
	{"all rows too long", `{"time":7,"nodes":[{"node":0,"row":[1,2,3],"links":[]}]}`, 7, 0, []string{"3 values, want 2"}},
	{
		"a stray node", `{"time":8,"nodes":[{"node":99,"row":[1,1]},{"node":1,"row":[1,1],"links":[]}]}`, 8, 1,
		[]string{"node 99 is not one of host 0", "hosts"},
	},
	{"no row", `{"time":9,"nodes":[{"node":0,"target":[1]},{"node":1,"row":[1,1],"links":[]}]}`, 9, 1, []string{"node 0 has no row"}},
	{"a class that is none", `{"time":10,"nodes":[{"node":1,"row":[1,1],"links":[],"target":[77]}]}`, 10, 1, []string{"class 77 of 3"}},
	{"a step that is over", `{"time":3,"nodes":[{"node":1,"row":[1,1],"links":[]}]}`, 3, 0, []string{"step 3 is over", "later time"}},
	{"an empty line", `{"time":11}`, 11, 0, []string{"neither a row nor a target"}},
	{"no JSON", `nonsense`, 0, 0, []string{"line of the world", "want"}},
	{"an unknown key", `{"time":12,"ndoes":[]}`, 0, 0, []string{"ndoes"}},
}

// checkRefusal compares an answer with what is expected of the k-th line.
func checkRefusal(t *testing.T, k int, a *spoken) {
	t.Helper()
	want := refusedLines[k]
	if a.Time != want.time || len(a.Outputs) != want.outputs {
		t.Errorf("%s: got time %d with %d outputs, want %d with %d", want.name, a.Time, len(a.Outputs), want.time, want.outputs)
	}
	for _, w := range want.words {
		if !strings.Contains(a.Error, w) {
			t.Errorf("%s: got %q, want %q in it", want.name, a.Error, w)
		}
	}
}

// A client that waits for the answer to every line with rows never waits in
// vain: what is refused is answered, with what is wrong, and the log names the
// first of each kind.
func TestRefusedLines(t *testing.T) {
	f := newFixture(t, graph.ShiftRowStochastic, true)
	c := f.config(0, 1)
	c.World = box.World{Kind: box.WorldLines}
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	var log syncBuffer
	done := make(chan error, 1)
	go func() {
		done <- box.Run(t.Context(), f.load(t, c), box.Streams{In: inR, Out: outW, Log: slog.New(slog.NewTextHandler(&log, nil))})
		outW.Close()
	}()
	answers := make(chan spoken, 1000)
	go func() {
		defer close(answers)
		for dec := json.NewDecoder(outR); ; {
			var a spoken
			if dec.Decode(&a) != nil {
				return
			}
			if a.Report == nil {
				answers <- a
			}
		}
	}()
	ask := func(line string) *spoken {
		_, err := io.WriteString(inW, line+"\n")
		check(t, err)
		a := receive(t, answers)
		return &a
	}
	if a := ask(f.line(5, everybody()...)); a.Error != "" || len(a.Outputs) != nodes {
		t.Fatalf("a good line: got %+v, want %d outputs and no error", a, nodes)
	}
	for range 3 {
		for k := range refusedLines {
			line := refusedLines[k].line
			if refusedLines[k].time > 5 { // a step can be begun once
				refusedLines[k].time += 10
				line = strings.Replace(line, fmt.Sprintf(`"time":%d`, refusedLines[k].time-10), fmt.Sprintf(`"time":%d`, refusedLines[k].time), 1)
				refusedLines[k].line = line
			}
			checkRefusal(t, k, ask(line))
		}
	}
	inW.Close()
	check(t, receive(t, done))
	for kind, count := range map[string]int{
		"kind=row": 1, "kind=stray": 1, "kind=stale": 1, "kind=target": 1, "kind=empty": 1, "cannot be read": 1,
	} {
		if got := strings.Count(log.String(), kind); got != count {
			t.Errorf("the log has %q %d times, want %d:\n%s", kind, got, count, log.String())
		}
	}
}

// Over NATS refusals come on the subject of answers.
func TestRefusedLinesOverNATS(t *testing.T) {
	f := newFixture(t, graph.ShiftRowStochastic, true)
	s, err := broker.Start(broker.Config{})
	check(t, err)
	t.Cleanup(s.Stop)
	c := f.config(0, 1)
	c.Bus, c.World = box.Bus{Kind: box.BusNATS, URL: s.URL()}, box.World{Kind: box.WorldSubject}
	conn, err := natsbus.Dial(t.Context(), natsbus.Config{URL: s.URL(), Run: "test", Host: 99})
	check(t, err)
	t.Cleanup(func() { conn.Close() })
	answers := make(chan spoken, 100)
	_, err = conn.Subscribe(natsbus.AnswerSubject("test", 0), func(_ string, data []byte) {
		var a spoken
		if json.Unmarshal(data, &a) == nil {
			answers <- a
		}
	})
	check(t, err)
	check(t, conn.Flush(t.Context()))
	k := open(t, f.load(t, c))
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for end := time.After(patience); ; { // a line that comes before the box listens is lost
		select {
		case <-ticker.C:
			check(t, conn.Publish(natsbus.WorldSubject("test", 0), []byte("nonsense")))
			continue
		case a := <-answers:
			if !strings.Contains(a.Error, "line of the world") {
				t.Errorf("got %+v, want what is wrong with the line", a)
			}
		case <-end:
			t.Fatal("no answer")
		}
		break
	}
	k.stop()
	check(t, k.end())
}
