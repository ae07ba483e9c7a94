package app

import "github.com/prometheus/client_golang/prometheus"

// stats collects the metrics of the edges for Prometheus. The pipeline registers its own.
type stats struct{ parts *components }

var (
	streamsOpen    = describe("stream_subscribers", "Subscribers of streams.")
	streamsSent    = describe("stream_updates_total", "Updates that were added to the queue of a subscriber.")
	streamsDropped = describe("stream_dropped_total", "Subscribers that were disconnected because they were too slow. They received a notice.")
	httpOpen       = describe("http_connections", "Open HTTP connections.")
	httpTurnedAway = describe("http_connections_turned_away_total", "HTTP connections without a token or a complete request that were closed because of the limit or of inactivity.")
	grpcTurnedAway = describe("grpc_connections_turned_away_total", "gRPC connections without a token or a complete request that were closed because of the limit or of inactivity.")
	grpcCalls      = describe("grpc_calls_total", "OTLP calls over gRPC.")
	grpcRefused    = describe("grpc_refused_total", "OTLP calls over gRPC that failed.")
	noticesSent    = describe("notices_sent_total", "Notices that a webhook, an OTLP endpoint or Langfuse accepted.", "host")
	noticesFailed  = describe("notices_failed_total", "Notices that a webhook, an OTLP endpoint or Langfuse did not accept.", "host")
	noticesDropped = describe("notices_dropped_total", "Warnings without a notice because the queue of the target was full.", "host")
	opinions       = describe("second_opinions_total", "Questions for second opinions, by result: stuck, not_stuck, or the reason for a missing answer.", "result")
	opinionTokens  = describe("second_opinion_tokens_total", "Tokens of second opinions, as the endpoint reports them.", "kind")
	noticesWaiting = describe("notices_waiting", "Warnings that wait to be sent to a webhook, an OTLP endpoint or Langfuse.", "host")
)

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("unloop_"+name, help, labels, nil)
}

// Describe implements prometheus.Collector.
func (s stats) Describe(to chan<- *prometheus.Desc) { prometheus.DescribeByCollect(s, to) }

// Collect implements prometheus.Collector.
func (s stats) Collect(to chan<- prometheus.Metric) {
	counter := func(d *prometheus.Desc, n int64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(n), labels...)
	}
	gauge := func(d *prometheus.Desc, n int, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, float64(n), labels...)
	}
	live := s.parts.hub.Stats()
	gauge(streamsOpen, live.Subscribers)
	counter(streamsSent, live.Sent)
	counter(streamsDropped, live.Dropped)
	web := s.parts.http.Connections()
	gauge(httpOpen, web.Open)
	counter(httpTurnedAway, web.Evicted+web.Silent)
	if s.parts.grpc != nil {
		rpc := s.parts.grpc.Stats()
		counter(grpcCalls, rpc.Calls)
		counter(grpcRefused, rpc.Refused)
		counter(grpcTurnedAway, rpc.TurnedAway)
	}
	s.collectOpinions(counter)
	s.collectCluster(to)
	seen := make(map[string]bool)
	for _, w := range s.parts.alerts.sink.Stats() {
		if seen[w.Host] {
			continue // two targets at one host would be one series
		}
		seen[w.Host] = true
		counter(noticesSent, w.Sent, w.Host)
		counter(noticesFailed, w.Failed, w.Host)
		counter(noticesDropped, w.Dropped, w.Host)
		gauge(noticesWaiting, w.Waiting, w.Host)
	}
}

// collectOpinions collects the metrics of second opinions, if they are on.
func (s stats) collectOpinions(counter func(*prometheus.Desc, int64, ...string)) {
	if s.parts.second == nil {
		return
	}
	o := s.parts.second.client.Stats()
	for result, n := range map[string]int64{
		"stuck": o.Stuck, "not_stuck": o.NotStuck, "over_budget": o.OverBudget, "timeout": o.Timeouts, "failed": o.Failures,
		"bad_answer": o.BadAnswers, "dropped": s.parts.second.dropped.Load(),
	} {
		counter(opinions, n, result)
	}
	counter(opinionTokens, o.PromptTokens, "prompt")
	counter(opinionTokens, o.CompletionTokens, "completion")
}
