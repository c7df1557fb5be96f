package keys

import (
	"log/slog"
	"time"
)

// WarnBefore is how long before the end of a certificate its owner is warned.
const WarnBefore = 30 * 24 * time.Hour

// sayEvery is the time between two lines of a log about the same certificate.
const sayEvery = 24 * time.Hour

// Watch warns of a certificate that ends, once a day.
type Watch struct {
	Party string
	Log   *slog.Logger

	said  time.Time // zero before the first time
	until time.Time // that it was said of
}

// See takes in until when the certificate is valid, or why that is not known.
func (w *Watch) See(until time.Time, err error, now time.Time) {
	left := until.Sub(now)
	if err == nil && left > WarnBefore {
		w.said = time.Time{}
		return
	}
	if !w.said.IsZero() && now.Sub(w.said).Abs() < sayEvery && until.Equal(w.until) {
		return
	}
	w.said, w.until = now, until
	const hint = "wdgnn swarm keys renew makes another; copied to its machine it is taken without a restart"
	switch {
	case err != nil:
		w.Log.Error("the certificate cannot be read", "of", w.Party, "err", err)
	case left <= 0:
		w.Log.Error("the certificate has expired: nobody makes a new connection; "+hint, "of", w.Party, "until", until.Format(time.DateTime))
	default:
		w.Log.Warn("the certificate ends soon; "+hint, "of", w.Party, "until", until.Format(time.DateTime), "days", int(left.Hours()/24))
	}
}
