package box

import (
	"log/slog"
	"sync"
	"time"
)

// rarely logs what anybody on the network can make happen, and not as often as
// they like: a few lines at once and then one every so often, with how many were
// left out. It is safe for concurrent use.
type rarely struct {
	log *slog.Logger

	mu     sync.Mutex
	used   float64 // lines of the burst
	at     time.Time
	unsaid int
}

const (
	rarelyBurst = 20
	rarelyEvery = 5 * time.Second
)

func newRarely(log *slog.Logger) *rarely { return &rarely{log: log} }

// warn logs an error of the bus.
func (r *rarely) warn(err error) {
	if unsaid, ok := r.take(time.Now()); ok {
		if unsaid > 0 {
			r.log.Warn("bus", "err", err, "unsaid", unsaid)
			return
		}
		r.log.Warn("bus", "err", err)
	}
}

// take says whether a line may be logged now, and how many were not before it.
func (r *rarely) take(now time.Time) (unsaid int, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.used = max(0, r.used-now.Sub(r.at).Seconds()/rarelyEvery.Seconds())
	r.at = now
	if r.used+1 > rarelyBurst {
		r.unsaid++
		return 0, false
	}
	r.used++
	unsaid, r.unsaid = r.unsaid, 0
	return unsaid, true
}
