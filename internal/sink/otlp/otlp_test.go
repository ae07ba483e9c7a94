package otlp

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/plog/plogotlp"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/unloop-ai/unloop/internal/api"
	"github.com/unloop-ai/unloop/internal/sink"
)

// collector receives log records over HTTP and gRPC.
type collector struct {
	plogotlp.UnimplementedGRPCServer
	got      chan plog.Logs // holds more than a test sends
	status   int            // of answers over HTTP; 0 for 200
	after    string         // header Retry-After
	err      error          // of answers over gRPC
	rejected int64          // records, in the answer
}

const authorization = "Bearer sesame, and more"

func (c *collector) answer(authorized string, request plogotlp.ExportRequest) (plogotlp.ExportResponse, error) {
	answer := plogotlp.NewExportResponse()
	if authorized != authorization {
		return answer, status.Error(codes.Unauthenticated, "wrong header "+authorized)
	}
	c.got <- request.Logs()
	if c.rejected > 0 {
		answer.PartialSuccess().SetRejectedLogRecords(c.rejected)
		answer.PartialSuccess().SetErrorMessage("too old")
	}
	return answer, c.err
}

func (c *collector) Export(ctx context.Context, request plogotlp.ExportRequest) (plogotlp.ExportResponse, error) {
	values := metadata.ValueFromIncomingContext(ctx, "authorization")
	return c.answer(strings.Join(values, "|"), request)
}

func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	request := plogotlp.NewExportRequest()
	if err != nil || r.URL.Path != "/base/v1/logs" || r.Header.Get("Content-Type") != "application/x-protobuf" || request.UnmarshalProto(body) != nil {
		http.Error(w, "not a request for logs", http.StatusBadRequest)
		return
	}
	answer, err := c.answer(r.Header.Get("Authorization"), request)
	if err != nil {
		http.Error(w, err.Error(), http.StatusUnauthorized)
		return
	}
	if text, err := answer.MarshalProto(); err == nil && c.status == 0 {
		_, _ = w.Write(text) // the client notices a lost answer
		return
	}
	w.Header().Set("Retry-After", c.after)
	w.WriteHeader(c.status)
}

// serve starts the collector and returns its endpoint.
func (c *collector) serve(t *testing.T, protocol string) string {
	t.Helper()
	c.got = make(chan plog.Logs, 10)
	if protocol == HTTP {
		server := httptest.NewServer(c)
		t.Cleanup(server.Close)
		return server.URL + "/base/"
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	plogotlp.RegisterGRPCServer(server, c)
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	t.Cleanup(func() {
		server.Stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return "http://" + listener.Addr().String()
}

const (
	traceID = "0af7651916cd43dd8448eb211c80319c"
	spanID  = "b7ad6b7169203331"
)

// send sends a notice to the endpoint once.
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

const wantRecord = `{
  "resource": {
    "service.name": "unloop",
    "service.version": "1.2.3"
  },
  "scope": "github.com/unloop-ai/unloop 1.2.3",
  "time": "2023-11-14T22:13:22Z",
  "event": "gen_ai.evaluation.result",
  "severity": "Error critical",
  "body": "search was called again",
  "trace": "0af7651916cd43dd8448eb211c80319c",
  "span": "b7ad6b7169203331",
  "attributes": {
    "gen_ai.agent.name": "coder",
    "gen_ai.evaluation.explanation": "search was called again",
    "gen_ai.evaluation.name": "same_call",
    "gen_ai.evaluation.score.label": "block",
    "gen_ai.tool.name": "search",
    "log.record.uid": "msg_1",
    "unloop.decision.action": "block",
    "unloop.decision.by_guard": true,
    "unloop.decision.code": "same_call",
    "unloop.decision.event_id": "e10",
    "unloop.run.guarded_by": "Go",
    "unloop.run.health_score": 45,
    "unloop.run.id": "run/1",
    "unloop.run.name": "nightly",
    "unloop.run.project": "web",
    "unloop.run.status": "running",
    "unloop.run.url": "https://unloop.test/runs/run%2F1",
    "unloop.warning.count": 8,
    "unloop.warning.event_id": "e9",
    "unloop.warning.id": "w",
    "unloop.warning.subject": "search",
    "unloop.warning.try": "another way",
    "unloop.warning.why": "nothing changed"
  }
}`

// text returns the only log record of a request, in JSON.
func text(t *testing.T, all plog.Logs) string {
	t.Helper()
	if n := all.LogRecordCount(); n != 1 {
		t.Fatalf("%d records, want 1", n)
	}
	resource := all.ResourceLogs().At(0)
	scope := resource.ScopeLogs().At(0)
	r := scope.LogRecords().At(0)
	shown, err := json.MarshalIndent(struct {
		Resource   map[string]any `json:"resource"`
		Scope      string         `json:"scope"`
		Time       time.Time      `json:"time"`
		Event      string         `json:"event"`
		Severity   string         `json:"severity"`
		Body       string         `json:"body"`
		Trace      string         `json:"trace"`
		Span       string         `json:"span"`
		Attributes map[string]any `json:"attributes"`
	}{
		resource.Resource().Attributes().AsRaw(), scope.Scope().Name() + " " + scope.Scope().Version(), r.Timestamp().AsTime(), r.EventName(),
		r.SeverityNumber().String() + " " + r.SeverityText(), r.Body().Str(), r.TraceID().String(), r.SpanID().String(), r.Attributes().AsRaw(),
	}, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return string(shown)
}

func TestANoticeIsALogRecordOfTheSpan(t *testing.T) {
	for _, protocol := range []string{HTTP, GRPC} {
		t.Run(protocol, func(t *testing.T) {
			var c collector
			if err := send(t, c.serve(t, protocol), protocol, blocked()); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(wantRecord, text(t, <-c.got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestUnknownFactsAreLeftOut(t *testing.T) {
	n := &notifier{Options: Options{Version: "1.2.3"}}
	for _, span := range []sink.Span{{}, {TraceID: "trace 7", SpanID: spanID}, {TraceID: traceID[1:] + "x", SpanID: spanID}} {
		notice := sink.Notice{ID: "msg_1", Level: sink.Raised, Warning: api.Warning{Type: "same_call", Severity: "info", UpdatedAt: "unknown"}}
		r := n.logs(&notice, span).ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().At(0)
		want := map[string]any{
			"log.record.uid": "msg_1", "gen_ai.evaluation.name": "same_call", "gen_ai.evaluation.score.label": "raised", "unloop.run.health_score": int64(0),
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
	r := (&notifier{}).logs(&sink.Notice{}, sink.Span{TraceID: traceID, SpanID: "step 3"}).ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().At(0)
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
		{"a rejected record over HTTP", HTTP, collector{rejected: 1}, &sink.Refusal{Reason: "it rejected the log record: too old", Final: true}},
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
		{"a rejected record over gRPC", GRPC, collector{rejected: 1}, &sink.Refusal{Reason: "it rejected the log record: too old", Final: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, ok := errors.AsType[*sink.Refusal](send(t, c.serve(t, c.protocol), c.protocol, blocked()))
			if diff := cmp.Diff(c.want, got); !ok || diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
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
