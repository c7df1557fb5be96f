package keys

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"
)

// The owner of a certificate hears of its end once a day from thirty days before, and
// louder when it is there; one that was renewed is silent.
func TestWatch(t *testing.T) {
	var log bytes.Buffer
	w := Watch{Party: "host-3", Log: slog.New(slog.NewTextHandler(&log, nil))}
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		after, left time.Duration
		want        string // empty means nothing
	}{
		{0, 31 * 24 * time.Hour, ""},
		{time.Second, 29 * 24 * time.Hour, "level=WARN"},
		{time.Hour, 29 * 24 * time.Hour, "level=WARN"}, // another certificate
		{0, 29 * 24 * time.Hour, ""},
		{25 * time.Hour, 28 * 24 * time.Hour, "wdgnn swarm keys renew"},
		{29 * 24 * time.Hour, -time.Second, "level=ERROR"},
		{time.Second, 365 * 24 * time.Hour, ""},
		{time.Second, time.Hour, "host-3"},
	} {
		now = now.Add(c.after)
		log.Reset()
		w.See(now.Add(c.left), nil, now)
		if c.want == "" && log.Len() > 0 || !strings.Contains(log.String(), c.want) {
			t.Errorf("%v left: got %q, want %q", c.left, log.String(), c.want)
		}
	}
}
