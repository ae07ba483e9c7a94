package app

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/plog/plogotlp"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/unloop-ai/unloop/internal/config"
)

// logReceiver serves a receiver of log records until the test ends. The channel has the records of each request.
func logReceiver(t *testing.T) (url string, got chan plog.LogRecord) {
	t.Helper()
	got = make(chan plog.LogRecord, 100) // tests cause far fewer
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		request := plogotlp.NewExportRequest()
		if err != nil || r.URL.Path != "/v1/logs" || r.Header.Get("X-Key") != "a b" || request.UnmarshalProto(body) != nil {
			t.Errorf("%v, path %s, headers %v", err, r.URL.Path, r.Header)
			return
		}
		got <- request.Logs().ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().At(0)
	}))
	t.Cleanup(server.Close)
	return server.URL, got
}

func attributeOf(r plog.LogRecord, key string) string {
	v, _ := r.Attributes().Get(key)
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

func TestAWarningIsALogRecordOfTheSpanOfItsCall(t *testing.T) {
	t.Setenv("COLLECTOR_HEADERS", "x-key=a%20b")
	endpoint, got := logReceiver(t)
	a := serveAt(t, func(c *config.Config) {
		c.OTLPExport = config.OTLPExport{Endpoint: endpoint, Protocol: "http/protobuf", HeadersEnv: "COLLECTOR_HEADERS"}
	})
	agent, names := playSearches(t, a)
	r := <-got
	if want := agent.TraceID(); trace.TraceID(r.TraceID()) != want {
		t.Errorf("the record has the trace %q, want %s", r.TraceID(), want)
	}
	name := names[r.SpanID().String()]
	if name != "execute_tool search" || attributeOf(r, "gen_ai.tool.name") != "search" {
		t.Errorf("the record is about tool %q and has the span %q", attributeOf(r, "gen_ai.tool.name"), name)
	}

	failing(t, a.URL, "plain", "loop", 6)
	for r = range got {
		if attributeOf(r, "unloop.run.id") == "plain" {
			break
		}
	}
	if !r.TraceID().IsEmpty() || attributeOf(r, "gen_ai.tool.name") != "read_file" {
		t.Errorf("the record of a run without spans has trace %q, tool %q", r.TraceID(), attributeOf(r, "gen_ai.tool.name"))
	}
}

func TestAServerRecordsNoEventOfAnExportedRecord(t *testing.T) {
	receiver := serveAt(t, nil)
	hook := make(chan bool, 100) // tests cause far fewer
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer, err := http.Post(receiver.URL+r.URL.Path, r.Header.Get("Content-Type"), r.Body)
		if err != nil {
			t.Error(err)
			return
		}
		defer answer.Body.Close()
		w.WriteHeader(answer.StatusCode)
		hook <- answer.StatusCode == http.StatusOK
	}))
	t.Cleanup(front.Close)
	url := serve(t, func(c *config.Config) { c.OTLPExport.Endpoint = front.URL })
	failing(t, url, "loop", "loop", 6)
	if !<-hook {
		t.Error("the server rejected the record")
	}
	if runs := get(t, receiver.URL+"/api/runs"); strings.Contains(string(runs), `"id"`) {
		t.Errorf("the record became a run: %s", runs)
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
