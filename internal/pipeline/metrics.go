package pipeline

import "github.com/prometheus/client_golang/prometheus"

// Metrics are what a pipeline counts, for Prometheus.
type Metrics struct {
	Recorded   prometheus.Counter     // events
	Duplicates prometheus.Counter     // events that had come before
	Refused    prometheus.Counter     // events, since too much was waiting
	Failures   prometheus.Counter     // commits
	Refolds    prometheus.Counter     // runs that were folded anew, since something came late or changed
	Refolding  prometheus.Gauge       // runs with late events that are not folded yet
	Unreadable prometheus.Counter     // events of the store
	Unjudged   prometheus.Counter     // events at which the profile panicked
	Waiting    prometheus.Gauge       // events
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
		Recorded:   counter("events_recorded_total", "Events that were recorded."),
		Duplicates: counter("events_duplicate_total", "Events that were recorded before."),
		Refused:    counter("events_refused_total", "Events that were refused because too much was waiting; their senders were told."),
		Failures:   counter("commit_failures_total", "Commits that did not succeed; their senders were told."),
		Refolds:    counter("runs_refolded_total", "Runs that were folded anew since something came late or changed."),
		Refolding:  gauge("runs_refolding", "Runs with late events that are recorded and not yet in their warnings and decisions."),
		Unreadable: counter("events_unreadable_total", "Events of the store that could not be read."),
		Unjudged:   counter("events_unjudged_total", "Events at which judging their run ended in a panic; they were recorded."),
		Waiting:    gauge("queue_events", "Events that wait to be recorded."),
		Live:       gauge("live_runs", "Runs that are held in memory."),
		Detect:     histogram("detect_seconds", "Time from order to decision, for all events of one commit."),
		Commit:     histogram("commit_seconds", "Time that a commit takes until it is on disk."),
		Raised:     prometheus.NewCounterVec(prometheus.CounterOpts{Name: "unloop_warnings_raised_total", Help: "Warnings that were raised, by rule."}, []string{"rule"}),
	}
	r.MustRegister(m.Raised)
	return m
}
