package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"

	"github.com/wdgnn/wdgnn/internal/recommend"
)

// problem is a request that cannot be answered as asked.
type problem struct {
	status  int
	Code    string `json:"code"` // for programs
	Message string `json:"message"`
	Try     string `json:"try,omitempty"`
	after   int    // seconds after which to ask again; 0 says nothing
}

func (p *problem) Error() string { return p.Message }

// problemf returns a problem with a message.
func problemf(status int, code, format string, args ...any) *problem {
	return &problem{status: status, Code: code, Message: fmt.Sprintf(format, args...)}
}

// hint adds what to try.
func (p *problem) hint(try string) *problem {
	p.Try = try
	return p
}

// problemOf returns what err means to a client.
func problemOf(err error) *problem {
	var p *problem
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &p):
		return p
	case errors.As(err, &large):
		return problemf(http.StatusRequestEntityTooLarge, "too_large", "the body has more than %d bytes", large.Limit)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return problemf(http.StatusRequestTimeout, "timeout", "the request did not arrive in time")
	case errors.Is(err, recommend.ErrUser):
		return problemf(http.StatusNotFound, "unknown_user", "%v", err).hint("POST /v1/ratings, which makes a user known")
	case errors.Is(err, recommend.ErrMovie):
		word := "movie"
		if strings.HasPrefix(err.Error(), "no such item") {
			word = "item"
		}
		return problemf(http.StatusNotFound, "unknown_"+word, "%v", err)
	case errors.Is(err, recommend.ErrRating):
		return problemf(http.StatusUnprocessableEntity, "bad_rating", "%v", err)
	case errors.Is(err, recommend.ErrFull):
		return problemf(http.StatusInsufficientStorage, "too_many_users", "%v", err).
			hint("wdgnn recommend ratings, which writes what the service was told, and wdgnn recommend train")
	case errors.Is(err, recommend.ErrBusy):
		return problemf(http.StatusServiceUnavailable, "busy", "%v", err).hint("the same request again, a little later")
	case errors.Is(err, recommend.ErrClosed):
		return problemf(http.StatusServiceUnavailable, "closing", "%v", err)
	case errors.Is(err, recommend.ErrDisk):
		return problemf(http.StatusServiceUnavailable, "not_kept", "%v", recommend.ErrDisk).
			hint("the same request again; it changes nothing if it was kept after all")
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return problemf(http.StatusServiceUnavailable, "gave_up", "the client went away before the answer")
	}
	return problemf(http.StatusInternalServerError, "internal", "something went wrong; the log of the service says what")
}

// send writes the problem as an answer.
func (p *problem) send(w http.ResponseWriter) {
	if p.status == http.StatusServiceUnavailable {
		p.after = max(1, p.after)
	}
	if p.after > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(p.after))
	}
	if p.status == http.StatusRequestEntityTooLarge || p.status == http.StatusRequestTimeout {
		w.Header().Set("Connection", "close")
	}
	send(w, p.status, struct {
		Error *problem `json:"error"`
	}{p})
}

// send writes v as JSON.
func send(w http.ResponseWriter, status int, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		status, text = http.StatusInternalServerError, []byte(`{"error":{"code":"internal","message":"the answer is no JSON"}}`)
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n')) // a client that is gone needs no answer
}
