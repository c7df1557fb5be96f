package serve

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/wdgnn/wdgnn/internal/shop/recommend"
)

// metrics is what /metrics shows.
type metrics struct {
	handler     http.Handler
	predictions prometheus.Counter
	requests    *prometheus.CounterVec
	seconds     *prometheus.HistogramVec
	commit      prometheus.Histogram // seconds
	batch       prometheus.Histogram // ratings
}

func newMetrics(s *recommend.Service) *metrics {
	registry := prometheus.NewRegistry()
	m := &metrics{
		handler:     promhttp.HandlerFor(registry, promhttp.HandlerOpts{}),
		predictions: prometheus.NewCounter(prometheus.CounterOpts{Name: "wdgnn_predictions_total", Help: "Predicted ratings."}),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "wdgnn_http_requests_total", Help: "Requests by route and status.",
		}, []string{"route", "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "wdgnn_http_request_seconds", Help: "Time to answer by route.", Buckets: prometheus.ExponentialBuckets(50e-6, 2, 16),
		}, []string{"route"}),
	}
	m.commit = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "wdgnn_commit_seconds", Help: "Time to learn from ratings and sync them to the disk.",
		Buckets: prometheus.ExponentialBuckets(50e-6, 2, 16),
	})
	m.batch = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "wdgnn_commit_ratings", Help: "Ratings synced together.", Buckets: prometheus.ExponentialBuckets(1, 2, 10),
	})
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		m.predictions, m.requests, m.seconds, m.commit, m.batch)
	gauge := func(name, help string, labels prometheus.Labels, value func(recommend.Status) float64) {
		opts := prometheus.GaugeOpts{Name: name, Help: help, ConstLabels: labels}
		registry.MustRegister(prometheus.NewGaugeFunc(opts, func() float64 { return value(s.Status()) }))
	}
	counter := func(name, help string, value func(recommend.Status) float64) {
		opts := prometheus.CounterOpts{Name: name, Help: help}
		registry.MustRegister(prometheus.NewCounterFunc(opts, func() float64 { return value(s.Status()) }))
	}
	counter("wdgnn_ratings_total", "Ratings accepted since the beginning; the version of the parameters.",
		func(s recommend.Status) float64 { return float64(s.Version) })
	counter("wdgnn_ratings_learned_total", "Ratings learned from since the beginning.",
		func(s recommend.Status) float64 { return float64(s.Learned) })
	counter("wdgnn_ratings_limited_total", "Ratings not learned from because their user had rated too much in a short time.",
		func(s recommend.Status) float64 { return float64(s.Limited) })
	counter("wdgnn_ratings_held_total", "Ratings not learned from because the step would have made predictions for others worse.",
		func(s recommend.Status) float64 { return float64(s.Held) })
	counter("wdgnn_guard_falls_total", "Times that the frozen model took over.",
		func(s recommend.Status) float64 { return float64(s.Falls) })
	gauge("wdgnn_users", "Users with a rating.", nil,
		func(s recommend.Status) float64 { return float64(s.Users) })
	gauge("wdgnn_moved", "Distance of the learner's taps from the trained ones.", nil,
		func(s recommend.Status) float64 { return s.Moved })
	gauge("wdgnn_serving_online", "1 while the learner serves, 0 while the frozen model does.", nil,
		func(s recommend.Status) float64 { return one(s.Serving == "online") })
	gauge("wdgnn_writable", "1 while ratings are accepted.", nil,
		func(s recommend.Status) float64 { return one(s.Writable) })
	gauge("wdgnn_window_rmse", "RMSE on the ratings of the guard's judges.", prometheus.Labels{"model": "online"},
		func(s recommend.Status) float64 { return s.Window.Online })
	gauge("wdgnn_window_rmse", "RMSE on the ratings of the guard's judges.", prometheus.Labels{"model": "frozen"},
		func(s recommend.Status) float64 { return s.Window.Frozen })
	waiting := prometheus.GaugeOpts{Name: "wdgnn_ratings_waiting", Help: "Ratings that wait for the writer."}
	registry.MustRegister(prometheus.NewGaugeFunc(waiting, func() float64 { return float64(s.Waiting()) }))
	return m
}

func one(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// request counts an answer.
func (m *metrics) request(route string, status int, took time.Duration) {
	m.requests.WithLabelValues(route, strconv.Itoa(status)).Inc()
	m.seconds.WithLabelValues(route).Observe(took.Seconds())
}
