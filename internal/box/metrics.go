package box

import (
	"maps"
	"net/http"
	"slices"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/rule"
)

// collector turns the latest report into metrics.
type collector struct {
	report   func() *host.Report // nil before the first
	counters []*prometheus.Desc
	gauges   []*prometheus.Desc
	latency  *prometheus.Desc
	broken   *prometheus.Desc
	ages     *prometheus.Desc
	shut     *prometheus.Desc
	readings *prometheus.Desc
}

// gauge is one number of a report that may fall.
type gauge struct {
	name, help string
	value      func(*host.Report) float64
}

var gauges = []gauge{
	{"wdgnn_time", "the latest step", func(r *host.Report) float64 { return float64(r.Time) }},
	{"wdgnn_silent_neighbours", "neighbours that are not waited for", func(r *host.Report) float64 { return float64(len(r.Silent)) }},
	{"wdgnn_model_digest", "a number that stands for what the box runs, model, scale and rule: the same on all boxes", modelDigest},
	{"wdgnn_model_armed", "the step for which the box is armed with another model; 0 if it is not", modelArmed},
	{
		"wdgnn_quarantined_hosts", "hosts whose frames are not used, because they sent what no honest host sends",
		func(r *host.Report) float64 { return float64(len(r.Quarantine)) },
	},
	{
		"wdgnn_learned_cost", "mean cost of the answers of the last steps in which targets were told, at most 100",
		func(r *host.Report) float64 { return learning(r).Learned },
	},
	{
		"wdgnn_frozen_cost", "what the answers of the model as trained would have cost in these steps",
		func(r *host.Report) float64 { return learning(r).Frozen },
	},
	{"wdgnn_learning_harmful", "1 if the first is more than 1.5 times the second, else 0", func(r *host.Report) float64 {
		if learning(r).Harmful() {
			return 1
		}
		return 0
	}},
	{"wdgnn_nodes_adapted", "nodes that answer with what they learned; 0 without gates", func(r *host.Report) float64 {
		if r.Gate == nil {
			return 0
		}
		return float64(r.Gate.Adapted)
	}},
	{"wdgnn_nodes_trained", "nodes whose gate is closed: they answer as trained", func(r *host.Report) float64 {
		if r.Gate == nil {
			return 0
		}
		return float64(r.Gate.Trained)
	}},
	{
		"wdgnn_coverage", "share of the judged answers whose set or interval held the truth, those without ends too; 0 if none was judged",
		func(r *host.Report) float64 { return coverage(r).Share },
	},
	{"wdgnn_coverage_asked", "the share that was asked for", func(r *host.Report) float64 { return coverage(r).Asked }},
	{"wdgnn_coverage_worst", "the share of the node that has the least", func(r *host.Report) float64 { return coverage(r).WorstShare }},
	{"wdgnn_horizons_trained", "forecasts, of all horizons of all nodes, that are answered as trained", func(r *host.Report) float64 {
		if r.Gate == nil {
			return 0
		}
		return float64(r.Gate.Horizons)
	}},
	{"wdgnn_sensors_broken", "sensors whose readings are not used", func(r *host.Report) float64 { return float64(r.BrokenSensors) }},
	{"wdgnn_sensors_silent", "sensors without a reading for twelve steps", func(r *host.Report) float64 { return float64(r.SilentSensors) }},
	{
		"wdgnn_healthy", "1 if /healthz says ok, else 0",
		func(r *host.Report) float64 {
			if len(health(r).Problems) > 0 {
				return 0
			}
			return 1
		},
	},
	{
		"wdgnn_certificate_seconds", "how long the certificate is valid that new connections need; less than 0 after its end, 0 if there is none",
		func(r *host.Report) float64 { return health(r).Certificate },
	},
	{
		"wdgnn_checkpoint_age_seconds", "since the last checkpoint was written; 0 if there is none",
		func(r *host.Report) float64 { return health(r).Checkpoint },
	},
	{
		"wdgnn_checkpoints_damaged", "checkpoints that could not be read at the start",
		func(r *host.Report) float64 { return float64(health(r).Damaged) },
	},
	{
		"wdgnn_clock_jump_seconds", "by how much the clock of the machine is off what steps follow, after a jump; 0 without one",
		func(r *host.Report) float64 { return health(r).ClockJump },
	},
	{"wdgnn_world_connected", "1 while there is a connection with the MQTT broker of the world, else 0", func(r *host.Report) float64 {
		if broker(r).Connected {
			return 1
		}
		return 0
	}},
	{
		"wdgnn_set_size", "mean number of classes in a set, or width of an interval that has ends",
		func(r *host.Report) float64 { return coverage(r).Size },
	},
	{
		"wdgnn_intervals_unknown", "intervals without ends among the judged answers",
		func(r *host.Report) float64 { return float64(coverage(r).Unknown) },
	},
}

// coverage returns how often the truth was held, zeros if nothing was judged.
func coverage(r *host.Report) host.CoverageReport {
	if r.Coverage == nil {
		return host.CoverageReport{}
	}
	return *r.Coverage
}

