package lifecycle

import (
	"reflect"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/forecast"
)

// What answers is compared with forecasts that need no model, horizon by horizon; who
// errs as much or more is said loudly.
func TestVerdicts(t *testing.T) {
	horizon := func(ahead string, maes ...float64) HorizonResult {
		h := HorizonResult{Ahead: ahead}
		for k, name := range []string{MethodLast, MethodSeason, MethodClock, MethodRidge, MethodFrozen} {
			score := forecast.Score{MAE: maes[k]}
			if maes[k] > 0 {
				score.Count = 7
			}
			h.Methods = append(h.Methods, MethodResult{name, score})
		}
		return h
	}
	got := judged([]HorizonResult{
		horizon("15m", 4, 3, 2, .5, 1),
		horizon("30m", 4, 3, 5, .5, 4),
		horizon("1h", 4, 0, 0, .5, 1),
		horizon("2h", 0, 0, 0, 0, 0),
	})
	want := []Verdict{
		{Ahead: "15m", MAE: 1, Count: 7, Better: []Rival{{MethodLast, 4}, {MethodSeason, 3}, {MethodClock, 2}}},
		{Ahead: "30m", MAE: 4, Count: 7, Better: []Rival{{MethodClock, 5}}, Worse: []Rival{{MethodLast, 4}, {MethodSeason, 3}}},
		{Ahead: "1h", MAE: 1, Count: 7, Better: []Rival{{MethodLast, 4}}},
	}
	if !reflect.DeepEqual(got.List, want) {
		t.Errorf("got %+v, want %+v", got.List, want)
	}
	if !strings.HasPrefix(got.Warning, "forecasts 30m ahead are no better") || judged(nil).Warning != "" {
		t.Errorf("got the warnings %q and %q, want one of 30m, and none", got.Warning, judged(nil).Warning)
	}
	line := "30m ahead: off by 4 mph; NO BETTER than last value (4), seasonal naive (3); better than clock mean (5)"
	if got := want[1].Say("mph"); got != line {
		t.Errorf("got %q, want %q", got, line)
	}
}
