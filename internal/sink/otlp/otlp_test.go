package otlp

import (
	"context"
	"errors"
	"io"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/unloop-ai/unloop/internal/api"
	"github.com/unloop-ai/unloop/internal/sink"
)

const (
	traceID = "0af7651916cd43dd8448eb211c80319c"
	spanID  = "b7ad6b7169203331"
)

// send sends a notice to the endpoint once. The span of event e9 is known.
func send(t *testing.T, endpoint, protocol string, n sink.Notice) error {
	t.Helper()
	target, err := Target(Options{
		Endpoint: endpoint, Protocol: protocol, Headers: map[string]string{"Authorization": authorization},
		URL: "https://unloop.test", Version: "1.2.3",
		SpanOf: func(_ context.Context, run, event string) (sink.Span, error) {
			if run != "run/1" || event != "e9" {
				return sink.Span{}, errors.New("no such event")
			}
			return sink.Span{TraceID: traceID, SpanID: spanID}, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := target.Notifier.(io.Closer).Close(); err != nil {
			t.Error(err)
		}
	}()
	return target.Notifier.Send(t.Context(), n)
}

func ptr[T any](v T) *T { return &v }

func blocked() sink.Notice {
	return sink.Notice{
		ID: "msg_1", Level: sink.Block, Why: "nothing changed", Try: "another way",
		Run: api.RunSummary{
			Run:        api.Run{ID: "run/1", RunBasics: api.RunBasics{Name: "nightly", Project: "web", Status: "running"}},
			RunVerdict: api.RunVerdict{HealthScore: 45, GuardedBy: ptr("Go")}, Agents: []string{"coder"},
		},
		Warning: api.Warning{
			ID: "w", EventID: ptr("e9"), Type: "same_call", Severity: "critical", Message: "search was called again",
			UpdatedAt: "2023-11-14T22:13:22Z", Subject: "search", Tool: ptr("search"), Count: ptr(8),
		},
		Decision: &api.Decision{Action: "block", Code: "same_call", EventID: "e10", ByGuard: true},
	}
}

// withoutSpan is a notice of a run that did not come as spans.
func withoutSpan() sink.Notice {
	n := blocked()
	n.Warning.EventID = nil
	return n
}

// described are the attributes of blocked, without the warning's event.
func described() map[string]any {
	return map[string]any{
		"gen_ai.agent.name":             "coder",
		"gen_ai.evaluation.explanation": "search was called again",
		"gen_ai.evaluation.name":        "same_call",
		"gen_ai.evaluation.score.label": "block",
		"gen_ai.tool.name":              "search",
		"unloop.decision.action":        "block",
		"unloop.decision.by_guard":      true,
		"unloop.decision.code":          "same_call",
		"unloop.decision.event_id":      "e10",
		"unloop.run.guarded_by":         "Go",
		"unloop.run.health_score":       int64(45),
		"unloop.run.id":                 "run/1",
		"unloop.run.name":               "nightly",
		"unloop.run.project":            "web",
		"unloop.run.status":             "running",
		"unloop.run.url":                "https://unloop.test/runs/run%2F1",
		"unloop.warning.count":          int64(8),
		"unloop.warning.id":             "w",
		"unloop.warning.severity":       "critical",
		"unloop.warning.subject":        "search",
		"unloop.warning.try":            "another way",
		"unloop.warning.why":            "nothing changed",
	}
}

// sent are the facts of a log record or a span event beside its attributes.
type sent struct {
	Resource                     map[string]any
	Scope, Event, Severity, Body string
	Time                         time.Time
	Trace, Parent, Span, Name    string
}

var (
	unloopResource = map[string]any{"service.name": "unloop", "service.version": "1.2.3"}
	warnedAt       = time.Date(2023, 11, 14, 22, 13, 22, 0, time.UTC)
)

const scopeName = "github.com/unloop-ai/unloop 1.2.3"

func TestANoticeWithoutASpanIsALogRecord(t *testing.T) {
	for _, protocol := range []string{HTTP, GRPC} {
		t.Run(protocol, func(t *testing.T) {
			var c collector
			if err := send(t, c.serve(t, protocol), protocol, withoutSpan()); err != nil {
				t.Fatal(err)
			}
			resource := (<-c.got).ResourceLogs().At(0)
			scope := resource.ScopeLogs().At(0)
			r := scope.LogRecords().At(0)
			got := sent{
				Resource: resource.Resource().Attributes().AsRaw(), Scope: scope.Scope().Name() + " " + scope.Scope().Version(),
				Event: r.EventName(), Severity: r.SeverityNumber().String() + " " + r.SeverityText(), Body: r.Body().Str(),
				Time: r.Timestamp().AsTime(), Trace: r.TraceID().String(), Span: r.SpanID().String(),
			}
			want := sent{
				Resource: unloopResource, Scope: scopeName, Event: "gen_ai.evaluation.result", Severity: "Error critical",
				Body: "search was called again", Time: warnedAt,
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			attributes := described()
			attributes["log.record.uid"] = "msg_1"
			if diff := cmp.Diff(attributes, r.Attributes().AsRaw()); diff != "" {
				t.Errorf("attributes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestANoticeOfASpanIsASpanEventInItsTrace(t *testing.T) {
	for _, protocol := range []string{HTTP, GRPC} {
		t.Run(protocol, func(t *testing.T) {
			var c collector
			endpoint := c.serve(t, protocol)
			if err := errors.Join(send(t, endpoint, protocol, blocked()), send(t, endpoint, protocol, blocked())); err != nil {
				t.Fatal(err)
			}
			resource := (<-c.gotSpans).ResourceSpans().At(0)
			scope := resource.ScopeSpans().At(0)
			s := scope.Spans().At(0)
			event := s.Events().At(0)
			got := sent{
				Resource: resource.Resource().Attributes().AsRaw(), Scope: scope.Scope().Name() + " " + scope.Scope().Version(),
				Event: event.Name(), Time: event.Timestamp().AsTime(), Trace: s.TraceID().String(), Parent: s.ParentSpanID().String(), Name: s.Name(),
			}
			want := sent{
				Resource: unloopResource, Scope: scopeName, Event: "gen_ai.evaluation.result", Time: warnedAt,
				Trace: traceID, Parent: spanID, Name: "unloop same_call",
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			attributes := described()
			attributes["unloop.warning.event_id"] = "e9"
			if diff := cmp.Diff(attributes, event.Attributes().AsRaw()); diff != "" {
				t.Errorf("attributes of the event (-want +got):\n%s", diff)
			}
			maps.DeleteFunc(attributes, func(key string, _ any) bool { return !strings.HasPrefix(key, "unloop.") })
			attributes["openinference.span.kind"], attributes["output.value"] = "EVALUATOR", "search was called again"
			if diff := cmp.Diff(attributes, s.Attributes().AsRaw()); diff != "" {
				t.Errorf("attributes of the span (-want +got):\n%s", diff)
			}
			if s.StartTimestamp().AsTime() != warnedAt || s.EndTimestamp() != s.StartTimestamp() {
				t.Errorf("the span is from %s to %s", s.StartTimestamp().AsTime(), s.EndTimestamp().AsTime())
			}
			again := (<-c.gotSpans).ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0)
			if again.SpanID() != s.SpanID() || s.SpanID().IsEmpty() || s.SpanID() == s.ParentSpanID() {
				t.Errorf("sent twice, the span has the ids %s and %s", s.SpanID(), again.SpanID())
			}
		})
	}
}

func TestUnknownFactsAreLeftOut(t *testing.T) {
	n := &notifier{Options: Options{Version: "1.2.3"}}
	for _, span := range []sink.Span{{}, {TraceID: "trace 7", SpanID: spanID}, {TraceID: traceID[1:] + "x", SpanID: spanID}} {
		if _, ok := parse(span); ok {
			t.Errorf("%+v counts as a span", span)
		}
		notice := sink.Notice{ID: "msg_1", Level: sink.Raised, Warning: api.Warning{Type: "same_call", Severity: "info", UpdatedAt: "unknown"}}
		r := n.logs(&notice, span).ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().At(0)
		want := map[string]any{
			"log.record.uid": "msg_1", "gen_ai.evaluation.name": "same_call", "gen_ai.evaluation.score.label": "raised",
			"unloop.run.health_score": int64(0), "unloop.warning.severity": "info",
		}
		if diff := cmp.Diff(want, r.Attributes().AsRaw()); diff != "" {
			t.Errorf("attributes (-want +got):\n%s", diff)
		}
		if !r.TraceID().IsEmpty() || !r.SpanID().IsEmpty() || r.Timestamp() != 0 {
			t.Errorf("span %+v: the record has trace %q, span %q, time %d", span, r.TraceID(), r.SpanID(), r.Timestamp())
		}
	}
}

func TestARecordWithoutAValidSpanHasItsTrace(t *testing.T) {
	span := sink.Span{TraceID: traceID, SpanID: "step 3"}
	if _, ok := parse(span); ok {
		t.Errorf("%+v counts as a span", span)
	}
	r := (&notifier{}).logs(&sink.Notice{}, span).ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().At(0)
	if r.TraceID().String() != traceID || !r.SpanID().IsEmpty() {
		t.Errorf("trace %q, span %q", r.TraceID(), r.SpanID())
	}
}

func TestTheAnswerDecidesOnAnotherAttempt(t *testing.T) {
	limited, err := status.New(codes.ResourceExhausted, "full").WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(7 * time.Second)})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name     string
		protocol string
		collector
		want *sink.Refusal
	}{
		{"a full receiver over HTTP", HTTP, collector{status: 429, after: "7"}, &sink.Refusal{Reason: "it answered 429 Too Many Requests", After: 7 * time.Second}},
		{"an absent receiver over HTTP", HTTP, collector{status: 503}, &sink.Refusal{Reason: "it answered 503 Service Unavailable"}},
		{"a broken receiver over HTTP", HTTP, collector{status: 500}, &sink.Refusal{Reason: "it answered 500 Internal Server Error", Final: true}},
		{"a rejected record over HTTP", HTTP, collector{rejected: 1}, &sink.Refusal{Reason: "it rejected it: too old", Final: true}},
		{"a full receiver over gRPC", GRPC, collector{err: limited.Err()}, &sink.Refusal{Reason: "it answered ResourceExhausted: full", After: 7 * time.Second}},
		{
			"a full receiver over gRPC that names no pause", GRPC,
			collector{err: status.Error(codes.ResourceExhausted, "full")},
			&sink.Refusal{Reason: "it answered ResourceExhausted: full", Final: true},
		},
		{"an absent receiver over gRPC", GRPC, collector{err: status.Error(codes.Unavailable, "later")}, &sink.Refusal{Reason: "it answered Unavailable: later"}},
		{
			"a bad request over gRPC", GRPC,
			collector{err: status.Error(codes.InvalidArgument, "no")},
			&sink.Refusal{Reason: "it answered InvalidArgument: no", Final: true},
		},
		{"a rejected record over gRPC", GRPC, collector{rejected: 1}, &sink.Refusal{Reason: "it rejected it: too old", Final: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			endpoint := c.serve(t, c.protocol)
			for what, notice := range map[string]sink.Notice{"span": blocked(), "log record": withoutSpan()} {
				want := *c.want
				want.Reason = strings.Replace(want.Reason, "rejected it", "rejected the "+what, 1)
				got, ok := errors.AsType[*sink.Refusal](send(t, endpoint, c.protocol, notice))
				if diff := cmp.Diff(&want, got); !ok || diff != "" {
					t.Errorf("%s (-want +got):\n%s", what, diff)
				}
			}
		})
	}
}

func TestAnUnreachableReceiverIsTriedAgain(t *testing.T) {
	for _, protocol := range []string{HTTP, GRPC} {
		err := send(t, "http://127.0.0.1:1/secret", protocol, blocked())
		if refused, ok := errors.AsType[*sink.Refusal](err); err == nil || ok && refused.Final {
			t.Errorf("%s: error %v, want one that another attempt may not have", protocol, err)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: the error contains the address: %v", protocol, err)
		}
	}
}

func TestHeadersAreRead(t *testing.T) {
	for _, c := range []struct {
		text string
		want map[string]string
		err  string
	}{
		{"", map[string]string{}, ""},
		{"a=b", map[string]string{"a": "b"}, ""},
		{" a = b , c=d=%2C%20e,", map[string]string{"a": "b", "c": "d=, e"}, ""},
		{"a=b,secret", nil, "invalid header 2: want KEY=VALUE with a percent-encoded value"},
		{"=secret", nil, "invalid header 1: want KEY=VALUE with a percent-encoded value"},
		{"a=%zz", nil, "invalid header 1: want KEY=VALUE with a percent-encoded value"},
	} {
		got, err := ParseHeaders(c.text)
		message := ""
		if err != nil {
			message = err.Error()
		}
		if diff := cmp.Diff(c.want, got); diff != "" || message != c.err {
			t.Errorf("%q: error %q, want %q; (-want +got):\n%s", c.text, message, c.err, diff)
		}
	}
}

func TestATargetNeedsAnEndpointAndAProtocol(t *testing.T) {
	for want, o := range map[string]Options{
		"the endpoint must be a URL that begins with http:// or https://": {Endpoint: "collector:4317", Protocol: GRPC},
		`the protocol must be http/protobuf or grpc, not "http/json"`:     {Endpoint: "http://collector", Protocol: "http/json"},
	} {
		if _, err := Target(o); err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}
