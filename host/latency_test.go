package host_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/wdgnn/wdgnn/host"
)

// A report says how long steps took from their beginning to the answer: of steps
// of 1 to 101 ms, in no order, half took 51 ms or less, nine tenths 91, all but one
// 100, and none more than 101.
func TestLatencies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, w, other, plan := pairHost(t, host.Pace{Deadline: time.Hour, Retry: time.Hour})
		done := make(chan error, 1)
		go func() { done <- h.Run(t.Context()) }()
		for s := range uint64(101) {
			w.lines <- &host.Line{Time: s, Nodes: []host.NodeLine{{Node: 0, Row: []float32{1}}}}
			time.Sleep(time.Duration(1+37*s%101) * time.Millisecond)
			check(t, other.Send(row(plan, s+1, s)))
			<-w.answers
		}
		close(w.lines)
		check(t, <-done)
		const ms = time.Millisecond
		if got, want := h.Report().Latency, (host.Latency{Median: 51 * ms, P90: 91 * ms, P99: 100 * ms, Max: 101 * ms}); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	})
}
