package liveweb

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"time"

	"github.com/wdgnn/wdgnn/internal/live"
	"github.com/wdgnn/wdgnn/internal/strictjson"
)

const (
	framesHeld  = 2                // for a browser that is slow
	eventGap    = time.Second / 30 // between frames
	silence     = 10 * time.Second // after which something is sent in any case
	writePeriod = 10 * time.Second // in which a browser must take a message
)

// events sends what the hub shows until the browser goes away.
func (v *Live) events(w http.ResponseWriter, r *http.Request) error {
	if v.config.Hub == nil {
		return Problemf(http.StatusNotFound, "not_live", "this process shows a recording").Hint("GET /replay")
	}
	sub, err := v.config.Hub.Subscribe(framesHeld)
	if err != nil {
		return Problemf(http.StatusServiceUnavailable, "busy", "%v", err)
	}
	defer sub.Close()
	stream := &stream{w: w, control: http.NewResponseController(w)}
	_ = stream.control.SetReadDeadline(time.Time{}) // the request is read; the answer has no end
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodHead {
		return nil
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	go func() {
		select {
		case <-v.closed:
			time.AfterFunc(lastWord, cancel) // the run ends with the server, and the browser is told so
		case <-ctx.Done():
		}
	}()
	_ = stream.copy(ctx, sub) // the browser is gone
	return nil
}

// lastWord is how long a run has to say that it is over when the server ends.
const lastWord = time.Second

// stream is an answer that does not end.
type stream struct {
	w       http.ResponseWriter
	control *http.ResponseController
	lost    int64
}

// copy sends messages as they come, frames not too fast.
func (s *stream) copy(ctx context.Context, sub *live.Subscription) error {
	if err := s.send("retry: 1000\n\n"); err != nil {
		return err
	}
	for {
		quiet, cancel := context.WithTimeout(ctx, silence)
		m, err := sub.Next(quiet)
		cancel()
		switch {
		case err == nil:
			err = s.message(ctx, m, sub.Lost())
		case errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil:
			err = s.send(": still here\n\n")
		case errors.Is(err, live.ErrClosed):
			return s.send("event: end\ndata: true\n\n")
		}
		if err != nil {
			return err
		}
	}
}

func (s *stream) message(ctx context.Context, m live.Message, lost int64) error {
	text := "event: " + m.Kind + "\ndata: " + string(m.Text) + "\n\n"
	if lost != s.lost {
		s.lost = lost
		text += "event: lost\ndata: " + strconv.FormatInt(lost, 10) + "\n\n"
	}
	if err := s.send(text); err != nil || m.Kind != "frame" {
		return err
	}
	timer := time.NewTimer(eventGap)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

func (s *stream) send(text string) error {
	_ = s.control.SetWriteDeadline(time.Now().Add(writePeriod))
	if _, err := io.WriteString(s.w, text); err != nil {
		return err
	}
	return s.control.Flush()
}

// control hands a command to the hub.
func (v *Live) control(w http.ResponseWriter, r *http.Request) error {
	if v.config.Hub == nil || !v.config.Control {
		return Problemf(http.StatusForbidden, "read_only", "this page can be looked at only")
	}
	if !v.limit.take(time.Now()) {
		return Problemf(http.StatusTooManyRequests, "too_fast", "more than %d commands per second", commandRate)
	}
	var c live.Command
	if err := readObject(w, r, &c); err != nil {
		return err
	}
	switch err := v.config.Hub.Command(c); {
	case errors.Is(err, live.ErrBusy):
		return Problemf(http.StatusServiceUnavailable, "busy", "%v", err).Hint("the same request again, a little later")
	case err != nil:
		return Problemf(http.StatusUnprocessableEntity, "refused", "%v", err)
	}
	Send(w, http.StatusAccepted, map[string]string{"status": "accepted"})
	return nil
}

// readObject reads the body of a request, one JSON object without unknown
// fields.
func readObject(w http.ResponseWriter, r *http.Request, to any) error {
	if err := CheckJSON(r); err != nil {
		return err
	}
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxBody))
	if err == nil {
		err = strictjson.Unmarshal(text, to)
	}
	var large *http.MaxBytesError
	if err == nil || errors.As(err, &large) {
		return err
	}
	return Problemf(http.StatusBadRequest, "malformed", "the body is not what is wanted: %v", err).Hint(`{"name": "pause", "value": 1}`)
}

// CheckJSON refuses a body that does not call itself JSON. A page of another
// site cannot send one without asking first.
func CheckJSON(r *http.Request) error {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return Problemf(http.StatusUnsupportedMediaType, "not_json",
			"Content-Type is %.60q, want application/json", r.Header.Get("Content-Type")).
			Hint("-H 'Content-Type: application/json'")
	}
	return nil
}

// The most that one request for frames gets.
const (
	maxRange      = 500
	maxRangeBytes = 4 << 20
)

// replay says what the recording holds.
func (v *Live) replay(w http.ResponseWriter, _ *http.Request) error {
	c := v.config.Recording
	if c == nil {
		return Problemf(http.StatusNotFound, "not_recorded", "this process shows no recording").Hint("GET /events")
	}
	Send(w, http.StatusOK, c)
	return nil
}

// frames sends some frames of the recording.
func (v *Live) frames(w http.ResponseWriter, r *http.Request) error {
	c := v.config.Recording
	if c == nil {
		return Problemf(http.StatusNotFound, "not_recorded", "this process shows no recording")
	}
	query, err := ParseQuery(r, "from", "count")
	if err != nil {
		return err
	}
	from, err1 := strconv.Atoi(query["from"])
	count, err2 := strconv.Atoi(query["count"])
	if err := errors.Join(err1, err2); err != nil || from < 0 || from > c.Frames() || count < 1 || count > maxRange {
		return Problemf(http.StatusBadRequest, "bad_query", "from %.20q, count %.20q; want 0 to %d and 1 to %d",
			query["from"], query["count"], c.Frames(), maxRange)
	}
	list, err := c.Read(from, count, maxRangeBytes)
	if err != nil {
		return fmt.Errorf("replay: %w", err)
	}
	Send(w, http.StatusOK, struct {
		From   int               `json:"from"`
		Frames []json.RawMessage `json:"frames"`
	}{from, list})
	return nil
}
