package app

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/plog/plogotlp"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/unloop-ai/unloop/internal/config"
)

// receiver serves a receiver of log records and spans until the test ends. The channels have the one of each request.
func receiver(t *testing.T) (url string, records chan plog.LogRecord, spans chan ptrace.Span) {
	t.Helper()
	records, spans = make(chan plog.LogRecord, 100), make(chan ptrace.Span, 100) // tests cause far fewer
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		ofLogs, ofTraces := plogotlp.NewExportRequest(), ptraceotlp.NewExportRequest()
		switch {
		case err != nil || r.Header.Get("X-Key") != "a b":
			t.Errorf("%v, headers %v", err, r.Header)
		case r.URL.Path == "/v1/logs" && ofLogs.UnmarshalProto(body) == nil:
			records <- ofLogs.Logs().ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().At(0)
		case r.URL.Path == "/v1/traces" && ofTraces.UnmarshalProto(body) == nil:
			spans <- ofTraces.Traces().ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0)
		default:
			t.Errorf("path %s", r.URL.Path)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL, records, spans
}

func attributeOf(of pcommon.Map, key string) string {
	v, _ := of.Get(key)
	return v.AsString()
}

// playSearches sends the spans of an agent that searches six times for the same. It returns the span of the agent, and the names of
// all spans by id.
func playSearches(t *testing.T, a Addresses) (agent trace.SpanContext, names map[string]string) {
	t.Helper()
	exporter := overHTTP(t, a)
	provider := exporter.provider(t, "library", 100)
	spans := tracetest.NewSpanRecorder()
	provider.RegisterSpanProcessor(spans)
	work := played{"researcher", searching("search", 6)}
	ctx, span := work.begin(t.Context(), provider.Tracer("agents"), dialects()[0])
	work.work(ctx, provider.Tracer("agents"), dialects()[0])
	span.End()
	exporter.flush(t, provider)
	names = make(map[string]string)
	for _, s := range spans.Ended() {
		names[s.SpanContext().SpanID().String()] = s.Name()
	}
	return span.SpanContext(), names
}

func TestAWarningIsASpanEventBelowTheSpanOfItsCallOrALogRecord(t *testing.T) {
	t.Setenv("COLLECTOR_HEADERS", "x-key=a%20b")
	endpoint, records, spans := receiver(t)
	a := serveAt(t, func(c *config.Config) {
		c.OTLPExport = config.OTLPExport{Endpoint: endpoint, Protocol: "http/protobuf", HeadersEnv: "COLLECTOR_HEADERS"}
	})
	agent, names := playSearches(t, a)
	s := <-spans
	if want := agent.TraceID(); trace.TraceID(s.TraceID()) != want {
		t.Errorf("the span has the trace %q, want %s", s.TraceID(), want)
	}
	tool := attributeOf(s.Events().At(0).Attributes(), "gen_ai.tool.name")
	if name := names[s.ParentSpanID().String()]; name != "execute_tool search" || tool != "search" {
		t.Errorf("the event is about tool %q and below the span %q", tool, name)
	}

	failing(t, a.URL, "plain", "loop", 6)
	r := <-records
	if run := attributeOf(r.Attributes(), "unloop.run.id"); run != "plain" || !r.TraceID().IsEmpty() {
		t.Errorf("the record is of run %q with the trace %q, want the run without spans", run, r.TraceID())
	}
}

func TestAServerRecordsNoEventOfWhatAServerExports(t *testing.T) {
	receiver := serveAt(t, nil)
	accepted := make(chan string, 100) // tests cause far fewer
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer, err := http.Post(receiver.URL+r.URL.Path, r.Header.Get("Content-Type"), r.Body)
		if err != nil {
			t.Error(err)
			return
		}
		defer answer.Body.Close()
		w.WriteHeader(answer.StatusCode)
		accepted <- r.URL.Path + " " + answer.Status
	}))
	t.Cleanup(front.Close)
	a := serveAt(t, func(c *config.Config) { c.OTLPExport.Endpoint = front.URL })
	failing(t, a.URL, "loop", "loop", 6)
	if got := <-accepted; got != "/v1/logs 200 OK" {
		t.Errorf("the answer for a run without spans was %s", got)
	}
	playSearches(t, a)
	if got := <-accepted; got != "/v1/traces 200 OK" {
		t.Errorf("the answer for a run of spans was %s", got)
	}
	if runs := get(t, receiver.URL+"/api/runs"); strings.Contains(string(runs), `"id"`) {
		t.Errorf("what the server sent became a run: %s", runs)
	}
}

func TestTargetsNeedTheirKeys(t *testing.T) {
	export := config.OTLPExport{Endpoint: "http://127.0.0.1:1", Protocol: "grpc", HeadersEnv: "TARGET_KEY"}
	project := config.Langfuse{Endpoint: "http://127.0.0.1:1", PublicKey: "pk", SecretKeyEnv: "TARGET_KEY"}
	for _, c := range []struct {
		name   string
		key    string
		config config.Config
		want   string
	}{
		{"headers that are not set", "", config.Config{OTLPExport: export}, "otlp_export: the environment variable TARGET_KEY of headers_env is not set"},
		{
			"headers in another form", "sesame",
			config.Config{OTLPExport: export},
			"otlp_export: the environment variable TARGET_KEY of headers_env: invalid header 1: want KEY=VALUE with a percent-encoded value",
		},
		{"a secret key that is not set", "", config.Config{Langfuse: project}, "langfuse: the environment variable TARGET_KEY of secret_key_env is not set"},
		{
			"a project without keys", "",
			config.Config{Langfuse: config.Langfuse{Endpoint: "http://127.0.0.1:1"}},
			"langfuse: public_key and secret_key_env must not be empty with an endpoint",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("TARGET_KEY", c.key)
			if _, err := (&components{config: &c.config}).otherTargets("http://127.0.0.1:8765"); err == nil || err.Error() != c.want {
				t.Errorf("error %v, want %s", err, c.want)
			}
		})
	}
}

func TestAWarningIsAScoreOfTheObservationOfItsCall(t *testing.T) {
	t.Setenv("LANGFUSE_SECRET_KEY", "sesame")
	type score struct{ TraceID, ObservationID, Name, Value string }
	got := make(chan score, 100) // the test causes far fewer
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var s score
		if err := json.NewDecoder(r.Body).Decode(&s); err != nil || r.URL.Path != "/api/public/scores" {
			t.Errorf("%v, path %s", err, r.URL.Path)
		}
		got <- s
	}))
	t.Cleanup(server.Close)
	a := serveAt(t, func(c *config.Config) {
		c.Langfuse = config.Langfuse{Endpoint: server.URL, PublicKey: "pk", SecretKeyEnv: "LANGFUSE_SECRET_KEY"}
	})
	agent, names := playSearches(t, a)
	s := <-got
	if s.TraceID != agent.TraceID().String() || names[s.ObservationID] != "execute_tool search" {
		t.Errorf("the score %+v is of %q, want a search in trace %s", s, names[s.ObservationID], agent.TraceID())
	}
	if !strings.HasPrefix(s.Name, "unloop.") || s.Value != "raised" {
		t.Errorf("the score has the name %q and the value %q", s.Name, s.Value)
	}
}