// health returns what the box knows of itself, zeros if it was not asked.
func health(r *host.Report) host.Health {
	if r.Health == nil {
		return host.Health{}
	}
	return *r.Health
}

// broker returns how things are with the broker, zeros if there is none.
func broker(r *host.Report) host.Broker {
	if b := health(r).Broker; b != nil {
		return *b
	}
	return host.Broker{}
}

// learning returns how learning does, zeros if nobody told.
func learning(r *host.Report) rule.Comparison {
	if r.Learning == nil {
		return rule.Comparison{}
	}
	return *r.Learning
}

const (
	brokenName  = "wdgnn_sensor_broken"
	brokenHelp  = "1 for each sensor whose readings are not used, with its name and node"
	ageName     = "wdgnn_sensor_age_steps"
	ageHelp     = "how many steps ago each sensor was last read; of many sensors the thousand for which that is longest"
	shutName    = "wdgnn_quarantines_total"
	shutHelp    = "times that a host was put in quarantine, by reason"
	readName    = "wdgnn_world_readings_total"
	readHelp    = "messages of sensors by MQTT, by what became of them"
	latencyName = "wdgnn_step_seconds"
	latencyHelp = "time from the beginning of a step to the answer, of the last 1024"
)

func newCollector(report func() *host.Report) *collector {
	c := &collector{report: report, latency: prometheus.NewDesc(latencyName, latencyHelp, []string{"quantile"}, nil)}
	c.broken = prometheus.NewDesc(brokenName, brokenHelp, []string{"sensor", "node"}, nil)
	c.ages = prometheus.NewDesc(ageName, ageHelp, []string{"sensor", "node"}, nil)
	c.shut = prometheus.NewDesc(shutName, shutHelp, []string{"reason"}, nil)
	c.readings = prometheus.NewDesc(readName, readHelp, []string{"fate"}, nil)
	for _, k := range counters {
		c.counters = append(c.counters, prometheus.NewDesc(k.name, k.help, nil, nil))
	}
	for _, g := range gauges {
		c.gauges = append(c.gauges, prometheus.NewDesc(g.name, g.help, nil, nil))
	}
	return c
}

// Describe implements [prometheus.Collector].
func (c *collector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range c.counters {
		out <- d
	}
	for _, d := range c.gauges {
		out <- d
	}
	out <- c.latency
	out <- c.broken
	out <- c.ages
	out <- c.shut
	out <- c.readings
}

// Collect implements [prometheus.Collector].
func (c *collector) Collect(out chan<- prometheus.Metric) {
	r := c.report()
	if r == nil {
		return
	}
	for k := range counters {
		out <- prometheus.MustNewConstMetric(c.counters[k], prometheus.CounterValue, float64(counters[k].value(r)))
	}
	for k := range gauges {
		out <- prometheus.MustNewConstMetric(c.gauges[k], prometheus.GaugeValue, gauges[k].value(r))
	}
	for _, b := range r.Broken {
		out <- prometheus.MustNewConstMetric(c.broken, prometheus.GaugeValue, 1, b.Sensor, strconv.FormatUint(uint64(b.Node), 10))
	}
	for _, a := range r.Ages {
		out <- prometheus.MustNewConstMetric(c.ages, prometheus.GaugeValue, float64(a.Steps), a.Sensor, strconv.FormatUint(uint64(a.Node), 10))
	}
	for _, reason := range slices.Sorted(maps.Keys(r.Quarantines)) {
		out <- prometheus.MustNewConstMetric(c.shut, prometheus.CounterValue, float64(r.Quarantines[reason]), reason)
	}
	readings := broker(r).Readings
	for _, fate := range slices.Sorted(maps.Keys(readings)) {
		out <- prometheus.MustNewConstMetric(c.readings, prometheus.CounterValue, float64(readings[fate]), fate)
	}
	l := &r.Latency
	out <- prometheus.MustNewConstMetric(c.latency, prometheus.GaugeValue, l.Median.Seconds(), "0.5")
	out <- prometheus.MustNewConstMetric(c.latency, prometheus.GaugeValue, l.P90.Seconds(), "0.9")
	out <- prometheus.MustNewConstMetric(c.latency, prometheus.GaugeValue, l.P99.Seconds(), "0.99")
	out <- prometheus.MustNewConstMetric(c.latency, prometheus.GaugeValue, l.Max.Seconds(), "1")
}

// metricsHandler serves the reports of a run as Prometheus reads them.
func metricsHandler(run string, report func() *host.Report) http.Handler {
	registry := prometheus.NewRegistry()
	prometheus.WrapRegistererWith(prometheus.Labels{"run": run}, registry).MustRegister(newCollector(report))
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
}

// modelDigest returns the digest of a report as a number, 0 if it cannot be read.
func modelDigest(r *host.Report) float64 {
	n, err := strconv.ParseUint(r.Digest, 16, 32)
	if err != nil {
		return 0
	}
	return float64(n)
}

// modelArmed returns the step that a box was prepared for and has not made.
func modelArmed(r *host.Report) float64 {
	if c := r.Change; c != nil && (c.State == host.ChangeArmed || c.State == host.ChangeAgreed) {
		return float64(c.Step)
	}
	return 0
}
