package pipeline

import "github.com/prometheus/client_golang/prometheus"

// Metrics are the metrics of a pipeline for Prometheus.
type Metrics struct {
	Recorded   prometheus.Counter     // events
	Duplicates prometheus.Counter     // duplicate events
	Refused    prometheus.Counter     // events that were rejected because the queue was full
	Failures   prometheus.Counter     // failed commits
	Refolds    prometheus.Counter     // refolds of runs
	Refolding  prometheus.Gauge       // runs with late events that are not folded yet
	Unreadable prometheus.Counter     // stored events that cannot be decoded
	Unjudged   prometheus.Counter     // events at which the profile panicked
	Waiting    prometheus.Gauge       // events in the queue
	Live       prometheus.Gauge       // runs in memory
	Detect     prometheus.Histogram   // seconds for the events of one commit
	Commit     prometheus.Histogram   // seconds
	Raised     *prometheus.CounterVec // warnings, by rule
}

// NewMetrics registers the metrics.
func NewMetrics(r prometheus.Registerer) *Metrics {
	counter := func(name, help string) prometheus.Counter {
		c := prometheus.NewCounter(prometheus.CounterOpts{Name: "unloop_" + name, Help: help})
		r.MustRegister(c)
		return c
	}
	gauge := func(name, help string) prometheus.Gauge {
		g := prometheus.NewGauge(prometheus.GaugeOpts{Name: "unloop_" + name, Help: help})
		r.MustRegister(g)
		return g
	}
	histogram := func(name, help string) prometheus.Histogram {
		h := prometheus.NewHistogram(prometheus.HistogramOpts{Name: "unloop_" + name, Help: help, Buckets: prometheus.ExponentialBuckets(0.0001, 2, 16)})
		r.MustRegister(h)
		return h
	}
	m := &Metrics{
		Recorded:   counter("events_recorded_total", "Recorded events."),
		Duplicates: counter("events_duplicate_total", "Duplicate events, which are not recorded again."),
		Refused:    counter("events_refused_total", "Events that were rejected because the queue was full. Their senders received an error."),
		Failures:   counter("commit_failures_total", "Failed commits. Their senders received an error."),
		Refolds:    counter("runs_refolded_total", "Refolds of runs because of late or changed events."),
		Refolding:  gauge("runs_refolding", "Runs whose warnings and decisions do not include all recorded late events yet."),
		Unreadable: counter("events_unreadable_total", "Stored events that cannot be decoded."),
		Unjudged:   counter("events_unjudged_total", "Recorded events at which the profile panicked."),
		Waiting:    gauge("queue_events", "Events that wait to be recorded."),
		Live:       gauge("live_runs", "Runs in memory."),
		Detect:     histogram("detect_seconds", "Time to order, fold and evaluate the events of one commit."),
		Commit:     histogram("commit_seconds", "Time until a commit is on disk."),
		Raised:     prometheus.NewCounterVec(prometheus.CounterOpts{Name: "unloop_warnings_raised_total", Help: "Raised warnings, by rule."}, []string{"rule"}),
	}
	r.MustRegister(m.Raised)
	return m
}
