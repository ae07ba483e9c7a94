package proxy

import (
	"net/http"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// stats count the acts of the proxy.
type stats struct {
	judged, unjudged, failures, nudged, halted, blocked, ended, upstreamErrors atomic.Int64
}

// Stats are counts since the proxy began.
type Stats struct {
	Judged         int64 `json:"judged"`          // requests whose history was judged
	Unjudged       int64 `json:"unjudged"`        // requests of a model call that passed unjudged, for any reason
	Failures       int64 `json:"failures"`        // those of them at which judging failed or took too long
	Nudged         int64 `json:"nudged"`          // requests with a nudge
	Halted         int64 `json:"halted"`          // requests that were answered in the model's place
	Blocked        int64 `json:"blocked"`         // calls that were taken out of answers
	Ended          int64 `json:"ended"`           // streams that were ended because their text repeats itself
	UpstreamErrors int64 `json:"upstream_errors"` // requests whose upstream could not be reached
}

// Stats returns the counts.
func (p *Proxy) Stats() Stats {
	s := &p.stats
	return Stats{
		s.judged.Load(), s.unjudged.Load(), s.failures.Load(), s.nudged.Load(), s.halted.Load(), s.blocked.Load(), s.ended.Load(),
		s.upstreamErrors.Load(),
	}
}

// health answers with the counts. The status is "failing" once judging has failed; the traffic passes all the same.
func (p *Proxy) health(w http.ResponseWriter, _ *http.Request) {
	answer := struct {
		Status string `json:"status"`
		Mode   Mode   `json:"mode"`
		Stats
	}{"ok", p.options.Mode, p.Stats()}
	if answer.Failures > 0 {
		answer.Status = "failing"
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(append(encode(answer), '\n')) // the client may have gone
}

// metrics returns the handler of the counts in Prometheus' format.
func (p *Proxy) metrics() http.Handler {
	registry := prometheus.NewRegistry()
	s := &p.stats
	for _, c := range []struct {
		name, help string
		count      *atomic.Int64
	}{
		{"judged_requests", "Model calls whose history was judged.", &s.judged},
		{"unjudged_requests", "Model calls that passed unjudged, for any reason.", &s.unjudged},
		{"judging_failures", "Model calls that passed because judging failed or took too long.", &s.failures},
		{"nudged_requests", "Model calls with a nudge.", &s.nudged},
		{"halted_requests", "Model calls that were answered in the model's place.", &s.halted},
		{"blocked_calls", "Tool calls that were taken out of answers.", &s.blocked},
		{"ended_streams", "Answers that were ended because their text repeats itself.", &s.ended},
		{"upstream_errors", "Requests whose upstream could not be reached.", &s.upstreamErrors},
	} {
		o := prometheus.CounterOpts{Name: "unloop_proxy_" + c.name + "_total", Help: c.help}
		registry.MustRegister(prometheus.NewCounterFunc(o, func() float64 { return float64(c.count.Load()) }))
	}
	registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "unloop_proxy_conversations", Help: "Conversations that are kept.",
	}, func() float64 { return float64(p.conversations.len()) }))
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
}

// len returns how many conversations are kept.
func (s *conversations) len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.kept.Len()
}
