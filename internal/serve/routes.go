package serve

import (
	_ "embed"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"runtime/debug"
	"time"

	"github.com/wdgnn/wdgnn/internal/recommend"
)

// route is something that can be asked of the server.
type route struct {
	method, path string
	open         bool // needs no token
	handle       func(v *Server, w http.ResponseWriter, r *http.Request) error
}

// table lists the routes. openapi.json describes them.
var table = []route{
	{http.MethodGet, "/v1/users/{id}/predictions", false, (*Server).predictions},
	{http.MethodGet, "/v1/users/{id}/ratings", false, (*Server).ratings},
	{http.MethodDelete, "/v1/users/{id}", false, (*Server).forget},
	{http.MethodPost, "/v1/ratings", false, (*Server).rate},
	{http.MethodPost, "/v1/items", false, (*Server).add},
	{http.MethodGet, "/v1/model", false, (*Server).model},
	{http.MethodGet, "/metrics", false, (*Server).scrape},
	{http.MethodGet, "/healthz", true, (*Server).health},
	{http.MethodGet, "/openapi.json", true, (*Server).describe},
}

func (v *Server) routes() http.Handler {
	mux := http.NewServeMux()
	for _, route := range table {
		pattern := route.path
		if route.method == http.MethodDelete { // there is nothing at the path for others
			pattern = route.method + " " + pattern
		}
		mux.Handle(pattern, v.wrap(route))
	}
	for _, page := range liveTable { // which check methods and tokens themselves
		mux.Handle(page.path, v.wrap(route{path: page.path, open: true, handle: (*Server).page}))
	}
	mux.Handle("/", v.wrap(route{path: "other", open: true, handle: (*Server).nothing}))
	return mux
}

// wrap checks what all routes check, and counts.
func (v *Server) wrap(t route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		out := &recorder{ResponseWriter: w, status: http.StatusOK}
		defer func() {
			took := time.Since(began)
			v.metrics.request(t.path, out.status, took)
			// The route, not the path: logs are no place for ids of users.
			v.config.Log.Debug("request", "method", r.Method, "path", t.path, "status", out.status, "took", took, "from", r.RemoteAddr)
		}()
		defer rescue(v.config.Log, out, t.path)
		err := v.admit(t, out, r)
		if err == nil {
			err = t.handle(v, out, r)
		}
		if err != nil {
			p := problemOf(err)
			if p.status == http.StatusInternalServerError {
				v.config.Log.Error("a request failed", "path", t.path, "err", err)
			}
			p.send(out)
		}
	})
}

// rescue turns a panic into an answer. It is for defer.
func rescue(log *slog.Logger, out *recorder, path string) {
	p := recover()
	if p == nil {
		return
	}
	if p == http.ErrAbortHandler {
		panic(p)
	}
	log.Error("a request ended in a panic", "path", path, "panic", p, "stack", string(debug.Stack()))
	if !out.began {
		problemOf(errPanic).send(out)
	}
}

var errPanic = problemf(http.StatusInternalServerError, "internal", "something went wrong; the log of the service says what")

// admit checks the token, or that the request means this machine, and the
// method.
func (v *Server) admit(t route, w http.ResponseWriter, r *http.Request) error {
	if err := v.limiter.admit(&v.gate, r); err != nil {
		return err
	}
	if err := v.gate.admit(w, r, t.open); err != nil {
		return err
	}
	return checkMethod(w, r, t.method, t.path)
}

func parseValues(r *http.Request) (url.Values, error) { return url.ParseQuery(r.URL.RawQuery) }

// recorder remembers the status of an answer.
type recorder struct {
	http.ResponseWriter
	status int
	began  bool
}

func (r *recorder) WriteHeader(status int) {
	r.status, r.began = status, true
	r.ResponseWriter.WriteHeader(status)
}

func (r *recorder) Write(p []byte) (int, error) {
	r.began = true
	return r.ResponseWriter.Write(p)
}

// Unwrap lets [http.ResponseController] find what it needs.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

func (v *Server) predictions(w http.ResponseWriter, r *http.Request) error {
	user, err := v.findUser(r.PathValue("id"))
	if err != nil {
		return err
	}
	a, err := v.readAsked(r)
	if err != nil {
		return err
	}
	var out *recommend.Predictions
	if a.items != nil {
		out, err = v.service.Predict(user, a.items)
	} else {
		out, err = v.service.Top(user, a.top)
	}
	if err != nil {
		return err
	}
	v.metrics.predictions.Add(float64(len(out.List)))
	if a.because > 0 {
		v.service.Explain(out, a.because)
	}
	send(w, http.StatusOK, v.shown(out))
	return nil
}

func (v *Server) ratings(w http.ResponseWriter, r *http.Request) error {
	user, err := v.findUser(r.PathValue("id"))
	if err != nil {
		return err
	}
	if _, err := parseQuery(r); err != nil {
		return err
	}
	list, err := v.service.Ratings(user)
	if err != nil {
		return err
	}
	send(w, http.StatusOK, v.shownRatings(user, list))
	return nil
}

func (v *Server) rate(w http.ResponseWriter, r *http.Request) error {
	text, err := readJSON(w, r)
	if err != nil {
		return err
	}
	in, err := namingOf(v.service).parseRating(text)
	if err != nil {
		return err
	}
	out, err := v.rateAs(r.Context(), in)
	if errors.Is(err, recommend.ErrMovie) {
		return problemf(http.StatusUnprocessableEntity, "unknown_"+v.service.Word(), "%v", err).
			hint("POST /v1/items, which makes it known")
	}
	if err != nil {
		return err
	}
	send(w, http.StatusOK, v.shownRated(out))
	return nil
}

func (v *Server) model(w http.ResponseWriter, _ *http.Request) error {
	send(w, http.StatusOK, v.service.Status())
	return nil
}

func (v *Server) scrape(w http.ResponseWriter, r *http.Request) error {
	v.metrics.handler.ServeHTTP(w, r)
	return nil
}

func (v *Server) health(w http.ResponseWriter, _ *http.Request) error {
	switch now := v.service.Status(); {
	case !now.Writable:
		return problemf(http.StatusServiceUnavailable, "read_only", "a sync failed: predictions go on, ratings are refused").
			hint("free or replace the disk and restart the service")
	case !now.Stored:
		return problemf(http.StatusServiceUnavailable, "not_stored", "the disk does not take ratings: predictions go on, ratings are refused").
			hint("free some space; the service notices by itself")
	}
	send(w, http.StatusOK, map[string]string{"status": "ok"})
	return nil
}

//go:embed openapi.json
var openapi []byte

func (v *Server) describe(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(openapi) // a client that is gone needs no answer
	return nil
}

func (v *Server) page(w http.ResponseWriter, r *http.Request) error {
	v.live.ServeHTTP(w, r)
	return nil
}

func (v *Server) nothing(_ http.ResponseWriter, r *http.Request) error {
	return problemf(http.StatusNotFound, "no_such_path", "nothing is at %.80q", r.URL.Path).
		hint("GET /openapi.json, which lists what there is")
}
