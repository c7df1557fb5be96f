package liveweb

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strconv"
)

// Problem is a request that cannot be answered as asked.
type Problem struct {
	Status  int    `json:"-"`
	Code    string `json:"code"` // for programs
	Message string `json:"message"`
	Try     string `json:"try,omitempty"`
	After   int    `json:"-"` // seconds after which to ask again; 0 says nothing
}

func (p *Problem) Error() string { return p.Message }

// Problemf returns a problem with a message.
func Problemf(status int, code, format string, args ...any) *Problem {
	return &Problem{Status: status, Code: code, Message: fmt.Sprintf(format, args...)}
}

// Hint adds what to try.
func (p *Problem) Hint(try string) *Problem {
	p.Try = try
	return p
}

// ProblemOf returns what err means to a client.
func ProblemOf(err error) *Problem {
	var p *Problem
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &p):
		return p
	case errors.As(err, &large):
		return Problemf(http.StatusRequestEntityTooLarge, "too_large", "the body has more than %d bytes", large.Limit)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return Problemf(http.StatusRequestTimeout, "timeout", "the request did not arrive in time")
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return Problemf(http.StatusServiceUnavailable, "gave_up", "the client went away before the answer")
	}
	return Problemf(http.StatusInternalServerError, "internal", "something went wrong; the log of the service says what")
}

// Send writes the problem as an answer.
func (p *Problem) Send(w http.ResponseWriter) {
	if p.Status == http.StatusServiceUnavailable {
		p.After = max(1, p.After)
	}
	if p.After > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(p.After))
	}
	if p.Status == http.StatusRequestEntityTooLarge || p.Status == http.StatusRequestTimeout {
		w.Header().Set("Connection", "close")
	}
	Send(w, p.Status, struct {
		Error *Problem `json:"error"`
	}{p})
}

// Send writes v as JSON.
func Send(w http.ResponseWriter, status int, v any) {
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
