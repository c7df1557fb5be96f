//go:build linux

package main

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/host"
)

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
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
		{"killed, all counted", `{"time":7,"stats":{"unanswered":3}}`, false, Account{Counted: 3, Died: 1}},
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
