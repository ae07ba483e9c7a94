package app

import "github.com/prometheus/client_golang/prometheus"

// stats hands the counts of the edges to Prometheus. The pipeline keeps its own.
type stats struct{ parts *components }

var (
	streamsOpen    = describe("stream_subscribers", "Subscribers of streams.")
	streamsSent    = describe("stream_updates_total", "Updates that were put into the queue of a subscriber.")
	streamsDropped = describe("stream_dropped_total", "Subscribers that were cut off since they did not keep up; they were told.")
	httpOpen       = describe("http_connections", "Open connections of HTTP.")
	httpTurnedAway = describe("http_connections_turned_away_total", "Connections of HTTP without a token or a whole request that were closed for newer ones, or for their silence.")
	grpcTurnedAway = describe("grpc_connections_turned_away_total", "The same of gRPC.")
	grpcCalls      = describe("grpc_calls_total", "Calls of telemetry over gRPC.")
	grpcRefused    = describe("grpc_refused_total", "Calls of telemetry over gRPC that were answered with an error.")
	hookSent       = describe("webhook_sent_total", "Messages that a webhook took.", "host")
	hookFailed     = describe("webhook_failed_total", "Messages that a webhook did not take.", "host")
	hookDropped    = describe("webhook_dropped_total", "Warnings that a webhook was not told of for want of room or time.", "host")
	opinions       = describe("second_opinions_total", "Questions for second opinions: stuck or not_stuck, else why there is no answer.", "result")
	opinionTokens  = describe("second_opinion_tokens_total", "Tokens of second opinions, as the endpoint reports them.", "kind")
	hookWaiting    = describe("webhook_waiting", "Warnings that a webhook is to be told of.", "host")
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
	if s.parts.webhooks == nil {
		return
	}
	told := make(map[string]bool)
	for _, w := range s.parts.webhooks.Stats() {
		if told[w.Host] {
			continue // two at one host would be one series
		}
		told[w.Host] = true
		counter(hookSent, w.Sent, w.Host)
		counter(hookFailed, w.Failed, w.Host)
		counter(hookDropped, w.Dropped, w.Host)
		gauge(hookWaiting, w.Waiting, w.Host)
	}
}

// collectOpinions hands over the counts of second opinions, if there are any.
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
