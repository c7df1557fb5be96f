//go:build linux

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/random"
)

// programs builds wdgnn and wdgnn-agent.
func programs(t *testing.T) (program, agent []string) {
	t.Helper()
	if testing.Short() {
		t.Skipf("SKIPPED %s: it starts processes, and -short is set", t.Name())
	}
	if native, err := exec.Command("go", "env", "GOHOSTARCH").Output(); err == nil && strings.TrimSpace(string(native)) != runtime.GOARCH {
		t.Skipf("SKIPPED %s: an emulated test cannot start programs", t.Name())
	}
	dir := t.TempDir()
	build := exec.Command("go", "build", "-o", dir, "github.com/wdgnn/wdgnn/cmd/wdgnn", "github.com/wdgnn/wdgnn/cmd/wdgnn-agent")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return []string{filepath.Join(dir, "wdgnn")}, []string{filepath.Join(dir, "wdgnn-agent")}
}

// A short soak: boxes over both buses, on machines that are namespaces where there
// are any, meet a fault each. All are together again after each, and every line is
// answered or accounted for. How soon is for a quiet machine to say.
func TestShortSoak(t *testing.T) {
	program, agent := programs(t)
	f, err := newField(t.Context(), t.TempDir(), program, agent)
	check(t, err)
	for _, c := range []struct {
		setting
		proxies bool
		Fault
	}{
		{setting{Bus: busNATS, Pace: lockstep, Boxes: 3, Rate: 20}, false, Fault{Kind: "kill -9 without a server", Met: []int{1}, Seconds: 0.3}},
		{setting{Bus: busTCP, Pace: lockstep, Boxes: 3, Rate: 20}, false, Fault{Kind: "stop", Met: []int{1, 2}, Seconds: 0.5}},
		{setting{Bus: busTCP, Pace: answered, Boxes: 4, Rate: 50}, false, Fault{Kind: "long stop of several", Met: []int{1, 2}, Seconds: 1}},
		{setting{Bus: busTCP, Pace: realTime, Boxes: 3, Rate: 10}, true, Fault{Kind: "partition", Met: []int{2}, Seconds: 0.6}},
	} {
		t.Run(c.Bus+" "+c.Kind, func(t *testing.T) {
			t.Parallel() // most of it is waiting
			var n network = newProxies()
			if !c.proxies {
				var err error
				n, err = newNetwork(len(c.Kind), c.Boxes+1)
				check(t, err)
			}
			defer n.close()
			dir := t.TempDir()
			y, err := newYard(t.Context(), f, c.setting, dir, n)
			check(t, err)
			defer y.clear()
			check(t, y.start(t.Context(), 1))
			if _, why, _ := y.heal(t.Context(), y.began); why != "" {
				t.Errorf("before any fault: %s", why)
			}
			over, err := y.suffer(t.Context(), kindOf(t, c.Kind), &c.Fault)
			check(t, err)
			seconds, why, _ := y.heal(t.Context(), over)
			if t.Logf("together after %.2f s", seconds); why != "" {
				t.Errorf("not together after %.1f s: %s", seconds, why)
			}
			s := y.sample(y.began)
			if s.Oldest.ResidentMB <= 0 || s.Oldest.Files <= 0 || s.Oldest.Goroutines <= 0 || s.Frozen <= 0 {
				t.Errorf("the first box takes %+v and the model as trained costs %v, want numbers", s.Oldest, s.Frozen)
			}
			a, err := y.stop()
			if err != nil || !a.ok() || a.Answers < 50 || a.Right*2 < a.Told {
				t.Errorf("%+v, %v; want answers, most of them right, and everything explained%s", a, err, logs(t, dir))
			}
		})
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func kindOf(t *testing.T, name string) *kind {
	t.Helper()
	for k := range kinds {
		if kinds[k].name == name {
			return &kinds[k]
		}
	}
	t.Fatalf("no kind %q", name)
	return nil
}

// logs returns what processes logged.
func logs(t *testing.T, dir string) (text string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.log"))
	check(t, err)
	for _, f := range files {
		log, err := os.ReadFile(f)
		check(t, err)
		text += "\n" + filepath.Base(f) + "\n" + string(log)
	}
	return text
}

// A line without an answer is explained by a counter of the report that covers it, or
// died with a process that had not reported since; nothing else is an excuse.
func TestAccounts(t *testing.T) {
	for _, c := range []struct {
		what   string
		report string // of the process, after lines 0 to 9 of which 0 to 3, 7 and 8 were answered
		end    bool   // of its world
		want   Account
	}{
		{"killed before any report", ``, false, Account{Died: 4}},
		{"killed, all counted", `{"time":7,"stats":{"unanswered":3},"quarantines":{"x":2}}`, false, Account{Counted: 3, Died: 1, Quarantines: 2}},
		{"killed, not counted", `{"time":7,"stats":{"unanswered":1}}`, false, Account{Counted: 1, Died: 1, Unexplained: 2}},
		{"answers not taken", `{"time":7,"stats":{"unanswered":1,"lost_answers":2}}`, false, Account{Counted: 3, Died: 1}},
		{"told to end", `{"time":9,"final":true,"stats":{"unanswered":4},"waits":true}`, false, Account{Counted: 4}},
		{"an earlier program told to end", `{"time":9,"final":true,"stats":{"unanswered":3},"waits":true}`, false, Account{Counted: 3, Died: 1}},
		{"world ended", `{"time":8,"final":true,"stats":{"unanswered":3}}`, true, Account{Counted: 3, Unexplained: 1}},
	} {
		var l ledger
		for step := range uint64(10) {
			l.write(step)
		}
		for _, step := range []uint64{0, 1, 2, 3, 7, 8, 8} {
			l.take(&host.Answer{Time: step, Outputs: []host.Output{{Value: []float32{0, 1}}}}, 1, func(int) int { return 1 })
		}
		if c.report != "" {
			r := new(host.Report)
			check(t, json.Unmarshal([]byte(c.report), r))
			l.hear(r, time.Now())
		}
		c.want.Lines, c.want.Answers, c.want.Missing, c.want.Strange, c.want.Told, c.want.Right = 10, 6, 4, 1, 6, 6
		if got := l.account(c.end); got != c.want {
			t.Errorf("%s: got %+v, want %+v", c.what, got, c.want)
		}
	}
}

// Faults are drawn within their bounds, and the same seed draws the same.
func TestDraw(t *testing.T) {
	y := &yard{setting: setting{Bus: busNATS, Boxes: 5}}
	for k := range kinds {
		for n := range 200 {
			f := kinds[k].draw(random.Stream(1, "draw", n), y, 1)
			again := kinds[k].draw(random.Stream(1, "draw", n), y, 1)
			if len(f.Met) != len(again.Met) || f.Seconds != again.Seconds {
				t.Errorf("%s: got %v and %v from one seed", f.Kind, f, again)
			}
			for _, m := range f.Met {
				if m < 0 || m > 5 || m == 5 && !kinds[k].server || m == 0 && kinds[k].kills {
					t.Errorf("%s meets machine %d of 5 boxes and a server", f.Kind, m)
				}
			}
			if len(f.Met) > 5 || len(f.Met) < min(kinds[k].least, 4) || f.Seconds < kinds[k].from || f.Seconds > kinds[k].to {
				t.Errorf("%s: %v, want %d machines or more and %v to %v s", f.Kind, f, kinds[k].least, kinds[k].from, kinds[k].to)
			}
		}
	}
}

// A page is written from a result that was saved and read again.
func TestPage(t *testing.T) {
	dir := t.TempDir()
	r := &Result{
		Runs: &Runs{List: []*Run{
			{
				setting: setting{Bus: busTCP, Pace: lockstep}, Fault: Fault{Kind: "stop", Behind: 3.25}, Healed: 2,
				Account: Account{Lines: 5, Answers: 5},
			},
			{setting: setting{Bus: busTCP, Pace: lockstep}, Fault: Fault{Kind: "stop"}, Healed: 11, Why: `a "\`},
		}},
		Soak: &Soak{
			Accounts: map[string]Account{busTCP: {Lines: 3, Told: 4, Right: 3}},
			Samples:  []*Sample{{Bus: busTCP, Oldest: Usage{ResidentMB: 14.2, Files: 9, Goroutines: 20, Checkpoint: 1}, Learned: 1, Frozen: 2}},
		},
		Upgrade: &Upgrade{Moves: []*Move{{To: "newer", Kept: true, Healed: 1.5}}},
	}
	check(t, r.save(filepath.Join(dir, "r.json")))
	r = &Result{Upgrade: &Upgrade{Older: "of another file"}}
	check(t, r.add(filepath.Join(dir, "r.json")))
	check(t, r.write(filepath.Join(dir, "r.md")))
	text, err := os.ReadFile(filepath.Join(dir, "r.md"))
	check(t, err)
	for _, want := range []string{
		"| tcp | stop | 2 | 11.0 s | 11.0 s | 1 | 3.2 s | 5 | 0 | 0 | 0 | 0 |", "| 75.00 % |", "| 14.2 MB | 14.2 MB | 9 | 9 | 20 | 20 | 1.0 s |",
		"| 1.0000 | 2.0000 | 0 of 1 |", "| newer | 1 | 1 | 1.5 s | 1.5 s |",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the page has no %q:\n%s", want, text)
		}
	}
	if err := r.verdict(); err == nil || !strings.Contains(err.Error(), "together after 11.00 s") {
		t.Errorf("got the verdict %v, want that of the run which took 11 s", err)
	}
}

// Ports are given once, also to many at a time, and none lies where the kernel's own
// begin.
func TestPorts(t *testing.T) {
	p, taken := newPorts(7), make(chan int, 64)
	var askers sync.WaitGroup
	for range cap(taken) {
		askers.Go(func() {
			port, err := p.take()
			if err != nil {
				t.Error(err)
			}
			taken <- port
		})
	}
	askers.Wait()
	close(taken)
	seen := map[int]bool{}
	for port := range taken {
		if seen[port] || port < p.low || port >= p.high {
			t.Errorf("got port %d, want another from %d to %d", port, p.low, p.high-1)
		}
		seen[port] = true
	}
}

// Of a long log the last lines are shown.
func TestLastLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "box-1.log")
	check(t, os.WriteFile(path, []byte(strings.Repeat("a line\n", lastBytes)+strings.Repeat("one more\n", lastWords-1)+"the last\n"), 0o600))
	if got, want := lastLines(path), strings.Repeat("one more\n", lastWords-1)+"the last"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
