package box

import (
	"log/slog"
	"sync"
	"time"
)

// limitedLog logs what anybody on the network can make happen, and not as often as
// they like: a few lines at once and then one every so often, with how many were
// left out. It is safe for concurrent use.
type limitedLog struct {
	log *slog.Logger

	mu      sync.Mutex
	used    float64 // lines of the burst
	at      time.Time
	dropped int
}

const (
	limitBurst = 20
	limitEvery = 5 * time.Second
)

func newLimitedLog(log *slog.Logger) *limitedLog { return &limitedLog{log: log} }

// warn logs an error of the bus.
func (r *limitedLog) warn(err error) {
	if dropped, ok := r.take(time.Now()); ok {
		if dropped > 0 {
			r.log.Warn("bus", "err", err, "unsaid", dropped)
			return
		}
		r.log.Warn("bus", "err", err)
	}
}

// take says whether a line may be logged now, and how many were not before it.
func (r *limitedLog) take(now time.Time) (dropped int, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.used = max(0, r.used-now.Sub(r.at).Seconds()/limitEvery.Seconds())
	r.at = now
	if r.used+1 > limitBurst {
		r.dropped++
		return 0, false
	}
	r.used++
	dropped, r.dropped = r.dropped, 0
	return dropped, true
}
