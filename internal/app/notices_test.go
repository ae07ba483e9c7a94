package app

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
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

func TestAWarningIsALogRecordOfTheSpanOfItsCall(t *testing.T) {
	t.Setenv("COLLECTOR_HEADERS", "x-key=a%20b")
	endpoint, got := logReceiver(t)
	a := serveAt(t, func(c *config.Config) {
		c.OTLPExport = config.OTLPExport{Endpoint: endpoint, Protocol: "http/protobuf", HeadersEnv: "COLLECTOR_HEADERS"}
	})
	exporter := overHTTP(t, a)
	provider := exporter.provider(t, "library", 100)
	spans := tracetest.NewSpanRecorder()
	provider.RegisterSpanProcessor(spans)
	work := played{"researcher", searching("search", 6)}
	ctx, agent := work.begin(t.Context(), provider.Tracer("agents"), dialects()[0])
	work.work(ctx, provider.Tracer("agents"), dialects()[0])
	agent.End()
	exporter.flush(t, provider)

	r := <-got
	if want := agent.SpanContext().TraceID(); trace.TraceID(r.TraceID()) != want {
		t.Errorf("the record has the trace %q, want %s", r.TraceID(), want)
	}
	name := ""
	for _, s := range spans.Ended() {
		if s.SpanContext().SpanID() == trace.SpanID(r.SpanID()) {
			name = s.Name()
		}
	}
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

func TestHeadersOfAMissingVariableAreAnError(t *testing.T) {
	for value, want := range map[string]string{"": "is not set", "sesame": "invalid header 1: want KEY=VALUE with a percent-encoded value"} {
		t.Setenv("COLLECTOR_HEADERS", value)
		c := config.Default()
		c.Addr, c.GRPCAddr, c.DB = "127.0.0.1:0", config.Off, filepath.Join(t.TempDir(), "test.db")
		c.OTLPExport = config.OTLPExport{Endpoint: "http://127.0.0.1:1", Protocol: "grpc", HeadersEnv: "COLLECTOR_HEADERS"}
		err := (&Serve{Config: c, Log: slog.New(slog.DiscardHandler)}).Run(t.Context())
		if err == nil || !strings.Contains(err.Error(), "COLLECTOR_HEADERS") || !strings.HasSuffix(err.Error(), want) || strings.Contains(err.Error(), "sesame") {
			t.Errorf("value %q: error %v, want one that ends in %q", value, err, want)
		}
	}
}
