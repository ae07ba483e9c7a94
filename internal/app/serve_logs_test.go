package app

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlplog/otlploghttp"
	"go.opentelemetry.io/otel/log"
	sdklog "go.opentelemetry.io/otel/sdk/log"
)

// sentLogs is an exporter of log records that is watched.
type sentLogs struct {
	sdklog.Exporter
	deliveries
}

func (s *sentLogs) Export(ctx context.Context, records []sdklog.Record) error {
	return s.note(s.Exporter.Export(ctx, records))
}

// codingSession writes the records of a session of Claude Code, as its scope, bodies and attributes are.
type codingSession struct {
	logger log.Logger
	at     time.Time
	number int
}

func (c *codingSession) record(t *testing.T, name string, attributes ...attribute.KeyValue) {
	t.Helper()
	c.number++
	c.at = c.at.Add(time.Second)
	var r log.Record
	r.SetTimestamp(c.at)
	r.SetBody(attribute.StringValue("claude_code." + name))
	r.AddAttributes(attribute.String("event.name", name), attribute.String("session.id", "session-1"), attribute.String("prompt.id", "prompt-1"),
		attribute.String("event.timestamp", c.at.Format(time.RFC3339Nano)), attribute.Int("event.sequence", c.number))
	r.AddAttributes(attributes...)
	c.logger.Emit(t.Context(), r)
}

// play tells of the work as Claude Code does: requests to the model and results of tools, when they are over.
func (c *codingSession) play(t *testing.T, work *played) {
	t.Helper()
	for k, s := range work.steps {
		if s.tool == "" {
			c.record(t, "api_request", attribute.String("model", "house-1"), attribute.Int("input_tokens", playedInput), attribute.Int("output_tokens", playedOutput),
				attribute.Int("duration_ms", 200), attribute.String("request_id", "request-"+strconv.Itoa(k)))
			continue
		}
		c.record(t, "tool_decision", attribute.String("tool_name", s.tool), attribute.String("decision", "accept"), attribute.String("source", "config"))
		c.record(t, "tool_result", attribute.String("tool_name", s.tool), attribute.String("tool_use_id", "toolu_"+strconv.Itoa(k)), attribute.String("success", "true"),
			attribute.Int("duration_ms", 20), attribute.String("tool_input", s.input), attribute.Int("tool_result_size_bytes", 31), attribute.String("decision_type", "accept"))
	}
}

// TestRecordsOfACodingAgent sends them by the real SDK of logs. Of results only their sizes are told.
func TestRecordsOfACodingAgent(t *testing.T) {
	a := serveAt(t, nil)
	e, err := otlploghttp.New(t.Context(), otlploghttp.WithEndpointURL(a.URL+"/v1/logs"), otlploghttp.WithCompression(otlploghttp.GzipCompression))
	if err != nil {
		t.Fatal(err)
	}
	exporter := &sentLogs{Exporter: e}
	provider := sdklog.NewLoggerProvider(sdklog.WithResource(service("claude-code")), sdklog.WithProcessor(
		sdklog.NewBatchProcessor(exporter, sdklog.WithExportMaxBatchSize(4), sdklog.WithExportInterval(time.Minute))))

	work := played{steps: searching("Grep", 6)}
	session := codingSession{logger: provider.Logger("com.anthropic.claude_code.events"), at: time.Date(2026, 4, 5, 6, 7, 8, 0, time.UTC)}
	session.play(t, &work)
	if err := provider.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := exporter.count(t); n < 4 {
		t.Errorf("%d requests, want 4 or more", n)
	}

	for k := range work.steps {
		if work.steps[k].tool != "" {
			work.steps[k].output = `{"size_bytes":31}`
		}
	}
	want := work.reference(t)
	want.ID, want.Name, want.Project, want.Status, want.Ended = "session-1", "session-1", "claude-code", "running", false
	if diff := cmp.Diff(want, onlyRun(t, a.URL)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
