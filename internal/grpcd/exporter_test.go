package grpcd

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlplog/otlploggrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/log"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// exportSpan sends a span with the exporter of OpenTelemetry's SDK for Go.
func exportSpan(t *testing.T, r *rig, name string, o ...otlptracegrpc.Option) error {
	t.Helper()
	o = append(o, otlptracegrpc.WithEndpoint(r.addr), otlptracegrpc.WithInsecure(), otlptracegrpc.WithRetry(otlptracegrpc.RetryConfig{
		Enabled: true, InitialInterval: time.Millisecond, MaxInterval: time.Millisecond, MaxElapsedTime: 20 * time.Second,
	}))
	exporter, err := otlptracegrpc.New(t.Context(), o...)
	if err != nil {
		t.Fatal(err)
	}
	failed := &failures{SpanExporter: exporter}
	provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(failed))
	_, span := provider.Tracer("agent").Start(t.Context(), name)
	span.End()
	return errors.Join(failed.err, provider.Shutdown(t.Context()))
}

func TestTheSDKsSpansArrive(t *testing.T) {
	for what, o := range map[string][]otlptracegrpc.Option{
		"plain":  nil,
		"packed": {otlptracegrpc.WithCompressor("gzip")},
	} {
		to := &recorder{}
		r := start(t, to, options())
		if err := exportSpan(t, r, what, o...); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		if diff := cmp.Diff([]string{what}, to.spans); diff != "" {
			t.Errorf("received (-want +got):\n%s", diff)
		}
	}
}

func TestTheSDKRepeatsCallsThatWereBusyOrNotRecorded(t *testing.T) {
	to := &recorder{answers: []error{errBusy, errors.New("the disk is full"), errClosed}}
	r := start(t, to, options())
	begin := time.Now()
	if err := exportSpan(t, r, "patient"); err != nil {
		t.Fatal(err)
	}
	if waited := time.Since(begin); waited < time.Second {
		t.Errorf("the call was repeated after %s, want a second or more", waited)
	}
	if diff := cmp.Diff([]string{"patient"}, to.spans); diff != "" {
		t.Errorf("received (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(Stats{Calls: 4, Refused: 3}, r.Stats()); diff != "" {
		t.Errorf("stats (-want +got):\n%s", diff)
	}
}

func TestTheSDKSendsItsToken(t *testing.T) {
	o := options()
	o.Authorize = func(token string) bool { return token == "sesame" }
	to := &recorder{}
	r := start(t, to, o)
	if err := exportSpan(t, r, "a stranger's"); err == nil {
		t.Error("a span without a token was accepted or repeated")
	}
	headers := otlptracegrpc.WithHeaders(map[string]string{"Authorization": "Bearer sesame"})
	if err := exportSpan(t, r, "a friend's", headers); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]string{"a friend's"}, to.spans); diff != "" {
		t.Errorf("received (-want +got):\n%s", diff)
	}
}

func TestTheSDKsLogRecordsArrive(t *testing.T) {
	to := &recorder{}
	r := start(t, to, options())
	exporter, err := otlploggrpc.New(t.Context(), otlploggrpc.WithEndpoint(r.addr), otlploggrpc.WithInsecure(),
		otlploggrpc.WithCompressor("gzip"))
	if err != nil {
		t.Fatal(err)
	}
	provider := sdklog.NewLoggerProvider(sdklog.WithProcessor(sdklog.NewBatchProcessor(exporter)))
	var record log.Record
	record.SetBody(attribute.StringValue("tool_result"))
	provider.Logger("agent").Emit(t.Context(), record)
	if err := provider.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"tool_result"}, to.records); diff != "" {
		t.Errorf("received (-want +got):\n%s", diff)
	}
}

// failures remembers the exporter's error, which the SDK hands to a global handler.
type failures struct {
	sdktrace.SpanExporter
	err error
}

func (f *failures) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	f.err = f.SpanExporter.ExportSpans(ctx, spans)
	return f.err
}
