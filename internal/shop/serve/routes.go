package serve

import (
	_ "embed"
	"errors"
	"net/http"
	"time"

	"github.com/wdgnn/wdgnn/internal/liveweb"
	"github.com/wdgnn/wdgnn/internal/shop/recommend"
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
	for _, path := range liveweb.Paths() { // which check methods and tokens themselves
		mux.Handle(path, v.wrap(route{path: path, open: true, handle: (*Server).page}))
	}
	mux.Handle("/", v.wrap(route{path: "other", open: true, handle: (*Server).nothing}))
	return mux
}

// wrap checks what all routes check, and counts.
func (v *Server) wrap(t route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		out := &liveweb.Recorder{ResponseWriter: w, Status: http.StatusOK}
		defer func() {
			took := time.Since(began)
			v.metrics.request(t.path, out.Status, took)
			// The route, not the path: logs are no place for ids of users.
			v.config.Log.Debug("request", "method", r.Method, "path", t.path, "status", out.Status, "took", took, "from", r.RemoteAddr)
		}()
		defer liveweb.Rescue(v.config.Log, out, t.path)
		err := v.admit(t, out, r)
		if err == nil {
			err = t.handle(v, out, r)
		}
		if err != nil {
			p := problemOf(err)
			if p.Status == http.StatusInternalServerError {
				v.config.Log.Error("a request failed", "path", t.path, "err", err)
			}
			p.Send(out)
		}
	})
}

// admit checks the token, or that the request means this machine, and the
// method.
func (v *Server) admit(t route, w http.ResponseWriter, r *http.Request) error {
	if err := v.limiter.admit(&v.gate, r); err != nil {
		return err
	}
	if err := v.gate.Admit(w, r, t.open); err != nil {
		return err
	}
	return liveweb.CheckMethod(w, r, t.method, t.path)
}

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
	liveweb.Send(w, http.StatusOK, v.shown(out))
	return nil
}

func (v *Server) ratings(w http.ResponseWriter, r *http.Request) error {
	user, err := v.findUser(r.PathValue("id"))
	if err != nil {
		return err
	}
	if _, err := liveweb.ParseQuery(r); err != nil {
		return err
	}
	list, err := v.service.Ratings(user)
	if err != nil {
		return err
	}
	liveweb.Send(w, http.StatusOK, v.shownRatings(user, list))
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
		return liveweb.Problemf(http.StatusUnprocessableEntity, "unknown_"+v.service.Word(), "%v", err).
			Hint("POST /v1/items, which makes it known")
	}
	if err != nil {
		return err
	}
	liveweb.Send(w, http.StatusOK, v.shownRated(out))
	return nil
}

func (v *Server) model(w http.ResponseWriter, _ *http.Request) error {
	liveweb.Send(w, http.StatusOK, v.service.Status())
	return nil
}

func (v *Server) scrape(w http.ResponseWriter, r *http.Request) error {
	v.metrics.handler.ServeHTTP(w, r)
	return nil
}

func (v *Server) health(w http.ResponseWriter, _ *http.Request) error {
	switch now := v.service.Status(); {
	case !now.Writable:
		return liveweb.Problemf(http.StatusServiceUnavailable, "read_only", "a sync failed: predictions go on, ratings are refused").
			Hint("free or replace the disk and restart the service")
	case !now.Stored:
		return liveweb.Problemf(http.StatusServiceUnavailable, "not_stored",
			"the disk does not take ratings: predictions go on, ratings are refused").
			Hint("free some space; the service notices by itself")
	}
	liveweb.Send(w, http.StatusOK, map[string]string{"status": "ok"})
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
	return liveweb.Problemf(http.StatusNotFound, "no_such_path", "nothing is at %.80q", r.URL.Path).
		Hint("GET /openapi.json, which lists what there is")
}
