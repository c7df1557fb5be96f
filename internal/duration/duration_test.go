package duration_test

import (
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/internal/duration"
)

func TestText(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 90 * time.Second: "1m30s", 15 * time.Minute: "15m", 10 * time.Minute: "10m", time.Hour: "1h",
		20 * time.Hour: "20h", 90 * time.Minute: "1h30m", 24 * time.Hour: "1d", 36 * time.Hour: "36h",
		7 * 24 * time.Hour: "7d", 200 * time.Millisecond: "200ms", -24 * time.Hour: "-24h",
	} {
		if got := duration.Text(d); got != want {
			t.Errorf("%v: got %q, want %q", d, got, want)
		}
	}
}

func TestParse(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"15m": 15 * time.Minute, "1h30m": 90 * time.Minute, "168h": 168 * time.Hour, "7d": 168 * time.Hour,
		"2w": 336 * time.Hour, "0": 0, "-1d": -24 * time.Hour,
	} {
		if got, err := duration.Parse(text); err != nil || got != want {
			t.Errorf("%q: got %v and %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "d", "1.5d", "1d12h", "soon", "99999w", "7 d", "7"} {
		if got, err := duration.Parse(text); err == nil {
			t.Errorf("%q: got %v, want an error", text, got)
		}
	}
}
